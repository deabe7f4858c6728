"""Lines and columns. The one place that knows what ends a line and how editors count characters.

Only `\\n`, `\\r\\n` and `\\r` end a line: never U+2028, form feed and the others that `str.splitlines` knows. Inside
the product an offset is an index of code points into a text; a protocol counts UTF-8, UTF-16 or UTF-32 units into a
line.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import cached_property
from typing import Literal, get_args

from memory_recall.records import NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
DEFAULT_ENCODING: Encoding = "utf-16"
"""What a protocol client counts that says nothing."""

_LINE_END = re.compile("\r\n|\n|\r")
_LINE_FEED_ONLY = re.compile("\n")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))

_MARKED = 1 << 14
"""Bytes between two places at which `ByteLines` remembers where it is: so many are counted anew for an answer."""

_FEW = 16
"""Up to so many offsets, counting line ends anew for each is faster than finding all lines of the text once."""


class LineIndex:
    """The lines of one text.

    All of them are found once, in a pass of C speed, and asked for in logarithmic time. Whoever wants only the line and
    column of a few offsets of a large text does not wait for that.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._counted = 0

    @cached_property
    def _starts(self) -> list[int]:
        ends = _LINE_END if "\r" in self.text else _LINE_FEED_ONLY
        return [0, *(match.end() for match in ends.finditer(self.text))]

    def __len__(self) -> int:
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """The zero-based line that holds a code point offset (clamped to the text)."""
        return bisect_right(self._starts, max(0, offset)) - 1

    def start_of(self, line: int) -> int:
        """The offset at which a zero-based line begins; the end of the text for a line past it."""
        if line < 0:
            return 0
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def content(self, line: int) -> str:
        """A zero-based line's characters, without its line end; empty past the end of the text."""
        if not 0 <= line < len(self._starts):
            return ""
        start, stop = self._starts[line], self.start_of(line + 1)
        return self.text[start:stop].rstrip("\r\n") if line + 1 < len(self._starts) else self.text[start:stop]

    def line_column(self, offset: int) -> tuple[int, int]:
        """The one-based line and column (in code points) of an offset (clamped to the text), as people and `Problem`
        count them."""
        offset = min(max(0, offset), len(self.text))
        if self._counted < _FEW and "_starts" not in self.__dict__:
            self._counted += 1
            return _counted_line_column(self.text, offset)
        line = self.line_of(offset)
        return line + 1, offset - self._starts[line] + 1

    def offset(self, line: int, units: int, encoding: Encoding) -> int:
        """The code point offset of a protocol position; clamped to the line, and to the text."""
        if line >= len(self._starts):
            return len(self.text)
        return self.start_of(line) + column_from_units(self.content(line), units, encoding)

    def position(self, offset: int, encoding: Encoding) -> tuple[int, int]:
        """The protocol position (zero-based line, units) of a code point offset."""
        line = self.line_of(min(offset, len(self.text)))
        return line, units_from_column(self.content(line), offset - self._starts[line], encoding)


def _counted_line_column(text: str, offset: int) -> tuple[int, int]:
    """`LineIndex.line_column` of one offset within the text, without an index."""
    # Between the two characters of a line end the line has not ended yet.
    stop = offset - 1 if text[max(0, offset - 1) : offset + 1] == "\r\n" else offset
    lines, start = text.count("\n", 0, stop), text.rfind("\n", 0, stop) + 1
    if text.find("\r", 0, stop) >= 0:
        lines += text.count("\r", 0, stop) - text.count("\r\n", 0, stop)
        start = max(start, text.rfind("\r", 0, stop) + 1)
    return lines + 1, offset - start + 1


class _Marks(NamedTuple):
    """For every so many bytes: the code points and the line ends before, and where the line begins that is there."""

    points: array[int]
    ended: array[int]
    starts: array[int]


