"""A look at what else goes on in a project before its memory is recalled: live sessions, open waitpoints, any memories.

Advisory: it is recorded and shown, and never keeps a recall from running. Reads only; in particular it does not mark a
session as stale that has stopped beating.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_recall.files.reading import Unreadable
from memory_recall.model import Problem
from memory_recall.stores.agent import agent_directory, holds_memories
from memory_recall.stores.agent_files import Broken, capped, files_in, read_json, real_path
from memory_recall.text.dates import parse_moment, utc_millis

LIVE_WITHIN = timedelta(minutes=5)
"""A session whose heartbeat is older is taken for dead."""

_LIVE_STATUSES = ("running", "paused")
_OPEN_STATUSES = ("pending", "blocked")


@dataclass(frozen=True, slots=True)
class Continuity:
    """What was going on at `checked_at`. `problems` are the files that could not tell."""

    checked_at: datetime
    live_sessions: tuple[Mapping[str, Any], ...]
    open_waitpoints: tuple[Mapping[str, Any], ...]
    anything_to_recall: bool
    problems: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """`{checked_at, live_sessions[], open_waitpoints[], anything_to_recall}`; the problems join the answer's."""
        return {
            "checked_at": utc_millis(self.checked_at),
            "live_sessions": [dict(session) for session in self.live_sessions],
            "open_waitpoints": [dict(waitpoint) for waitpoint in self.open_waitpoints],
            "anything_to_recall": self.anything_to_recall,
        }


def look(project: Path, now: datetime) -> Continuity:
    """What goes on in a project at that moment. Never raises."""
    problems: list[Problem] = []
    sessions = [
        _session(name, session)
        for name, session in _records(project, "sessions", "S-", problems)
        if _is_live(session, now)
    ]
    waitpoints = [
        _waitpoint(name, waitpoint)
        for name, waitpoint in _records(project, "waitpoints", "WP-", problems)
        if _is_open(waitpoint)
    ]
    told = capped(problems, agent_directory(project))
    return Continuity(now, tuple(sessions), tuple(waitpoints), holds_memories(project), told)


_Record = Mapping[str, Any]


def _is_live(session: _Record, now: datetime) -> bool:
    beat = parse_moment(session.get("last_heartbeat_at")) or parse_moment(session.get("started_at"))
    # Clocks of two machines differ, so a heartbeat may also lie a little ahead of our present.
    return session.get("status") in _LIVE_STATUSES and beat is not None and abs(now - beat) < LIVE_WITHIN


def _is_open(waitpoint: _Record) -> bool:
    return waitpoint.get("status") in _OPEN_STATUSES


def _session(name: str, session: _Record) -> _Record:
    return {
        "session_id": session.get("session_id") or name,
        "status": session["status"],
        "last_heartbeat_at": session.get("last_heartbeat_at"),
        "started_at": session.get("started_at"),
    }


def _waitpoint(name: str, waitpoint: _Record) -> _Record:
    return {
        "waitpoint_id": waitpoint.get("waitpoint_id") or name,
        "status": waitpoint["status"],
        "owner_workflow": waitpoint.get("owner_workflow"),
        "expires_at": waitpoint.get("expires_at"),
    }


def _records(project: Path, folder: str, prefix: str, problems: list[Problem]) -> Iterator[tuple[str, _Record]]:
    """The JSON objects in the files `<folder>/<prefix>*.json`, each with its file name without the suffix."""
    directory = agent_directory(project) / folder
    real_project = real_path(project)
    for name in _names(directory, prefix, real_project, problems):
        path = directory / name
        try:
            value = read_json(path, real_project).value
        except (Unreadable, Broken) as failure:
            problems.append(failure.problem)
            continue
        if isinstance(value, dict):
            yield name.removesuffix(".json"), value
        else:
            problems.append(Problem("schema", f"{path} holds no object, so it tells nothing.", str(path), 1, 1))


def _names(directory: Path, prefix: str, real_project: str, problems: list[Problem]) -> list[str]:
    return sorted(
        file.name
        for file in files_in(directory, real_project, problems)
        if file.name.startswith(prefix) and file.name.endswith(".json") and not file.name.endswith(".schema.json")
    )
