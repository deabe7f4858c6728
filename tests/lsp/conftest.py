"""Real server processes in a world of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from wire import Wire

from worlds import World


@pytest.fixture
def variables(world: World) -> dict[str, str]:
    """The environment of a server in the world: a home, a path, and nothing of this machine's."""
    return {"HOME": str(world.home), "PATH": os.environ["PATH"]}


@pytest.fixture
def start(world: World, variables: dict[str, str]) -> Iterator[Callable[..., Wire]]:
    """`start(**environment) -> Wire`: a server process, ended after the test. None may have shown a traceback."""
    wires: list[Wire] = []

    def begin(**environment: str) -> Wire:
        wire = Wire({**variables, **environment}, world.project)
        wires.append(wire)
        return wire

    yield begin
    for wire in wires:
        with suppress(OSError):
            wire.close()
    for wire in wires:
        assert "Traceback" not in wire.errors, wire.errors
        assert not wire.stray, wire.stray
