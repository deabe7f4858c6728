"""`nemp recount`: the windows `reads_7d` and `reads_30d` counted again from the access log.

A recall only ever adds to the windows, so that a memory read once would look read "in the last seven days" for ever.
The log is the one record of when reads happened. Reads it leniently: people, models and other tools wrote it too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment, Place
from memory_recall.files.reading import Unreadable, read_file
from memory_recall.files.writing import NotWritten
from memory_recall.model import Problem
from memory_recall.recall.nemp import read_stores
from memory_recall.recall.nemp_accounting import Goals
from memory_recall.recall.nemp_edits import EntryChange, rewrite_entries, vitality_changes
from memory_recall.recall.nemp_vitality import count_of, with_windows
from memory_recall.stores.nemp import NempStore, Source, find_stores
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.text.dates import parse_moment
from memory_recall.text.positions import LineIndex
from memory_recall.text.untrusted import for_log

if TYPE_CHECKING:
    from memory_recall.stores.shelf import Shelf

_WEEK, _MONTH = timedelta(days=7), timedelta(days=30)
_CLOCKS_APART = timedelta(minutes=5)
"""How far ahead of our clock another writer's may be; lines further in the future are accidents."""

_READ_LINE = re.compile(r"(?<![^\r\n])[ \t]*\[([^\]\r\n]*)\][ \t]*READ[ \t]([^\r\n]*)")
_KEY = re.compile(r"(?:^|[ \t])key=")
_BEHIND_KEY = re.compile(r"[ \t](?:agent|query)=")

_SET_BY_A_RECOUNT = frozenset(("reads_7d", "reads_30d", "score", "state"))
_CHECK_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Windows:
    """How often a memory was read in the last seven and the last thirty days."""

    reads_7d: int = 0
    reads_30d: int = 0


@dataclass(frozen=True, slots=True)
class RecountedMemory:
    """One memory whose windows were wrong. Each pair is before and after; before, a value may be anything, or None."""

    key: str
    path: Path
    line: int
    reads_7d: tuple[Any, int]
    reads_30d: tuple[Any, int]
    score: tuple[Any, int]
    state: tuple[Any, str]

    def as_json(self) -> dict[str, Any]:
        """`{key, path, line, reads_7d: {from, to}, reads_30d, score, state}`."""
        pairs = {name: getattr(self, name) for name in ("reads_7d", "reads_30d", "score", "state")}
        shown = {name: {"from": before, "to": after} for name, (before, after) in pairs.items()}
        return {"key": self.key, "path": str(self.path), "line": self.line, **shown}


