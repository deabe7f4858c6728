"""A large nemp store cut into terms: blocks of its memories, of which only those that say something else are made anew.

Owns which document of which block is which memory. A block never changes; what counts of it is found by digest, so that
a block out of the cache, or of the store as it was before, can hide nothing and invent nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_recall.files.memory import give_back_memory
from memory_recall.index.blocks import BLOCK_SIZE, Block, built, to_rebuild
from memory_recall.ranking.name_table import NameTable
from memory_recall.ranking.parts import Collection, Part

if TYPE_CHECKING:
    from array import array

    from memory_recall.cancellation import Cancellation
    from memory_recall.stores.nemp import NempStore

Numbers = NDArray[np.int64]
Rows = NDArray[np.int32]

DIGEST = "digest"
"""The column that says what the documents of a block are."""
_MANY = 10_000
"""Memories after whose cutting there is so much free memory that it is worth giving back."""


class RankedStore:
    """The memories of a store, ready to be ranked, as long as their digests are these. Never changed.

    A document has a number through all blocks. `memories` has for each the number of its memory, -1 where it is none
    any more; `documents` has for each memory its document. `kept_at` is when it was last written to the cache, by the
    monotonic clock; 0 for never.
    """

    def __init__(self, store: NempStore, blocks: Sequence[Block], before: RankedStore | None = None) -> None:
        self.digests = store.digests
        self.blocks = tuple(blocks)
        self.kept_at: float = 0.0 if before is None else before.kept_at
        self._rows = rows_of(self.digests, self.blocks)
        self._parts = [_part(*each, before) for each in zip(self.blocks, self._rows, strict=True)]
        self._keys = store.keys
        if before is not None and before._keys is self._keys and "names" in before.__dict__:
            self.__dict__["names"] = before.names

    @cached_property
    def collection(self) -> Collection:
        """The memories as what is ranked."""
        return Collection(self._parts)

    @property
    def parts(self) -> Sequence[Part]:
        """The same, a part for each block."""
        return self._parts

    @property
    def size(self) -> int:
        """How many numbers documents have; those that are no memories any more are still counted."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def names(self) -> NameTable:
        """The keys of the memories, by their numbers."""
        return NameTable(self._keys)

    @cached_property
    def memories(self) -> Rows:
        """For each document the number of its memory, or -1."""
        return np.concatenate([np.zeros(0, np.int32), *self._rows])

    @cached_property
    def documents(self) -> Rows:
        """For each memory the number of its document."""
        found = np.zeros(len(self.digests), np.int32)
        alive = np.flatnonzero(self.memories >= 0)
        found[self.memories[alive]] = alive
        return found

    def part_of(self, block: Block, rows: Rows) -> Part | None:
        """The part of that block whose documents are those memories; None where there is none."""
        for own, own_rows, part in zip(self.blocks, self._rows, self._parts, strict=True):
            if own.segment is block.segment and np.array_equal(own_rows, rows):
                return part
        return None

    def with_names(self, blocks: Sequence[Block], kept_at: float) -> RankedStore:
        """The same, its blocks having files since that moment."""
        named = copy(self)
        named.blocks, named.kept_at = tuple(blocks), kept_at
        return named

    def holds(self, store: NempStore) -> bool:
        """Whether these are the memories of a store, as far as a search is concerned."""
        mine, others = self.digests, store.digests
        return mine is others or np.array_equal(np.frombuffer(mine, np.uint64), np.frombuffer(others, np.uint64))


def _part(block: Block, rows: Rows, before: RankedStore | None) -> Part:
    """The part of a block: the one that is there already, which remembers much, where it counts the same memories."""
    known = None if before is None else before.part_of(block, rows)
    return Part(block.segment, rows >= 0, None, rows) if known is None else known


def ranked(
    store: NempStore,
    before: RankedStore | None,
    blocks: Sequence[Block],
    settle: Callable[[Block], Block],
    cancellation: Cancellation | None,
) -> RankedStore:
    """The memories of a store, of which those that stand in one of the blocks already are not cut again.

    `settle` is given each new block, and says what is to stand in its place. Raises `Cancelled`.
    """
    digests = np.frombuffer(store.digests, np.uint64)
    rows = rows_of(store.digests, blocks)
    is_fresh = np.ones(len(digests), bool)
    for own in rows:
        is_fresh[own[own >= 0]] = False
    alive = [int(np.count_nonzero(own >= 0)) for own in rows]
    given_up = to_rebuild([block.size for block in blocks], alive, int(np.count_nonzero(is_fresh)))
    for number in given_up:
        is_fresh[rows[number][rows[number] >= 0]] = True
    stay = [block for number, block in enumerate(blocks) if number not in given_up]
    fresh = np.flatnonzero(is_fresh)
    new = list(map(settle, _built(store, fresh, digests[fresh], cancellation)))
    if len(fresh) >= _MANY:
        give_back_memory()
    return RankedStore(store, [*stay, *new], before)


def _built(
    store: NempStore, numbers: Numbers, digests: NDArray[np.uint64], cancellation: Cancellation | None
) -> Iterator[Block]:
    """Blocks of these memories, in the order of the store."""
    documents = store.documents_at(numbers.tolist())
    for begin in range(0, len(numbers), BLOCK_SIZE):
        if cancellation is not None:
            cancellation.check()
        some = list(islice(documents, BLOCK_SIZE))
        yield built(some, {DIGEST: digests[begin : begin + BLOCK_SIZE].copy()}, cancellation)


def rows_of(entries: array[int], blocks: Sequence[Block]) -> list[Rows]:
    """For each block the memory that each document is. Of memories that say the same, each is another document."""
    if not blocks:
        return []
    digests = np.frombuffer(entries, np.uint64)
    known = np.concatenate([block.columns[DIGEST] for block in blocks])
    known_order, order = np.argsort(known, kind="stable"), np.argsort(digests, kind="stable")
    known_sorted, ascending = known[known_order], digests[order]
    first = np.searchsorted(ascending, ascending, side="left")
    places = np.searchsorted(known_sorted, ascending, side="left") + np.arange(len(ascending)) - first
    within = np.flatnonzero(places < len(known))
    within = within[known_sorted[places[within]] == ascending[within]]
    found = np.full(len(known), -1, np.int32)
    found[known_order[places[within]]] = order[within]
    return np.split(found, np.cumsum([block.size for block in blocks])[:-1])
