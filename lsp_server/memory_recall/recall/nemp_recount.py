"""`nemp recount`: the windows `reads_7d` and `reads_30d` counted again from the access log.

A recall only ever adds to the windows, so that a memory read once would look read "in the last seven days" for ever.
The log is the one record of when reads happened. A project's log has all reads of the project's memories; reads of a
global one are logged in the project that they were made in, so the home's log may not have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment, Place
from memory_recall.errors import RecallError
from memory_recall.files.reading import Unreadable, read_file
from memory_recall.files.writing import NotWritten
from memory_recall.model import Problem
from memory_recall.recall.nemp_accounting import Goals
from memory_recall.recall.nemp_edits import EntryChange, rewrite_entries
from memory_recall.recall.nemp_log import MONTH, WEEK, LoggedReads, Namesakes, Windows, reads_in
from memory_recall.recall.nemp_vitality import count_of, with_windows
from memory_recall.stores.nemp import NempStore, Source, find_stores, no_store
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.text.dates import parse_moment

if TYPE_CHECKING:
    from memory_recall.stores.shelf import Shelf

_LOGGED_AND_COUNTED_APART = timedelta(seconds=5)
"""A read's log line and its `last_read` are written together; when they differ by more, they are of two reads."""

_WINDOWS = ("reads_7d", "reads_30d")
_LOGGED_ELSEWHERE = "its reads are logged in other projects"


@dataclass(frozen=True, slots=True)
class RecountedMemory:
    """One memory whose windows were wrong. Each pair is before and after; what was not written is equal in both."""

    key: str
    path: Path
    line: int
    reads_7d: tuple[Any, Any]
    reads_30d: tuple[Any, Any]
    score: tuple[Any, Any]
    state: tuple[Any, Any]

    def as_json(self) -> dict[str, Any]:
        """`{key, path, line, reads_7d: {from, to}, reads_30d, score, state}`."""
        pairs = {name: getattr(self, name) for name in ("reads_7d", "reads_30d", "score", "state")}
        shown = {name: {"from": before, "to": after} for name, (before, after) in pairs.items()}
        return {"key": self.key, "path": str(self.path), "line": self.line, **shown}


