"""Work that may take longer than a keystroke: off the event loop, and stopped when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from enum import Enum
from typing import Any, TypeVar

from memory_recall.cancellation import Cancellation
from memory_recall.files.memory import give_back_memory, hold_back_little

_Answer = TypeVar("_Answer")


class Lane(Enum):
    """A queue of its own for each kind of work, so that none waits behind a slower kind.

    `LOOK` for what the mouse asks, `COMMAND` for commands that only read, `RECORD` for those that write and may have to
    wait for another writer, `PROCESS` for those that start a process and wait for it.
    """

    LOOK = "look"
    COMMAND = "command"
    RECORD = "record"
    PROCESS = "process"


_WIDTHS = {Lane.LOOK: 4, Lane.COMMAND: 4, Lane.RECORD: 8, Lane.PROCESS: 8}
"""Pieces of work at once. The client is read by a thread of its own, so a queue here never stops the reading."""

_TIDIED_EVERY = 10.0
"""Seconds between two times that memory is given back to the system, which questions to large stores leave behind."""


class Workers:
    """A few threads for pieces of work that can be cancelled."""

    def __init__(self) -> None:
        self._pools = {
            lane: ThreadPoolExecutor(max_workers=width, thread_name_prefix=f"memory-recall-{lane.value}")
            for lane, width in _WIDTHS.items()
        }
        self._running: dict[Future[Any], Cancellation] = {}
        self._tidied_at: float | None = None

    async def run(self, work: Callable[[Cancellation], _Answer], lane: Lane = Lane.LOOK) -> _Answer:
        """Do work that leaves nothing behind. A cancelled await ends at once; the work stops at its next check."""
        future, cancellation = self._submit(work, lane)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    async def see_through(self, work: Callable[[Cancellation], _Answer], lane: Lane) -> _Answer:
        """Do work that may leave something behind, and tell what became of it.

        A cancelled await asks the work to stop, and waits until it has: with `Cancelled` where it stopped in time, with
        its answer or failure where it was too late for that. Only a second cancel ends the waiting.
        """
        future, cancellation = self._submit(work, lane)
        answer = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            cancellation.cancel()
            if future.cancel():  # it was not begun
                raise
            return await answer

    def start(self, work: Callable[[Cancellation], object], lane: Lane = Lane.LOOK) -> None:
        """Begin work that nobody waits for, such as getting ready. Who asks for what it failed to do will see why."""
        self._submit(work, lane)

    def stop(self, grace: float) -> bool:
        """Cancel everything; wait at most `grace` seconds for what is running. False where something still runs."""
        until = time.monotonic() + grace
        running = dict(self._running)
        for cancellation in running.values():
            cancellation.cancel()
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        return not wait_for(running, timeout=max(0.0, until - time.monotonic())).not_done

    def _submit(self, work: Callable[[Cancellation], _Answer], lane: Lane) -> tuple[Future[_Answer], Cancellation]:
        cancellation = Cancellation()

        def piece() -> _Answer:
            cancellation.check()
            return work(cancellation)

        future = self._pools[lane].submit(piece)
        self._running[future] = cancellation
        future.add_done_callback(lambda done: self._running.pop(done, None))
        if lane is not Lane.LOOK:
            future.add_done_callback(lambda _: self._tidy())
        return future, cancellation

    def _tidy(self) -> None:
        """Have free memory given back, now and then, by a thread that nobody waits for."""
        now = time.monotonic()
        if self._tidied_at is None or now - self._tidied_at > _TIDIED_EVERY:
            work = hold_back_little if self._tidied_at is None else give_back_memory
            self._tidied_at = now
            with contextlib.suppress(RuntimeError):  # the server is about to end
                self._pools[Lane.PROCESS].submit(work)
