"""Where the entries of a sound nemp store begin: what finds one of them by its key while the others stay unread.

Knows the bytes of a store and nothing of disks or caches. An outline vouches for the bytes that it was made from: they
are a store without any fault, in which no key is repeated. So whoever finds an entry of a key has found all of them.
Offsets count bytes, without byte order mark.
"""

from __future__ import annotations

import re
import sys
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from memory_recall.records import NamedTuple
from memory_recall.stores.nemp_shapes import Shape, has_entry_fields, offsets_of_successions
from memory_recall.text.json_spans import WHITESPACE, JsonError, value_at
from memory_recall.text.positions import line_ends_in

_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_SPACE = WHITESPACE.encode("ascii")
_LOOKED_BACK = 64
"""Bytes in which the name and the colon before a key must stand for it to be seen as one."""

OFFSET = "I"
"""The type of an offset in an array: 32 bits, which hold any offset in the largest store that is read."""

_GROUP = 128
"""Entries that are counted and checksummed together: after a change it is done anew for one group, not for all."""


class Astray(Exception):
    """An outline and bytes that do not belong together."""


class Cut(NamedTuple):
    """One entry: `text` is its value as written, which is `data[start:end]`; `plain` a bare value in a map."""

    key: str
    text: str
    start: int
    end: int
    plain: bool


