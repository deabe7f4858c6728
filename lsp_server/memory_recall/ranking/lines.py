"""Sorted texts in one array, each with a newline behind it: where one stands, and which resemble a word.

Owns how texts are looked up in bytes. Knows no segment and no question.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BITS = 63
_ONE = np.uint64(1)
_NEWLINE = _ONE << np.uint64(10)
_BIT_OF = _ONE << (np.arange(256, dtype=np.uint64) & np.uint64(_BITS))
_REPEATABLE = "abcdefghijklmnopqrstuvwxyz"
_CONTINUES = 0xC0, 0x80
"""Of a byte of UTF-8 within a character: the bits that are looked at, and what they are."""


class _Signatures(NamedTuple):
    """For each text its length in code points, and which letters it has: a bit each (some share one).

    `twice` are those of a to z that it has more than once.
    """

    lengths: NDArray[np.int64]
    letters: NDArray[np.uint64]
    twice: NDArray[np.uint64]


class Lines:
    """Texts by number, in the order of their bytes, which is that of their characters."""

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.uint32]) -> None:
        self._data = data
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[str]:
        yield from self._data.tobytes().decode("utf-8").split("\n")[:-1]

    def __getitem__(self, number: int) -> str:
        return self._bytes(number).decode("utf-8")

    def find(self, text: str) -> int | None:
        """The number of a text."""
        wanted = text.encode("utf-8", "replace")
        low, high = 0, len(self._ends)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self._ends) and self._bytes(low) == wanted else None

    def resembling(self, word: str, edits: int, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """The numbers of the texts that may be so few edits away from a word: all that are, and few more.

        An edit changes the length by one at most, and how often a text has a letter for two letters, by one each; so
        that of all letters which one text has (or has twice) and the other has not, it changes two. `among` says which
        texts are asked for.
        """
        lengths, letters, twice = self._signatures
        is_near = np.abs(lengths - len(word)) <= edits
        places = np.flatnonzero(is_near if among is None else is_near & among)
        differing = np.bitwise_count(letters[places] ^ np.uint64(_letters_of(word)))
        differing += np.bitwise_count(twice[places] ^ np.uint64(_twice_in(word)))
        found: NDArray[np.int64] = places[differing <= 2 * edits]
        return found

    @cached_property
    def _signatures(self) -> _Signatures:
        if not len(self._ends):
            return _Signatures(np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
        begins = np.concatenate([np.zeros(1, np.int64), self._ends[:-1].astype(np.int64) + 1])
        letters = np.bitwise_or.reduceat(_BIT_OF[self._data], begins) & ~_NEWLINE
        lengths = self._ends.astype(np.int64) - begins
        twice = np.zeros(len(begins), np.uint64)
        owners = np.repeat(np.arange(len(begins), dtype=np.int32), lengths + 1)
        for letter in _REPEATABLE:
            having = owners[self._data == ord(letter)]
            twice[having[1:][having[1:] == having[:-1]]] |= _BIT_OF[ord(letter)]
        mask, continuing = _CONTINUES
        within = np.add.reduceat((self._data & mask) == continuing, begins, dtype=np.int64)
        for number in np.flatnonzero(within).tolist():  # beyond ASCII
            text = self[number]
            lengths[number], letters[number], twice[number] = len(text), _letters_of(text), _twice_in(text)
        return _Signatures(lengths, letters, twice)

    def _bytes(self, number: int) -> bytes:
        begin = int(self._ends[number - 1]) + 1 if number else 0
        return self._data[begin : int(self._ends[number])].tobytes()


def _letters_of(text: str) -> int:
    letters = 0
    for character in text:
        letters |= 1 << (ord(character) & _BITS)
    return letters & ~int(_NEWLINE)


def _twice_in(text: str) -> int:
    return sum(1 << (ord(letter) & _BITS) for letter in _REPEATABLE if text.count(letter) > 1)
