"""Several segments as one collection: what is counted over all of them, and which documents of them count.

Owns the numbering of documents through all parts, and the averages and the centre of a collection. Knows no question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_recall.ranking.lexical import Proportions
from memory_recall.ranking.segment import Segment

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_AT_ONCE = 512
"""Rows that are multiplied at once: as floats they fit into the processor's cache, and are never kept."""
_UNKNOWN = -1


class Part:
    """A segment, and which of its documents count (all where `allowed` is None).

    `weight` is a factor, above 0 and at most 1, on the score of each document. `position` decides among equal scores,
    the smaller first; without it the order is that of the documents. Keep a part as long as it holds: it remembers what
    was counted. The arrays must not change.
    """

    def __init__(
        self,
        segment: Segment,
        allowed: Mask | None = None,
        weight: Floats | None = None,
        position: NDArray[np.int32] | None = None,
    ) -> None:
        self.segment = segment
        self.allowed = None if allowed is None or allowed.all() else allowed
        self.weight = weight
        self.position = position
        self._distances: tuple[Doubles, Floats] | None = None
        self._living = np.full(0 if self.allowed is None else segment.terms, _UNKNOWN, np.int8)

    @cached_property
    def count(self) -> int:
        """How many documents count."""
        return len(self.segment) if self.allowed is None else int(np.count_nonzero(self.allowed))

    @cached_property
    def characters(self) -> int:
        """How long they are together."""
        lengths = self.segment.lengths if self.allowed is None else self.segment.lengths[self.allowed]
        return int(lengths.sum(dtype=np.int64))

    @cached_property
    def vectored(self) -> int:
        """How many of them have a vector."""
        scales = self.segment.scales if self.allowed is None else self.segment.scales[self.allowed]
        return int(np.count_nonzero(scales))

    @cached_property
    def vector_sum(self) -> Doubles:
        """The sum of their vectors."""
        if self.allowed is None:
            return self.segment.vector_sum
        if 2 * self.count < len(self.segment):
            return self._sum_of(np.flatnonzero(self.allowed))
        return self.segment.vector_sum - self._sum_of(np.flatnonzero(~self.allowed))

    def living(self, terms: NDArray[np.uint32]) -> Mask:
        """Which of these terms stand in a document that counts."""
        if self.allowed is None:
            return np.ones(len(terms), bool)
        unknown = terms[self._living[terms] == _UNKNOWN]
        if len(unknown):
            postings, counts = self.segment.postings_of(unknown)
            self._living[unknown] = np.logical_or.reduceat(self.allowed[postings.documents], np.cumsum(counts) - counts)
        alive: Mask = self._living[terms] == 1
        return alive

    def _sum_of(self, numbers: Numbers) -> Doubles:
        total = np.zeros(self.segment.vectors.shape[1])
        for begin in range(0, len(numbers), _AT_ONCE):
            total += self.rows(numbers[begin : begin + _AT_ONCE]).sum(axis=0, dtype=np.float64)
        return total

    def rows(self, numbers: Numbers) -> Floats:
        """The vectors of these documents, of unit length."""
        rows: Floats = self.segment.vectors[numbers] * self.segment.scales[numbers, None]
        return rows

    def products(self, numbers: Numbers | None, direction: Floats) -> Floats:
        """The products of the vectors of these documents (all where None) with a direction.

        Each is computed on its own (einsum, not BLAS): a document's product is the same wherever it stands, and no
        threads are started beside the one that asks.
        """
        segment = self.segment
        count = len(segment) if numbers is None else len(numbers)
        found = np.empty(count, np.float32)
        buffer = np.empty((min(count, _AT_ONCE), segment.vectors.shape[1]), np.float32)
        for begin in range(0, count, _AT_ONCE):
            within = slice(begin, begin + _AT_ONCE)
            rows = segment.vectors[within] if numbers is None else segment.vectors.take(numbers[within], axis=0)
            buffer[: len(rows)] = rows
            np.einsum("ij,j->i", buffer[: len(rows)], direction, out=found[within])
        found *= segment.scales if numbers is None else segment.scales[numbers]
        return found

    def distances(self, centre: Doubles) -> Floats:
        """For each document the reciprocal of how far it lies from a centre; 0 for one without a vector."""
        if self._distances is None or not np.array_equal(self._distances[0], centre):
            along = self.products(None, centre.astype(np.float32))
            squared = np.maximum(1.0 - 2.0 * along + np.float32(centre @ centre), np.float32(1e-6))
            reciprocals = np.where(self.segment.scales > 0, 1.0 / np.sqrt(squared), 0.0).astype(np.float32)
            self._distances = centre, reciprocals
        return self._distances[1]


