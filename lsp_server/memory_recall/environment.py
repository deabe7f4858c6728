"""Where and when a question is asked: home, working directory, variables, clock. The only reader of process globals.

Everything below takes an `Environment`, so that a test has its own home and its own time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from memory_recall.errors import RecallError
from memory_recall.records import NamedTuple


def _system_clock() -> datetime:
    return datetime.now(UTC)


class Environment(NamedTuple):
    """The surroundings of one process.

    `home` is None where there is none (no HOME and no account entry): stores in a home directory are then absent.
    """

    cwd: Path
    home: Path | None
    variables: Mapping[str, str] = MappingProxyType({})
    clock: Callable[[], datetime] = _system_clock

    @classmethod
    def of_process(cls) -> Environment:
        """The surroundings of this process.

        Raises `RecallError` where the working directory was deleted and nothing tells what it was called: to take
        another one for it would be to answer about, and write into, somebody else's project.
        """
        return cls(cwd=_working_directory(), home=_home(), variables=os.environ)

    def now(self) -> datetime:
        """The present moment, in UTC."""
        return self.clock()

    def variable(self, name: str) -> str | None:
        """The value of an environment variable; None where it is unset or empty."""
        return self.variables.get(name) or None


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except OSError:
        named = Path(os.environ.get("PWD", ""))
        if named.is_absolute():
            return named
    raise RecallError("no-working-directory", "The working directory is gone; change to one that exists and try again.")


def _home() -> Path | None:
    name = "USERPROFILE" if os.name == "nt" else "HOME"
    given = os.environ.get(name)
    if given is not None:  # an empty or relative HOME would make the root, or every directory, a home
        return Path(given) if Path(given).is_absolute() else None
    try:
        return Path.home()
    except RuntimeError:
        return None


class Place(NamedTuple):
    """Where a question is asked: the working directory of a terminal, or the folder of a note.

    `boundary` is the workspace folder that holds the note; no store above it is ever looked at. None in a terminal,
    where the repository root bounds the search instead.
    """

    folder: Path
    boundary: Path | None = None

    @property
    def project(self) -> Path:
        """The one directory whose `.agent/` is meant: the workspace folder, else the folder itself. Never a parent."""
        return self.boundary or self.folder
