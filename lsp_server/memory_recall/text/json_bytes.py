"""Where the values of a large JSON text stand in its bytes, found without building them.

msgspec skips over a value ten times as fast as Python's decoder makes it. Importing it takes 25 ms, so this module is
for texts of megabytes. It accepts less than `json_spans.py`, never more, and says `Unsure` of everything else; who asks
then walks the text there, which knows what is wrong, and where. Offsets count bytes; no byte order mark.
"""

from __future__ import annotations

import codecs
import json
import re
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import Any, NamedTuple

import msgspec

from memory_recall.text.json_spans import JsonError, value_at

_SPACE = re.compile(rb"[ \t\r\n]*")
_COMMA = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_NAME = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_COLON = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
_ESCAPE_IN_NAME = re.compile(rb'\\.[^"\\]*"[ \t\r\n]*:', re.DOTALL)
"""The last escape of a name, and what may look like one inside a string: more than there are, never less."""

_CHUNK = 512
_PIECE = 1 << 20
_DEEPEST = 800
"""Brackets that may stand inside one another; Python's decoder gives up at 1,000 less the depth it is called from."""


class Unsure(Exception):
    """A text that is not JSON, or JSON of a kind for which nothing is promised here."""


class Spans(NamedTuple):
    """Where the items of an array or the members of an object stand: `data[starts[i]:ends[i]]` is a value.

    `names` are the offsets of the members' names (of an array: None), `close` that of the closing bracket.
    """

    starts: array[int]
    ends: array[int]
    names: array[int] | None
    close: int


def decode(data: bytes | msgspec.Raw, kind: Any) -> Any:
    """msgspec's decoding of a whole text to a type. Raises `Unsure`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as failure:
        raise Unsure from failure


def check_utf8(data: bytes) -> None:
    """Raise `Unsure` unless all of it is UTF-8, which skipping does not look at."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE], final=start + _PIECE >= len(data))
    except UnicodeDecodeError as failure:
        raise Unsure from failure


def skip_space(data: bytes, offset: int) -> int:
    """The first offset from here on at which no white space stands."""
    match = _SPACE.match(data, offset)
    return match.end() if match else offset


def element_spans(data: bytes, start: int, items: Sequence[msgspec.Raw]) -> Spans:
    """The elements of the array that begins at `start`, of which `items` are the texts.

    Held against the bytes throughout, so that it does not matter where the items came from. Raises `Unsure`.
    """
    lengths = list(map(len, items))
    starts = array("Q")
    position = skip_space(data, start + 1)
    first = _COMMA.match(data, position + lengths[0]) if lengths else None
    gap = first.group() if first else b","
    for begin in range(0, len(items), _CHUNK):
        chunk, sizes = items[begin : begin + _CHUNK], lengths[begin : begin + _CHUNK]
        if begin:
            position = _behind(_COMMA, data, position)
        if data.startswith(gap.join(chunk), position):
            starts.extend(accumulate([size + len(gap) for size in sizes[:-1]], initial=position))
            position = starts[-1] + sizes[-1]
            continue
        for number, item in enumerate(chunk):
            position = _behind(_COMMA, data, position) if number else position
            if not data.startswith(bytes(item), position):
                raise Unsure
            starts.append(position)
            position += len(item)
    close = skip_space(data, position)
    if data[close : close + 1] != b"]":
        raise Unsure
    return Spans(starts, array("Q", map(add, starts, lengths)), None, close)


def member_spans(data: bytes, start: int, found: Mapping[str, msgspec.Raw]) -> Spans:
    """The members of the object that begins at `start`, of which `found` has names and texts.

    An object that repeats a name has more members than that, and so is refused. Raises `Unsure`.
    """
    starts, ends, names = array("Q"), array("Q"), array("Q")
    position = skip_space(data, start + 1)
    colon, gap = b": ", b", "
    startswith = data.startswith
    for number, (name, value) in enumerate(found.items()):
        if number:
            if data.startswith(gap, position) and data[position + len(gap) : position + len(gap) + 1] == b'"':
                position += len(gap)
            else:
                behind = _behind(_COMMA, data, position)
                gap, position = data[position:behind], behind
        names.append(position)
        spelt = name.encode("utf-8")
        if b'"' not in spelt and b"\\" not in spelt and startswith(b'"%b"%b%b' % (spelt, colon, value), position):
            position += len(spelt) + 2 + len(colon)
        else:
            position = _behind_name(data, position, name)
            behind = _behind(_COLON, data, position)
            colon, position = data[position:behind], behind
            if not startswith(bytes(value), position):
                raise Unsure
        starts.append(position)
        position += len(value)
        ends.append(position)
    close = skip_space(data, position)
    if data[close : close + 1] != b"}":
        raise Unsure
    return Spans(starts, ends, names, close)


def _behind_name(data: bytes, position: int, name: str) -> int:
    token = _NAME.match(data, position)
    if token is None or json.loads(token.group()) != name:
        raise Unsure
    return token.end()


def _behind(pattern: re.Pattern[bytes], data: bytes, position: int) -> int:
    match = pattern.match(data, position)
    if match is None:
        raise Unsure
    return match.end()


def escaped_names(data: bytes, start: int, end: int) -> list[int]:
    """Where in a stretch a member's name may be spelt with an escape, which msgspec does not take for what it means."""
    if data.find(b"\\", start, end) < 0:
        return []
    return [match.start() for match in _ESCAPE_IN_NAME.finditer(data, start, end)]


def parsed(data: bytes, start: int, end: int) -> Any:
    """One value as Python's decoder has it. Raises `Unsure`."""
    try:
        return value_at(data[start:end].decode("utf-8"), 0)[0]
    except (JsonError, UnicodeDecodeError) as failure:
        raise Unsure from failure


def check_depth(data: bytes, spans: Spans) -> None:
    """Raise `Unsure` where a value is nested more deeply than Python's decoder reads, which msgspec may do."""
    for start, end in zip(spans.starts, spans.ends, strict=True):
        if end - start > 2 * _DEEPEST and data.count(b"[", start, end) + data.count(b"{", start, end) > _DEEPEST:
            parsed(data, start, end)
