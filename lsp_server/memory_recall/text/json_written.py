"""What a JSON value looks like where it is written: numbers digit for digit, which parsing them would lose.

`1.50`, `1E5` and `1e999` are 1.5, 100000.0 and infinity to whoever parses them. Here they are text to show, and values
that JSON can say again. Without recursion, so that no nesting is too deep. Knows nothing of stores.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from memory_recall.text.json_values import dumps

DEEPEST = 100
"""Values nested deeper become their text: whoever prints them again must not run out of stack."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t\r\n]+|[,:]', re.DOTALL)


def as_written(text: str, start: int, end: int) -> str:
    """The JSON value at `text[start:end]` on one line, spaced as `json.dumps` does it, its strings without escapes."""
    return _TOKEN.sub(_spaced, text[start:end])


def _spaced(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] == '"':
        return token if token.isascii() and "\\" not in token else dumps(json.loads(token, strict=False))
    return f"{token} " if token in ",:" else ""


def is_sayable(value: Any) -> bool:
    """Whether JSON can say a parsed value again: no number beyond what a double holds, not nested too deeply."""
    kind = type(value)  # the parser makes no others, and asking for the very type costs half of what isinstance does
    if kind is float:
        return math.isfinite(value)
    level = [value] if kind is dict or kind is list else []
    for _ in range(DEEPEST):
        if not level:
            return True
        below: list[Any] = []
        for held in level:
            for item in held.values() if type(held) is dict else held:
                kind = type(item)
                if kind is dict or kind is list:
                    if item:
                        below.append(item)
                elif kind is float and not math.isfinite(item):
                    return False
        level = below
    return not level


def sayable(value: Any, text: str, start: int, end: int) -> Any:
    """The value parsed from `text[start:end]` as JSON can say it again.

    A number beyond what a double holds becomes the text of its digits, and a value that is nested too deeply its text
    as written; all others come back as they are.
    """
    if is_sayable(value):
        return value
    if isinstance(value, dict | list):
        try:
            finite, _ = _parse_finite(text, start)
        except RecursionError:
            return text[start:end]
        if is_sayable(finite):
            return finite
    return text[start:end]


def _finite(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _whole(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts
        return digits


_parse_finite = json.JSONDecoder(parse_float=_finite, parse_int=_whole).raw_decode
