"""Work in threads: cancelled with its request, stopped at the end."""

from __future__ import annotations

import asyncio
import threading

import pytest

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.faces.lsp.work import Workers


async def test_work_is_done_off_the_loop() -> None:
    workers = Workers()
    assert await workers.run(lambda _: threading.current_thread()) is not threading.main_thread()
    assert workers.stop(5)


async def test_a_cancelled_request_stops_its_work() -> None:
    workers, begun, stopped = Workers(), threading.Event(), threading.Event()

    def work(cancellation: Cancellation) -> None:
        begun.set()
        while True:
            try:
                cancellation.check()
            except Cancelled:
                stopped.set()
                raise

    task = asyncio.create_task(workers.run(work))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stopped.wait, 10)
    assert workers.stop(5)


async def test_stopping_cancels_what_runs_and_says_what_does_not_end() -> None:
    workers, release = Workers(), threading.Event()
    deaf = asyncio.create_task(workers.run(lambda _: release.wait(10)))
    listening = asyncio.create_task(workers.run(_until))
    await asyncio.sleep(0)  # both are submitted
    assert workers.stop(0.01) is False
    release.set()
    await asyncio.gather(deaf, listening, return_exceptions=True)
    assert isinstance(listening.exception(), Cancelled)


async def test_a_failure_reaches_who_waits() -> None:
    workers = Workers()
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda _: 1 / 0)


def _until(cancellation: Cancellation) -> None:
    while True:
        cancellation.check()