@dataclass(frozen=True, slots=True)
class RecountResult:
    """What a recount changed, in which store, by which log. `path` and `source` are None where there is no store.

    `reads` is the number of READ lines of the last thirty days that were counted; `unknown` names keys of such lines
    that the store does not have (deleted since, or kept in the other store).
    """

    path: Path | None
    source: Source | None
    log: Path | None
    reads: int = 0
    unknown: tuple[str, ...] = ()
    changes: tuple[RecountedMemory, ...] = ()
    problems: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """`{v, path, source, log, reads, unknown, count, changes, problems}`."""
        return {
            "v": 1,
            "path": str(self.path) if self.path is not None else None,
            "source": self.source,
            "log": str(self.log) if self.log is not None else None,
            "reads": self.reads,
            "unknown": list(self.unknown),
            "count": len(self.changes),
            "changes": [change.as_json() for change in self.changes],
            "problems": [problem.as_json() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class LoggedReads:
    """The reads of the last thirty days in a log, by key; `unknown` are their keys that are none of the known ones."""

    windows: Mapping[str, Windows]
    unknown: tuple[str, ...]


def recount(
    place: Place, environment: Environment, shelf: Shelf, cancellation: Cancellation | None = None
) -> RecountResult:
    """Recompute the windows of the project's store from the project's log (the global one's where there is no project).

    Where a window was wrong, score and state follow by the formula, with the real days since the last read. Without a
    log, or with one that cannot be read, nothing is changed and a problem says so. Raises `Cancelled`.
    """
    places = find_stores(place, environment)
    stores = read_stores(places, shelf)
    if not stores or places.log is None:
        message = f"There is no nemp store at or above {place.folder}, and none in the home directory; nothing to do."
        return RecountResult(None, None, places.log, problems=(Problem("no-store", message),))
    store = stores[0]
    result = RecountResult(store.path, store.source, places.log)
    if not store.writable:
        return replace(result, problems=store.problems)
    try:
        log = read_file(places.log).data.decode("utf-8-sig", "replace")
    except Unreadable as unreadable:
        return replace(result, problems=(*store.problems, _without_log(unreadable)))
    now = environment.now()
    logged = reads_in(log, store.content.by_key, now, cancellation)
    result = _recounted(result, store, logged, Goals.of(places), now)
    if result.changes and store.problems:  # they stand on other lines by now
        store = shelf.nemp(store.path, store.source)
    return replace(result, problems=(*store.problems, *result.problems))


def _without_log(unreadable: Unreadable) -> Problem:
    """Nothing to count from is no reason to set every window to 0."""
    message = f"Nothing was recounted: {unreadable.problem.message}"
    code = "no-log" if unreadable.missing else unreadable.problem.code
    return unreadable.problem._replace(code=code, message=message)


def reads_in(log: str, known: Collection[str], now: datetime, cancellation: Cancellation | None = None) -> LoggedReads:
    """Count the READ lines of a log by key. Lines of any other form, and without a usable time, are passed over.

    A key stands unquoted in its line and may itself contain ` agent=`: of the possible readings, the longest one that
    is a known key is taken.
    """
    spelt = {for_log(key): key for key in known}
    longest = max(map(len, spelt), default=0)
    counts: dict[str, list[int]] = {}
    unknown: dict[str, None] = {}
    for number, line in enumerate(_READ_LINE.finditer(log)):
        if cancellation is not None and not number % _CHECK_EVERY:
            cancellation.check()
        moment = parse_moment(line.group(1))
        member = _KEY.search(line.group(2))
        if moment is None or member is None or not -_CLOCKS_APART <= now - moment <= _MONTH:
            continue
        rest = line.group(2)[member.end() :]
        key = next((spelt[reading] for reading in _readings(rest, longest) if reading in spelt), None)
        if key is None:
            unknown[_BEHIND_KEY.split(rest, maxsplit=1)[0].rstrip()] = None
            continue
        count = counts.setdefault(key, [0, 0])
        count[0] += now - moment <= _WEEK
        count[1] += 1
    return LoggedReads({key: Windows(*count) for key, count in counts.items()}, tuple(unknown))


def _readings(rest: str, longest: int) -> Iterator[str]:
    """What may be the key in the part of a line behind `key=`, the longest first; none longer than any known key."""
    if len(rest) <= longest + len(rest) - len(rest.rstrip()):
        yield rest.rstrip()
    ends = [match.start() for match in _BEHIND_KEY.finditer(rest, 0, longest + len(" agent="))]
    for end in reversed(ends):
        yield rest[:end].rstrip()


def _recounted(
    result: RecountResult,
    store: NempStore,
    logged: LoggedReads,
    goals: Goals,
    now: datetime,
) -> RecountResult:
    found: list[_Wrong] = []

    def plan(fresh: NempStore) -> list[EntryChange]:
        found[:] = _wrong_entries(fresh, logged, goals, now)
        return [EntryChange(wrong.entry, _changes(wrong)) for wrong in found]

    problems: list[Problem] = []
    changes: tuple[RecountedMemory, ...] = ()
    try:
        if plan(store):
            edited = rewrite_entries(store, plan)
            lines = LineIndex(edited.text)
            changes = tuple(
                _memory(store.path, lines.line_column(entry.key_offset)[0], wrong)
                for entry, wrong in zip(edited.entries, found, strict=True)
            )
    except NotWritten as failure:
        message = f"Nothing was recounted. {failure.problem.message}"
        problems.append(failure.problem._replace(code="not-recorded", message=message))
    if goals.problem is not None:
        problems.append(goals.problem)
    counted = sum(windows.reads_30d for windows in logged.windows.values())
    return replace(result, reads=counted, unknown=logged.unknown, changes=changes, problems=tuple(problems))


@dataclass(frozen=True, slots=True)
class _Wrong:
    """An entry whose windows differ from the log's, and its vitality with the right ones."""

    entry: NempEntry
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def _wrong_entries(store: NempStore, logged: LoggedReads, goals: Goals, now: datetime) -> Iterator[_Wrong]:
    for entry in store.entries:
        present = entry.vitality if isinstance(entry.vitality, dict) else {}
        windows = logged.windows.get(entry.key, Windows())
        namesakes = len(store.by_key(entry.key))
        # Each of several memories of one name has a line of its own for each recall of that name.
        reads_7d, reads_30d = -(-windows.reads_7d // namesakes), -(-windows.reads_30d // namesakes)
        if (count_of(present.get("reads_7d")), count_of(present.get("reads_30d"))) != (reads_7d, reads_30d):
            created, active = parse_moment(entry.created), goals.any_active(entry)
            after = with_windows(present, reads_7d, reads_30d, created=created, goal_active=active, now=now)
            yield _Wrong(entry, present, after)


def _changes(wrong: _Wrong) -> list[tuple[tuple[str, ...], Any]]:
    return vitality_changes(wrong.entry, wrong.after, _SET_BY_A_RECOUNT)


def _memory(path: Path, line: int, wrong: _Wrong) -> RecountedMemory:
    before, after = wrong.before, wrong.after
    return RecountedMemory(
        wrong.entry.key,
        path,
        line,
        reads_7d=(before.get("reads_7d"), after["reads_7d"]),
        reads_30d=(before.get("reads_30d"), after["reads_30d"]),
        score=(before.get("score"), after["score"]),
        state=(before.get("state"), after["state"]),
    )
