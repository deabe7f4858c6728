"""What a nemp recall leaves behind: for each memory returned a line in the access log, and its counters in its store.

Both or neither: the log lines are written when the store's new bytes are on the disk and only their renaming is left,
and are taken away again if that fails. A read that cannot be accounted for costs the answer nothing; a problem says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from memory_recall.environment import Environment
from memory_recall.files.reading import Unreadable, read_file
from memory_recall.files.writing import NotWritten, append_line
from memory_recall.model import Problem
from memory_recall.recall.nemp_edits import EntryChange, rewrite_entries, same_entry, vitality_changes
from memory_recall.recall.nemp_vitality import after_read
from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempPlaces, NempStore
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.text.dates import parse_moment, utc_seconds
from memory_recall.text.json_spans import JsonError, root_span, value_at
from memory_recall.text.positions import LineIndex
from memory_recall.text.untrusted import for_log

_SET_BY_A_READ = frozenset(("reads", "reads_7d", "reads_30d", "last_read", "score", "state"))


class Reader(NamedTuple):
    """Who read, what was asked, when, and the access log that says so."""

    agent: str
    query: str
    moment: datetime
    log: Path

    @classmethod
    def of(cls, environment: Environment, query: str, agent: str | None, log: Path) -> Reader:
        """The agent given, else `$CLAUDE_AGENT_NAME`, else `main`; now."""
        named = agent or environment.variable("CLAUDE_AGENT_NAME") or "main"
        return cls(named, query, environment.now(), log)

    def line(self, key: str) -> str:
        """The access log's line for one read; whatever could end it early is escaped."""
        stamp = utc_seconds(self.moment)
        return f"[{stamp}] READ key={for_log(key)} agent={for_log(self.agent)} query={for_log(self.query)}"


class Goals:
    """The goals of a project, read from its `cortex.json` when a memory is linked to one.

    A missing file has no active goal; neither has a broken one, but `problem` then names the fault.
    """

    def __init__(self, cortex: Path | None) -> None:
        self._cortex = cortex

    @classmethod
    def of(cls, places: NempPlaces) -> Goals:
        """The goals of the project; none where there is no project store."""
        return cls(places.project.parent / "cortex.json" if places.project is not None else None)

    def any_active(self, entry: NempEntry) -> bool:
        """Whether a goal that the entry names in `links.goals` is active."""
        goals = entry.links.get("goals") if isinstance(entry.links, dict) else None
        named = [goal for goal in goals if isinstance(goal, str)] if isinstance(goals, list) else []
        return bool(named) and not self._read[0].isdisjoint(named)

    @property
    def problem(self) -> Problem | None:
        """What is wrong with the file, if it was looked at."""
        return self._read[1] if "_read" in self.__dict__ else None

    @cached_property
    def _read(self) -> tuple[frozenset[str], Problem | None]:
        return _active_goals(self._cortex) if self._cortex is not None else (frozenset(), None)


class Accounted(NamedTuple):
    """The entries of one store after their reads, each None where its read could not be recorded.

    `places` are their lines and columns by now, `store` the store as it was written, where that is known.
    """

    entries: tuple[NempEntry | None, ...]
    places: tuple[tuple[int, int], ...]
    problems: tuple[Problem, ...] = ()
    store: NempStore | None = None


def account(
    store: NempStore,
    read: Sequence[NempEntry],
    reader: Reader,
    goals: Goals,
    check: Callable[[], None] | None = None,
) -> Accounted:
    """Record one read of each of these entries of a store, in one rewrite of its file.

    `check` may raise as long as nothing was written, which ends it with nothing recorded. Nothing else is raised.
    """
    present: list[NempEntry | None] = []
    undo: list[Callable[[], bool]] = []

    def plan(fresh: NempStore) -> list[EntryChange]:
        present[:] = [same_entry(entry, store, fresh) for entry in read]
        return [_change(entry, reader.moment, goals) for entry in present if entry is not None]

    def log() -> None:
        for entry in present:
            if entry is not None:
                undo.append(append_line(reader.log, reader.line(entry.key)))

    try:
        edited = rewrite_entries(store, plan, before_replace=log, check=check)
    except NotWritten as failure:
        for take_back in reversed(undo):
            take_back()
        return _nothing_recorded(store, read, failure.problem)
    changed, there = iter(edited.entries), iter(edited.places)
    entries = tuple(None if entry is None else next(changed) for entry in present)
    places = tuple((1, 1) if entry is None else next(there) for entry in present)
    return Accounted(entries, places, tuple(_vanished(store, read, entries)), edited.store)


def foreseen(entry: NempEntry, moment: datetime, goals: Goals) -> dict[str, Any]:
    """`type`, `confidence`, `vitality` and `links` of an entry as they will be when its read was recorded."""
    members: dict[str, Any] = {
        "type": entry.type,
        "confidence": entry.confidence,
        "vitality": entry.vitality,
        "links": entry.links,
    }
    for (name, *rest), value in _change(entry, moment, goals).changes:
        members[name] = {**members[name], rest[0]: value} if rest else value
    return members


def _change(entry: NempEntry, moment: datetime, goals: Goals) -> EntryChange:
    vitality = after_read(
        entry.vitality if isinstance(entry.vitality, dict) else None,
        created=parse_moment(entry.created),
        goal_active=goals.any_active(entry),
        now=moment,
    )
    return EntryChange(entry, vitality_changes(entry, vitality, _SET_BY_A_READ))


def _nothing_recorded(store: NempStore, read: Sequence[NempEntry], cause: Problem) -> Accounted:
    message = f"{cause.message} This read was not recorded."
    problem = Problem("not-recorded", message, cause.path or str(store.path), cause.line, cause.column)
    return Accounted((None,) * len(read), ((1, 1),) * len(read), (problem,))


def _vanished(store: NempStore, read: Sequence[NempEntry], entries: Sequence[NempEntry | None]) -> list[Problem]:
    path = str(store.path)
    return [
        Problem("not-recorded", f'"{old.key}" has just been removed; its read was not recorded.', path)
        for old, new in zip(read, entries, strict=True)
        if new is None
    ]


def _active_goals(cortex: Path) -> tuple[frozenset[str], Problem | None]:
    try:
        text = read_file(cortex).data.decode("utf-8-sig")
    except Unreadable as unreadable:
        return frozenset(), None if unreadable.missing else _without_goals(unreadable.problem)
    except UnicodeDecodeError:
        return frozenset(), _without_goals(Problem("not-utf-8", f"{cortex} is not UTF-8.", str(cortex)))
    if not text.strip():
        return frozenset(), None
    try:
        content, _ = value_at(text, root_span(text)[0])
    except JsonError as error:
        line, column = LineIndex(text).line_column(error.offset)
        broken = Problem("not-json", f"This is not valid JSON: {error.message}.", str(cortex), line, column)
        return frozenset(), _without_goals(broken)
    return frozenset(_ids_of_active(content.get("goals") if isinstance(content, dict) else None)), None


def _ids_of_active(goals: Any) -> list[str]:
    listed = goals if isinstance(goals, list) else []
    active = [goal for goal in listed if isinstance(goal, dict) and goal.get("status") == "active"]
    return [goal["goal_id"] for goal in active if isinstance(goal.get("goal_id"), str)]


def _without_goals(problem: Problem) -> Problem:
    message = f"{problem.message} Goals count as inactive until it can be read."
    return Problem(problem.code, message, problem.path, problem.line, problem.column)