@dataclass(frozen=True, slots=True)
class LeftMemory:
    """A memory of which a window was left as it is, because the log does not have all its reads."""

    key: str
    last_read: str
    reason: str = _LOGGED_ELSEWHERE

    def as_json(self) -> dict[str, Any]:
        """`{key, last_read, reason}`."""
        return {"key": self.key, "last_read": self.last_read, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class RecountResult:
    """What a recount changed, in which store, by which log. `path` and `source` are None where there is no store.

    `reads` is the number of reads of the last thirty days that were counted, `checked` the number of memories whose
    windows were held against them; `left` are those that could not be. `unknown` names keys of READ lines that the
    store does not have (deleted since, or kept in the other store).
    """

    path: Path | None
    source: Source | None
    log: Path | None
    reads: int = 0
    checked: int = 0
    unknown: tuple[str, ...] = ()
    changes: tuple[RecountedMemory, ...] = ()
    left: tuple[LeftMemory, ...] = ()
    problems: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """`{v, path, source, log, reads, checked, unknown, count, changes, left, problems}`."""
        return {
            "v": 1,
            "path": str(self.path) if self.path is not None else None,
            "source": self.source,
            "log": str(self.log) if self.log is not None else None,
            "reads": self.reads,
            "checked": self.checked,
            "unknown": list(self.unknown),
            "count": len(self.changes),
            "changes": [change.as_json() for change in self.changes],
            "left": [memory.as_json() for memory in self.left],
            "problems": [problem.as_json() for problem in self.problems],
        }


class NotRecounted(RecallError):
    """A recount that could not be done: its store or log could not be read, or the store not be written.

    `result` is the result that it has nevertheless: nothing checked, nothing changed, and the problems.
    """

    def __init__(self, result: RecountResult, cause: Problem) -> None:
        path = cause.path or ""
        place = ":".join(str(part) for part in (path, cause.line, cause.column) if part)
        begins_with_path = not place or cause.message.startswith(path)
        super().__init__(cause.code, cause.message if begins_with_path else f"{place}: {cause.message}")
        self.result = result

    def as_json(self) -> dict[str, object]:
        """The error object, and beside it all members of a result."""
        return {**super().as_json(), **self.result.as_json()}


def recount(
    place: Place, environment: Environment, shelf: Shelf, cancellation: Cancellation | None = None
) -> RecountResult:
    """Recompute the windows of the project's store from the project's log (the global one's where there is no project).

    Nothing but `reads_7d` and `reads_30d` is written and, where one of them was wrong, score and state by the formula,
    with the real days since the last read; and that only in a memory that has a `vitality`. Without a store or a log
    there is nothing to count, which a problem says. Raises `NotRecounted` where one of them cannot be read or the store
    not be written, and `Cancelled`.
    """
    places = find_stores(place, environment)
    stores = shelf.nemp_stores(places)
    store = stores[0] if stores else None
    if store is None or places.log is None or store.shape == "absent":
        return RecountResult(None, None, places.log, problems=(no_store(place, environment),))
    result = RecountResult(store.path, store.source, places.log, problems=store.problems)
    if not store.writable:
        raise NotRecounted(result, store.problems[0])
    log = _text_of(places.log, result)
    if log is None:
        message = f"{places.log} does not exist: no reads are logged, so there is nothing to recount."
        return replace(result, problems=(*store.problems, Problem("no-log", message, str(places.log))))
    now = environment.now()
    logged = reads_in(log, _namesakes(stores), now, cancellation)
    result = _recounted(result, store, logged, Goals.of(places), now)
    if result.changes and store.problems:  # they stand on other lines by now
        moved = shelf.nemp(store.path, store.source).problems
        result = replace(result, problems=(*moved, *result.problems[len(store.problems) :]))
    return result


def _text_of(log: Path, result: RecountResult) -> str | None:
    """The log's text, None where there is no log: nothing to count from is no reason to set every window to 0."""
    try:
        return read_file(log).data.decode("utf-8-sig", "replace")
    except Unreadable as unreadable:
        if unreadable.missing:
            return None
        raise _failed(result, unreadable.problem) from unreadable


def _failed(result: RecountResult, cause: Problem, code: str | None = None) -> NotRecounted:
    problem = cause._replace(code=code or cause.code, message=f"{cause.message} Nothing was recounted.")
    return NotRecounted(replace(result, problems=(*result.problems, problem)), problem)


def _namesakes(stores: Sequence[NempStore]) -> Mapping[str, Namesakes]:
    """The keys of the first store. Reads of the other's memories, where there is one, stand in the same log."""
    first, *others = stores
    return {
        key: Namesakes(count, sum(len(other.by_key(key)) for other in others))
        for key, count in Counter(first.keys).items()
    }


@dataclass(frozen=True, slots=True)
class _Wrong:
    """An entry whose windows are wrong, and the members of its vitality that differ, before and after."""

    entry: NempEntry
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    def change(self) -> EntryChange:
        return EntryChange(self.entry, [(("vitality", name), value) for name, value in self.after.items()])

    def pair(self, name: str) -> tuple[Any, Any]:
        before = self.before.get(name)
        return before, self.after.get(name, before)


@dataclass(slots=True)
class _Checked:
    """What holding a store's entries against a log has shown."""

    checked: int = 0
    wrong: list[_Wrong] = field(default_factory=list)
    left: list[LeftMemory] = field(default_factory=list)


def _recounted(
    result: RecountResult, store: NempStore, logged: LoggedReads, goals: Goals, now: datetime
) -> RecountResult:
    found = _Checked()

    def plan(fresh: NempStore) -> list[EntryChange]:
        nonlocal found
        found = _check(fresh, logged, goals, now)
        return [wrong.change() for wrong in found.wrong]

    changes: tuple[RecountedMemory, ...] = ()
    try:
        if plan(store):
            edited = rewrite_entries(store, plan)
            changes = tuple(
                _memory(store.path, line, wrong) for (line, _), wrong in zip(edited.places, found.wrong, strict=True)
            )
    except NotWritten as failure:
        raise _failed(result, failure.problem, "not-recorded") from failure
    return replace(
        result,
        reads=int(sum(windows.reads_30d for windows in logged.windows.values())),
        checked=found.checked,
        unknown=logged.unknown,
        changes=changes,
        left=tuple(found.left),
        problems=(*result.problems, goals.problem) if goals.problem is not None else result.problems,
    )


def _check(store: NempStore, logged: LoggedReads, goals: Goals, now: datetime) -> _Checked:
    found = _Checked()
    for entry in store.entries:
        if not isinstance(entry.vitality, dict):
            continue
        counted = Windows(count_of(entry.vitality.get("reads_7d")), count_of(entry.vitality.get("reads_30d")))
        right = logged.windows.get(entry.key, Windows())
        elsewhere = _read_elsewhere(entry, logged) if store.source == "global" else None
        if elsewhere is not None:
            # Of such a memory is known only that it was not read after that.
            age = now - elsewhere
            right = Windows(0 if age > WEEK else counted.reads_7d, 0 if age > MONTH else counted.reads_30d)
        if elsewhere is not None and now - elsewhere <= MONTH:
            found.left.append(LeftMemory(entry.key, entry.vitality["last_read"]))
        else:
            found.checked += 1
        if counted != right:
            found.wrong.append(_corrected(entry, counted, right, goals, now))
    return found


def _read_elsewhere(entry: NempEntry, logged: LoggedReads) -> datetime | None:
    """When an entry was last read, if its log does not have that read and so may lack others too."""
    last_read = parse_moment(entry.vitality.get("last_read"))
    newest = logged.newest.get(entry.key)
    if last_read is None or (newest is not None and last_read - newest <= _LOGGED_AND_COUNTED_APART):
        return None
    return last_read


def _corrected(entry: NempEntry, counted: Windows, right: Windows, goals: Goals, now: datetime) -> _Wrong:
    before = entry.vitality
    windows = {name: getattr(right, name) for name in _WINDOWS if getattr(right, name) != getattr(counted, name)}
    created, active = parse_moment(entry.created), goals.any_active(entry)
    scored = with_windows(before, right.reads_7d, right.reads_30d, created=created, goal_active=active, now=now)
    judged = {name: scored[name] for name in ("score", "state") if scored[name] != before.get(name)}
    return _Wrong(entry, before, {**windows, **judged})


def _memory(path: Path, line: int, wrong: _Wrong) -> RecountedMemory:
    reads_7d, reads_30d, score, state = map(wrong.pair, (*_WINDOWS, "score", "state"))
    return RecountedMemory(wrong.entry.key, path, line, reads_7d, reads_30d, score, state)
