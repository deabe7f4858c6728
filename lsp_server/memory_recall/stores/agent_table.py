"""The files of an indexed `.agent/memory`: their names and stamps when they were last seen, and where each memory is.

A row for everything that lies in the directories of the types, in the order in which the system lists it, so that an
unchanged directory is known by comparing bytes. Reads no file; knows blocks by number only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.index.packing import Arrays, Damaged, Packing
from memory_recall.model import Problem
from memory_recall.stores.agent_entry import MEMORY_TYPES
from memory_recall.stores.agent_reading import is_memory
from memory_recall.stores.agent_scan import FIELDS, LINK

Mask = NDArray[np.bool_]


class Sight(NamedTuple):
    """What was seen of the directories: for each type its names, each ended by a NUL; a row of a scan for each name."""

    blobs: tuple[bytes, ...]
    stamps: NDArray[np.uint64]

    @classmethod
    def of(cls, blobs: Sequence[bytes], rows: bytes) -> Sight:
        """What listings and their scan say."""
        return cls(tuple(blobs), np.frombuffer(rows, np.uint64).reshape(-1, FIELDS))

    @property
    def links(self) -> Mask:
        """Which names are symbolic links."""
        return self.stamps[:, -1] >= np.uint64(LINK)

    def is_link(self, row: int) -> bool:
        """Whether one name is a symbolic link."""
        return int(self.stamps[row, -1]) >= LINK


class Table(NamedTuple):
    """A sight, and what became of each row.

    `memory`: the name is that of a memory. `settled`: while the stamp is the same, what was read still stands. `block`
    and `number`: where its entry is, -1 where it has none. `position`: its place among all memories by type and name.
    `hidden`: the file counts under another of its names. `problems`: what is wrong with it. `duplicates`: the problems
    of ids that several entries have.
    """

    sight: Sight
    memory: Mask
    settled: Mask
    block: NDArray[np.int32]
    number: NDArray[np.int32]
    position: NDArray[np.int32]
    hidden: Mask
    problems: Mapping[int, tuple[Problem, ...]]
    duplicates: tuple[Problem, ...]

    @property
    def types(self) -> NDArray[np.uint8]:
        """The number in `MEMORY_TYPES` of each row."""
        counts = [blob.count(b"\0") for blob in self.sight.blobs]
        return np.repeat(np.arange(len(counts), dtype=np.uint8), counts)

    def in_order(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows in the order of their types and names."""
        return rows[np.argsort(self.position[rows], kind="stable")]

    def packing(self) -> Packing:
        """The table as facts and arrays."""
        facts = {
            "problems": {str(row): [tuple(problem) for problem in found] for row, found in self.problems.items()},
            "duplicates": [tuple(problem) for problem in self.duplicates],
        }
        arrays: Arrays = {
            **{f"names{number}": np.frombuffer(blob, np.uint8) for number, blob in enumerate(self.sight.blobs)},
            "stamps": self.sight.stamps,
            **{name: getattr(self, name) for name in _COLUMNS},
        }
        return Packing(facts, arrays)

    @classmethod
    def unpacked(cls, packing: Packing, counts: Sequence[int]) -> Table:
        """The table in a packing, given how many documents each block has. Raises `Damaged`."""
        facts, arrays = packing
        try:
            blobs = tuple(arrays[f"names{number}"].tobytes() for number in range(len(MEMORY_TYPES)))
            sight = Sight(blobs, arrays["stamps"])
            problems = {int(row): _problems(found) for row, found in facts["problems"].items()}
            columns: dict[str, Any] = {name: arrays[name] for name in _COLUMNS}
            table = cls(sight, **columns, problems=problems, duplicates=_problems(facts["duplicates"]))
        except (KeyError, TypeError, ValueError, AttributeError) as failure:
            raise Damaged("its table lacks something") from failure
        _check(table, np.array(counts, np.int64))
        return table


_COLUMNS = {
    "memory": np.bool_,
    "settled": np.bool_,
    "block": np.int32,
    "number": np.int32,
    "position": np.int32,
    "hidden": np.bool_,
}


def _problems(found: Any) -> tuple[Problem, ...]:
    return tuple(Problem(*fields) for fields in found)


def _check(table: Table, counts: NDArray[np.int64]) -> None:
    rows = sum(blob.count(b"\0") for blob in table.sight.blobs)
    columns = [(getattr(table, name), kind) for name, kind in _COLUMNS.items()]
    right = (
        table.sight.stamps.shape == (rows, FIELDS)
        and table.sight.stamps.dtype == np.uint64
        and all(column.shape == (rows,) and column.dtype == kind for column, kind in columns)
        and all(blob.endswith(b"\0") or not blob for blob in table.sight.blobs)
        and all(0 <= row < rows for row in table.problems)
    )
    if not right:
        raise Damaged("its table does not fit")
    has_entry = table.block >= 0
    if not ((table.block >= -1) & (table.block < len(counts))).all():
        raise Damaged("its table names a block that is not there")
    numbers = table.number[has_entry]
    if not ((numbers >= 0) & (numbers < counts[table.block[has_entry]])).all():
        raise Damaged("its table leads out of its blocks")


