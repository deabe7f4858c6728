"""Which nemp stores a place sees: the search upward for the project's, the home's, and the log that reads go to.

Looks at names and owners only; what is in the files is `nemp.py`'s.
"""

# ruff: noqa: PTH118, PTH120 - paths are texts where they are searched, see `_Directory`

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from memory_recall.environment import Environment, Place
from memory_recall.model import Problem
from memory_recall.records import NamedTuple

_FOLDER = ".nemp"
_STORE = "memories.json"
_LOG = "access.log"
_REPOSITORY_MARKS = (".git", ".hg", ".jj")


class NempPlaces(NamedTuple):
    """The stores that a place sees, None where there is none, and the access log that its reads go to.

    `log` is None where there is neither a project store nor a home. A store is named as soon as something stands at
    its place, readable or not.
    """

    project: Path | None
    global_: Path | None
    log: Path | None


def find_stores(place: Place, environment: Environment) -> NempPlaces:
    """The project store nearest above the place, and the global one.

    Upward from the folder, through the repository root and the workspace folder and no further; the home directory is
    never a project. Outside of a workspace folder, nothing that another user may have put there is one either: the
    search ends below a folder whose owner is not that of the first, and passes over a `.nemp` that is somebody else's
    in a folder where everybody may write. Where both names lead to one file, only one is returned: the global one
    where the very folder `.nemp` is the home's, else the project's.
    """
    shared = environment.home / _FOLDER / _STORE if environment.home is not None else None
    project = _nearest_store(place, environment)
    if project is not None and shared is not None and _same(project.parent, shared.parent):
        project = None
    if shared is not None and (not stands_at(shared) or (project is not None and _same(project, shared))):
        shared = None
    logging = project or (environment.home / _FOLDER / _STORE if environment.home is not None else None)
    return NempPlaces(project, shared, logging.parent / _LOG if logging is not None else None)


def no_store(place: Place, environment: Environment) -> Problem:
    """The problem of a place that sees no store: which places were looked at."""
    looked_at = list(_searched_folders(place, environment))
    sought = Path(_FOLDER, _STORE)
    nowhere = []
    if looked_at:
        upward = f" or a folder above it, up to {looked_at[-1]}" if len(looked_at) > 1 else ""
        nowhere.append(f"{sought} in {looked_at[0]}{upward}")
    if environment.home is not None:
        nowhere.append(f"{environment.home / sought}")
    message = f"There is no nemp store here: no {', and no '.join(nowhere) or 'home directory'}. "
    return Problem("no-store", message + "Ask from inside the project, or save a memory with nemp first.")


def _nearest_store(place: Place, environment: Environment) -> Path | None:
    for folder in _searched_folders(place, environment):
        store = os.path.join(folder, _FOLDER, _STORE)
        if stands_at(store):
            return Path(store)
    return None


class _Directory:
    """A directory by its path, and by what it is where paths do not decide. Looked at once, and only if asked.

    Paths are texts here: this runs at every rest of a mouse, and `Path` takes longer than the disk.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @cached_property
    def status(self) -> os.stat_result | None:
        """What it is; None where there is nothing to be seen."""
        return _status(self.path)

    def is_same(self, other: _Directory | None) -> bool:
        """Whether both paths lead to one directory."""
        if other is None or self.path == other.path:
            return other is not None
        return self.status is not None and other.status is not None and os.path.samestat(self.status, other.status)

    def with_parents(self) -> Iterator[_Directory]:
        """This one, and each above it up to the root."""
        yield self
        path = self.path
        while (parent := os.path.dirname(path)) != path:
            path = parent
            yield _Directory(path)


def _searched_folders(place: Place, environment: Environment) -> Iterator[str]:
    start = _Directory(os.path.normpath(os.path.join(environment.cwd, place.folder)))
    boundary = home = None
    if environment.home is not None:
        home = _Directory(str(environment.home))
    if place.boundary is not None:
        boundary = _Directory(os.path.normpath(os.path.join(environment.cwd, place.boundary)))
        names = {folder.path for folder in start.with_parents()}
        if boundary.path not in names and not any(folder.is_same(boundary) for folder in start.with_parents()):
            start = boundary  # a note outside its own workspace: the workspace alone is asked
    owner: int | None = None
    for folder in start.with_parents():
        if folder.is_same(home):
            return
        status = folder.status if boundary is None else None  # a workspace folder was opened by its user: no doubts
        if status is not None:
            owner = status.st_uid if owner is None else owner
            if status.st_uid != owner:
                return
            if folder is not start and _is_planted(folder.path, status):
                continue
        yield folder.path
        if folder.is_same(boundary):
            return
        if any(stands_at(os.path.join(folder.path, mark)) for mark in _REPOSITORY_MARKS):
            return


def _is_planted(folder: str, status: os.stat_result) -> bool:
    """Whether everybody may write to a folder, and somebody else than its owner has put a `.nemp` there."""
    if not status.st_mode & stat.S_IWOTH:
        return False
    try:
        planted = os.lstat(os.path.join(folder, _FOLDER))  # of a link, whoever made the link
    except (OSError, ValueError):
        return False
    return planted.st_uid != status.st_uid


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _same(left: Path, right: Path) -> bool:
    return _Directory(str(left)).is_same(_Directory(str(right)))


def stands_at(path: str | Path) -> bool:
    """Whether something has that name, be it a broken link or a thing that may not be looked at."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as failure:
        return failure.errno != errno.ENAMETOOLONG  # no file has a name that none can have
    return True
