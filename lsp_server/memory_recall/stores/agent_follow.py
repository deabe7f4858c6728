"""Knowing in a server whether an indexed `.agent/memory` still stands, without a look at each of its files.

The kernel tells which names changed (files/watching.py). Beside it, at every question, the directories themselves are
looked at (they may have been replaced, or linked elsewhere), every file that has a name outside of them, and, as a
second net under what brings no event, the next fifty files in turn.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory_recall.files.watching import Watch, is_local
from memory_recall.stores.agent_entry import MEMORY_TYPES
from memory_recall.stores.agent_files import OUTSIDE, leads_outside, real_path
from memory_recall.stores.agent_reading import agent_directory, memory_directory
from memory_recall.stores.agent_scan import row_at
from memory_recall.stores.agent_table import Sight, with_changes

if TYPE_CHECKING:
    from memory_recall.stores.agent_state import IndexedState

SECOND_LOOKS = 50
"""Files that are looked at in turn with each question, which takes a quarter of a millisecond."""


class Follower:
    """What happens to the directories of one project's memories from now on."""

    def __init__(self, project: Path, watch: Watch, types: tuple[int, ...]) -> None:
        self._project = project
        self._watch = watch
        self._types = types
        self._places = _places(project)
        self._turn = 0

    @classmethod
    def of(cls, project: Path) -> Follower | None:
        """A follower of the directories that there are; None where not every change in them would be told of."""
        directories = [str(memory_directory(project) / type_) for type_ in MEMORY_TYPES]
        present = tuple(number for number, directory in enumerate(directories) if os.path.isdir(directory))  # noqa: PTH112
        if not present or not all(is_local(directories[number]) for number in present):
            return None
        try:
            return cls(project, Watch([directories[number] for number in present]), present)
        except OSError:
            return None

    @property
    def mark(self) -> int:
        """The present moment, as far as changes are concerned."""
        return self._watch.count

    def doubt(self) -> None:
        """Something changed that was not told of."""
        self._watch.doubt()

    def changed(self, state: IndexedState, mark: int) -> set[tuple[int, str]] | None:
        """The files, by number of type and name, that are to be looked at again since that mark; None: all."""
        told = self._watch.since(mark)
        if told is None or _places(self._project) != self._places:
            return None
        changed = {(self._types[number], name) for number, name in told}
        stamps = state.table.sight.stamps
        shared = np.flatnonzero(state.table.memory & (stamps[:, -1] != 1))
        directory = str(memory_directory(self._project))
        turn = range(self._turn, min(self._turn + SECOND_LOOKS, len(stamps)))
        self._turn = turn.stop if turn.stop < len(stamps) else 0
        for row in (*shared.tolist(), *turn):
            type_, name = state.name(row)
            if not self._stands(state, row, f"{directory}/{type_}/{name}"):
                changed.add((MEMORY_TYPES.index(type_), name))
        return changed

    def _stands(self, state: IndexedState, row: int, path: str) -> bool:
        if state.table.sight.is_link(row):
            outside = any(problem.code == OUTSIDE for problem in state.table.problems.get(row, ()))
            if (leads := leads_outside(Path(path), real_path(self._project))) or outside:
                return outside and leads
        return row_at(path) == bytes(state.table.sight.stamps[row].tobytes())

    def sight(self, sight: Sight, changed: set[tuple[int, str]], mark: int) -> Sight:
        """What is seen now, if nothing else than this changed since the sight was taken."""
        looks: dict[tuple[int, str], bytes | None] = {}
        for number, name in sorted(changed):
            type_ = MEMORY_TYPES[number]
            path = memory_directory(self._project) / type_ / name
            looks[number, name] = row_at(str(path)) if os.path.lexists(path) else None
        self._watch.forget(mark)
        return with_changes(sight, looks)


def _places(project: Path) -> tuple[object, ...]:
    """Which directories the names lead to: another one, or none, is another place."""
    memory = memory_directory(project)
    places: list[object] = [real_path(project)]
    for path in (project, agent_directory(project), memory, *(memory / type_ for type_ in MEMORY_TYPES)):
        try:
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                status = os.stat(path)
                places.append(real_path(path))
            places.append((status.st_dev, status.st_ino, status.st_mode))
        except OSError as failure:
            places.append(failure.errno)
    return tuple(places)
