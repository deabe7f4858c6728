"""The shelf as a server's threads share it: nobody reads what another is reading, and the event loop reads nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memory_recall.cancellation import Cancellation
from memory_recall.index.indexing import Indexing
from memory_recall.stores.shelf import IN_MEMORY, Shelf

if TYPE_CHECKING:
    from memory_recall.stores.agent import AnyStore
    from memory_recall.stores.coven import CovenStore
    from memory_recall.stores.nemp import NempStore
    from memory_recall.stores.nemp_ranked import RankedStore

_PERIOD = 0.05
"""Seconds between two looks at whether anybody still waits for an answer."""


class SharedShelf(Shelf):
    """A shelf on which a store that changed is read by one thread, while the others that want it wait for that.

    Two readings at once would take both twice as long, and hold the store twice.
    """

    def __init__(self, indexing: Indexing = IN_MEMORY) -> None:
        super().__init__(indexing)
        self._turns: dict[tuple[str, Path], threading.Lock] = {}

    def nemp(self, path: Path, source: Literal["project", "global"]) -> NempStore:
        """The nemp store in that file, as it is on disk now."""
        with self._turn("nemp", path):
            return super().nemp(path, source)

    def ranked(self, store: NempStore, cancellation: Cancellation | None = None) -> RankedStore | None:
        """What a search makes of a large nemp store. Raises `Cancelled`."""
        with self._turn("ranked", store.path, cancellation):
            return super().ranked(store, cancellation)

    def agent(self, project: Path, cancellation: Cancellation | None = None) -> AnyStore:
        """The `.agent/memory` tree of that very project, as it is on disk now. Raises `Cancelled`."""
        with self._turn("agent", project, cancellation):
            return super().agent(project, cancellation)

    def coven(self, home: Path) -> CovenStore:
        """The Coven store under that home, as it is on disk now."""
        with self._turn("coven", home):
            return super().coven(home)

    @contextmanager
    def _turn(self, system: str, path: Path, cancellation: Cancellation | None = None) -> Iterator[None]:
        turn = self._turns.setdefault((system, path), threading.Lock())
        if cancellation is None:
            turn.acquire()
        else:
            while not turn.acquire(timeout=_PERIOD):
                cancellation.check()
        try:
            yield
        finally:
            turn.release()


class NeedsReading(Exception):
    """The answer is not to be had by looking alone."""


class StandingShelf(Shelf):
    """A shelf for the event loop: it hands out what another holds and what still stands on disk, and reads nothing.

    Raises `NeedsReading` for all else.
    """

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._kept = shelf._kept

    def nemp(self, path: Path, source: Literal["project", "global"]) -> NempStore:
        """The nemp store in that file, if it has been read and did not change."""
        from memory_recall.stores.nemp import is_current

        kept: NempStore | None = self._kept.get((source, path))
        if kept is None or not is_current(kept):
            raise NeedsReading
        return kept

    def agent(self, project: Path, cancellation: Cancellation | None = None) -> AnyStore:  # noqa: ARG002
        """The `.agent/memory` tree of that project, if it has been read and did not change."""
        from memory_recall.stores.agent import is_current

        kept: AnyStore | None = self._kept.get(("agent", project))
        if kept is None or not is_current(kept):
            raise NeedsReading
        return kept

    def coven(self, home: Path) -> CovenStore:
        """The Coven store under that home, if it has been read and did not change."""
        from memory_recall.stores.coven import is_current

        kept: CovenStore | None = self._kept.get(("coven", home))
        if kept is None or not is_current(kept):
            raise NeedsReading
        return kept
