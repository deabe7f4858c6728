"""A signal that ends the terminal's program leaves nothing behind: no program of Coven's, no copy of its index."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from coven_worlds import A, Coven, coven_in, install_program
from worlds import World

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

SLEEPER = """#!/bin/sh
trap '' TERM HUP INT
sleep 300 &
echo $! > "{out}.part"
echo $$ >> "{out}.part"
mv "{out}.part" "{out}"
wait
"""


@pytest.fixture
def coven(world: World) -> Coven:
    coven = coven_in(world)
    coven.claim(A, "Gateway timeout.")
    install_program(coven.programs, SLEEPER.format(out=world.home.parent / "sleepers"))
    (world.home.parent / "tmp").mkdir()
    return coven.finish()


@contextmanager
def asking(coven: Coven, arguments: Sequence[str], *, ignored: Sequence[int] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """A question whose program sleeps, in a process that has come so far."""
    here = coven.world.home.parent
    ignore = "; ".join(f"signal.signal({number}, signal.SIG_IGN)" for number in ignored) or "pass"
    start = f"import signal, sys; {ignore}; from memory_recall.__main__ import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", start, *arguments],
        cwd=coven.world.project,
        env={
            "HOME": str(coven.world.home),
            "PATH": f"{coven.programs}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(here / "tmp"),
            "MEMORY_RECALL_COVEN_TIMEOUT": "60",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert soon((here / "sleepers").exists)
        yield process
    finally:
        process.kill()
        process.communicate()
        for number in (here / "sleepers").read_text().split():
            if is_running(int(number)):
                os.kill(int(number), signal.SIGKILL)


def soon(condition: object) -> bool:
    """Whether something becomes true in the time that a busy machine may need for it."""
    assert callable(condition)
    for _ in range(2_000):
        if condition():
            return True
        threading.Event().wait(0.01)
    return False


def is_running(process_id: int) -> bool:
    try:
        status = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] not in "ZX"


def sleepers_are_gone(here: Path) -> bool:
    return not any(is_running(int(number)) for number in (here / "sleepers").read_text().split())


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("arguments", [["coven", "recall", "gateway"], ["search", "--with-coven", "gateway"]])
def test_a_signal_stops_the_program_and_removes_the_copy(
    coven: Coven, number: signal.Signals, arguments: list[str]
) -> None:
    here = coven.world.home.parent
    with asking(coven, arguments) as process:
        assert list((here / "tmp").iterdir())
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (128 + number, b"", b"")
        assert list((here / "tmp").iterdir()) == []
        assert soon(lambda: sleepers_are_gone(here))


@needs_proc
def test_a_second_signal_does_not_interrupt_the_cleaning_up(coven: Coven) -> None:
    here = coven.world.home.parent
    with asking(coven, ["coven", "recall", "gateway"]) as process:
        for _ in range(3):
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGHUP)
        process.communicate(timeout=20)
        assert process.returncode in (128 + signal.SIGTERM, 128 + signal.SIGHUP)
        assert list((here / "tmp").iterdir()) == []
        assert soon(lambda: sleepers_are_gone(here))


@needs_proc
def test_what_the_caller_ignores_stays_ignored(coven: Coven) -> None:
    """As under nohup: closing the terminal does not end the question."""
    with asking(coven, ["coven", "recall", "gateway"], ignored=[signal.SIGHUP]) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 128 + signal.SIGTERM


@needs_proc
def test_what_a_killed_question_left_is_removed_by_the_next(coven: Coven) -> None:
    here = coven.world.home.parent
    with asking(coven, ["coven", "recall", "gateway"]) as process:
        process.kill()
        process.communicate(timeout=20)
        (left,) = (here / "tmp").iterdir()
    (here / "sleepers").unlink()
    with asking(coven, ["coven", "recall", "gateway"]):
        assert soon(lambda: not left.exists())
