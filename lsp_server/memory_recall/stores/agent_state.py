"""What an index of `.agent/memory` says at one moment: each file that was seen, and the document that it became.

Never changed; the next state shares the blocks that still count. Opens no file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_recall.index.blocks import Block
from memory_recall.index.packing import text_at
from memory_recall.model import Problem
from memory_recall.stores.agent_entry import MEMORY_TYPES, MemoryType
from memory_recall.stores.agent_table import Table


@dataclass(frozen=True, eq=False)
class IndexedState:
    """The files of a store as they were last seen, and the blocks that hold what they say."""

    table: Table
    blocks: tuple[Block, ...]

    @cached_property
    def rows(self) -> tuple[NDArray[np.int32], ...]:
        """For each block the row of each of its documents; -1 for one that counts no more, or is hidden."""
        table, found = self.table, []
        for number, block in enumerate(self.blocks):
            rows = np.full(block.size, -1, np.int32)
            counting = np.flatnonzero((table.block == number) & ~table.hidden)
            rows[table.number[counting]] = counting
            found.append(rows)
        return tuple(found)

    @cached_property
    def types(self) -> NDArray[np.uint8]:
        """The type of each row, by its number in `MEMORY_TYPES`."""
        return self.table.types

    @cached_property
    def _ends(self) -> tuple[NDArray[np.int64], ...]:
        """Where each name ends, for each type."""
        return tuple(np.flatnonzero(np.frombuffer(blob, np.uint8) == 0) for blob in self.table.sight.blobs)

    def name(self, row: int) -> tuple[MemoryType, str]:
        """The type and the file name of a row."""
        for type_, blob, ends in zip(MEMORY_TYPES, self.table.sight.blobs, self._ends, strict=True):
            if row < len(ends):
                start = int(ends[row - 1]) + 1 if row else 0
                return type_, blob[start : int(ends[row])].decode("utf-8", "surrogateescape")
            row -= len(ends)
        raise IndexError(row)

    def memory_id(self, row: int) -> str:
        """The id of the entry of a row that has one."""
        columns = self.blocks[self.table.block[row]].columns
        return text_at(columns["ids"], columns["id_ends"], int(self.table.number[row]))

    def digest(self, row: int) -> tuple[int, int] | None:
        """The digest of the text of a row's entry; None where it has none."""
        block = int(self.table.block[row])
        if block < 0:
            return None
        first, second = self.blocks[block].columns["digest"][self.table.number[row]]
        return int(first), int(second)


def problems_in(table: Table) -> Iterator[Problem]:
    """What is wrong with the files of a table, in the order of their names."""
    rows = np.array([row for row in table.problems if not table.hidden[row]], np.int64)
    for row in table.in_order(rows):
        yield from table.problems[int(row)]
    yield from table.duplicates
