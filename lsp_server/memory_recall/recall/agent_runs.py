"""The run of a memory recall: its name, its states, and the one record that it leaves in `.agent/runs`.

A run goes `pending -> running -> done(success | failed)` and is never tried again by itself. It leaves `result.json` or
`error.json`, never both. Knows nothing of memories or messages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memory_recall.errors import UsageError
from memory_recall.files.locking import NotLocked, locked
from memory_recall.model import Problem
from memory_recall.recall.agent_folders import Refused, writable_folder
from memory_recall.stores.agent import agent_directory
from memory_recall.text.dates import utc_millis
from memory_recall.text.json_values import dumps

WORKFLOW = "memory-recall"

RecordName = Literal["result.json", "error.json"]
_RECORD_NAMES: tuple[RecordName, ...] = ("result.json", "error.json")

StateName = Literal["pending", "running", "done"]
Status = Literal["success", "failed"]
_NEXT: Mapping[StateName, StateName | None] = {"pending": "running", "running": "done", "done": None}

# No separators, no leading dot, no trailing dot (which Windows drops): a name that cannot mean another folder.
_RUN_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?")


@dataclass(frozen=True, slots=True)
class RunState:
    """A state of a run and when it was entered. `status` is set once the run is done."""

    state: StateName
    at: datetime
    status: Status | None = None

    def as_json(self) -> dict[str, Any]:
        """`{state, at}`, for a run that is done `{state, at, status}`."""
        shape: dict[str, Any] = {"state": self.state, "at": utc_millis(self.at)}
        return shape if self.status is None else {**shape, "status": self.status}


@dataclass(frozen=True, slots=True)
class Run:
    """One run, with all the states that it has been in. A transition makes a new value."""

    run_id: str
    states: tuple[RunState, ...]

    @classmethod
    def pending(cls, run_id: str, now: datetime) -> Run:
        """A run that was asked for and has not begun."""
        return cls(run_id, (RunState("pending", now),))

    def running(self, now: datetime) -> Run:
        """The run, begun."""
        return self._enter(RunState("running", now))

    def done(self, status: Status, now: datetime) -> Run:
        """The run, ended."""
        return self._enter(RunState("done", now, status))

    def as_json(self) -> dict[str, Any]:
        """`{run_id, workflow, status, states}`, the beginning of either record."""
        return {
            "run_id": self.run_id,
            "workflow": WORKFLOW,
            "status": self.states[-1].status,
            "states": [state.as_json() for state in self.states],
        }

    def _enter(self, state: RunState) -> Run:
        if _NEXT[self.states[-1].state] != state.state:
            raise ValueError(f"a run that is {self.states[-1].state} cannot become {state.state}")
        return Run(self.run_id, (*self.states, state))


class NotRecorded(Exception):
    """A run without a record, as a `Problem`; `cause` is why it could not be written."""

    def __init__(self, cause: Problem) -> None:
        message = f"This run left no record: {cause.message}"
        super().__init__(message)
        self.cause = cause
        self.problem = Problem("run-not-recorded", message, cause.path)


class NotAmended(Exception):
    """A record that stands as it was first written, as a `Problem`."""

    def __init__(self, cause: Problem, path: Path) -> None:
        reason = cause.message.removeprefix(f"{path} was not written: ")
        message = f"{path} was written before the last problems were known, and could not be amended: {reason}"
        super().__init__(message)
        self.problem = Problem("record-incomplete", message, str(path))


def timed_name(now: datetime) -> str:
    """A moment and a random suffix as part of a file name: `2026-11-30T16-37-19-123Z-9f3a1c`."""
    return f"{utc_millis(now).replace(':', '-').replace('.', '-')}-{os.urandom(3).hex()}"


def new_run_id(now: datetime) -> str:
    """`R-memory-recall-2026-11-30T16-37-19-123Z-9f3a1c`."""
    return f"R-{WORKFLOW}-{timed_name(now)}"


def check_run_id(run_id: str) -> None:
    """Raise `UsageError` unless a run id given by the caller can be the name of a folder in `.agent/runs`."""
    if _RUN_ID.fullmatch(run_id) is None:
        raise UsageError(
            "A run id is 1 to 128 ASCII letters, digits, dots, hyphens and underscores, begins with a letter or digit "
            "and does not end with a dot; leave it out to have one made."
        )


def check_unused(project: Path, run_id: str) -> None:
    """Raise `UsageError` where a run of that id has left its record already: the answer would be another run's."""
    earlier = _earlier_record(agent_directory(project) / "runs" / run_id)
    if earlier is not None:
        raise UsageError(
            f"The run id {run_id} is taken ({earlier.relative_to(project).as_posix()} is there); choose another, or "
            "leave it out to have one made."
        )


def record(project: Path, run_id: str, name: RecordName, content: Mapping[str, Any]) -> Path:
    """Write the record of a run that is done, atomically; its path.

    Raises `NotRecorded` where it cannot be written, and where the run has a record already: the first one stands.
    """
    from memory_recall.files.writing import NotWritten, create

    try:
        folder = writable_folder(project, "runs", run_id)
        # The lock of `.agent` makes looking for either record and writing one of them a single step.
        with locked(agent_directory(project)):
            earlier = _earlier_record(folder)
            if earlier is not None:
                message = f"{earlier} is there already and was kept; use another run id."
                raise NotRecorded(Problem("exists", message, str(earlier)))
            create(folder / name, _encoded(content))
    except (Refused, NotLocked, NotWritten) as failure:
        raise NotRecorded(failure.problem) from failure
    return folder / name


def amend(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the record that this very run has written, atomically. Raises `NotAmended`, the record as it was."""
    from memory_recall.files.writing import NotWritten, replace_file

    try:
        replace_file(path, _encoded(content))
    except NotWritten as failure:
        raise NotAmended(failure.problem, path) from failure


def _earlier_record(folder: Path) -> Path | None:
    return next((folder / name for name in _RECORD_NAMES if os.path.lexists(folder / name)), None)


def _encoded(content: Mapping[str, Any]) -> bytes:
    return f"{dumps(dict(content), indent=2)}\n".encode()
