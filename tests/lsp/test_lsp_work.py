"""Work in threads: cancelled with its request, stopped at the end."""

from __future__ import annotations

import asyncio
import threading

import pytest

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.faces.lsp.work import Lane, Workers


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


@pytest.mark.parametrize("in_time", [True, False])
async def test_work_that_leaves_something_tells_what_became_of_it(in_time: bool) -> None:
    workers, begun, go_on = Workers(), threading.Event(), threading.Event()

    def work(cancellation: Cancellation) -> str:
        begun.set()
        assert go_on.wait(10)
        if in_time:
            cancellation.check()
        return "done"

    task = asyncio.create_task(workers.see_through(work, Lane.COMMAND))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    if in_time:
        with pytest.raises(Cancelled):
            await task
    else:
        assert await task == "done"
    assert workers.stop(5)


async def test_a_second_cancel_waits_no_longer() -> None:
    workers, begun, go_on = Workers(), threading.Event(), threading.Event()

    def work(_: Cancellation) -> None:
        begun.set()
        go_on.wait(10)

    task = asyncio.create_task(workers.see_through(work, Lane.COMMAND))
    await asyncio.to_thread(begun.wait, 10)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert workers.stop(5)


async def test_a_full_lane_keeps_no_other_waiting_and_its_queue_can_be_left() -> None:
    workers, go_on = Workers(), threading.Event()
    full = [
        asyncio.create_task(workers.see_through(lambda _: go_on.wait(10), lane))
        for lane in (Lane.COMMAND, Lane.PROCESS)
        for _ in range(20)
    ]
    assert await workers.run(lambda _: "seen") == "seen"
    full[19].cancel()
    with pytest.raises(asyncio.CancelledError):
        await full[19]
    go_on.set()
    await asyncio.gather(*full, return_exceptions=True)
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
