"""Spans of JSON values: every value is found where it stands, and what is not JSON is refused with its place."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from json_documents import Document, documents

from memory_recall.text.json_spans import JsonError, elements, members, root_span, value_at, value_start

PROPERTY = settings(derandomize=True, deadline=None, max_examples=60)

COMMA_ITSELF = sys.version_info >= (3, 13)
"""Whether the decoder points at a trailing comma, rather than at what follows it."""


def parsed(text: str) -> Any:
    return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 4000 else float(digits))


def walk(text: str, start: int) -> tuple[Any, int]:
    """The value at an offset, put together from nothing but spans; and the last offset that was seen."""
    if text[start] == "{":
        found: dict[str, Any] = {}
        last = start
        for member in members(text, start):
            assert value_at(text, member.key_start)[0] == member.key
            inner, end = walk(text, member.value_start)
            assert end <= member.value_end
            assert same(inner, member.value)
            assert same(parsed(text[member.value_start : member.value_end]), member.value)
            found[member.key] = inner
            last = member.value_end
        return found, last
    if text[start] == "[":
        items = []
        last = start
        for element in elements(text, start):
            inner, end = walk(text, element.start)
            assert end <= element.end
            assert same(parsed(text[element.start : element.end]), element.value)
            items.append(inner)
            last = element.end
        return items, last
    return value_at(text, start)


def same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right)


@PROPERTY
@given(documents())
def test_walking_the_spans_gives_what_the_whole_parses_to(document: Document) -> None:
    start, end = root_span(document.text)
    assert document.text[:start].strip() == document.text[end:].strip() == ""
    value, _ = walk(document.text, start)
    assert same(value, parsed(document.text))


@PROPERTY
@given(documents())
def test_a_text_that_is_cut_anywhere_is_refused_or_still_whole(document: Document) -> None:
    text = document.text.rstrip()
    if text[-1] not in "]}":
        return
    for stop in range(0, len(text), max(1, len(text) // 20)):
        with pytest.raises(JsonError) as caught:
            root_span(text[:stop])
        assert 0 <= caught.value.offset <= stop


def test_a_member_knows_where_its_name_and_value_stand() -> None:
    text = '{ "a" : 1.0 ,\n  "b":"x" }'
    first, second = members(text, 0, whole=True)
    assert (first.key, first.value) == ("a", 1.0)
    assert text[first.key_start] == '"'
    assert text[first.value_start : first.value_end] == "1.0"
    assert text[second.key_start :].startswith('"b"')
    assert text[second.value_start : second.value_end] == '"x"'


def test_a_repeated_name_is_told_each_time() -> None:
    assert [(m.key, m.value) for m in members('{"a": 1, "b": 2, "a": 3}', 0)] == [("a", 1), ("b", 2), ("a", 3)]


def test_empty_containers_have_nothing_in_them() -> None:
    assert list(members("{ \n }", 0, whole=True)) == []
    assert list(elements("[]", 0, whole=True)) == []


@pytest.mark.parametrize(
    ("spelling", "value"),
    [("1e400", math.inf), ("-1e400", -math.inf), ("9" * 5000, math.inf), ("-" + "9" * 5000, -math.inf), ("-0", 0)],
)
def test_numbers_of_any_size_are_numbers(spelling: str, value: float) -> None:
    (element,) = elements(f"[{spelling}]", 0)
    assert element.value == value
    assert element.end == 1 + len(spelling)


def test_a_huge_number_does_not_cost_the_integers_beside_it_their_digits() -> None:
    assert value_at(f"[{'9' * 5000}, 12345678901234567890]", 0)[0] == [math.inf, 12345678901234567890]


def test_an_escaped_half_of_a_pair_is_kept_and_a_whole_pair_is_joined() -> None:
    assert [e.value for e in elements('["\\ud800", "\\ud83d\\ude00"]', 0)] == ["\ud800", "😀"]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", 0),
        (" \n", 2),
        ('{"a": NaN}', 6),
        ('{"NaN": "-Infinity", "b": [1, -Infinity]}', 30),
        ("[1,]", 3 - COMMA_ITSELF),
        ('{"a": 1,}', 8 - COMMA_ITSELF),
        ('{"a" 1}', 5),
        ('{"a": 1 "b": 2}', 8),
        ("{'a': 1}", 1),
        ('{"a": "line\nbreak"}', 11),
        ('"open', 0),
        ("{} {}", 3),
        ("[01]", 2),
        ("[1\u00a0]", 2),
        ("\ufeff{}", 0),
        ("[" * 100_000, 0),
        ('{"a":' * 100_000, 0),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, offset: int) -> None:
    with pytest.raises(JsonError) as caught:
        root_span(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("[]", 0),
        ('{"a": 1,}', 8),
        ('{"a" 1}', 5),
        ('{"a": 1 "b": 2}', 8),
        ("{1: 2}", 1),
        ('{"a": 1', 7),
        ('{"a', 1),
        ('{"a": NaN}', 6),
        ("{} x", 3),
        ('{"a":' + "[" * 100_000, 5),
    ],
)
def test_walking_an_object_meets_the_same_faults(text: str, offset: int) -> None:
    with pytest.raises(JsonError) as caught:
        list(members(text, 0, whole=True))
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "offset"), [("{}", 0), ("[1,]", 3), ("[1 2]", 3), ("[1", 2), ("[,1]", 1), ("[] []", 3), ("[-Infinity]", 1)]
)
def test_walking_an_array_meets_the_same_faults(text: str, offset: int) -> None:
    with pytest.raises(JsonError) as caught:
        list(elements(text, 0, whole=True))
    assert caught.value.offset == offset


def test_members_before_a_fault_are_still_given() -> None:
    walked = members('{"a": 1, "b": oops}', 0)
    assert next(walked).key == "a"
    with pytest.raises(JsonError):
        next(walked)


def test_only_with_whole_must_the_value_be_all_there_is() -> None:
    assert [m.key for m in members('[{"a": 1}, 2]', 1)] == ["a"]
    assert value_start("  []") == 2


def test_an_error_names_what_is_wrong_and_where() -> None:
    assert str(JsonError("a colon is missing", 7)) == "a colon is missing (offset 7)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": "b', "unterminated string"),
        ('{"a": "b\n"}', "invalid control character"),
        ('{"a": "\\x"}', "invalid \\escape"),
        ('{"a" 1}', "expecting ':' delimiter"),
        ('{"a": }', "expecting value"),
    ],
)
def test_a_fault_is_named_in_words_that_end_a_sentence(text: str, message: str) -> None:
    with pytest.raises(JsonError) as caught:
        root_span(text)
    assert caught.value.message == message
