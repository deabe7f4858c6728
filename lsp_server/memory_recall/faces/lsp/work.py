"""Work that may take longer than a keystroke: off the event loop, and stopped when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any, TypeVar

from memory_recall.cancellation import Cancellation

_Answer = TypeVar("_Answer")

_WORKERS = 8
"""Pieces of work at once. The client is read by a thread of its own, so a queue here never stops the reading."""


class Workers:
    """A few threads for pieces of work that can be cancelled."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=_WORKERS, thread_name_prefix="memory-recall")
        self._running: dict[Future[Any], Cancellation] = {}

    async def run(self, work: Callable[[Cancellation], _Answer]) -> _Answer:
        """Do the work in a thread. A cancelled await cancels the work too, which stops at its next check."""
        cancellation = Cancellation()

        def piece() -> _Answer:
            cancellation.check()
            return work(cancellation)

        future = self._pool.submit(piece)
        self._running[future] = cancellation
        future.add_done_callback(lambda done: self._running.pop(done, None))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def start(self, work: Callable[[], object]) -> None:
        """Do something nobody waits for, such as getting ready. Its failure is its own affair."""
        self._pool.submit(work)

    def stop(self, grace: float) -> bool:
        """Cancel everything; wait at most `grace` seconds for what is running. False where something still runs."""
        until = time.monotonic() + grace
        running = dict(self._running)
        for cancellation in running.values():
            cancellation.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not wait_for(running, timeout=max(0.0, until - time.monotonic())).not_done