class ByteLines:
    """The lines of a large text that is held as its bytes (UTF-8, without byte order mark). Offsets count bytes.

    Counts no further than it is asked, and no stretch twice. `is_ascii` may be said only of a text without other bytes.
    Several threads may ask: what is known is replaced whole.
    """

    def __init__(self, data: bytes, *, is_ascii: bool, marked: int = _MARKED) -> None:
        self._data = data
        self._is_ascii = is_ascii
        self._marked = marked
        self._marks = _Marks(array("Q", [0]), array("Q", [0]), array("Q", [0]))

    def changed(self, data: bytes, unchanged: int, *, is_ascii: bool) -> ByteLines:
        """The lines of a text that begins with the same `unchanged` bytes; what is known of those is kept."""
        lines = ByteLines(data, is_ascii=is_ascii, marked=self._marked)
        kept = max(1, unchanged // self._marked)
        lines._marks = _Marks(*(values[:kept] for values in self._marks))
        return lines

    def code_points(self, offset: int) -> int:
        """How many code points stand before an offset."""
        if self._is_ascii:
            return offset
        number, marks = self._reach(offset)
        return marks.points[number] + _begun_in(self._data[self._mark(number) : offset])

    def line_column(self, offset: int) -> tuple[int, int]:
        """The one-based line and column (in code points) of an offset, as `LineIndex` has them."""
        offset = min(max(0, offset), len(self._data))
        stop = offset - 1 if self._data[max(0, offset - 1) : offset + 1] == b"\r\n" else offset
        number, marks = self._reach(stop)
        at = self._mark(number)
        ended, last = line_ends_in(self._data[at:stop])
        start = at + last + 1 if ended else marks.starts[number]
        return marks.ended[number] + ended + 1, self.code_points(offset) - self.code_points(start) + 1

    def _reach(self, offset: int) -> tuple[int, _Marks]:
        """The number of the last mark before an offset, and the marks up to it."""
        wanted, marks = offset // self._marked, self._marks
        if wanted < len(marks.points):
            return wanted, marks
        marks = _Marks(*(values[:] for values in marks))
        for number in range(len(marks.points), wanted + 1):
            at = self._mark(number - 1)
            piece = self._data[at : self._mark(number)]
            ended, last = line_ends_in(piece)
            marks.starts.append(at + last + 1 if ended else marks.starts[-1])
            marks.ended.append(marks.ended[-1] + ended)
            marks.points.append(marks.points[-1] + (len(piece) if self._is_ascii else _begun_in(piece)))
        self._marks = marks
        return wanted, marks

    def _mark(self, number: int) -> int:
        """Where a mark stands: never between the two characters of a line end."""
        at = number * self._marked
        return at - 1 if at and self._data[at - 1 : at + 1] == b"\r\n" else at


def _begun_in(piece: bytes) -> int:
    """How many code points have their first byte in a piece of UTF-8."""
    return len(piece.translate(None, _CONTINUATION_BYTES))


def line_ends_in(piece: bytes) -> tuple[int, int]:
    """How many lines end in a piece, and where in it the last end ends."""
    ended, last = piece.count(b"\n"), piece.rfind(b"\n")
    if b"\r" in piece:
        ended += piece.count(b"\r") - piece.count(b"\r\n")
        last = max(last, piece.rfind(b"\r"))
    return ended, last


def units_from_column(line: str, column: int, encoding: Encoding) -> int:
    """How many units of the encoding the first `column` code points of a line take."""
    prefix = line[: max(0, column)]
    if encoding == "utf-32" or prefix.isascii():
        return len(prefix)
    if encoding == "utf-8":
        return len(prefix.encode("utf-8", "surrogatepass"))
    return len(prefix) + len(_ASTRAL.findall(prefix))


def column_from_units(line: str, units: int, encoding: Encoding) -> int:
    """How many code points of a line lie before `units` units of the encoding.

    A position inside a character counts as before it; one past the line's end, as its end.
    """
    units = max(0, units)
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    return _column_from_bytes(line, units) if encoding == "utf-8" else _column_from_utf16(line, units)


def _column_from_bytes(line: str, units: int) -> int:
    encoded = line.encode("utf-8", "surrogatepass")
    if units >= len(encoded):
        return len(line)
    # The byte at `units` belongs to the last character that begins at or before it.
    return len(encoded[: units + 1].translate(None, _CONTINUATION_BYTES)) - 1


def _column_from_utf16(line: str, units: int) -> int:
    pairs = 0
    for astral in _ASTRAL.finditer(line):
        begins = astral.start() + pairs
        if begins + 1 >= units:
            return min(units - pairs, astral.start())
        pairs += 1
    return min(units - pairs, len(line))
