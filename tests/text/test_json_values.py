"""Whatever a store held, what goes out is JSON in UTF-8."""

from __future__ import annotations

import json
import math
import re
from datetime import date
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text.json_values import as_text, dumps
from memory_recall.text.untrusted import hidden

every = settings(derandomize=True, deadline=None, max_examples=200)
STRINGS = st.text(st.characters(codec=None), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | STRINGS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=20,
)
INDENTS = st.sampled_from([None, 0, 2, 4, "\t"])


def refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


def read(text: str) -> Any:
    return json.loads(text.encode("utf-8"), parse_constant=refuse)


def finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {replaced(name): finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return replaced(value) if isinstance(value, str) else value


def replaced(text: str) -> str:
    """Half a pair of surrogates is no character; strict readers of JSON refuse it."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


@every
@given(VALUES, INDENTS)
def test_every_value_becomes_json_that_reads_back(value: Any, indent: int | str | None) -> None:
    assert read(dumps(value, indent=indent)) == finite(value)


@every
@given(VALUES, INDENTS)
def test_numbers_json_cannot_say_change_nothing_else_in_the_text(value: Any, indent: int | str | None) -> None:
    """The writer for odd values and the standard one must not be told apart."""
    assert dumps([finite(value), math.nan], indent=indent) == dumps([finite(value), None], indent=indent)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "null"),
        ({"a": [math.inf, -math.inf, 1.5]}, '{"a": [null, null, 1.5]}'),
        ("\ud800", '"\ufffd"'),
        ({"\udfff": math.nan}, '{"\ufffd": null}'),
        ("a\x9b31m\u202eb\x7f\u200b", '"a\\u009b31m\\u202eb\\u007f\\u200b"'),
        ("\U000e0041", '"\\udb40\\udc41"'),
        ("部署 é 😀", '"部署 é 😀"'),
        ("\u2028", '"\\u2028"'),
        (10**5000, "null"),
        ([10**5000, 2], "[null, 2]"),
        ({2: 1, None: math.nan, True: 3, 1.5: 4}, '{"2": 1, "null": null, "true": 3, "1.5": 4}'),
        ({math.nan: 1}, '{"null": 1}'),
        ({("a", 1): 2}, "{\"('a', 1)\": 2}"),
        ({"day": date(2026, 11, 30)}, '{"day": "2026-11-30"}'),
        ([PurePosixPath("/a"), math.nan], '["/a", null]'),
        ({"set": {1}}, '{"set": [1]}'),
        ((1, (2, date(2026, 1, 1))), '[1, [2, "2026-01-01"]]'),
        ([{}, [], math.nan], "[{}, [], null]"),
        ("\x00\x1f\x7f", '"\\u0000\\u001f\\u007f"'),
    ],
    ids=lambda part: part[:24] if isinstance(part, str) else "",
)
def test_odd_values(value: Any, text: str) -> None:
    read(dumps(value))
    assert dumps(value) == text


@pytest.mark.parametrize("innermost", [1, math.nan], ids=["plain", "odd"])
def test_no_nesting_is_too_deep(innermost: float) -> None:
    value: Any = innermost
    for _ in range(10_000):
        value = [{"in": value}]
    written = dumps(value)
    assert written.count("[") == written.count("}") == 10_000
    while isinstance(value, list):  # taken apart by hand: freeing it at once is another recursion
        value = value[0]["in"]


def test_a_value_that_holds_itself_ends() -> None:
    ring: dict[str, Any] = {"name": "ring"}
    ring["self"] = [ring]
    assert read(dumps(ring)) == {"name": "ring", "self": [None]}


def test_a_value_used_twice_is_written_twice() -> None:
    shared = [math.nan]
    assert read(dumps([shared, shared])) == [[None], [None]]


def test_the_text_of_a_value_is_itself_or_its_json() -> None:
    assert as_text("two\nlines") == "two\nlines"
    assert as_text(5) == "5"
    assert as_text(None) == "null"
    assert as_text({"checkout-v2": True, "名": [1.5]}) == '{"checkout-v2": true, "名": [1.5]}'


@every
@given(STRINGS)
def test_exact_text_keeps_every_character(text: str) -> None:
    assert json.loads(dumps(text, exact=True)) == text.encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le", "surrogatepass"
    )


@every
@given(VALUES)
def test_nothing_in_json_moves_a_cursor(value: Any) -> None:
    assert not hidden().search(dumps(value))
