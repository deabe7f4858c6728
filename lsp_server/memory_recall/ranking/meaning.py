"""What words mean: a vector for each word of letters, from a table of word pieces that ships with the package.

Owns the table (`data/`, made by `tools/derive_vectors.py` from wordllama, MIT) and how a word is put together from
pieces. Knows no document and ranks nothing. Imports numpy; import it only where meaning is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

ASSET = "6a65ed114b484bac"
"""The beginning of the digest of the table's files: part of the version of whatever was computed from them."""
DIMENSIONS = 64

_DATA = Path(__file__).parent / "data"
_ROW = np.dtype([("scale", "<f4"), ("values", "i1", (DIMENSIONS,))])
_WORD_START = "▁"
_LONGEST = 40
_LETTERS_A_PIECE = 2
"""How many letters the pieces of a word must have on average: a word that falls into crumbs says nothing."""


class Meaning:
    """The table. Rows are centred on the mean of all pieces, so that unrelated words are about at right angles."""

    def __init__(self, pieces: Sequence[str], rows: Vectors) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._rows = rows

    def vector_of(self, word: str) -> Vectors:
        """The vector of a normalised word, not of unit length; zeros for a word without one."""
        vector: Vectors = self.vectors_of([word])[0]
        return vector

    def vectors_of(self, words: Sequence[str]) -> Vectors:
        """A row for each normalised word: the mean of its pieces. Zeros where a word has none.

        That is a word with digits (sha256 is not nearly sha512), of another script, of a single letter, longer than any
        word, or of too many pieces.
        """
        known: list[int] = []
        pieces: list[int] = []
        counts: list[int] = []
        for number, word in enumerate(words):
            found = self.pieces_of(word)
            if found:
                known.append(number)
                pieces += found
                counts.append(len(found))
        vectors = np.zeros((len(words), DIMENSIONS), np.float32)
        if known:
            starts = np.cumsum([0, *counts[:-1]])
            sums = np.add.reduceat(self._rows[pieces], starts, axis=0)
            vectors[known] = sums / np.array(counts, np.float32)[:, None]
        return vectors

    def pieces_of(self, word: str) -> list[int]:
        """The numbers of the pieces that a word is made of; empty where it has no vector."""
        if not (1 < len(word) <= _LONGEST and word.isascii() and word.isalpha() and word.islower()):
            return []
        whole = self._numbers.get(_WORD_START + word)
        if whole is not None:
            return [whole]
        pieces = self._merged(word)
        return pieces if len(word) >= _LETTERS_A_PIECE * len(pieces) else []

    def _merged(self, word: str) -> list[int]:
        """Byte pair encoding (Sennrich et al. 2016): the pair that was learnt first is merged first.

        Pieces are numbered in the order in which they were learnt, so that a piece's number is its rank.
        """
        parts = [_WORD_START, *word]
        while len(parts) > 1:
            _, place = min(self._pairs(parts), default=(0, -1))
            if place < 0:
                break
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return [self._numbers[part] for part in parts]

    def _pairs(self, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
        for place in range(len(parts) - 1):
            rank = self._numbers.get(parts[place] + parts[place + 1])
            if rank is not None:
                yield rank, place


@cache
def load() -> Meaning:
    """The table, read once."""
    rows = np.fromfile(_DATA / "vectors.bin", _ROW)
    pieces = (_DATA / "pieces.txt").read_text(encoding="utf-8").split()
    return Meaning(pieces, rows["values"] * rows["scale"][:, None])
