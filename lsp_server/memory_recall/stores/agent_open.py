"""Reading a large `.agent/memory` with an index: what is on disk is looked at, what is known of it is fetched, both are
joined. A terminal's command looks while the libraries of the index are being loaded, which is why none is needed here.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from memory_recall.index.indexing import Indexing
from memory_recall.model import Problem
from memory_recall.stores.agent_entry import MEMORY_TYPES
from memory_recall.stores.agent_files import (
    directory_fault,
    is_directory,
    leads_outside,
    outside_problem,
    real_path,
    unlistable,
)
from memory_recall.stores.agent_reading import agent_directory, is_memory, is_readable, memory_directory
from memory_recall.stores.agent_scan import Listing, Scan, listed

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.stores.agent_follow import Follower
    from memory_recall.stores.agent_indexed import IndexedStore
    from memory_recall.stores.agent_state import IndexedState

_KEPT_EVERY = 60.0
"""Seconds between two writings of a server's index, which changes with every memory. What is lost is read again."""

_NOTHING = Listing([], None)


def holds_more_than(project: Path, count: int) -> bool:
    """Whether more names than that lie in the directories of the types. Looks at no more of them than it must."""
    seen = 0
    for type_ in MEMORY_TYPES:
        try:
            with os.scandir(memory_directory(project) / type_) as listing:
                for entry in listing:
                    seen += is_memory(entry.name)
                    if seen > count:
                        return True
        except (OSError, ValueError):
            continue
    return False


def opened(
    project: Path, previous: IndexedStore | None, cancellation: Cancellation | None, indexing: Indexing
) -> IndexedStore:
    """The memories of a project, from an index that is brought up to date; `previous` itself where nothing changed.

    Raises nothing but `Cancelled`.
    """
    if previous is not None and (followed := _followed(previous, cancellation, indexing)) is not None:
        return followed
    follower = _follower(project) if indexing.follow else None  # before the first look, so that it misses nothing
    mark = follower.mark if follower is not None else 0
    real_project = real_path(project)
    unread: list[Problem] = []
    readable = is_readable(memory_directory(project), real_project, unread)
    listings = [
        _listing(memory_directory(project) / type_, real_project, unread) if readable else _NOTHING
        for type_ in MEMORY_TYPES
    ]
    scan = Scan(listings)
    from memory_recall.stores import agent_refresh
    from memory_recall.stores.agent_indexed import IndexedStore
    from memory_recall.stores.agent_state import problems_in
    from memory_recall.stores.agent_table import Sight

    folder = agent_refresh.folder_of(project, indexing.cache)
    before = previous.state if previous is not None else None
    if before is None and folder is not None:
        before = agent_refresh.kept(folder, mapped=not indexing.follow)
    if before is None:
        indexing.begin(sum(len(listing.entries) for listing in listings))
    sight = Sight.of([listing.blob for listing in listings], scan.rows(cancellation))
    state = agent_refresh.refreshed(before, sight, project, real_project, cancellation)
    kept_at = previous.kept_at if previous is not None else 0.0
    if state is not before:
        state, kept_at = _kept(state, project, indexing, kept_at)
    store = IndexedStore(
        project=project,
        agent_exists=is_directory(agent_directory(project)),
        memory_exists=is_directory(memory_directory(project)),
        unread=tuple(unread),
        faults=(*unread, *problems_in(state.table)),
        state=state,
        follower=follower,
        mark=mark,
        kept_at=kept_at,
    )
    return previous if previous == store and follower is None and previous is not None else store


def _followed(previous: IndexedStore, cancellation: Cancellation | None, indexing: Indexing) -> IndexedStore | None:
    """The store as it is now, by way of what its follower was told; None where all of it is to be looked at."""
    follower = previous.follower
    if follower is None or previous.unread:
        return None
    mark = follower.mark
    changed = follower.changed(previous.state, previous.mark)
    if changed is None:
        return None
    if not changed:
        return previous
    from dataclasses import replace

    from memory_recall.stores.agent_refresh import refreshed
    from memory_recall.stores.agent_state import problems_in

    project = previous.project
    sight = follower.sight(previous.state.table.sight, changed, previous.mark)
    state = refreshed(previous.state, sight, project, real_path(project), cancellation)
    kept_at = previous.kept_at
    if state is not previous.state:
        state, kept_at = _kept(state, project, indexing, kept_at)
    return replace(previous, state=state, parts={}, faults=tuple(problems_in(state.table)), mark=mark, kept_at=kept_at)


def _kept(state: IndexedState, project: Path, indexing: Indexing, kept_at: float) -> tuple[IndexedState, float]:
    """The state after it was kept, if it is to be, and when it was last."""
    from memory_recall.stores.agent_refresh import folder_of, keep

    folder, now = folder_of(project, indexing.cache), time.monotonic()
    if folder is None or indexing.cache is None or (indexing.follow and kept_at and now - kept_at < _KEPT_EVERY):
        return state, kept_at
    return keep(state, folder, indexing.cache), now


def _follower(project: Path) -> Follower | None:
    from memory_recall.stores.agent_follow import Follower

    return Follower.of(project)


def _listing(directory: Path, real_project: str, problems: list[Problem]) -> Listing:
    """What lies in the directory of one type; nothing where there is none, and a problem where it cannot be read."""
    if leads_outside(directory, real_project):
        problems.append(outside_problem(directory, real_project))
        return _NOTHING
    fault = directory_fault(directory)
    if fault is None:
        try:
            return listed(str(directory))
        except OSError as failure:
            fault = unlistable(directory, failure)
    if not fault.missing:
        problems.append(fault.problem)
    return _NOTHING
