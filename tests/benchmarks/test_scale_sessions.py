"""The speed benchmark's way of measuring, on ten memories and with as few samples as it takes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import cold, warm, worlds
from benchmarks.wire import ServerFailed, Session

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the benchmark needs a POSIX system")

FEW = warm.Bounds(seconds=0, least=3, spawns=2, hovers=3, recalls=3, changes=2)


@pytest.fixture
def world(tmp_path: Path) -> worlds.World:
    """An `.agent` tree of ten memories."""
    worlds.build("agent", 10, tmp_path)
    world = worlds.standing(tmp_path, "agent", 10)
    assert world is not None
    world.forget_cache()
    return world


def test_a_server_is_measured_beside_an_empty_one(world: worlds.World) -> None:
    figures = {figure.name: figure for figure in warm.measure(world, world.variables(), FEW)}
    assert len(figures["warm recall"].samples) == 3
    assert set(figures["hover"].floors) == {"empty"}
    assert figures["first hover after spawn"].floors["empty"] > figures["hover"].floors["empty"]
    assert "recall after a change" in figures


def test_a_command_is_timed_and_its_output_kept(world: worlds.World) -> None:
    done = cold.start([sys.executable, "-c", "print('said')"], world, world.variables())
    assert done.output == b"said\n"
    assert done.milliseconds > 0
    assert done.megabytes > 1


def test_the_memory_of_a_command_is_its_own(world: worlds.World) -> None:
    ballast = bytearray(b"x" * 150_000_000)  # were it counted, the command would seem to have taken as much
    done = cold.start([sys.executable, "-c", "pass"], world, world.variables())
    assert done.megabytes < len(ballast) / 1e6


def test_a_command_that_fails_or_does_not_do_its_work_ends_the_measurement(world: worlds.World) -> None:
    with pytest.raises(SystemExit, match="ended with 3: why"):
        cold.start([sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"], world, {})
    idle = cold.Subject("idle", lambda _: [sys.executable, "-c", "pass"], must_print=b"work")
    with pytest.raises(SystemExit, match="did not print"):
        cold.run_rounds([idle], world, {}, cold.Bounds(seconds=0, least=1, rounds=1, warm_up=False))


def test_rounds_start_everything_and_time_bounds_them(world: worlds.World) -> None:
    counts: dict[str, int] = {"one": 0, "two": 0}

    def counted(name: str) -> cold.Subject:
        def arguments(_: int) -> list[str]:
            counts[name] += 1
            return ["/bin/sh", "-c", "exit 0"]

        return cold.Subject(name, arguments)

    bounds = cold.Bounds(seconds=0, least=3, rounds=9, warm_up=True)
    cold.run_rounds([counted("one"), counted("two")], world, {}, bounds)
    assert counts == {"one": 4, "two": 4}


@pytest.mark.parametrize("program", ["pass", "import time; time.sleep(60)"])
def test_a_server_that_ends_or_hangs_fails_the_session_and_is_gone(program: str, world: worlds.World) -> None:
    session = Session([sys.executable, "-c", program], world.project, world.variables(), patience=0.2)
    with pytest.raises(ServerFailed), session:
        pass
    assert session.ended
