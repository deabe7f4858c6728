"""A system whose calls fail, or whose power goes, at any step one likes. Not a test itself."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

CALLS = (
    *("open", "close", "read", "write", "fsync", "fstat", "stat", "lstat", "lseek", "ftruncate", "access"),
    *("fchmod", "fchown", "listxattr", "getxattr", "setxattr"),
    *("replace", "rename", "link", "unlink", "mkdir", "scandir"),
)


@contextlib.contextmanager
def watched(before: Callable[[int, str], None]) -> Iterator[None]:
    """Inside the block, `before(number, name)` is called ahead of every call to the system, and may raise.

    A `close` is done first: after a failed one the descriptor is gone as well.
    """
    number = 0

    def watch(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal number
            number += 1
            if name == "close":
                real(*arguments, **named)
            before(number, name)
            return None if name == "close" else real(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for module, names in ((os, CALLS), (fcntl, ("flock",))):
            for name in names:
                patch.setattr(module, name, watch(name, getattr(module, name)))
        yield


def calls_of(action: Callable[[], object]) -> list[str]:
    """The names of the calls that an action makes, in order."""
    names: list[str] = []
    with watched(lambda _, name: names.append(name)):
        action()
    return names


@contextlib.contextmanager
def failing(at: int, code: int) -> Iterator[None]:
    """Let the call of that number fail with an error code."""

    def before(number: int, name: str) -> None:
        if number == at:
            raise OSError(code, os.strerror(code))

    with watched(before):
        yield


def killed(at: int, action: Callable[[], object]) -> bool:
    """Whether another process, killed ahead of the call of that number, was killed before it had done its work."""
    process = os.fork()
    if not process:
        with watched(lambda number, _: os._exit(9) if number == at else None):
            with contextlib.suppress(BaseException):
                action()
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
