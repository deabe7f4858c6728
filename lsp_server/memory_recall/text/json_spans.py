"""Where the values of a JSON text stand, at the speed of the C decoder.

Walks one level of an object or an array; what lies below a value is left to the decoder. Strict JSON: what this module
accepts, every other reader of the file accepts. Knows nothing of stores, lines or byte order marks (the caller cuts
those off); an offset is an index of code points into the text given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any

from memory_recall.records import NamedTuple

WHITESPACE = " \t\n\r"
"""All that JSON takes for white space: no form feed, no U+00A0."""

_SPACE = re.compile(r"[ \t\n\r]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_NEXT = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity', re.DOTALL)


class JsonError(Exception):
    """Text that is not JSON. `message` names what is wrong, `offset` is the code point where it is."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} (offset {offset})")
        self.message = message
        self.offset = offset


class Member(NamedTuple):
    """A member of an object: `text[key_start]` is the quote that opens its name, `text[value_start:value_end]` its
    value as written, `value` the value as parsed."""

    key: str
    key_start: int
    value_start: int
    value_end: int
    value: Any


class Element(NamedTuple):
    """An element of an array: `text[start:end]` as written, `value` as parsed."""

    start: int
    end: int
    value: Any


class _Constant(Exception):
    """NaN or an infinity written as a literal, which Python reads and JSON does not know."""


def _refuse_constant(literal: str) -> Any:
    raise _Constant(literal)


def _number(digits: str) -> int | float:
    """An integer; beyond the digits that Python converts (4,300), the double that every other reader makes of it."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


# Two decoders, because a `parse_int` of our own costs a call a number and is needed for next to no file.
_decode = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode
_decode_any_number = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_number).raw_decode


def value_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start`, and the offset behind it. Raises `JsonError`."""
    try:
        try:
            return _decode(text, start)
        except JSONDecodeError:
            raise
        except ValueError:
            return _decode_any_number(text, start)
    except JSONDecodeError as failure:
        raise JsonError(_sentence_part(failure.msg), failure.pos) from None
    except RecursionError:
        raise JsonError("nested too deeply to be read", start) from None
    except _Constant as literal:
        raise JsonError(f"{literal} is not JSON", _offset_of_constant(text, start)) from None


def string_end(text: str, start: int) -> int:
    """The offset behind the string whose opening quote stands at `start`. Raises `JsonError`."""
    return value_at(text, start)[1]


def skip_space(text: str, offset: int) -> int:
    """The offset of the first character from `offset` on that is no white space; the text's end where there is none."""
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def value_start(text: str) -> int:
    """Where the text's value begins. Raises `JsonError` where there is nothing but white space."""
    start = skip_space(text, 0)
    if start == len(text):
        raise JsonError("the text is empty", start)
    return start


def root_span(text: str) -> tuple[int, int]:
    """Where the text's one value begins and ends, the whole of it having been parsed. Raises `JsonError`.

    Whoever walks the value anyway saves this parse: `members(text, value_start(text), whole=True)`.
    """
    start = value_start(text)
    _, end = value_at(text, start)
    _check_end(text, end)
    return start, end


def members(text: str, start: int, *, whole: bool = False) -> Iterator[Member]:
    """The members of the object at `start`, in order, a repeated name as often as it stands there.

    With `whole`, the object is all that the text may hold. Raises `JsonError`, after the members before the fault.
    """
    if text[start : start + 1] != "{":
        raise JsonError("an object is missing", start)
    position = skip_space(text, start + 1)
    closed = text[position : position + 1] == "}"
    while not closed:
        if text[position : position + 1] != '"':
            raise JsonError("a name in double quotes is missing", position)
        key, key_end = value_at(text, position)
        colon = _COLON.match(text, key_end)
        if colon is None:
            raise JsonError("a colon is missing", skip_space(text, key_end))
        value, value_end = value_at(text, colon.end())
        yield Member(key, position, colon.end(), value_end, value)
        position, closed = _step(text, value_end, "}")
    if whole:
        _check_end(text, position + 1)


def elements(text: str, start: int, *, whole: bool = False) -> Iterator[Element]:
    """The elements of the array at `start`, in order.

    With `whole`, the array is all that the text may hold. Raises `JsonError`, after the elements before the fault.
    """
    if text[start : start + 1] != "[":
        raise JsonError("an array is missing", start)
    position = skip_space(text, start + 1)
    closed = text[position : position + 1] == "]"
    while not closed:
        value, end = value_at(text, position)
        yield Element(position, end, value)
        position, closed = _step(text, end, "]")
    if whole:
        _check_end(text, position + 1)


def _sentence_part(message: str) -> str:
    """The decoder's own words, without the capital and the dangling "starting at" that its place would follow."""
    return (message[:1].lower() + message[1:]).removesuffix(" at").removesuffix(" starting")


def _step(text: str, value_end: int, closing: str) -> tuple[int, bool]:
    """From the end of a value to the next one, or to the closing bracket (then True)."""
    comma = _NEXT.match(text, value_end)
    if comma is not None:
        return comma.end(), False
    position = skip_space(text, value_end)
    if text[position : position + 1] == closing:
        return position, True
    raise JsonError(f"a comma or {closing} is missing", position)


def _check_end(text: str, end: int) -> None:
    position = skip_space(text, end)
    if position != len(text):
        raise JsonError("the text goes on after its value has ended", position)


def _offset_of_constant(text: str, start: int) -> int:
    found = _STRING_OR_CONSTANT.finditer(text, start)
    return next((match.start() for match in found if not match.group().startswith('"')), start)
