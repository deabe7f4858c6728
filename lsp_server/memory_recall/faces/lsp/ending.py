"""How a server learns that its editor has gone, where neither `exit` nor the end of input says so."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, TypeGuard

_PERIOD = 2.0
"""Seconds between two looks at the editor's process."""

_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def end_on_signals(end: Callable[[int], object]) -> None:
    """Call `end` with the signal's number for each signal that asks a process to end, where the system sends any.

    A hang-up that the process was told to ignore (`nohup`) stays ignored.
    """
    loop = asyncio.get_running_loop()
    for number in (getattr(signal, name, None) for name in _SIGNALS):
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(NotImplementedError):  # Windows ends a process without asking it
                loop.add_signal_handler(number, end, number)


def end_when_unread(output: BinaryIO, end: Callable[[], object]) -> None:
    """Call `end` when the reader of a pipe closes it. Where that cannot be seen, the next message will show it."""
    loop = asyncio.get_running_loop()

    def unread() -> None:
        loop.remove_reader(output)
        end()

    with suppress(OSError, ValueError, NotImplementedError):
        if stat.S_ISFIFO(os.fstat(output.fileno()).st_mode):
            loop.add_reader(output, unread)  # nothing can be read from it: what wakes us is its end


def is_watchable(process: object) -> TypeGuard[int]:
    """Whether a client's `processId` names a process here: not one of another container or machine.

    On Windows no process can be looked at by its number alone; there the end of input is what ends the server.
    """
    if os.name == "nt" or not isinstance(process, int) or isinstance(process, bool):
        return False
    return process > 0 and _is_alive(process)


async def gone(process: int) -> None:
    """Wait until a process has ended."""
    while _is_alive(process):
        await asyncio.sleep(_PERIOD)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
