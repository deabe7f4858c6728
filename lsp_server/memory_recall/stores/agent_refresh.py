"""Bringing the index of a `.agent/memory` up to what was seen on disk: what is unchanged is kept, the rest read anew.

Decides what of an index may be believed. A stamp is, while it is the same and was settled when it was taken; whatever
was not read, or not well, is read again. Keeps the index in the cache, and takes nothing from there that does not fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.files.memory import give_back_memory
from memory_recall.index.blocks import (
    BLOCK_SIZE,
    VERSION,
    Block,
    built,
    loaded,
    repeated,
    saved,
    to_rebuild,
)
from memory_recall.index.packing import Damaged, packed, unpacked
from memory_recall.model import Problem
from memory_recall.ranking.lexical import Document
from memory_recall.stores.agent_columns import columns_of, digest_of, fit
from memory_recall.stores.agent_entry import MEMORY_TYPES, AgentEntry, MemoryType
from memory_recall.stores.agent_files import leads_outside, outside_problem
from memory_recall.stores.agent_reading import Reading, duplicates, memory_directory, read_entry
from memory_recall.stores.agent_scan import LINK, row_of
from memory_recall.stores.agent_state import IndexedState
from memory_recall.stores.agent_table import Sight, Table, memories_and_positions, names_in, places_carried, rows_before

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.index.cache import Cache, Folder

TABLE = "table"
"""The file of the cache that names the others."""

_CHECK_EVERY = 256
_MANY = 10_000
"""Files after whose reading there is so much free memory that it is worth giving back."""
_FEW = 100
"""New entries up to which it is cheaper to look for their ids among the others than to compare all with all."""


def folder_of(project: Path, cache: Cache | None) -> Folder | None:
    """Where the index of a project's memories is kept."""
    return None if cache is None else cache.folder("agent", str(project))


def kept(folder: Folder, *, mapped: bool) -> IndexedState | None:
    """The index that lies in the cache, its blocks perhaps `mapped`; None where none is whole and of this version."""
    for _ in range(2):  # another process may replace the table, and remove blocks, between the two readings
        data = folder.read(TABLE)
        if data is None:
            return None
        try:
            packing = unpacked(data, VERSION)
            names = packing.facts["blocks"]
            blocks = [loaded(name, folder, mapped=mapped) for name in names if type(name) is str and "/" not in name]
            whole = [block for block in blocks if block is not None and fit(block.columns, block.size)]
            if len(whole) < len(names):
                continue
            state = IndexedState(Table.unpacked(packing, [block.size for block in whole]), tuple(whole))
        except (Damaged, KeyError, TypeError):
            return None
        folder.note_use(TABLE)
        return state
    return None


def keep(state: IndexedState, folder: Folder, cache: Cache) -> IndexedState:
    """The state, after what is new of it was written to the cache, if that can be."""
    blocks = tuple(saved(block, folder) for block in state.blocks)
    state = IndexedState(state.table, blocks)
    names = [block.name for block in blocks if block.name is not None]
    if len(names) == len(blocks):
        facts, arrays = state.table.packing()
        if folder.write(TABLE, packed(VERSION, {**facts, "blocks": names}, arrays)):
            folder.keep_only((*names, TABLE))
            cache.sweep()
    return state


def refreshed(
    before: IndexedState | None, sight: Sight, project: Path, real_project: str, cancellation: Cancellation | None
) -> IndexedState:
    """The state that is true of what was seen; `before` itself where nothing changed. Raises `Cancelled`."""
    beginning = _beginning(before, sight)
    stale = _stale(beginning, project, real_project)
    if before is not None and not len(stale) and sight.blobs == before.table.sight.blobs:
        return before
    work = _Work(beginning, project, real_project, cancellation)
    work.read(stale)
    if before is not None:
        work.rebuild()
    work.build()
    if len(stale) >= _MANY:
        give_back_memory()
    return work.state()


class _Beginning(NamedTuple):
    """What is known of the rows of a sight before anything is read. `old` holds the old row of each, -1 for none."""

    before: IndexedState | None
    sight: Sight
    old: NDArray[np.int64]
    memory: NDArray[np.bool_]
    position: NDArray[np.int32]
    same: NDArray[np.bool_]


def _beginning(before: IndexedState | None, sight: Sight) -> _Beginning:
    count = len(sight.stamps)
    if before is None:
        memory, position = memories_and_positions(sight.blobs)
        return _Beginning(None, sight, np.full(count, -1, np.int64), memory, position, np.zeros(count, np.bool_))
    table = before.table
    if sight.blobs == table.sight.blobs:
        same = table.settled & (sight.stamps == table.sight.stamps).all(axis=1)
        return _Beginning(before, sight, np.arange(count), table.memory, table.position, same)
    old = rows_before(table, sight)
    few = np.count_nonzero(old < 0) <= _FEW
    memory, position = places_carried(table, old, sight) if few else memories_and_positions(sight.blobs)
    same = (old >= 0) & table.settled[old] & (sight.stamps == table.sight.stamps[old]).all(axis=1)
    return _Beginning(before, sight, old, memory, position, same)


