"""JSON out of values that came from anywhere: always valid, always encodable as UTF-8, harmless to a terminal."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memory_recall.text.untrusted import hidden, is_plain

_LONE_SURROGATE = "[\ud800-\udfff]"


def dumps(value: Any, *, indent: int | str | None = None, exact: bool = False) -> str:
    """JSON text with characters as they are, whatever the value holds and however deep it is nested.

    Characters that a terminal would act upon or hide (C1 controls, bidi controls, zero-width ones) are escaped, which
    to a reader of JSON is the same. A number that JSON cannot say (infinity, not-a-number) and a value that contains
    itself become null, something that JSON has no type for its text, and half a surrogate pair, which strict readers
    refuse even as an escape, U+FFFD. With `exact`, for a text that goes into a file, characters stay what they are.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        text = "".join(_pieces(value, " " * indent if isinstance(indent, int) else indent))
    if exact:
        return text if text.isascii() else re.sub(_LONE_SURROGATE, lambda match: f"\\u{ord(match.group()):04x}", text)
    return text if is_plain(text) else hidden().sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:
        return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"


def as_text(value: Any) -> str:
    """A memory's value as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


class _Open:
    """An object or an array of which some members are still to be written."""

    __slots__ = ("closing", "identity", "items", "written")

    def __init__(self, container: Any) -> None:
        self.identity = id(container)
        self.written = 0
        self.items: Iterator[tuple[str, Any]]
        if isinstance(container, Mapping):
            self.closing = "}"
            self.items = ((f"{_string(_name(key))}: ", item) for key, item in container.items())
        else:
            self.closing = "]"
            self.items = (("", item) for item in container)


def _pieces(value: Any, unit: str | None) -> Iterator[str]:
    """What `json.dumps` writes, for what it refuses to write. Without recursion, so that no nesting is too deep."""
    opened: list[_Open] = []
    above: set[int] = set()
    label = ""
    while True:
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            yield label + _scalar(value)
        elif id(value) in above:
            yield f"{label}null"
        else:
            opened.append(_Open(value))
            above.add(id(value))
            yield label + ("{" if opened[-1].closing == "}" else "[")
        while opened and (item := next(opened[-1].items, None)) is None:
            closed = opened.pop()
            above.discard(closed.identity)
            yield (_new_line(unit, len(opened)) if closed.written else "") + closed.closing
        if not opened:
            return
        yield ("" if not opened[-1].written else "," if unit is not None else ", ") + _new_line(unit, len(opened))
        opened[-1].written += 1
        label, value = item  # type: ignore[misc]  # the loop above leaves no None


def _new_line(unit: str | None, depth: int) -> str:
    return "" if unit is None else "\n" + unit * depth


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _name(key: Any) -> str:
    return key if isinstance(key, str) else _scalar(key).strip('"')


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "null"
    try:
        return json.dumps(value) if isinstance(value, bool | int | float) else _string(str(value))
    except ValueError:  # more digits than Python writes, or any reader holds
        return "null"
