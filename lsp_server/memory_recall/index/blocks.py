"""Blocks of documents: each a segment to rank, with columns of facts beside it, in one file that is never changed.

A collection that changes grows by small blocks; `to_rebuild` says which of the old ones are better made anew together
with what is new, so that there are few of them and no more than a quarter of each is dead. Knows no system: what the
columns mean is the store's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall import __version__
from memory_recall.cancellation import Cancellation
from memory_recall.index.cache import Folder
from memory_recall.index.packing import Arrays, Damaged, packed, unpacked
from memory_recall.ranking import segment
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.segment import Segment

VERSION = f"{__version__}/{segment.FORMAT}/1"
"""What must be the same for an index to be of use: how texts are cut, and how arrays are kept."""

BLOCK_SIZE = 25_000
"""The most documents that are cut into terms at once: it bounds the memory that building takes."""

_MOST_DEAD = 0.25
_MOST_BLOCKS = 12
_SEGMENT, _COLUMN = "segment.", "column."


class Block(NamedTuple):
    """Documents in a segment, and for each a row in every column. `name` is that of its file, None until it has one."""

    segment: Segment
    columns: Arrays
    size: int
    name: str | None = None


def built(documents: Sequence[Document], columns: Arrays, cancellation: Cancellation | None) -> Block:
    """A block of these documents. Raises `Cancelled`."""
    return Block(Segment.build(documents, cancellation=cancellation), columns, len(documents))


def saved(block: Block, folder: Folder) -> Block:
    """The block with its file, which is written where there is none yet; still without one if that fails."""
    if block.name is not None:
        return block
    arrays = {f"{_SEGMENT}{name}": array for name, array in block.segment.arrays().items()}
    arrays |= {f"{_COLUMN}{name}": array for name, array in block.columns.items()}
    name = f"{os.urandom(8).hex()}.block"
    return (
        block._replace(name=name)
        if folder.write(name, packed(VERSION, {"name": name, "count": block.size}, arrays))
        else block
    )


def loaded(name: str, folder: Folder, *, mapped: bool) -> Block | None:
    """The block in a file, or in a view of it; None where it is not there or was damaged."""
    data = folder.mapped(name) if mapped else folder.read(name)
    if data is None:
        return None
    try:
        facts, arrays = unpacked(data, VERSION)
        parts = {key.removeprefix(_SEGMENT): array for key, array in arrays.items() if key.startswith(_SEGMENT)}
        columns = {key.removeprefix(_COLUMN): array for key, array in arrays.items() if key.startswith(_COLUMN)}
        block = Block(Segment.of(parts), columns, int(facts["count"]), name)
    except (Damaged, KeyError, ValueError, TypeError, IndexError):
        return None
    return block if len(block.segment) == block.size and facts.get("name") == name else None


def to_rebuild(counts: Sequence[int], alive: Sequence[int], fresh: int) -> list[int]:
    """Which blocks, by number, are to be built anew together with so many fresh documents.

    Those with too many dead; and, beginning with the smallest, those not larger than twice what is built anyway, so
    that over many small changes each document is built anew a logarithmic number of times.
    """
    chosen = {
        number for number, count in enumerate(counts) if not alive[number] or count - alive[number] > count * _MOST_DEAD
    }
    built_anyway = fresh + sum(alive[number] for number in chosen)
    rest = sorted((number for number in range(len(counts)) if number not in chosen), key=lambda number: alive[number])
    for place, number in enumerate(rest):
        if not built_anyway or (alive[number] > 2 * built_anyway and len(rest) - place < _MOST_BLOCKS):
            break
        if alive[number] > BLOCK_SIZE // 2 and len(rest) - place < _MOST_BLOCKS:
            break
        chosen.add(number)
        built_anyway += alive[number]
    return sorted(chosen)


def repeated(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which values occur more than once."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    same = np.zeros(len(values), bool)
    if len(values) > 1:
        twins = ranked[1:] == ranked[:-1]
        same[1:] |= twins
        same[:-1] |= twins
    result = np.zeros(len(values), bool)
    result[order] = same
    return result