def _stale(beginning: _Beginning, project: Path, real_project: str) -> NDArray[np.int64]:
    """The rows that are to be read, in the order of their names. Where a link leads is looked at every time."""
    before, same, paths = beginning.before, beginning.same, _Paths(project, beginning.sight)
    for row in np.flatnonzero(beginning.sight.links & beginning.memory):
        path = paths[int(row)]
        problem = outside_problem(path, real_project) if leads_outside(path, real_project) else None
        old = int(beginning.old[row])
        if problem is not None and before is not None and old >= 0:
            same[row] = before.table.block[old] < 0 and before.table.problems.get(old) == (problem,)
        elif problem is not None:
            same[row] = False
    rows = np.flatnonzero(beginning.memory & ~same)
    return rows[np.argsort(beginning.position[rows], kind="stable")]


class _Named(NamedTuple):
    """An entry as far as its duplicates are concerned."""

    memory_id: str
    file: str


class _Work:
    """One refreshing: rows are read into entries, entries built into blocks, and what was kept is carried over."""

    def __init__(
        self, beginning: _Beginning, project: Path, real_project: str, cancellation: Cancellation | None
    ) -> None:
        self._begin = beginning
        self._real_project = real_project
        self._cancellation = cancellation
        self._stamps = beginning.sight.stamps.copy()
        self._settled = beginning.same.copy()
        count = len(self._stamps)
        self._block = np.full(count, -1, np.int32)
        self._number = np.full(count, -1, np.int32)
        self._problems: dict[int, tuple[Problem, ...]] = {}
        self._blocks: list[Block] = []
        self._pending: list[tuple[int, AgentEntry]] = []
        self._new: list[int] = []
        self._paths = _Paths(project, beginning.sight)
        before = beginning.before
        if before is not None:
            same = np.flatnonzero(beginning.same)
            self._block[same] = before.table.block[beginning.old[same]]
            self._number[same] = before.table.number[beginning.old[same]]
            self._blocks += before.blocks
            now = np.full(len(before.table.settled), -1, np.int64)
            now[beginning.old[same]] = same
            self._problems = {int(now[row]): found for row, found in before.table.problems.items() if now[row] >= 0}

    def read(self, rows: NDArray[np.int64], *, anew: bool = False) -> None:
        """Read the files of rows. What says the same as before keeps its document, unless it is to be had `anew`."""
        before = self._begin.before
        for count, row in enumerate(rows.tolist()):
            if self._cancellation is not None and count % _CHECK_EVERY == 0:
                self._cancellation.check()
            reading = self._reading(row)
            self._note(row, reading)
            old = int(self._begin.old[row])
            if reading.entry is None:
                self._block[row] = self._number[row] = -1
            elif not anew and before is not None and old >= 0 and before.digest(old) == digest_of(reading.entry.text):
                self._block[row], self._number[row] = before.table.block[old], before.table.number[old]
            else:
                self._pending.append((row, reading.entry))
                if len(self._pending) >= BLOCK_SIZE:
                    self.build()

    def rebuild(self) -> None:
        """Read once more what lies in blocks that are better built anew."""
        counts = [block.size for block in self._blocks]
        alive = np.bincount(self._block[self._block >= 0], minlength=len(counts)).tolist()
        chosen = to_rebuild(counts, alive, len(self._pending))
        rows = np.flatnonzero(np.isin(self._block, chosen))
        self._block[rows] = self._number[rows] = -1
        self.read(rows[np.argsort(self._begin.position[rows], kind="stable")], anew=True)

    def build(self) -> None:
        """Make a block of what was read."""
        if not self._pending:
            return
        if self._cancellation is not None:
            self._cancellation.check()
        rows = np.array([row for row, _ in self._pending], np.int64)
        entries = [entry for _, entry in self._pending]
        documents = [Document(entry.title or "", entry.content, entry.tags) for entry in entries]
        self._block[rows] = len(self._blocks)
        self._number[rows] = np.arange(len(rows), dtype=np.int32)
        self._new += rows.tolist()
        self._blocks.append(built(documents, columns_of(entries), self._cancellation))
        self._pending = []

    def state(self) -> IndexedState:
        """What is true now, without the blocks that nothing lies in any more."""
        used = np.unique(self._block[self._block >= 0])
        numbers = np.full(len(self._blocks) + 1, -1, np.int32)
        numbers[used] = np.arange(len(used), dtype=np.int32)
        sight = self._begin.sight._replace(stamps=self._stamps)
        count = len(self._stamps)
        table = Table(
            sight=sight,
            memory=self._begin.memory,
            settled=self._settled,
            block=numbers[self._block],
            number=self._number,
            position=self._begin.position,
            hidden=np.zeros(count, np.bool_),
            problems=self._problems,
            duplicates=(),
        )
        state = IndexedState(table, tuple(self._blocks[number] for number in used))
        table = table._replace(hidden=self._hidden(state))
        state = IndexedState(table, state.blocks)
        return IndexedState(table._replace(duplicates=self._duplicates(state)), state.blocks)

    def _reading(self, row: int) -> Reading:
        path = self._paths[row]
        if self._begin.sight.is_link(row) and leads_outside(path, self._real_project):
            return Reading(None, None, (outside_problem(path, self._real_project),))
        reading = read_entry(str(path), self._paths.type_of(row))
        if reading.missing and not self._begin.sight.is_link(row):  # it went away after its directory was listed
            return Reading(None, None, ())
        return reading

    def _note(self, row: int, reading: Reading) -> None:
        is_link, links = self._begin.sight.is_link(row), int(self._stamps[row, -1]) & ~LINK
        self._stamps[row] = np.frombuffer(row_of(reading.stamp, links, is_link=is_link), np.uint64)
        # Why a file could not be read may lie outside of it (who asks, a faulty disk), where no stamp tells of it.
        self._settled[row] = reading.stamp is not None and reading.stamp.settled and not reading.unread
        if reading.problems:
            self._problems[row] = reading.problems
        else:
            self._problems.pop(row, None)

    def _hidden(self, state: IndexedState) -> NDArray[np.bool_]:
        """The rows of files that count under another of their names: one that is no link, and is that of the entry."""
        table = state.table
        hidden = np.zeros(len(table.block), np.bool_)
        if (table.sight.stamps[table.block >= 0, -1] == 1).all():  # no links of either kind: each file has one name
            return hidden
        rows = np.flatnonzero(table.block >= 0)
        # Mixed so that equal numbers on two devices seldom meet; those that meet are compared in full.
        mixed = table.sight.stamps[rows, 1] + table.sight.stamps[rows, 0] * np.uint64(0x9E37_79B9_7F4A_7C15)
        groups: dict[tuple[object, ...], list[int]] = {}
        for row in table.in_order(rows[repeated(mixed)]).tolist():
            device, inode = table.sight.stamps[row, :2].tolist()
            groups.setdefault((device, inode, state.digest(row)), []).append(row)
        for group in groups.values():
            hidden[sorted(group, key=lambda row: self._is_lesser_name(state, row))[1:]] = True
        return hidden

    def _is_lesser_name(self, state: IndexedState, row: int) -> tuple[bool, bool]:
        return state.table.sight.is_link(row), state.memory_id(row) != self._paths[row].stem

    def _duplicates(self, state: IndexedState) -> tuple[Problem, ...]:
        table = state.table
        hashes, rows = _joined(state, "id_hash"), np.concatenate([np.empty(0, np.int32), *state.rows])
        hashes, rows = hashes[rows >= 0], rows[rows >= 0].astype(np.int64)
        before = self._begin.before
        if before is not None and not before.table.duplicates and len(self._new) < _FEW:
            new = np.isin(rows, self._new)
            alone = np.isin(hashes, hashes[new]).sum() == new.sum() and not repeated(hashes[new]).any()
            if alone and not before.table.hidden.any():
                return ()
        alike = table.in_order(rows[repeated(hashes)]).tolist()
        return tuple(duplicates([_Named(state.memory_id(row), str(self._paths[row])) for row in alike]))


def _joined(state: IndexedState, column: str) -> NDArray[np.uint64]:
    return np.concatenate([np.empty(0, np.uint64), *(block.columns[column] for block in state.blocks)])


class _Paths:
    """The files of a sight, by row."""

    def __init__(self, project: Path, sight: Sight) -> None:
        self._directories = [memory_directory(project) / type_ for type_ in MEMORY_TYPES]
        self._blobs = sight.blobs
        self._names: dict[int, list[str]] = {}
        ends = np.cumsum([blob.count(b"\0") for blob in sight.blobs])
        self._starts: list[int] = [0, *ends.tolist()]

    def __getitem__(self, row: int) -> Path:
        type_ = self._type(row)
        if type_ not in self._names:
            self._names[type_] = names_in(self._blobs[type_])
        return self._directories[type_] / self._names[type_][row - self._starts[type_]]

    def type_of(self, row: int) -> MemoryType:
        return MEMORY_TYPES[self._type(row)]

    def _type(self, row: int) -> int:
        return next(number for number in range(len(MEMORY_TYPES)) if row < self._starts[number + 1])
