"""What every reading of a project's `.agent/memory` says, however it holds its entries: what exists, what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_recall.model import Problem
from memory_recall.stores.agent_entry import MEMORY_TYPES, MemoryType
from memory_recall.stores.agent_files import capped
from memory_recall.stores.agent_reading import memory_directory


@dataclass(frozen=True)
class AgentTree:
    """The memories of one project, as they were when they were read.

    `unread` are the directories that could not be read, so that what lies there is missing; `faults` are those, the
    files that were skipped, and the members that were not understood.
    """

    project: Path
    agent_exists: bool
    memory_exists: bool
    unread: tuple[Problem, ...]
    faults: tuple[Problem, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The faults, with the many of one kind cut short."""
        return self.problems_of(MEMORY_TYPES)

    def problems_of(self, types: Sequence[MemoryType]) -> tuple[Problem, ...]:
        """The same without what is wrong with files of other types."""
        memory = memory_directory(self.project)
        unasked = {str(memory / type_) for type_ in MEMORY_TYPES if type_ not in types}
        return capped((fault for fault in self.faults if not _lies_in(fault, unasked)), memory)


def _lies_in(problem: Problem, directories: set[str]) -> bool:
    if not directories or problem.path is None:
        return False
    return not {problem.path, str(Path(problem.path).parent)}.isdisjoint(directories)
