"""Reading a file that may be anything: missing, unreadable, a directory, a pipe, a loop of links, far too large.

Never hangs (a FIFO without a writer would, for a plain `open`), never raises anything but `Unreadable`, never writes.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from memory_recall.model import Problem
from memory_recall.records import NamedTuple

STORE_LIMIT = 256 * 1024 * 1024
"""The most bytes that are read of a store file."""

_PIECE = 1 << 20


_CLOCK_TICK_NS = 50_000_000
"""Longer than a file system's clock stands still: two writes within one tick carry the same times."""


class Stamp(NamedTuple):
    """What changes when a file does: identity, size, and both its times in nanoseconds.

    A write moves `changed_ns` (the inode's own clock, which no program sets), a replacement moves `inode`. Equal stamps
    mean equal bytes only where the first was `settled`: taken so long after the last change that another one could not
    have got the same times. (Git calls an entry that is not "racily clean".)
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int
    settled: bool = True

    def __eq__(self, other: object) -> bool:
        """Whether both saw the same file in the same state; when they looked does not matter."""
        return isinstance(other, Stamp) and self[:5] == other[:5]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:5])

    @classmethod
    def of_status(cls, status: os.stat_result) -> Stamp:
        """The stamp in a `stat` result that was taken just now."""
        modified, changed = status.st_mtime_ns, status.st_ctime_ns
        settled = time.time_ns() - max(modified, changed) > _CLOCK_TICK_NS
        return cls(status.st_dev, status.st_ino, status.st_size, modified, changed, settled)


class FileBytes(NamedTuple):
    """The bytes of a file, with the stamp that was in force when they were read."""

    data: bytes
    stamp: Stamp


class Unreadable(Exception):
    """A file that cannot be read, as a `Problem` to show. `missing` is true where there is no file at all."""

    def __init__(self, problem: Problem, *, missing: bool = False) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.missing = missing


def stamp_of(path: Path | str) -> Stamp | None:
    """The present stamp of what a path leads to, links followed; None where it leads nowhere."""
    try:
        return Stamp.of_status(os.stat(path))
    except (OSError, ValueError):
        return None


def is_unchanged(path: Path | str, stamp: Stamp | None) -> bool:
    """Whether what was read when the stamp was taken still stands at the path (None: whether there is still nothing).

    Says no in doubt: a file that had changed in the moment before it was read is to be read again.
    """
    return stamp_of(path) == stamp and (stamp is None or stamp.settled)


def read_file(path: Path | str, *, limit: int = STORE_LIMIT) -> FileBytes:
    """The whole of a regular file, of at most `limit` bytes.

    Raises `Unreadable` for everything else, with a sentence that names the file and the remedy.
    """
    descriptor, status = _open_regular(path)
    stamp = Stamp.of_status(status)  # before the reading, which may take any time: the stamp is not settled by that
    try:
        if status.st_size > limit:
            size = f"is larger than {limit:,} bytes; it was not read."
            raise Unreadable(_problem(path, "too-large", size))
        data = _read_all(descriptor, status.st_size, limit)
        if data is None:
            raise Unreadable(_problem(path, "too-large", f"grew over {limit:,} bytes while it was read."))
        return FileBytes(data, stamp)
    except OSError as failure:
        raise _unreadable(path, failure) from failure
    finally:
        os.close(descriptor)


def read_pieces(path: Path) -> Iterator[bytes]:
    """A regular file's bytes, a mebibyte at a time, for a file of any size. Raises `Unreadable` as `read_file` does."""
    descriptor, _ = _open_regular(path)
    try:
        while piece := os.read(descriptor, _PIECE):
            yield piece
    except OSError as failure:
        raise _unreadable(path, failure) from failure
    finally:
        os.close(descriptor)


def _open_regular(path: Path | str) -> tuple[int, os.stat_result]:
    try:
        # Looked at before it is opened: opening a pipe sets a waiting writer free, opening a device can do anything.
        # And opened so that it cannot hang, for what it has become in between.
        _refuse_irregular(path, os.stat(path))
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as failure:
        raise _unreadable(path, failure) from failure
    try:
        status = os.fstat(descriptor)
        _refuse_irregular(path, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status


def _refuse_irregular(path: Path | str, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise Unreadable(_problem(path, "is-a-directory", "is a directory; a file belongs there."))
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(_problem(path, "not-a-file", "is not a regular file; it was left alone."))


def _read_all(descriptor: int, expected: int, limit: int) -> bytes | None:
    """All bytes, normally in one piece: putting a large file together of many takes as long again as reading it."""
    chunks: list[bytes] = []
    total = 0
    while chunk := os.read(descriptor, max(_PIECE, expected + 1 - total)):
        total += len(chunk)
        if total > limit:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def _problem(path: Path | str, code: str, rest: str) -> Problem:
    return Problem(code, f"{path} {rest}", str(path))


def _unreadable(path: Path | str, failure: OSError | ValueError) -> Unreadable:
    if isinstance(failure, ValueError):
        return Unreadable(_problem(path, "bad-path", "is not a path that this system can open."))
    if failure.errno in (errno.ENOENT, errno.ENOTDIR):
        what = "is a symbolic link to nothing; mend or remove it." if Path(path).is_symlink() else "does not exist."
        return Unreadable(_problem(path, "missing", what), missing=True)
    if failure.errno == errno.ELOOP:
        return Unreadable(_problem(path, "link-loop", "is a loop of symbolic links; mend or remove the link."))
    if failure.errno in (errno.EACCES, errno.EPERM):
        return Unreadable(_problem(path, "not-permitted", "may not be read by this user; check its permissions."))
    return Unreadable(_problem(path, "unreadable", f"could not be read: {os.strerror(failure.errno or errno.EIO)}."))