class Outline(NamedTuple):
    """The beginnings of a store's entries, those of their names in a map, and the end of the last.

    `linked` are the numbers of all entries that say what they supersede, and of few more. With `spelt_plainly` every
    key stands in the bytes as it is, so that one which is not found is not there. `checksums` and `lines` (how many
    end) are those of the parts of the store: what stands before the entries, each group of them, what stands behind.
    """

    shape: Shape
    begins: array[int]
    stop: int
    linked: Sequence[int]
    is_ascii: bool
    spelt_plainly: bool
    checksums: Sequence[int] = ()
    lines: Sequence[int] = ()

    @property
    def is_map(self) -> bool:
        """Whether entries stand under names."""
        return self.shape in ("map", "wrapped map")

    def surveyed(self, data: bytes) -> Outline:
        """The outline with checksums and lines of its bytes."""
        return self._surveyed(data, [], range(self._parts))

    @property
    def is_whole(self) -> bool:
        """Whether it has what it should have for each of its entries and parts."""
        counted = len(self.checksums) == len(self.lines) == self._parts
        return bool(self.begins) and counted and all(number < len(self.begins) for number in self.linked)

    def fits(self, data: bytes) -> bool:
        """Whether these are the bytes that it was made from."""
        view = memoryview(data)
        return all(
            zlib.crc32(view[start:end]) == checksum
            for (start, end), checksum in zip(pairwise(self._edges(data)), self.checksums, strict=True)
        )

    def line_column(self, data: bytes, offset: int) -> tuple[int, int]:
        """The one-based line and column (in code points) of an offset within the entries, as editors count."""
        part = 1 + (bisect_right(self.begins, offset) - 1) // _GROUP
        start = self._edges(data)[part]
        line = sum(self.lines[:part]) + line_ends_in(data[start:offset])[0]
        feed = data.rfind(b"\n", 0, offset)
        before = max(feed, data.rfind(b"\r", max(0, feed), offset)) + 1
        return line + 1, len(data[before:offset].decode("utf-8")) + 1

    @property
    def _parts(self) -> int:
        return 2 + -(-len(self.begins) // _GROUP)

    def _edges(self, data: bytes) -> list[int]:
        """Where the parts of the store begin, and where the last ends. Never between a line's two ends."""
        return [0, *self.begins[::_GROUP], self.stop, len(data)]

    def _surveyed(self, data: bytes, known: Sequence[tuple[int, int]], parts: Iterable[int]) -> Outline:
        """The outline with checksums and lines of some parts looked for, those of the others known."""
        edges = self._edges(data)
        found = dict(enumerate(known))
        for part in parts:
            piece = data[edges[part] : edges[part + 1]]
            found[part] = zlib.crc32(piece), line_ends_in(piece)[0]
        checksums, lines = zip(*(found[part] for part in range(self._parts)), strict=True)
        return self._replace(checksums=array(OFFSET, checksums), lines=array(OFFSET, lines))

    def named(self, data: bytes, key: str) -> Iterator[int]:
        """The numbers of entries that may have a key: of the one that has it, where its key is spelt plainly."""
        try:
            written = f'"{key}"'.encode()
        except UnicodeEncodeError:
            return
        begins, at = self.begins, data.find(written, self.begins[0], self.stop)
        while at >= 0:
            if is_key(data, at):
                yield bisect_right(begins, at) - 1
            elif self.is_map and begins[number := bisect_right(begins, at) - 1] == at:
                yield number
            at = data.find(written, at + 1, self.stop)

    def cut(self, data: bytes, number: int) -> Cut:
        """One entry, by its number. Raises `Astray` where none stands."""
        begins = self.begins
        is_last = number == len(begins) - 1
        try:
            text = data[begins[number] : self.stop if is_last else begins[number + 1]].decode("utf-8")
            name, at = self._name(text)
            fields, until = value_at(text, at)
        except (JsonError, UnicodeDecodeError, IndexError) as failure:
            raise Astray from failure
        own = fields.get("key") if isinstance(fields, dict) else None
        key = own if isinstance(own, str) and own else name
        if not key or (text[until:] if is_last else not _COMMA.fullmatch(text, until)):
            raise Astray
        start = begins[number] + len(text[:at].encode("utf-8"))
        value = text[at:until]
        plain = not isinstance(fields, dict) or not has_entry_fields(fields)
        return Cut(key, value, start, start + len(value.encode("utf-8")), plain)

    def _name(self, text: str) -> tuple[str | None, int]:
        """What an entry is called by the map around it, and where its value begins."""
        if not self.is_map:
            return None, 0
        name, end = value_at(text, 0)
        colon = _COLON.match(text, end)
        if colon is None or not isinstance(name, str):
            raise Astray
        return name, colon.end()

    def edited(self, values: Mapping[int, tuple[str, int]], data: bytes) -> Outline:
        """The outline after values of some entries, by number, were replaced by a text that is longer by so much.

        `data` are the bytes since. No replacement may change a key, or how it is spelt.
        """
        begins, linked = array(OFFSET), set(self.linked)
        position = moved = 0
        for number, (written, growth) in sorted(values.items()):
            begins += _moved(self.begins[position : number + 1], moved)
            position, moved = number + 1, moved + growth
            if offsets_of_successions(written):
                linked.add(number)
        begins += _moved(self.begins[position:], moved)
        is_ascii = self.is_ascii and all(written.isascii() for written, _ in values.values())
        edited = self._replace(begins=begins, stop=self.stop + moved, linked=sorted(linked), is_ascii=is_ascii)
        known = list(zip(self.checksums, self.lines, strict=True))
        return edited._surveyed(data, known, {1 + number // _GROUP for number in values})


def is_key(data: bytes, at: int) -> bool:
    """Whether a string is plainly the value of a member `key`."""
    before = data[max(0, at - _LOOKED_BACK) : at].rstrip(_SPACE)
    return before.endswith(b":") and before[:-1].rstrip(_SPACE).endswith(b'"key"')


def _moved(offsets: array[int], by: int) -> array[int]:
    """Offsets, each moved as far: as one number, whose digits never run over into one another."""
    if not by or not offsets:
        return offsets
    digits = offsets.tobytes()
    steps = abs(by).to_bytes(offsets.itemsize, sys.byteorder) * len(offsets)
    whole, step = int.from_bytes(digits, sys.byteorder), int.from_bytes(steps, sys.byteorder)
    moved = array(OFFSET)
    moved.frombytes((whole + step if by > 0 else whole - step).to_bytes(len(digits), sys.byteorder))
    return moved
