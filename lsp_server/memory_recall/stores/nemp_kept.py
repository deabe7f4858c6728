"""The blocks of large nemp stores in the user's cache: read, written, and cleared of what nobody names.

A table names the blocks of a store. Nothing here says what they are good for: whoever takes them asks which of their
documents are memories of the file as it is now.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memory_recall.index.blocks import VERSION, Block, loaded, saved
from memory_recall.index.cache import Cache, Folder
from memory_recall.index.indexing import Indexing
from memory_recall.index.packing import Damaged, packed, unpacked
from memory_recall.stores.nemp_ranked import DIGEST, RankedStore

TABLE = "table"
"""The file of the cache that names the others."""

_KEPT_EVERY = 60.0
"""Seconds between two writings by a server, in which a store may change with every question. The rest is made anew."""


_LARGE = 1_000
"""Documents of a block from which on it is written at once."""


def folder_of(path: Path, cache: Cache) -> Folder:
    """Where the index of a store is kept."""
    return cache.folder("nemp-ranked", str(path))


def kept(path: Path, indexing: Indexing) -> Sequence[Block]:
    """The blocks that were kept of a store, as many of them as are whole and of this version."""
    if indexing.cache is None:
        return ()
    folder, whole = folder_of(path, indexing.cache), []
    for _ in range(2):  # another process may replace the table, and remove blocks, between the two readings
        data = folder.read(TABLE)
        if data is None:
            return ()
        try:
            names = unpacked(data, VERSION).facts["blocks"]
            found = [
                loaded(name, folder, mapped=not indexing.follow)
                for name in names
                if type(name) is str and "/" not in name
            ]
        except (Damaged, KeyError, TypeError):
            return ()
        whole = [block for block in found if block is not None and _fits(block)]
        if len(whole) == len(names):
            break
    folder.note_use(TABLE)
    return whole


def settled(path: Path, indexing: Indexing, block: Block) -> Block:
    """A new block as it lies in the cache, in one stretch of memory, where building it had scattered it."""
    if indexing.cache is None or block.size < _LARGE:
        return block
    folder = folder_of(path, indexing.cache)
    named = saved(block, folder)
    return named if named.name is None else loaded(named.name, folder, mapped=not indexing.follow) or named


def keep(made: RankedStore, known: Sequence[Block], path: Path, indexing: Indexing) -> RankedStore:
    """The same after it was written to the cache, if that can be and it is time for it. `known` was there before."""
    cache, now = indexing.cache, time.monotonic()
    new = [block for block in made.blocks if not any(block.segment is other.segment for other in known)]
    if cache is None or not (new or any(block.name is None for block in made.blocks)):
        return made
    is_due = not made.kept_at or now - made.kept_at >= _KEPT_EVERY or any(block.size >= _LARGE for block in new)
    if indexing.follow and not is_due:
        return made
    folder = folder_of(path, cache)
    blocks = [saved(block, folder) for block in made.blocks]
    names = [block.name for block in blocks if block.name is not None]
    if len(names) == len(blocks) and folder.write(TABLE, packed(VERSION, {"blocks": names}, {})):
        folder.keep_only((*names, TABLE))
        cache.sweep()
    return made.with_names(blocks, now)


def _fits(block: Block) -> bool:
    digests = block.columns.get(DIGEST)
    return digests is not None and digests.dtype == np.uint64 and digests.shape == (block.size,)
