"""Near words: which words of a collection mean about what a word of the question means.

Owns which they are and how near. Knows no scores.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.ranking.parts import Collection, Part

LEAST = 0.3
"""The cosine from which on a word is near: unrelated words lie about 0, give or take an eighth."""
MOST = 50
"""How many words are near to a word at most."""
_SLACK = 1e-3
_PRODUCT_ELEMENTS = 200_000
"""Multiplications that BLAS does at once: below what makes it use threads, which would fight with a server's own."""


class NearTerm(NamedTuple):
    """A term of a part, and its cosine with a word of the question."""

    part: int
    term: int
    cosine: float


def near_terms(stems: Sequence[str], vectors: NDArray[np.float32], collection: Collection) -> list[list[NearTerm]]:
    """For each word of a question the terms nearest to it, the nearest last. Words of its own stem are none of them.

    A term counts once, in however many parts it stands, and only where it stands in a document that counts. `vectors`
    has a row for each stem; a row of zeros has nothing near.
    """
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    directions = np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0)
    asked = np.flatnonzero(lengths[:, 0] > 0).tolist()
    found: list[list[NearTerm]] = [[] for _ in stems]
    if not asked:
        return found
    cosines = [_cosines(part, directions[asked].T.astype(np.float32)) for part in collection.parts]
    for column, word in enumerate(asked):
        runs = [
            _nearest_first(part, number, stems[word], cosines[number][:, column], directions[word])
            for number, part in enumerate(collection.parts)
        ]
        found[word] = _chosen(runs, collection)[::-1]
    return found


def _chosen(runs: Sequence[Iterator[tuple[float, str, int, int]]], collection: Collection) -> list[NearTerm]:
    chosen: list[NearTerm] = []
    distinct: set[str] = set()
    for distance, text, number, term in heapq.merge(*runs):
        if len(distinct) == MOST and text not in distinct:
            break
        part = collection.parts[number]
        if part.allowed is None or part.allowed[part.segment.postings(term).documents].any():
            distinct.add(text)
            chosen.append(NearTerm(number, term, -distance))
    return chosen


def _cosines(part: Part, directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each word of a part (a row) with each direction (a column), nearly."""
    vectors = part.segment.near_vectors
    found = np.empty((len(vectors), directions.shape[1]), np.float32)
    step = max(64, _PRODUCT_ELEMENTS // directions.size)
    for begin in range(0, len(vectors), step):
        np.matmul(vectors[begin : begin + step].astype(np.float32), directions, out=found[begin : begin + step])
    found *= part.segment.near_scales[:, None]
    return found


def _nearest_first(
    part: Part, number: int, stem: str, nearly: NDArray[np.float32], direction: NDArray[np.float64]
) -> Iterator[tuple[float, str, int, int]]:
    """The words of a part by distance (the negative cosine), then by themselves; with the part's number and their own.

    The cosines are computed again, one by one, since those of a product of matrices differ in their last bits with the
    place in the matrix.
    """
    segment = part.segment
    rows = np.flatnonzero(nearly >= LEAST - _SLACK)
    own = segment.terms_of(stem)
    terms = segment.near_terms[rows]
    rows = rows[(terms < own.start) | (terms >= own.stop)]
    vectors = segment.near_vectors[rows].astype(np.float64)
    distances = -(np.einsum("ij,j->i", vectors, direction) * segment.near_scales[rows])
    rows, distances = rows[distances <= -LEAST], distances[distances <= -LEAST]
    order = np.argsort(distances, kind="stable")
    pending: list[tuple[float, str, int, int]] = []
    for distance, term in zip(distances[order].tolist(), segment.near_terms[rows[order]].tolist(), strict=True):
        if pending and pending[0][0] != distance:
            yield from sorted(pending)
            pending.clear()
        pending.append((distance, segment.term(term), number, term))
    yield from sorted(pending)
