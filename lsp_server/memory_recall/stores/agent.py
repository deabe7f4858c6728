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
    "find",
    "holds_memories",
    "is_current",
    "memory_directory",
    "read_store",
]

_CHECK_EVERY = 256
_TEMPORARY = re.compile(r"[.~#].*|.*\.tmp(?:[.-].*)?\.json", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one file said when its stamp was taken. `stamp` is None where the path led nowhere."""

    stamp: Stamp | None
    entry: AgentEntry | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class AgentStore:
    """The memories of one project, as they were when they were read.

    `entries` are ordered by type (episodic, semantic, procedural), then by file name. `problems` are the files that
    were skipped and the members that were not understood.
    """

    project: Path
    agent_exists: bool
    memory_exists: bool
    entries: tuple[AgentEntry, ...]
    problems: tuple[Problem, ...]
    directories: Mapping[Path, Stamp | None]
    readings: Mapping[str, _Reading]

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
    problems: list[Problem] = []
    readings: dict[str, _Reading] = {}
    if is_directory(memory):
        if leads_outside(memory, real_project):
            problems.append(outside_problem(memory))
        else:
            for type_ in MEMORY_TYPES:
                files = _files_of(memory / type_, real_project, problems)
                readings.update(_read_files(files, type_, real_project, kept, cancellation))
    entries = tuple(reading.entry for reading in readings.values() if reading.entry is not None)
    for reading in readings.values():
        problems.extend(reading.problems)
    problems.extend(_duplicates(entries))
    return AgentStore(
        project=project,
        agent_exists=is_directory(agent_directory(project)),
        memory_exists=is_directory(memory),
        entries=entries,
        problems=tuple(problems),
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


def find(project: Path, memory_id: str, store: AgentStore | None = None) -> AgentEntry | None:
    """One entry by its id, reading the one file that has its name: what a hover needs, however many entries there are.

    An entry whose file is named otherwise is found only in `store`, if a (current) one is given.
    """
    if _is_file_name(memory_id):
        real_project = real_path(project)
        for type_ in MEMORY_TYPES:
            path = memory_directory(project) / type_ / f"{memory_id}.json"
            if _is_memory(path.name) and not leads_outside(path, real_project):
                entry = _read_entry(str(path), type_).entry
                if entry is not None and entry.memory_id == memory_id:
                    return entry
    named = store.by_id(memory_id) if store is not None else ()
    return named[0] if named else None


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


def _files_of(directory: Path, real_project: str, problems: list[Problem]) -> list[os.DirEntry[str]]:
    """The files of one type that are memories, by name; a directory that cannot be listed is a problem."""
    if not os.path.lexists(directory):
        return []
    if leads_outside(directory, real_project):
        problems.append(outside_problem(directory))
        return []
    try:
        with os.scandir(directory) as listing:
            files = [file for file in listing if _is_memory(file.name)]
    except OSError as failure:
        reason = os.strerror(failure.errno) if failure.errno else "unknown reason"
        message = f"{directory} cannot be listed ({reason}), so its memories are missing from this answer."
        problems.append(Problem("unreadable", message, str(directory)))
        return []
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
            yield path, _Reading(stamp_of(path), None, (outside_problem(Path(path)),))
            continue
        known = kept.get(path)
        if known is not None and known.stamp is not None and is_unchanged(path, known.stamp):
            yield path, known
            continue
        reading = _read_entry(path, type_)
        if reading.stamp is not None or is_link:  # else the file went away after its directory was listed
            yield path, reading


def _read_entry(path: str, type_: MemoryType) -> _Reading:
    try:
        file = read_file(path, limit=ENTRY_LIMIT)
    except Unreadable:
        stamp = stamp_of(path)  # before a second look: if the file is mended in between, the stamp is seen to be old
        try:
            file = read_file(path, limit=ENTRY_LIMIT)
        except Unreadable as failure:
            return _Reading(stamp, None, (failure.problem,))
    try:
        entry, problems = entry_in(parse_json(file.data, path), path, type_)
    except (Broken, NotAnEntry) as failure:
        return _Reading(file.stamp, None, (failure.problem,))
    return _Reading(file.stamp, entry, problems)


def _grouped(entries: Sequence[AgentEntry]) -> dict[str, list[AgentEntry]]:
    groups: dict[str, list[AgentEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.memory_id, []).append(entry)
    return groups


def _duplicates(entries: Sequence[AgentEntry]) -> Iterator[Problem]:
    if len({entry.memory_id for entry in entries}) == len(entries):
        return
    for memory_id, same in _grouped(entries).items():
        for entry in same if len(same) > 1 else ():
            other = same[1] if entry is same[0] else same[0]
            message = f"{entry.file} has the same memory_id as {other.file}: {memory_id}. Give one of them another."
            yield Problem("duplicate-id", message, entry.file, 1, 1)
