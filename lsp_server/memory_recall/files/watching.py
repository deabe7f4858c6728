"""Learning from the kernel that something changed in a directory: exactly, or not at all.

Linux queues an event before the call that wrote, renamed or removed returns. So, on a file system that only this kernel
writes to, "no event yet" means "no change yet", which no library that reports later from a thread can say. Elsewhere
there is no watch, and who asks looks at the files. What brings no event: a write through a memory map until the program
lets go of the file, and a write under another name of the file outside of the directory.

Bound by hand, in the few lines it takes: the small binding that there is starts a program (`ldconfig`) to find libc.
"""

from __future__ import annotations

import ctypes
import io
import os
import re
import struct
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

LOCAL = frozenset(["ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "tmpfs", "ramfs", "f2fs", "zfs", "overlay"])
"""File systems that only this kernel writes to, by the name that it gives them."""

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_DIRECTORY = 0x0100_0000
_ASKED = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_BEYOND_NAMES = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED

_EVENT = struct.Struct("@iIII")
_QUEUE = 1 << 20
_REMEMBERED = 10_000
"""Changed names above which it is cheaper to look at everything."""


class Watch:
    """Changes in some directories since it was made, counted. Safe to use from several threads.

    `count` is how many changes were seen so far.
    """

    def __init__(self, directories: Sequence[str]) -> None:
        """Raises `OSError` where there is nothing to watch with, or a directory is not there."""
        libc = ctypes.CDLL(None, use_errno=True)
        if not sys.platform.startswith("linux") or not hasattr(libc, "inotify_init1"):
            raise OSError("no inotify")
        descriptor = _checked(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._queue = io.FileIO(descriptor)  # which closes it when nobody needs the watch any more
        self._numbers: dict[int, int] = {}
        for number, directory in enumerate(directories):
            watched = libc.inotify_add_watch(descriptor, os.fsencode(directory), _ASKED | _ONLY_DIRECTORY)
            self._numbers[_checked(watched)] = number
        if len(self._numbers) < len(directories):
            raise OSError("two of the directories are one")
        self._lock = threading.Lock()
        self._changed: dict[tuple[int, str], int] = {}
        self._lost = 0
        self._count = 0

    @property
    def count(self) -> int:
        """How many changes there were, up to this moment."""
        with self._lock:
            self._drain()
            return self._count

    def since(self, count: int) -> set[tuple[int, str]] | None:
        """What changed since there were so many changes: numbers of directories and names in them.

        None where that is not known, so that everything is to be looked at.
        """
        with self._lock:
            self._drain()
            if self._lost > count:
                return None
            return {name for name, when in self._changed.items() if when > count}

    def forget(self, count: int) -> None:
        """Nobody will ask any more for what was before there were so many changes."""
        with self._lock:
            self._changed = {name: when for name, when in self._changed.items() if when > count}

    def doubt(self) -> None:
        """Have everything looked at: something was found that no event told of."""
        with self._lock:
            self._count += 1
            self._lost = self._count

    def _drain(self) -> None:
        while data := self._queue.read(_QUEUE):
            at = 0
            while at < len(data):
                watched, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                self._count += 1
                name = data[at - length : at].rstrip(b"\0")
                if mask & _BEYOND_NAMES or not name or watched not in self._numbers:
                    self._lost = self._count
                else:
                    self._changed[self._numbers[watched], os.fsdecode(name)] = self._count
            if len(self._changed) > _REMEMBERED:
                self._lost = self._count
                self._changed.clear()


def is_local(path: str, mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether a path, all links followed, lies on a file system only this kernel writes to; in doubt, no."""
    real = os.path.realpath(path)
    best, kind = -1, ""
    try:
        lines = Path(mounts).read_bytes().split(b"\n")
    except OSError:
        return False
    for line in lines:
        fields, _, about = line.partition(b" - ")
        parts = fields.split(b" ")
        if len(parts) < 5 or not about:
            continue
        point = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), parts[4]))
        if (real == point or real.startswith(point.rstrip("/") + "/")) and len(point) >= best:
            best, kind = len(point), os.fsdecode(about.split(b" ")[0])
    return kind in LOCAL


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