def rows_before(old: Table, sight: Sight) -> NDArray[np.int64]:
    """For each row of a new sight the old table's row of the same name, -1 for a new name."""
    found: list[NDArray[np.int64]] = []
    start = 0
    for before, now in zip(old.sight.blobs, sight.blobs, strict=True):
        found.append(_same_names(before, now, start))
        start += before.count(b"\0")
    return np.concatenate(found)


def _same_names(before: bytes, now: bytes, start: int) -> NDArray[np.int64]:
    """The same for one directory, whose old rows begin at `start`. What both begin with is not looked at by name."""
    shorter = min(len(before), len(now))
    differs = np.frombuffer(before, np.uint8, shorter) != np.frombuffer(now, np.uint8, shorter)
    alike = int(differs.argmax()) if differs.any() else shorter
    alike = before.rfind(b"\0", 0, alike) + 1
    count = before.count(b"\0", 0, alike)
    head = np.arange(start, start + count, dtype=np.int64)
    if alike == len(now):
        return head
    known = {name: start + count + number for number, name in enumerate(before[alike:].split(b"\0")[:-1])}
    tail = [known.get(name, -1) for name in now[alike:].split(b"\0")[:-1]]
    return np.concatenate([head, np.array(tail, np.int64)])


def names_in(blob: bytes) -> list[str]:
    """The names in one directory."""
    return blob.decode("utf-8", "surrogateescape").split("\0")[:-1]


def memories_and_positions(blobs: Sequence[bytes]) -> tuple[Mask, NDArray[np.int32]]:
    """Which rows are memories by their names, and the place of each of them by type and name; -1 for the others."""
    names = [name for blob in blobs for name in names_in(blob)]
    memory = np.fromiter((is_memory(name) for name in names), np.bool_, len(names))
    position = np.full(len(names), -1, np.int32)
    start = place = 0
    for blob in blobs:
        end = start + blob.count(b"\0")
        rows = [row for row in range(start, end) if memory[row]]
        rows.sort(key=lambda row: names[row].removesuffix(".json"))
        position[rows] = np.arange(place, place + len(rows), dtype=np.int32)
        start, place = end, place + len(rows)
    return memory, position


def places_carried(before: Table, old: NDArray[np.int64], sight: Sight) -> tuple[Mask, NDArray[np.int32]]:
    """The same as `memories_and_positions`, for a sight that differs from an earlier one in a few new names."""
    memory = (old >= 0) & before.memory[old]
    after = np.where(memory, before.position[old], -1)  # the place among the old ones that a row stands at or behind
    turn = np.zeros(len(old), np.int64)
    start = 0
    for blob in sight.blobs:
        end = start + blob.count(b"\0")
        new = np.flatnonzero(old[start:end] < 0)
        if len(new):
            names = names_in(blob)
            known = np.flatnonzero(memory[start:end])
            known = known[np.argsort(after[start:end][known])]
            added = sorted((names[row].removesuffix(".json"), row) for row in new.tolist() if is_memory(names[row]))
            for number, (stem, row) in enumerate(added, 1):
                place = bisect_left(known, stem, key=lambda other: names[other].removesuffix(".json"))
                after[start + row] = after[start + known[place - 1]] if place else -1
                turn[start + row] = number
            memory[[start + row for _, row in added]] = True
        start = end
    rows = np.flatnonzero(memory)
    types = np.repeat(np.arange(len(sight.blobs)), [blob.count(b"\0") for blob in sight.blobs])
    position = np.full(len(old), -1, np.int32)
    position[rows[np.lexsort((turn[rows], after[rows], types[rows]))]] = np.arange(len(rows), dtype=np.int32)
    return memory, position


def with_changes(sight: Sight, changes: Mapping[tuple[int, str], bytes | None]) -> Sight:
    """The sight after some names were looked at again: the row of each, or None where it is gone.

    `changes` are by the number of the type and the name.
    """
    stamps = sight.stamps.copy()
    blobs: list[bytes] = []
    gone: list[int] = []
    added: list[tuple[int, bytes]] = []
    start = 0
    for type_, blob in enumerate(sight.blobs):
        count = blob.count(b"\0")
        changed = blob
        for (of_type, name), seen in changes.items():
            if of_type != type_:
                continue
            key = name.encode("utf-8", "surrogateescape") + b"\0"
            row = _row_in(blob, key)
            if row is None:
                if seen is not None:
                    changed += key
                    added.append((start + count, seen))
            elif seen is None:
                gone.append(start + row)
                at = changed.find(key) if changed.startswith(key) else changed.find(b"\0" + key) + 1
                changed = changed[:at] + changed[at + len(key) :]
            else:
                stamps[start + row] = np.frombuffer(seen, np.uint64)
        blobs.append(changed)
        start += count
    if gone or added:
        places = [row for row, _ in added]
        kept = np.ones(len(stamps), np.bool_)
        kept[gone] = False
        new_rows = np.frombuffer(b"".join(row for _, row in added), np.uint64).reshape(-1, FIELDS)
        kept = np.insert(kept, places, True)
        stamps = np.insert(stamps, places, new_rows, axis=0)[kept]
    return Sight(tuple(blobs), stamps)


def _row_in(blob: bytes, key: bytes) -> int | None:
    """The number of a name, given with its NUL, among the names of one directory."""
    at = 0 if blob.startswith(key) else blob.find(b"\0" + key) + 1
    if not at and not blob.startswith(key):
        return None
    return blob.count(b"\0", 0, at)
