"""A large `.agent/memory`: its entries stay in their files, what is asked of all of them at once is kept in arrays.

An `IndexedStore` is what was true at one moment, like any store, and is never changed. Whoever
wants an entry itself has its file read then, and learns if it says something else by now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_recall.stores.agent_columns import digest_of, hash_of
from memory_recall.stores.agent_entry import AgentEntry
from memory_recall.stores.agent_files import leads_outside, real_path
from memory_recall.stores.agent_reading import EntryChanged, Reading, memory_directory, read_entry
from memory_recall.stores.agent_state import IndexedState
from memory_recall.stores.agent_tree import AgentTree

if TYPE_CHECKING:
    from datetime import datetime

    from memory_recall.ranking.parts import Part
    from memory_recall.stores.agent_follow import Follower


@dataclass(frozen=True)
class IndexedStore(AgentTree):
    """The memories of one project, by row. Rows are no order: `positions` are, by type and file name.

    `follower` knows of changes without looking at every file, where there is one; it was at `mark` before the files
    were looked at. `parts` is where a recall keeps what it ranked of each block, for the next one.
    """

    state: IndexedState
    follower: Follower | None = field(default=None, compare=False)
    mark: int = 0
    parts: dict[int, tuple[datetime, NDArray[np.bool_], Part]] = field(default_factory=dict, compare=False)
    kept_at: float = field(default=0.0, compare=False)

    def is_current(self) -> bool:
        """Whether it is known, without a look at all files, that reading the store again would give the same."""
        if self.follower is None or self.unread:
            return False
        return self.follower.changed(self.state, self.mark) == set()

    @property
    def count(self) -> int:
        """How many memories there are."""
        return sum(int(np.count_nonzero(rows >= 0)) for rows in self.state.rows)

    @property
    def size(self) -> int:
        """How many numbers there are; those of removed memories are still counted."""
        return sum(block.size for block in self.state.blocks)

    @property
    def memory_ids(self) -> Sequence[str]:
        """The ids of all memories, by type and file name. Made anew each time: few questions need them."""
        return [self.state.memory_id(int(row)) for row in self._all_rows()]

    @property
    def entries(self) -> Sequence[AgentEntry]:
        """All memories, read anew from all their files. Raises `EntryChanged`."""
        return tuple(self.entry(int(row)) for row in self._all_rows())

    def path(self, row: int) -> str:
        """The file of a row."""
        type_, name = self.state.name(row)
        return f"{memory_directory(self.project) / type_}/{name}"

    def entry(self, row: int) -> AgentEntry:
        """The memory of a row, from its file. Raises `EntryChanged` where that no longer says what it said."""
        reading = self._reading(row)
        entry = None if reading is None else reading.entry
        if entry is None or digest_of(entry.text) != self.state.digest(row):
            raise EntryChanged
        return entry

    def _reading(self, row: int) -> Reading | None:
        """What the file of a row says; None where a link leads out of the project."""
        path = self.path(row)
        if self.state.table.sight.is_link(row) and leads_outside(Path(path), real_path(self.project)):
            return None
        return read_entry(path, self.state.name(row)[0])

    def by_id(self, memory_id: str) -> tuple[AgentEntry, ...]:
        """The entries with that very id: one, none, or several where files repeat it; as their files have them now."""
        rows = (row for row in self.rows_named(memory_id) if self.state.memory_id(row) == memory_id)
        readings = (self._reading(row) for row in rows)
        entries = (reading.entry for reading in readings if reading is not None)
        return tuple(entry for entry in entries if entry is not None and entry.memory_id == memory_id)

    @cached_property
    def whole(self) -> Sequence[Part]:
        """All memories as parts to be ranked: their numbers count through the blocks."""
        from memory_recall.ranking.parts import Part

        table = self.state.table
        return [
            Part(block.segment, rows >= 0, None, table.position[rows])
            for block, rows in zip(self.state.blocks, self.state.rows, strict=True)
        ]

    def numbers_named(self, memory_id: str) -> Sequence[int]:
        """The numbers, counted through the blocks, of the memories whose id is this but for its case."""
        starts = np.cumsum([0, *(block.size for block in self.state.blocks)]).tolist()
        table, rows = self.state.table, self.rows_named(memory_id)
        return [starts[table.block[row]] + int(table.number[row]) for row in rows]

    def entry_at(self, number: int) -> AgentEntry:
        """The memory of a number. Raises `EntryChanged`."""
        for rows in self.state.rows:
            if number < len(rows):
                return self.entry(int(rows[number]))
            number -= len(rows)
        raise IndexError(number)

    def doubt(self) -> None:
        """An entry was found changed: whoever asks for the store next is to look at all of its files."""
        if self.follower is not None:
            self.follower.doubt()

    def rows_named(self, memory_id: str) -> Sequence[int]:
        """The rows of the memories whose id is this but for its case."""
        wanted, folded = np.uint64(hash_of(memory_id)), memory_id.casefold()
        found: list[int] = []
        for block, rows in zip(self.state.blocks, self.state.rows, strict=True):
            alike = rows[np.flatnonzero(block.columns["id_hash"] == wanted)]
            found += [int(row) for row in alike if row >= 0 and self.state.memory_id(int(row)).casefold() == folded]
        return sorted(found, key=lambda row: int(self.state.table.position[row]))

    def _all_rows(self) -> NDArray[np.int64]:
        counting = [rows[rows >= 0].astype(np.int64) for rows in self.state.rows]
        return self.state.table.in_order(np.concatenate(counting) if counting else np.empty(0, np.int64))
