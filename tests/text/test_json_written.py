"""JSON values as they are written: the same values on one line, and none that JSON cannot say again."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from json_documents import Document, documents

from memory_recall.text.json_spans import root_span, value_at
from memory_recall.text.json_written import DEEPEST, as_written, is_sayable, sayable


@settings(derandomize=True, deadline=None, max_examples=60)
@given(documents())
def test_what_is_written_is_the_same_value_on_one_line(document: Document) -> None:
    start, end = root_span(document.text)
    written = as_written(document.text, start, end)
    assert "\n" not in written
    assert repr(value_at(written, 0)[0]) == repr(value_at(document.text, start)[0])
    said = sayable(value_at(document.text, start)[0], document.text, start, end)
    json.dumps(said, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"a" :1.50,\t"b":[ 1E5,-0 , 1e999 ],"c": { }}', '{"a": 1.50, "b": [1E5, -0, 1e999], "c": {}}'),
        ('"caf\\u00e9, \\"x\\": \\ud83d\\ude00"', '"café, \\"x\\": 😀"'),
        ('["é  ,:"]', '["é  ,:"]'),
        ('"\\u001b[31m\\u202e"', '"\\u001b[31m\\u202e"'),
    ],
)
def test_numbers_stay_and_spaces_and_escapes_are_made_even(text: str, written: str) -> None:
    assert as_written(text, 0, len(text)) == written


@pytest.mark.parametrize("value", [None, True, 10**400, 1.5, "Infinity", [], {"a": [[], {}, 1.0]}])
def test_what_json_can_say_is_left_as_it_is(value: Any) -> None:
    assert is_sayable(value)
    assert sayable(value, "", 0, 0) is value


@pytest.mark.parametrize("value", [math.inf, [-math.inf], {"a": {"b": [math.inf]}}])
def test_what_json_cannot_say_is_seen_at_any_depth(value: Any) -> None:
    assert not is_sayable(value)


@pytest.mark.parametrize("inner", ["", "1e999"])
def test_what_is_nested_too_deeply_is_its_text(inner: str) -> None:
    for depth, is_text in ((DEEPEST - 1, False), (DEEPEST + 2, True)):
        text = "[" * depth + inner + "]" * depth
        said = sayable(value_at(text, 0)[0], text, 0, len(text))
        assert (said == text) == is_text
