"""A value is changed in an excerpt of its document as it is in the whole of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_recall.text import json_excerpt
from memory_recall.text.json_edit import edit_object, wrap_as_object
from memory_recall.text.json_excerpt import excerpt_of
from memory_recall.text.json_spans import elements

CHANGES = [(("type",), "fact"), (("links", "a"), None), (("n",), {"x": [1, 2]})]
ENTRIES = st.dictionaries(
    st.sampled_from(["key", "links", "n", "é", "a,b"]),
    st.sampled_from([1, "two, three: 4", {}, {"a": 1}, [], 'q"uote', "🚀 \\ é"]),
    max_size=4,
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a few dozen bytes and strings were enough for a head."""
    monkeypatch.setattr(json_excerpt, "HEAD", 150)
    monkeypatch.setattr(json_excerpt, "_STRINGS", 4)
    monkeypatch.setattr("memory_recall.text.json_edit._TOKENS_LOOKED_AT", 4)


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, int, int]:
    """A list of objects, laid out in some way, and where one of them stands."""
    entries = draw(st.lists(ENTRIES, min_size=1, max_size=9))
    indent = draw(st.sampled_from([None, 0, 1, 4, "\t"]))
    separators = draw(st.sampled_from([(",", ": "), (", ", ": "), (",", ":"), (" ,", " : ")]))
    text = json.dumps(entries, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n", " \n"])))
    if draw(st.booleans()):
        text = text.replace("}, {", "},\n  {").replace("},{", "},\n{")
    text = draw(st.sampled_from(["", "\n", " \n\t", "\r"])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))
    start, end, _ = draw(st.sampled_from(list(elements(text, text.index("[")))))
    return text.encode(), len(text[:start].encode()), len(text[:end].encode())


@settings(derandomize=True, deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
@given(documents())
def test_a_change_is_the_same_in_an_excerpt(document: tuple[bytes, int, int]) -> None:
    data, start, end = document
    excerpt = excerpt_of(data, start, end)
    if excerpt is None:
        return
    assert excerpt.text[excerpt.start : excerpt.end] == data[start:end].decode()
    text, begin = data.decode(), len(data[:start].decode())
    span = (begin, begin + excerpt.end - excerpt.start)
    for edit in (edit_object, lambda *place: wrap_as_object(*place[:3], [("n", 1), ("m", {"o": []})])):
        assert edit(*excerpt, CHANGES) == edit(text, *span, CHANGES)


def in_lines(count: int, **style: Any) -> bytes:
    return json.dumps([{"key": f"key-{number}", "value": "v" * 20} for number in range(count)], **style).encode()


def test_of_a_long_text_in_lines_little_is_looked_at() -> None:
    data = in_lines(1_000, indent=2)
    start = data.index(b"{", len(data) // 2)
    end = data.index(b"}", start) + 1
    excerpt = excerpt_of(data, start, end)
    assert excerpt is not None
    assert len(excerpt.text) < 400


@pytest.mark.parametrize(
    "data",
    [in_lines(100), in_lines(100).replace(b"\n", b"\r"), in_lines(100, indent=0), in_lines(2, indent=2)],
    ids=["one line", "old line ends", "no indentation", "few strings before the value"],
)
def test_what_an_excerpt_cannot_tell_is_left_to_the_whole(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_excerpt, "_STRINGS", 40)
    start = data.rindex(b"{")
    assert excerpt_of(data, start, len(data) - 1) is None
