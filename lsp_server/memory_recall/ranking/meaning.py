"""What words mean: a vector for each word of letters, from a table of word pieces that ships with the package.

Owns the table (`data/`, made by `tools/derive_vectors.py` from wordllama, MIT) and how a word is put together from
pieces. Knows no document and ranks nothing. Imports numpy; import it only where meaning is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

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
_NO_PIECE = -1
_NO_PAIR = sys.maxsize
_LETTERS_A_PIECE = 2
"""How many letters the pieces of a word must have on average: a word that falls into crumbs says nothing."""

_LETTERS_OF_TELLING_PIECES = 2.75
"""How many they must have for what is near to the word to be evidence of anything. Names need less to be found."""


class Spelling(NamedTuple):
    """Words as pieces, laid out so that a sum over the pieces of all words takes a few additions of arrays.

    `words` are the numbers of the words that have a vector, those of most pieces first. The first pieces of all of
    them, in that order, are followed by the second pieces of those that have two, and so on: the nth pieces lie between
    bounds n and n + 1 of `pieces`. The sum of a word's pieces times its scale has unit length.
    """

    words: NDArray[np.int64]
    pieces: NDArray[np.uint16]
    bounds: NDArray[np.int64]
    scales: NDArray[np.float32]


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
        spelling = self.spelling_of(words)
        vectors = np.zeros((len(words), DIMENSIONS), np.float32)
        vectors[spelling.words] = self.vectors_of_spelling(spelling)
        return vectors

    def vectors_of_spelling(self, spelling: Spelling) -> Vectors:
        """A row for each word of a spelling: the mean of its pieces."""
        counts = np.zeros(len(spelling.words), np.float32)
        for size in np.diff(spelling.bounds).tolist():
            counts[:size] += 1.0
        vectors: Vectors = summed(self._rows, spelling.pieces, spelling.bounds) / counts[:, None]
        return vectors

    def spelling_of(self, words: Sequence[str]) -> Spelling:
        """The pieces of normalised words."""
        found = [(number, pieces) for number, word in enumerate(words) if (pieces := self.pieces_of(word))]
        found.sort(key=lambda spelt: -len(spelt[1]))
        columns = list(zip_longest(*(pieces for _, pieces in found), fillvalue=_NO_PIECE))
        flat = np.array([piece for column in columns for piece in column if piece != _NO_PIECE], np.uint16)
        bounds = np.cumsum([0, *(len(column) - column.count(_NO_PIECE) for column in columns)], dtype=np.int64)
        lengths = np.linalg.norm(summed(self._rows, flat, bounds).astype(np.float64), axis=1)
        scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0).astype(np.float32)
        return Spelling(np.array([number for number, _ in found], np.int64), flat, bounds, scales)

    def products(self, direction: Vectors) -> Vectors:
        """The product of each piece with a direction; that of a word is the sum of those of its pieces.

        Not by BLAS, whose last bits depend on what else it multiplies, and which would start threads.
        """
        products: Vectors = np.einsum("ij,j->i", self._rows, direction)
        return products

    def pieces_of(self, word: str) -> list[int]:
        """The numbers of the pieces that a word is made of; empty where it has no vector."""
        if not (1 < len(word) <= _LONGEST and word.isascii() and word.isalpha() and word.islower()):
            return []
        whole = self._numbers.get(_WORD_START + word)
        if whole is not None:
            return [whole]
        pieces = self._merged(word)
        return pieces if len(word) >= _LETTERS_A_PIECE * len(pieces) else []

    def is_crumbly(self, word: str) -> bool:
        """Whether a word has a vector that says little, because its pieces are short: `asdfqwer` is as, df, q, wer."""
        pieces = self.pieces_of(word)
        return len(pieces) > 1 and len(word) < _LETTERS_OF_TELLING_PIECES * len(pieces)

    def _merged(self, word: str) -> list[int]:
        """Byte pair encoding (Sennrich et al. 2016): the pair that was learnt first is merged first.

        Pieces are numbered in the order in which they were learnt, so that a piece's number is its rank.
        """
        parts = [_WORD_START, *word]
        rank_of = self._numbers.get
        ranks = [rank_of(left + right, _NO_PAIR) for left, right in pairwise(parts)]
        while (rank := min(ranks, default=_NO_PAIR)) != _NO_PAIR:
            place = ranks.index(rank)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
            del ranks[place]
            if place:
                ranks[place - 1] = rank_of(parts[place - 1] + parts[place], _NO_PAIR)
            if place < len(ranks):
                ranks[place] = rank_of(parts[place] + parts[place + 1], _NO_PAIR)
        return [self._numbers[part] for part in parts]


def summed(
    of_pieces: NDArray[np.float32], pieces: NDArray[np.uint16], bounds: NDArray[np.integer[Any]]
) -> NDArray[np.float32]:
    """For each word of a spelling the sum of what belongs to its pieces: numbers, or rows."""
    if len(bounds) < 2:
        return np.zeros((0, *of_pieces.shape[1:]), np.float32)
    sums = of_pieces.take(pieces[: bounds[1]], axis=0)
    for begin, end in pairwise(bounds[1:].tolist()):
        sums[: end - begin] += of_pieces.take(pieces[begin:end], axis=0)
    return sums


@cache
def load() -> Meaning:
    """The table, read once."""
    rows = np.fromfile(_DATA / "vectors.bin", _ROW)
    pieces = (_DATA / "pieces.txt").read_text(encoding="utf-8").split()
    return Meaning(pieces, rows["values"] * rows["scale"][:, None])
