"""The `.agent/memory` tree of one project: which files are memories, what they say, and whether they still do.

Reads one project and no other: never a directory above it, never through a symbolic link that leads out of it. Knows
no query and no recall, and writes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory_recall.files.reading import Stamp, Unreadable, is_unchanged, read_file, stamp_of
from memory_recall.model import Problem
from memory_recall.stores.agent_entry import (
    MEMORY_TYPES,
    SCOPES,
    AgentEntry,
    MemoryType,
    NotAnEntry,
    Scope,
    as_memory,
    entry_in,
)
from memory_recall.stores.agent_files import (
    ENTRY_LIMIT,
    Broken,
    capped,
    directory_fault,
    files_in,
    is_directory,
    leads_outside,
    outside_problem,
    parse_json,
    real_path,
)

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.ranking.lexical import Document

__all__ = [
    "MEMORY_TYPES",
    "SCOPES",
    "AgentEntry",
    "AgentStore",
    "MemoryType",
    "Scope",
    "agent_directory",
    "as_memory",
    "duplicates",
    "holds_memories",
    "is_current",
    "memory_directory",
    "named",
    "read_store",
]

_CHECK_EVERY = 256
_TEMPORARY = re.compile(r"[.~#].*|.*\.tmp(?:[.-].*)?\.json", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one file said when its stamp was taken. `stamp` is None where the path led nowhere.

    `missing` is true where there was no file.
    """

    stamp: Stamp | None
    entry: AgentEntry | None
    problems: tuple[Problem, ...]
    missing: bool = False


@dataclass(frozen=True)
class AgentStore:
    """The memories of one project, as they were when they were read.

    `entries` are ordered by type (episodic, semantic, procedural), then by file name. `unread` are the directories that
    could not be read, so that what lies there is missing; `faults` are those, the files that were skipped, and the
    members that were not understood.
    """

    project: Path
    agent_exists: bool
    memory_exists: bool
    entries: tuple[AgentEntry, ...]
    unread: tuple[Problem, ...]
    faults: tuple[Problem, ...]
    directories: Mapping[Path, Stamp | None]
    readings: Mapping[str, _Reading]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The faults, with the many of one kind cut short."""
        return self.problems_of(MEMORY_TYPES)

    def problems_of(self, types: Sequence[MemoryType]) -> tuple[Problem, ...]:
        """The same without what is wrong with files of other types."""
        memory = memory_directory(self.project)
        unasked = {str(memory / type_) for type_ in MEMORY_TYPES if type_ not in types}
        return capped((fault for fault in self.faults if not _lies_in(fault, unasked)), memory)

    def by_id(self, memory_id: str) -> tuple[AgentEntry, ...]:
        """The entries with that very id: one, none, or several where files repeat it."""
        return tuple(self._by_id.get(memory_id, ()))

    @cached_property
    def documents(self) -> Sequence[Document]:
        """What there is to rank, one for each of `entries` and in their order."""
        from memory_recall.ranking.lexical import Document

        return tuple(Document(entry.title or "", entry.content, entry.tags) for entry in self.entries)

    @cached_property
    def _by_id(self) -> Mapping[str, Sequence[AgentEntry]]:
        return _grouped(self.entries)


def agent_directory(project: Path) -> Path:
    """Where a project's agent keeps everything."""
    return project / ".agent"


def memory_directory(project: Path) -> Path:
    """Where a project's memories lie."""
    return agent_directory(project) / "memory"


def read_store(
    project: Path, previous: AgentStore | None = None, cancellation: Cancellation | None = None
) -> AgentStore:
    """The memories of that very project. Raises nothing but `Cancelled`: what is broken is in `problems`.

    Files that are unchanged since `previous` are not read again. 100,000 entries take a few seconds, 100,000 unchanged
    ones a fraction of one.
    """
    kept = previous.readings if previous is not None and previous.project == project else {}
    memory = memory_directory(project)
    real_project = real_path(project)
    directories = {directory: stamp_of(directory) for directory in _directories(project)}
    unread: list[Problem] = []
    readings: dict[str, _Reading] = {}
    if _is_readable(memory, real_project, unread):
        for type_ in MEMORY_TYPES:
            files = _files_of(memory / type_, real_project, unread)
            readings.update(_read_files(files, type_, real_project, kept, cancellation))
    first = _without_aliases(readings)
    entries = tuple(reading.entry for reading in first if reading.entry is not None)
    odd = (problem for reading in first for problem in reading.problems)
    return AgentStore(
        project=project,
        agent_exists=is_directory(agent_directory(project)),
        memory_exists=is_directory(memory),
        entries=entries,
        unread=tuple(unread),
        faults=(*unread, *odd, *duplicates(entries)),
        directories=directories,
        readings=readings,
    )


def is_current(store: AgentStore) -> bool:
    """Whether reading the store again would give the same: no file added, removed, replaced or written into.

    Exact, at the price of one `stat` an entry: a write into a file does not show in its directory.
    """
    if is_directory(agent_directory(store.project)) != store.agent_exists:
        return False
    if not all(is_unchanged(directory, stamp) for directory, stamp in store.directories.items()):
        return False
    return all(is_unchanged(path, reading.stamp) for path, reading in store.readings.items())


