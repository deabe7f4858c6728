"""A large nemp store cut into terms: blocks of its memories, of which only those that say something else are made anew.

Owns which document of which block is which memory. A block never changes; what counts of it is found by digest, so that
a block out of the cache, or of the store as it was before, can hide nothing and invent nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_recall.files.memory import give_back_memory
from memory_recall.index.blocks import BLOCK_SIZE, VERSION, Block, built, loaded, saved, to_rebuild
from memory_recall.index.packing import Damaged, packed, unpacked
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.lines import Lines
from memory_recall.ranking.parts import Part
from memory_recall.ranking.typos import edits_allowed
from memory_recall.text import tokens
from memory_recall.text.names import Names

if TYPE_CHECKING:
    from array import array

    from memory_recall.cancellation import Cancellation
    from memory_recall.index.cache import Cache, Folder
    from memory_recall.stores.nemp import NempStore

Numbers = NDArray[np.int64]

TABLE = "table"
"""The file of the cache that names the others."""
_DIGEST = "digest"
_NEWLINE = 10
_MANY = 10_000
"""Memories after whose cutting there is so much free memory that it is worth giving back."""


class RankedStore:
    """The memories of a store, ready to be ranked, as long as their digests are these. Never changed.

    `numbers` has for each block the number of the memory of each document; -1 for one that is none any more.
    """

    def __init__(self, keys: Sequence[str], digests: array[int], blocks: Sequence[Block]) -> None:
        self.keys = keys
        self.digests = digests
        self.blocks = tuple(blocks)
        self.numbers = _numbers(np.frombuffer(digests, np.uint64), self.blocks)
        self.parts = [
            Part(block.segment, numbers >= 0, None, numbers.astype(np.int32))
            for block, numbers in zip(self.blocks, self.numbers, strict=True)
        ]

    @property
    def size(self) -> int:
        """How many numbers documents have; those that are no memories any more are still counted."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def titles(self) -> Names:
        """The keys of the memories."""
        return Names(self.keys)

    @property
    def documents(self) -> Sequence[Document]:
        """Never asked for: the terms are there."""
        raise NotImplementedError

    @property
    def is_cut(self) -> bool:
        """Whether the terms are there already."""
        return True

    def memory_of(self, document: int) -> int:
        """The number of the memory that a document is, which is counted through the blocks."""
        return int(self._memories[document])

    def document_of(self, memory: int) -> int:
        """The number of the document that a memory is."""
        return int(self._documents[memory])

    def titles_near(self, text: str) -> list[str]:
        """The keys that a text may be a misspelling of: all that it may be, and few more."""
        word = tokens.normalise(text)
        if self._normalised is None:
            return list(self.keys)
        return [self.keys[number] for number in self._normalised.resembling(word, edits_allowed(len(word))).tolist()]

    @cached_property
    def _normalised(self) -> Lines | None:
        """The keys as they are compared with a misspelt one; None where that cannot be told from their lines."""
        data = "".join(f"{tokens.normalise(key)}\n" for key in self.keys).encode("utf-8", "surrogatepass")
        lines = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(lines == _NEWLINE).astype(np.uint32)
        begins_at_once = len(ends) and (ends[0] == 0 or (np.diff(ends) == 1).any())
        return Lines(lines, ends) if len(ends) == len(self.keys) and not begins_at_once else None

    @cached_property
    def _memories(self) -> Numbers:
        return np.concatenate([*self.numbers, np.zeros(0, np.int64)])

    @cached_property
    def _documents(self) -> Numbers:
        found = np.zeros(len(self.keys), np.int64)
        alive = np.flatnonzero(self._memories >= 0)
        found[self._memories[alive]] = alive
        return found

    def holds(self, store: NempStore) -> bool:
        """Whether these are the memories of a store, as far as ranking is concerned."""
        return self.digests is store.digests or self.digests == store.digests


