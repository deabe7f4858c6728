"""Where in a project's `.agent` a recall may write: its runs and its inbox, and nowhere a link could lead it instead.

Knows the boundary, not what is written. The memories lie beside these folders and are never written to.
"""

from __future__ import annotations

import os
from pathlib import Path

from memory_recall.model import Problem
from memory_recall.stores.agent import MEMORY_TYPES, agent_directory, memory_directory
from memory_recall.stores.agent_files import is_directory, is_within, real_path, wrong_link


class Refused(Exception):
    """A place that nothing is written to, as a `Problem` that says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def writable_folder(project: Path, *names: str) -> Path:
    """The folder of those names under `.agent`, whether it exists yet or not.

    Raises `Refused` where something else than a directory stands in its place, or a link leads out of `.agent`, out of
    the folder of the first name, or to the memories.
    """
    outermost = folder = agent_directory(project) / names[0]
    for name in ("", *names[1:]):
        folder = folder / name
        if os.path.lexists(folder) and not is_directory(folder):
            message = f"{folder} is not a directory, so nothing was written there; move it away."
            raise Refused(Problem("not-a-directory", message, str(folder)))
    check_inside(project, folder)
    real_outermost = real_path(outermost)
    if not is_within(real_path(folder), real_outermost):
        raise Refused(_elsewhere(wrong_link(folder, lambda real: is_within(real, real_outermost)), outermost))
    return folder


def check_inside(project: Path, path: Path) -> None:
    """Raise `Refused` unless a path, all links followed, lies under `.agent` and outside of its memories."""
    agent, real = agent_directory(project), real_path(path)
    real_agent = real_path(agent)
    if real == real_agent or not is_within(real, real_agent):
        raise Refused(_elsewhere(wrong_link(path, lambda parent: is_within(parent, real_agent)), agent))
    memory = memory_directory(project)
    for kept in (memory, *(memory / type_ for type_ in MEMORY_TYPES)):
        if is_within(real, real_path(kept)):
            raise Refused(_into_memory(path, kept))


def _into_memory(path: Path, kept: Path) -> Problem:
    real_kept = real_path(kept)
    link = wrong_link(path, lambda real: not is_within(real, real_kept))
    message = f"{link} leads into {kept}, which is only ever read, so nothing was written there; replace it."
    return Problem("read-only-memory", message, str(link))


def _elsewhere(link: Path, allowed: Path) -> Problem:
    message = f"{link} is a symbolic link that leads out of {allowed}, so nothing was written there; replace it."
    return Problem("outside-agent", message, str(link))
