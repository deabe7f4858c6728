"""What tests share: a world of their own in a temporary directory, and the command line in it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from memory_recall.environment import Environment
from worlds import NOW, Ran, RunCli, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A fresh home and a fresh project, the project being a repository so that no search leaves it."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    (project / ".git").mkdir(parents=True)
    return World(home, project, Environment(cwd=project, home=home, variables={}, clock=lambda: NOW))


@pytest.fixture
def run_cli(world: World) -> RunCli:
    """`run_cli(args, stdin=None, env=None, cwd=None) -> Ran`: a real process with the world's home and nothing else."""

    def run(
        arguments: Sequence[str | bytes],
        stdin: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        variables = {"HOME": str(world.home), "PATH": os.environ["PATH"], **(env or {})}
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-P", "-m", "memory_recall", *arguments],
            cwd=cwd or world.project,
            env=variables,
            input=given if given is not None else b"",
            capture_output=True,
            timeout=50,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode(), [str(word) for word in arguments])

    return run


@pytest.fixture
def cli(world: World) -> RunCli:
    """`cli(args, stdin=None, env=None, cwd=None) -> Ran`: the same in this process, at the world's fixed time."""
    from memory_recall.faces.cli.invocation import Streams
    from memory_recall.faces.cli.main import run as run_main

    def run(
        arguments: Sequence[str],
        stdin: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin or b""
        out, err = io.StringIO(), io.StringIO()
        variables = {"PATH": os.environ["PATH"], **(env or {})}
        surroundings = world.env._replace(cwd=cwd or world.project, variables=variables)
        code = run_main(list(arguments), surroundings, Streams(io.BytesIO(given), out, err))
        return Ran(code, out.getvalue(), err.getvalue(), list(arguments))

    return run