def named(project: Path, memory_id: str) -> tuple[AgentEntry, ...]:
    """The entries of an id whose files have its name, of each type at most one.

    Reads those files alone: what a hover needs, however many entries there are. An entry whose file is named otherwise
    is not found.
    """
    if not _is_file_name(memory_id):
        return ()
    real_project = real_path(project)
    readings: dict[str, _Reading] = {}
    for type_ in MEMORY_TYPES:
        path = memory_directory(project) / type_ / f"{memory_id}.json"
        if _is_memory(path.name) and not leads_outside(path, real_project):
            readings[str(path)] = _read_entry(str(path), type_)
    entries = (reading.entry for reading in _without_aliases(readings))
    return tuple(entry for entry in entries if entry is not None and entry.memory_id == memory_id)


def duplicates(entries: Sequence[AgentEntry]) -> Iterator[Problem]:
    """A problem for each entry that has the id of another one."""
    if len({entry.memory_id for entry in entries}) == len(entries):
        return
    for memory_id, same in _grouped(entries).items():
        for entry in same if len(same) > 1 else ():
            other = same[1] if entry is same[0] else same[0]
            message = f"{entry.file} has the same memory_id as {other.file}: {memory_id}. Give one of them another."
            yield Problem("duplicate-id", message, entry.file, 1, 1)


def holds_memories(project: Path) -> bool:
    """Whether there is anything to recall, judged by file names alone."""
    real_project = real_path(project)
    return any(_files_of(memory_directory(project) / type_, real_project, []) for type_ in MEMORY_TYPES)


def _directories(project: Path) -> Iterator[Path]:
    """The directories whose stamps tell that a file came, went or was replaced."""
    memory = memory_directory(project)
    yield memory
    for type_ in MEMORY_TYPES:
        yield memory / type_


def _is_readable(memory: Path, real_project: str, unread: list[Problem]) -> bool:
    """Whether the directory of the memories can be entered; if not, and it is not just missing, that is a problem."""
    agent = memory.parent
    if leads_outside(memory, real_project):
        unread.append(outside_problem(memory, real_project))
        return False
    fault = directory_fault(agent) or directory_fault(memory)
    if fault is not None and not fault.missing:
        unread.append(fault.problem)
    return fault is None


def _lies_in(problem: Problem, directories: set[str]) -> bool:
    if not directories or problem.path is None:
        return False
    return not {problem.path, str(Path(problem.path).parent)}.isdisjoint(directories)


def _files_of(directory: Path, real_project: str, problems: list[Problem]) -> list[os.DirEntry[str]]:
    """The files of one type that are memories, by name; a directory that cannot be read is a problem."""
    files = [file for file in files_in(directory, real_project, problems) if _is_memory(file.name)]
    files.sort(key=lambda file: file.name.removesuffix(".json"))
    return files


def _is_memory(name: str) -> bool:
    """Whether a file of that name is a memory, and not a sample, a schema or a half-written file."""
    return (
        name.endswith(".json")
        and name != "sample.json"
        and not name.endswith(".schema.json")
        and _TEMPORARY.fullmatch(name) is None
    )


def _is_file_name(memory_id: str) -> bool:
    return bool(memory_id) and not any(character in memory_id for character in "/\\\0:")


def _read_files(
    files: list[os.DirEntry[str]],
    type_: MemoryType,
    real_project: str,
    kept: Mapping[str, _Reading],
    cancellation: Cancellation | None,
) -> Iterator[tuple[str, _Reading]]:
    for count, file in enumerate(files):
        if cancellation is not None and count % _CHECK_EVERY == 0:
            cancellation.check()
        path = file.path
        is_link = file.is_symlink()
        if is_link and leads_outside(Path(path), real_project):
            yield path, _Reading(stamp_of(path), None, (outside_problem(Path(path), real_project),))
            continue
        known = kept.get(path)
        if known is not None and known.stamp is not None and is_unchanged(path, known.stamp):
            yield path, known
            continue
        reading = _read_entry(path, type_)
        if not reading.missing or is_link:  # else the file went away after its directory was listed
            yield path, reading


def _read_entry(path: str, type_: MemoryType) -> _Reading:
    try:
        file = read_file(path, limit=ENTRY_LIMIT)
    except Unreadable:
        stamp = stamp_of(path)  # before a second look: if the file is mended in between, the stamp is seen to be old
        try:
            file = read_file(path, limit=ENTRY_LIMIT)
        except Unreadable as failure:
            return _Reading(stamp, None, (failure.problem,), missing=failure.missing)
    try:
        entry, problems = entry_in(parse_json(file.data, path), path, type_)
    except (Broken, NotAnEntry) as failure:
        return _Reading(file.stamp, None, (failure.problem,))
    return _Reading(file.stamp, entry, problems)


def _without_aliases(readings: Mapping[str, _Reading]) -> list[_Reading]:
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


def _is_lesser_name(path: str, reading: _Reading) -> tuple[bool, bool]:
    return Path(path).is_symlink(), reading.entry is None or reading.entry.memory_id != Path(path).stem


def _grouped(entries: Sequence[AgentEntry]) -> dict[str, list[AgentEntry]]:
    groups: dict[str, list[AgentEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.memory_id, []).append(entry)
    return groups
