"""A large nemp store held as its bytes: keys, and where the entries stand. An entry is made when somebody asks for it.

Answers what `nemp_shapes.StoreText` answers, in the same words. How the bytes are read is `nemp_large.py`'s, how a
change is taken over `nemp_changes.py`'s. Offsets count bytes, without byte order mark.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from memory_recall.records import NamedTuple
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.stores.nemp_shapes import Oddity, Shape
from memory_recall.text.positions import ByteLines


class Container(NamedTuple):
    """What holds the entries: a list or (`is_map`) an object, and the offsets of its brackets."""

    start: int
    close: int
    is_map: bool


class Found(NamedTuple):
    """Entries in a stretch of a store, in its order.

    `names` are the offsets of their names in a map (of a list: None). `plain` says 1 of a bare value. `linked` are the
    numbers of those that may say what they replace. `oddities` count bytes.
    """

    starts: array[int]
    ends: array[int]
    names: array[int] | None
    keys: list[str]
    plain: bytes
    linked: list[int]
    oddities: tuple[Oddity, ...]


class StoreBytes:
    """A store of which every byte was checked, and no entry is kept parsed.

    100,000 entries take 25 MB beside the file: their keys and numbers, and two or three offsets each.
    """

    def __init__(
        self,
        data: bytes,
        shape: Shape,
        container: Container,
        found: Found,
        *,
        is_ascii: bool,
        numbers: Numbers | None = None,
        lines: ByteLines | None = None,
    ) -> None:
        self.data = data
        self.shape: Shape = shape
        self.container = container
        self.found = found
        self.is_ascii = is_ascii
        self.oddities = found.oddities
        self._lines = lines or ByteLines(data, is_ascii=is_ascii)
        if numbers is not None:
            self.numbers = numbers

    @property
    def whole(self) -> StoreBytes:
        """All of the store."""
        return self

    @property
    def text(self) -> str:
        """The text of the file, made anew each time."""
        return self.data.decode("utf-8")

    @property
    def entries(self) -> Sequence[NempEntry]:
        """All memories, in order. Made when asked for: a circle would keep the bytes of stores that nobody uses."""
        return _Entries(self)

    @property
    def keys(self) -> Sequence[str]:
        """The key of each entry, in order."""
        return self.found.keys

    @cached_property
    def numbers(self) -> Numbers:
        """Which entries have a key."""
        return Numbers.of(self.found.keys)

    def named(self, key: str) -> tuple[NempEntry, ...]:
        """The entries of exactly that name."""
        return tuple(self.entries[number] for number in self.numbers.of_key(key))

    def repeated(self) -> Iterator[tuple[NempEntry, ...]]:
        """The entries that share their names with others, a name at a time."""
        return (tuple(self.entries[number] for number in numbers) for numbers in self.numbers.several.values())

    def linked(self) -> Iterator[NempEntry]:
        """The entries that may say in `links.supersedes` what they replace, in order; all that do, and few more."""
        return (self.entries[number] for number in self.found.linked)

    def lines(self) -> ByteLines:
        """The lines of the text."""
        return self._lines

    def key_place(self, entry: NempEntry) -> int:
        """Where an entry's key stands, as `lines` counts."""
        if self.found.names is not None:
            return self.found.names[entry.number]
        return self.found.starts[entry.number] + entry.bytes_before_key

    def offsets_of(self, number: int) -> tuple[int, int]:
        """Where in the text an entry's value begins, and its name in a map (else -1), in code points."""
        names = self.found.names
        start = self._lines.code_points(self.found.starts[number])
        return start, -1 if names is None else self._lines.code_points(names[number])

    def span_of(self, number: int) -> tuple[int, int]:
        """Where an entry's value begins and ends."""
        return self.found.starts[number], self.found.ends[number]

    def entry(self, number: int) -> NempEntry:
        """One entry, cut out of the bytes."""
        text = self.data[self.found.starts[number] : self.found.ends[number]].decode("utf-8")
        plain = bool(self.found.plain[number])
        return NempEntry(text, self.found.keys[number], (0, len(text)), number, plain=plain, home=self)


class Numbers(NamedTuple):
    """The number of the one entry, or of the last, that has a key; and all of them, where there are several."""

    last: Mapping[str, int]
    several: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, keys: Sequence[str]) -> Numbers:
        """The numbers of these keys, in the order of their first mention."""
        last = {key: number for number, key in enumerate(keys)}
        if len(last) == len(keys):
            return cls(last, {})
        numbers: dict[str, list[int]] = {}
        for number, key in enumerate(keys):
            numbers.setdefault(key, []).append(number)
        return cls(last, {key: found for key, found in numbers.items() if len(found) > 1})

    def of_key(self, key: str) -> Sequence[int]:
        """The numbers of the entries of that name."""
        if key in self.several:
            return self.several[key]
        return (self.last[key],) if key in self.last else ()


class _Entries(Sequence[NempEntry]):
    """The entries of a store, each made when it is taken."""

    def __init__(self, store: StoreBytes) -> None:
        self._store = store

    def __len__(self) -> int:
        return len(self._store.found.keys)

    @overload
    def __getitem__(self, number: int) -> NempEntry: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[NempEntry, ...]: ...
    def __getitem__(self, number: int | slice) -> NempEntry | tuple[NempEntry, ...]:
        everyone = range(len(self))
        if isinstance(number, slice):
            return tuple(self._store.entry(each) for each in everyone[number])
        return self._store.entry(everyone[number])
