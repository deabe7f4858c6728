"""The quick walk over bytes finds the values where the slow one over the text does, or says that it is not sure."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from json_documents import Document, documents

from memory_recall.text import json_bytes
from memory_recall.text.json_bytes import Unsure, decode, element_spans, escaped_names, member_spans
from memory_recall.text.json_spans import elements, members

RAW = msgspec.Raw


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_bytes, "_CHUNK", 2)


def in_bytes(text: str, offset: int) -> int:
    return len(text[:offset].encode())


@settings(derandomize=True, deadline=None, max_examples=200)
@given(documents())
def test_members_stand_where_they_stand(document: Document) -> None:
    text = document.object
    data = text.encode()
    try:
        found = decode(data, dict[str, RAW])
        spans = member_spans(data, 0, found)
    except Unsure:
        names = [member.key for member in members(text, 0)]
        assert len(set(names)) < len(names) or "\\ud800" in text.lower()
        return
    expected = [
        (in_bytes(text, member.key_start), in_bytes(text, member.value_start), in_bytes(text, member.value_end))
        for member in members(text, 0)
    ]
    assert spans.names is not None
    assert list(zip(spans.names, spans.starts, spans.ends, strict=True)) == expected
    assert data[spans.close :] == b"}"


@settings(derandomize=True, deadline=None, max_examples=200)
@given(documents())
def test_elements_stand_where_they_stand(document: Document) -> None:
    text = f"[ {document.object} ,{document.object},\n {document.object},{document.object}, 1 , 2,3 ]"
    data = text.encode()
    try:
        spans = element_spans(data, 0, decode(data, list[RAW]))
    except Unsure:
        assert "\\ud800" in text.lower()
        return
    expected = [(in_bytes(text, element.start), in_bytes(text, element.end)) for element in elements(text, 0)]
    assert list(zip(spans.starts, spans.ends, strict=True)) == expected


@pytest.mark.parametrize("others", [b'["x", "y"]', b'["y", "x", "z"]', b'["x"]', b"[1]"])
def test_texts_of_another_array_are_not_taken_for_its_elements(others: bytes) -> None:
    with pytest.raises(Unsure):
        element_spans(b'["x", "z"]', 0, decode(others, list[RAW]))


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '{"a":1,"b":2,"a":[1]}', '{"a": "x", "\\u0061": "x"}'])
def test_an_object_that_repeats_a_name_is_refused(text: str) -> None:
    with pytest.raises(Unsure):
        member_spans(text.encode(), 0, decode(text.encode(), dict[str, RAW]))


BROKEN = [
    '"\x01"', '"\\x"', '"\\u12G4"', "01", "1.", ".5", "-", "1e", "+1", "nul", "[1,]", '{"a":1,}', '{"a"}', "{1:2}",
    "NaN", "-Infinity", "/**/1", "'a'", "1 2", "truex", '{"a":1 "b":2}', "\x0c1", "\xa01", '"\x00"', '{"\\x":1}',
]  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("frame", ["[%s]", '{"a": [%s]}', '{"a": {"b": %s}, "c": 1}', "[[0, %s], 1]"])
def test_what_is_not_json_is_not_skipped(broken: str, frame: str) -> None:
    """The assumption that all of this rests on: what msgspec skips over, Python's decoder reads."""
    text = frame % broken
    with pytest.raises(ValueError, match=r".+"):
        json.loads(text, parse_constant=int)
    kind: Any = list[RAW] if text.startswith("[") else dict[str, RAW]
    with pytest.raises(Unsure):
        decode(text.encode(), kind)


@pytest.mark.parametrize("name", ["\\u006bey", 'k\\"', "k\\\\", "\\n", "a\\u0062c", '\\\\\\":\\u0061y'])
def test_a_name_with_an_escape_is_noticed(name: str) -> None:
    data = f'[{{"value": "\\": x", "{name}" \n: 1}}]'.encode()
    assert escaped_names(data, 0, len(data))
    assert escaped_names(b'["\\u0061", {"a": "\\n"}]', 0, 24) == []