def ranked(
    store: NempStore, before: RankedStore | None, cache: Cache | None, cancellation: Cancellation | None
) -> RankedStore:
    """The memories of a large store, of which those that stand in a block already are not cut again.

    What is new is kept in the cache, where there is one. Raises `Cancelled`.
    """
    digests, keys = store.digests, store.keys
    folder = None if cache is None else cache.folder("nemp-ranked", str(store.path))
    blocks = before.blocks if before is not None else () if folder is None else _kept(folder)
    of_entries = np.frombuffer(digests, np.uint64)
    numbers = _numbers(of_entries, blocks)
    found = np.concatenate([*numbers, np.zeros(0, np.int64)])
    is_fresh = np.ones(len(keys), bool)
    is_fresh[found[found >= 0]] = False
    fresh = int(np.count_nonzero(is_fresh))
    if blocks and not fresh and len(found) == len(keys):
        return RankedStore(keys, digests, blocks)
    alive = [int(np.count_nonzero(each >= 0)) for each in numbers]
    given_up = to_rebuild([block.size for block in blocks], alive, fresh) if len(blocks) else []
    for block in given_up:
        is_fresh[numbers[block][numbers[block] >= 0]] = True
    stay = [block for number, block in enumerate(blocks) if number not in given_up]
    made = _built(store, is_fresh, of_entries, cancellation)
    new = list(made if folder is None else (_settled(saved(block, folder), folder) for block in made))
    if np.count_nonzero(is_fresh) >= _MANY:
        give_back_memory()
    if folder is not None and cache is not None:
        _keep([*stay, *new], folder, cache)
    return RankedStore(keys, digests, [*stay, *new])


def _built(
    store: NempStore, chosen: NDArray[np.bool_], digests: NDArray[np.uint64], cancellation: Cancellation | None
) -> Iterator[Block]:
    """Blocks of the chosen memories, in the order of the store."""
    documents = store.documents_at(np.flatnonzero(chosen).tolist())
    of_chosen = digests[chosen]
    for begin in range(0, len(of_chosen), BLOCK_SIZE):
        some: list[Document] = list(islice(documents, BLOCK_SIZE))
        yield built(some, {_DIGEST: of_chosen[begin : begin + BLOCK_SIZE].copy()}, cancellation)


def _numbers(entries: NDArray[np.uint64], blocks: Sequence[Block]) -> list[Numbers]:
    """For each block the memory that each document is. Of memories that say the same, each is another document."""
    if not blocks:
        return []
    rows = np.concatenate([block.columns[_DIGEST] for block in blocks])
    row_order, entry_order = np.argsort(rows, kind="stable"), np.argsort(entries, kind="stable")
    sorted_rows, sorted_entries = rows[row_order], entries[entry_order]
    first = np.searchsorted(sorted_entries, sorted_entries, side="left")
    places = np.searchsorted(sorted_rows, sorted_entries, side="left") + np.arange(len(entries)) - first
    within = np.flatnonzero(places < len(rows))
    within = within[sorted_rows[places[within]] == sorted_entries[within]]
    found = np.full(len(rows), -1, np.int64)
    found[row_order[places[within]]] = entry_order[within]
    return np.split(found, np.cumsum([block.size for block in blocks])[:-1])


def _kept(folder: Folder) -> Sequence[Block]:
    """The blocks that lie in the cache, as many of them as are whole and of this version."""
    data = folder.read(TABLE)
    if data is None:
        return ()
    try:
        names = unpacked(data, VERSION).facts["blocks"]
        blocks = [loaded(name, folder, mapped=False) for name in names if type(name) is str and "/" not in name]
    except (Damaged, KeyError, TypeError):
        return ()
    folder.note_use(TABLE)
    return [block for block in blocks if block is not None and _fits(block)]


def _fits(block: Block) -> bool:
    digests = block.columns.get(_DIGEST)
    return digests is not None and digests.dtype == np.uint64 and digests.shape == (block.size,)


def _settled(block: Block, folder: Folder) -> Block:
    """The block as it was just written: in one stretch of memory, where building had scattered it."""
    return block if block.name is None else loaded(block.name, folder, mapped=False) or block


def _keep(blocks: Sequence[Block], folder: Folder, cache: Cache) -> None:
    """Have the next reader find these blocks, if all of them could be written."""
    names = [block.name for block in blocks if block.name is not None]
    if len(names) == len(blocks) and folder.write(TABLE, packed(VERSION, {"blocks": names}, {})):
        folder.keep_only((*names, TABLE))
        cache.sweep()