class Collection:
    """Parts as one. A document's number is its number in its segment, plus the sizes of the segments before."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        sizes = [len(part.segment) for part in parts]
        self.offsets: list[int] = np.cumsum([0, *sizes]).tolist()
        self.size: int = self.offsets[-1]
        self.count = sum(part.count for part in parts)
        self.average = max(1.0, sum(part.characters for part in parts) / max(1, self.count))
        self.proportions = Proportions.of(self.average)

    def numbered(self) -> Iterator[tuple[Part, int]]:
        """Each part with its offset."""
        return zip(self.parts, self.offsets, strict=False)

    @cached_property
    def damping(self) -> Floats:
        """What BM25 adds to a frequency in the denominator, for each document."""
        saturation, length_weight, _ = self.proportions
        lengths = _joined([part.segment.lengths for part in self.parts]).astype(np.float32)
        factor = np.float32(saturation * length_weight / self.average)
        damping: Floats = lengths * factor + np.float32(saturation * (1.0 - length_weight))
        return damping

    @cached_property
    def allowed(self) -> Mask | None:
        """Which documents count; None where all do."""
        if all(part.allowed is None for part in self.parts):
            return None
        return _joined(
            [np.ones(len(part.segment), bool) if part.allowed is None else part.allowed for part in self.parts]
        )

    @cached_property
    def centre(self) -> Doubles:
        """The mean vector of the documents that have one."""
        total = sum((part.vector_sum for part in self.parts), np.zeros(self.parts[0].segment.vectors.shape[1]))
        return total / max(1, sum(part.vectored for part in self.parts))

    def weights(self, numbers: Numbers) -> Floats:
        """The factors on the scores of documents. `numbers` ascend."""
        found = np.ones(len(numbers), np.float32)
        for part, places, own in self.split_ascending(numbers):
            if part.weight is not None:
                found[places] = part.weight[own]
        return found

    def positions(self, numbers: Numbers) -> Numbers:
        """What decides among equal scores of documents, the smaller first."""
        found = numbers.copy()
        for part, places, own in self.split(numbers):
            if part.position is not None:
                found[places] = part.position[own]
        return found

    def rows(self, numbers: Numbers) -> Floats:
        """The centred vectors of documents, of unit length (or zeros)."""
        found = np.zeros((len(numbers), len(self.centre)), np.float32)
        centre = self.centre.astype(np.float32)
        for part, places, own in self.split(numbers):
            found[places] = (part.rows(own) - centre) * part.distances(self.centre)[own, None]
        return found

    def cosines(self, numbers: Numbers, direction: Floats) -> Floats:
        """How near documents lie to a direction from the centre; 0 for those without a vector. `numbers` ascend."""
        found = np.zeros(len(numbers), np.float32)
        along = np.float32(self.centre @ direction)
        for part, places, own in self.split_ascending(numbers):
            if 2 * len(own) > len(part.segment):
                products = part.products(None, direction)[own]
            else:
                products = part.products(own, direction)
            found[places] = (products - along) * part.distances(self.centre)[own]
        return found

    def split(self, numbers: Numbers) -> Iterator[tuple[Part, slice | Numbers, Numbers]]:
        """Numbers by part: where they stand in `numbers`, and their numbers within the part."""
        if len(self.parts) == 1:
            yield self.parts[0], slice(None), numbers
            return
        owners = np.searchsorted(self.offsets, numbers, side="right") - 1
        for number, (part, offset) in enumerate(self.numbered()):
            places = np.flatnonzero(owners == number)
            if len(places):
                yield part, places, numbers[places] - offset

    def split_ascending(self, numbers: Numbers) -> Iterator[tuple[Part, slice, Numbers]]:
        """As `split`, for numbers that ascend."""
        bounds = np.searchsorted(numbers, self.offsets).tolist()
        for (part, offset), (begin, end) in zip(self.numbered(), pairwise(bounds), strict=True):
            if begin < end:
                yield part, slice(begin, end), numbers[begin:end] - offset


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
