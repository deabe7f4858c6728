"""One file of `.agent/memory` as it is read: its stamp, the memory in it or what is wrong with it, and its other names.

What the store that holds its entries and the store that keeps them in an index have in common. Lists no directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from memory_recall.files.reading import Stamp, Unreadable, read_file, stamp_of
from memory_recall.model import Problem
from memory_recall.stores.agent_entry import AgentEntry, MemoryType, NotAnEntry, entry_in
from memory_recall.stores.agent_files import (
    ENTRY_LIMIT,
    Broken,
    directory_fault,
    leads_outside,
    outside_problem,
    parse_json,
)

_TEMPORARY = re.compile(r"[.~#].*|.*\.tmp(?:[.-].*)?\.json", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file said when its stamp was taken. `stamp` is None where the path led nowhere.

    `missing` is true where there was no file, `unread` where there was one and could not be read.
    """

    stamp: Stamp | None
    entry: AgentEntry | None
    problems: tuple[Problem, ...]
    missing: bool = False
    unread: bool = False


class EntryChanged(Exception):
    """A file says something else than when its store was read: the question is to be asked of a new reading."""


def agent_directory(project: Path) -> Path:
    """Where a project's agent keeps everything."""
    return project / ".agent"


def memory_directory(project: Path) -> Path:
    """Where a project's memories lie."""
    return agent_directory(project) / "memory"


def is_readable(memory: Path, real_project: str, unread: list[Problem]) -> bool:
    """Whether the directory of the memories can be entered; if not, and it is not just missing, that is a problem."""
    agent = memory.parent
    if leads_outside(memory, real_project):
        unread.append(outside_problem(memory, real_project))
        return False
    fault = directory_fault(agent) or directory_fault(memory)
    if fault is not None and not fault.missing:
        unread.append(fault.problem)
    return fault is None


def is_memory(name: str) -> bool:
    """Whether a file of that name is a memory, and not a sample, a schema or a half-written file."""
    return (
        name.endswith(".json")
        and name != "sample.json"
        and not name.endswith(".schema.json")
        and _TEMPORARY.fullmatch(name) is None
    )


def read_entry(path: str, type_: MemoryType) -> Reading:
    """What a file says; a broken one says nothing and is a problem. Raises nothing."""
    try:
        file = read_file(path, limit=ENTRY_LIMIT)
    except Unreadable:
        stamp = stamp_of(path)  # before a second look: if the file is mended in between, the stamp is seen to be old
        try:
            file = read_file(path, limit=ENTRY_LIMIT)
        except Unreadable as failure:
            return Reading(stamp, None, (failure.problem,), failure.missing, unread=True)
    try:
        entry, problems = entry_in(parse_json(file.data, path), path, type_)
    except (Broken, NotAnEntry) as failure:
        return Reading(file.stamp, None, (failure.problem,))
    return Reading(file.stamp, entry, problems)


class Identified(Protocol):
    """What has an id and lies in a file."""

    @property
    def memory_id(self) -> str: ...

    @property
    def file(self) -> str: ...


_Entry = TypeVar("_Entry", bound=Identified)


def duplicates(entries: Sequence[Identified]) -> Iterator[Problem]:
    """A problem for each entry that has the id of another one."""
    if len({entry.memory_id for entry in entries}) == len(entries):
        return
    for memory_id, same in grouped(entries).items():
        for entry in same if len(same) > 1 else ():
            other = same[1] if entry is same[0] else same[0]
            message = f"{entry.file} has the same memory_id as {other.file}: {memory_id}. Give one of them another."
            yield Problem("duplicate-id", message, entry.file, 1, 1)


def without_aliases(readings: Mapping[str, Reading]) -> list[Reading]:
    """The readings but for those of a file that was read already under another of its names.

    The name that counts is no link where there is such a one, and is that of the entry.
    """
    by_file: dict[tuple[int, int, str], list[str]] = {}
    for path, reading in readings.items():
        if reading.stamp is not None and reading.entry is not None:
            # The text as well: there are file systems on which every file has the same number.
            identity = (reading.stamp.device, reading.stamp.inode, reading.entry.text)
            by_file.setdefault(identity, []).append(path)
    aliases: set[str] = set()
    for paths in by_file.values():
        if len(paths) > 1:
            aliases.update(sorted(paths, key=lambda path: _is_lesser_name(path, readings[path]))[1:])
    return [reading for path, reading in readings.items() if path not in aliases]


def _is_lesser_name(path: str, reading: Reading) -> tuple[bool, bool]:
    return Path(path).is_symlink(), reading.entry is None or reading.entry.memory_id != Path(path).stem


def grouped(entries: Sequence[_Entry]) -> dict[str, list[_Entry]]:
    """Entries by their ids."""
    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.memory_id, []).append(entry)
    return groups
