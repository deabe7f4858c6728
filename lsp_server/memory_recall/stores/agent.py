"""The `.agent/memory` tree of one project: which files are memories, what they say, and whether they still do.

Reads one project and no other: never a directory above it, never through a symbolic link that leads out of it. Knows
no query and no recall, and writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from memory_recall.files.reading import Stamp, is_unchanged, stamp_of
from memory_recall.model import Problem
from memory_recall.stores.agent_entry import MEMORY_TYPES, SCOPES, AgentEntry, MemoryType, Scope, as_memory
from memory_recall.stores.agent_files import files_in, is_directory, leads_outside, outside_problem, real_path
from memory_recall.stores.agent_open import holds_more_than, opened
from memory_recall.stores.agent_reading import (
    Reading,
    agent_directory,
    duplicates,
    grouped,
    is_memory,
    is_readable,
    memory_directory,
    read_entry,
    without_aliases,
)
from memory_recall.stores.agent_tree import AgentTree

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.index.indexing import Indexing
    from memory_recall.ranking.held import HeldDocuments
    from memory_recall.ranking.lexical import Document
    from memory_recall.stores.agent_indexed import IndexedStore

__all__ = [
    "MEMORY_TYPES",
    "SCOPES",
    "AgentEntry",
    "AgentStore",
    "AnyStore",
    "MemoryType",
    "Scope",
    "agent_directory",
    "as_memory",
    "duplicates",
    "holds_memories",
    "is_current",
    "memory_directory",
    "named",
    "open_store",
    "read_store",
]

_CHECK_EVERY = 256


INDEXED_FROM = 1_000
"""Memories above which a store is indexed. Below, reading them all takes no longer than loading what an index needs."""


@dataclass(frozen=True)
class AgentStore(AgentTree):
    """The memories of one project, held as they were read.

    `entries` are ordered by type (episodic, semantic, procedural), then by file name.
    """

    entries: tuple[AgentEntry, ...]
    directories: Mapping[Path, Stamp | None]
    readings: Mapping[str, Reading]

    @property
    def count(self) -> int:
        """How many memories there are."""
        return len(self.entries)

    @property
    def memory_ids(self) -> Sequence[str]:
        """The ids of all memories, in the order of the entries."""
        return [entry.memory_id for entry in self.entries]

    def by_id(self, memory_id: str) -> tuple[AgentEntry, ...]:
        """The entries with that very id: one, none, or several where files repeat it."""
        return tuple(self._by_id.get(memory_id, ()))

    @cached_property
    def documents(self) -> Sequence[Document]:
        """What there is to rank, one for each of `entries` and in their order."""
        from memory_recall.ranking.lexical import Document

        return tuple(Document(entry.title or "", entry.content, entry.tags) for entry in self.entries)

    @cached_property
    def held(self) -> HeldDocuments:
        """The same, with what a question makes of it."""
        from memory_recall.ranking.held import HeldDocuments

        return HeldDocuments(self.documents)

    @cached_property
    def _by_id(self) -> Mapping[str, Sequence[AgentEntry]]:
        return grouped(self.entries)


AnyStore: TypeAlias = "AgentStore | IndexedStore"
"""The memories of one project, held or indexed."""


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
    readings: dict[str, Reading] = {}
    if is_readable(memory, real_project, unread):
        for type_ in MEMORY_TYPES:
            files = _files_of(memory / type_, real_project, unread)
            readings.update(_read_files(files, type_, real_project, kept, cancellation))
    first = without_aliases(readings)
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


def open_store(
    project: Path, previous: AnyStore | None, cancellation: Cancellation | None, indexing: Indexing
) -> AnyStore:
    """The same, and a large store by way of an index: what is unchanged since it was made is not read again.

    Raises nothing but `Cancelled`.
    """
    previous = previous if previous is not None and previous.project == project else None
    if not holds_more_than(project, INDEXED_FROM):
        return read_store(project, previous if isinstance(previous, AgentStore) else None, cancellation)
    return opened(project, None if isinstance(previous, AgentStore) else previous, cancellation, indexing)


def is_current(store: AnyStore) -> bool:
    """Whether reading the store again would give the same: no file added, removed, replaced or written into.

    Exact. A store that is held costs one `stat` an entry, since a write into a file does not show in its directory; one
    that is indexed says no unless it is followed (agent_follow.py).
    """
    if not isinstance(store, AgentStore):
        return store.is_current()
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
    readings: dict[str, Reading] = {}
    for type_ in MEMORY_TYPES:
        path = memory_directory(project) / type_ / f"{memory_id}.json"
        if is_memory(path.name) and not leads_outside(path, real_project):
            readings[str(path)] = read_entry(str(path), type_)
    entries = (reading.entry for reading in without_aliases(readings))
    return tuple(entry for entry in entries if entry is not None and entry.memory_id == memory_id)


def holds_memories(project: Path) -> bool:
    """Whether there is anything to recall, judged by file names alone."""
    real_project = real_path(project)
    directories = (memory_directory(project) / type_ for type_ in MEMORY_TYPES)
    return any(not leads_outside(directory, real_project) and _holds_one(directory) for directory in directories)


def _holds_one(directory: Path) -> bool:
    try:
        with os.scandir(directory) as listing:
            return any(is_memory(file.name) for file in listing)
    except (OSError, ValueError):
        return False


def _directories(project: Path) -> Iterator[Path]:
    """The directories whose stamps tell that a file came, went or was replaced."""
    memory = memory_directory(project)
    yield memory
    for type_ in MEMORY_TYPES:
        yield memory / type_


def _files_of(directory: Path, real_project: str, problems: list[Problem]) -> list[os.DirEntry[str]]:
    """The files of one type that are memories, by name; a directory that cannot be read is a problem."""
    files = [file for file in files_in(directory, real_project, problems) if is_memory(file.name)]
    files.sort(key=lambda file: file.name.removesuffix(".json"))
    return files


def _is_file_name(memory_id: str) -> bool:
    return bool(memory_id) and not any(character in memory_id for character in "/\\\0:")


def _read_files(
    files: list[os.DirEntry[str]],
    type_: MemoryType,
    real_project: str,
    kept: Mapping[str, Reading],
    cancellation: Cancellation | None,
) -> Iterator[tuple[str, Reading]]:
    for count, file in enumerate(files):
        if cancellation is not None and count % _CHECK_EVERY == 0:
            cancellation.check()
        path = file.path
        is_link = file.is_symlink()
        if is_link and leads_outside(Path(path), real_project):
            yield path, Reading(stamp_of(path), None, (outside_problem(Path(path), real_project),))
            continue
        known = kept.get(path)
        if known is not None and known.stamp is not None and is_unchanged(path, known.stamp):
            yield path, known
            continue
        reading = read_entry(path, type_)
        if not reading.missing or is_link:  # else the file went away after its directory was listed
            yield path, reading
