"""A world for a test (a home, a project, surroundings with a fixed time) and what a command line did in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_recall.environment import Environment, Place

NOW = datetime(2026, 11, 30, 16, 37, 19, 123000, tzinfo=UTC)
"""The time in every world."""

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class World:
    """A home and a project, both empty; `env` is their surroundings, at a fixed time, with no variable set."""

    home: Path
    project: Path
    env: Environment

    @property
    def place(self) -> Place:
        """The project as a terminal's working directory."""
        return Place(self.project)

    def at(self, moment: datetime, **variables: str) -> World:
        """The same world at another time, with other variables."""
        return replace(self, env=self.env._replace(clock=lambda: moment, variables=variables))

    def write(self, path: str, content: str | bytes | object) -> Path:
        """Write `home/...` or `project/...`: text and bytes as they are, anything else as JSON."""
        target = self.home.parent / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            target.write_bytes(text.encode())
        return target


@dataclass(frozen=True)
class Ran:
    """What a command line did."""

    code: int
    stdout: str
    stderr: str
    arguments: Sequence[str] = field(default=())

    @property
    def json(self) -> Any:
        """Standard output as the one JSON object that it must be."""
        return json.loads(self.stdout)


RunCli = Callable[..., Ran]
