"""The names of many documents as arrays: which of them contain a text, and which of them a text may misspell.

Owns how they are looked up. Each is folded once; a question then costs about a millisecond for 100,000 names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_recall.ranking import typos
from memory_recall.ranking.lines import Lines
from memory_recall.text import tokens
from memory_recall.text.names import without_case

Numbers = NDArray[np.int64]

_LINE, _NOWHERE = b"\n", b"\xff"
"""What stands behind each name: a line break or, where names have those themselves, a byte that is in no UTF-8."""


class NameTable:
    """Names by number, of which neither cases differ nor a character and its parts (`without_case`)."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        text = "\n".join((*names, "")) if names else ""
        self._is_plain = text.isascii() and text.count("\n") == len(names)
        if self._is_plain:
            self._fold_at_once(text)
        else:
            self._fold_each(names)

    def _fold_at_once(self, text: str) -> None:
        """Fold names of ASCII: no list of them is made, which would leave holes in the memory of a process."""
        self._bytes = text.lower().encode("ascii")
        data = np.frombuffer(self._bytes, np.uint8)
        self._ends = np.flatnonzero(data == _LINE[0])
        self._lengths = np.diff(self._ends, prepend=-1) - 1
        changed = np.flatnonzero(data != np.frombuffer(text.encode("ascii"), np.uint8))
        self._differs = np.zeros(len(self._ends), bool)
        self._differs[np.searchsorted(self._ends, changed)] = True

    def _fold_each(self, names: Sequence[str]) -> None:
        folded = list(map(without_case, names))
        encoded = list(map(_encoded, folded))
        self._bytes = _NOWHERE.join((*encoded, b""))
        self._ends = _ends(encoded)
        self._lengths = np.fromiter(map(len, folded), np.int64, len(folded))
        self._differs = np.fromiter((name != own for name, own in zip(names, folded, strict=True)), bool, len(folded))

    def containing(self, text: str) -> Numbers:
        """The numbers of the names that contain a text, ascending. The empty text is in none."""
        wanted = _encoded(without_case(text))
        if not wanted or wanted not in self._bytes or (self._is_plain and _LINE in wanted):
            return np.zeros(0, np.int64)
        data = np.frombuffer(self._bytes, np.uint8)
        rarest = min(range(len(wanted)), key=lambda place: self._counts[wanted[place]])
        starts = np.flatnonzero(data == wanted[rarest]) - rarest
        starts = starts[(starts >= 0) & (starts <= len(data) - len(wanted))]
        for place, byte in enumerate(wanted):
            if place != rarest:
                starts = starts[data[starts + place] == byte]
        numbers = np.searchsorted(self._ends, starts)
        is_first = np.ones(len(numbers), bool)
        is_first[1:] = numbers[1:] != numbers[:-1]
        found: Numbers = numbers[is_first].astype(np.int64)
        return found

    def shortest(self, text: str, most: int, wanted: Collection[int]) -> tuple[list[int], int]:
        """The numbers of the shortest names that contain a text, and of the wanted ones that do, ascending.

        And how many others contain it.
        """
        numbers = self.containing(text)
        if len(numbers) <= most:
            return numbers.tolist(), 0
        lengths = self._lengths[numbers]
        is_chosen = np.isin(numbers, np.fromiter(wanted, np.int64, len(wanted)))
        is_chosen[np.lexsort((numbers, lengths))[:most]] = True
        chosen = numbers[is_chosen].tolist()
        return chosen, len(numbers) - len(chosen)

    def shares(self, numbers: Numbers, text: str) -> NDArray[np.float64]:
        """Which share of each of these names a text is that they contain; less where case or spelling differ."""
        wanted = without_case(text)
        differs = self._differs[numbers] if wanted == text else np.ones(len(numbers), bool)
        shares: NDArray[np.float64] = len(wanted) / (self._lengths[numbers] + differs)
        return shares

    def folded(self, number: int) -> str:
        """A name without its case."""
        begin = int(self._ends[number - 1]) + 1 if number else 0
        return self._bytes[begin : int(self._ends[number])].decode("utf-8", "surrogatepass")

    def misspelt(self, text: str) -> Iterator[tuple[int, int]]:
        """The numbers of the names that a text may be a misspelling of, and how many edits away each is."""
        wanted = tokens.normalise(text)
        numbers = self._normalised.resembling(wanted, typos.edits_allowed(len(wanted))).tolist()
        texts = [tokens.normalise(self.names[number]) for number in numbers]
        return ((numbers[index], edits) for index, edits in typos.distances(wanted, texts))

    @cached_property
    def _counts(self) -> list[int]:
        counts: list[int] = np.bincount(np.frombuffer(self._bytes, np.uint8), minlength=256).tolist()
        return counts

    @cached_property
    def _normalised(self) -> Lines:
        if self._is_plain:
            return Lines(np.frombuffer(self._bytes, np.uint8), self._ends.astype(np.uint32))
        encoded = [_encoded(tokens.normalise(name)) for name in self.names]
        data = np.frombuffer(b"\n".join((*encoded, b"")), np.uint8)
        return Lines(data, _ends(encoded).astype(np.uint32))


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _ends(encoded: Sequence[bytes]) -> Numbers:
    """Where each text ends of those that stand one behind the other, a byte between them."""
    return np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1
