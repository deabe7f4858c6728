"""What lies in a directory: all names, and the stamp of what each leads to, packed, for 100,000 files at a time.

One `stat` a file is what exact freshness costs, and most of what asking an unchanged store costs. So nothing is made of
it but six numbers in a row; and where there are many files, and this process has one thread (a terminal's command), a
second process looks at them from the other end while this one reads the index. Knows no memory and no index.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory_recall.files.reading import Stamp

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation

FIELDS = 6
"""Numbers in a row: device, inode, size, mtime, ctime (both in nanoseconds), hard links, to which `LINK` is added where
the name is a symbolic link. But for that all 0 where the name leads nowhere.
"""

LINK = 1 << 63

HELPED_FROM = 20_000
"""Files from which a second process is worth its start: a fork takes 5 ms, and saves half of 3.5 µs a file."""

_ROW = struct.Struct("@QQqqqQ")
_CHUNK = 1_000
_64_BITS = 0xFFFF_FFFF_FFFF_FFFF


class Listing(NamedTuple):
    """What lies in one directory, in the system's order.

    The descriptor is the directory's, for looking at what the names lead to.
    """

    entries: list[os.DirEntry[str]]
    descriptor: int | None

    @property
    def blob(self) -> bytes:
        """The names as one piece of bytes, each ended by a NUL: equal where no name came, went or changed places."""
        return "\0".join([*(entry.name for entry in self.entries), ""]).encode("utf-8", "surrogateescape")


def listed(path: str) -> Listing:
    """What lies in a directory now. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)) if os.scandir in os.supports_fd else None
    try:
        with os.scandir(path if descriptor is None else descriptor) as listing:
            entries = list(listing)
    except BaseException:
        if descriptor is not None:
            os.close(descriptor)
        raise
    return Listing(entries, descriptor)


def row_of(stamp: Stamp | None, links: int, *, is_link: bool) -> bytes:
    """One row of a scan."""
    device, inode, size, modified, changed = (0, 0, 0, 0, 0) if stamp is None else stamp[:5]
    links = 0 if stamp is None else links
    return _ROW.pack(device & _64_BITS, inode & _64_BITS, size, modified, changed, links | LINK if is_link else links)


def row_at(path: str) -> bytes:
    """The row of one file, looked at now."""
    is_link = False
    try:
        status = os.lstat(path)
        if is_link := stat.S_ISLNK(status.st_mode):
            status = os.stat(path)
    except OSError:
        return row_of(None, 0, is_link=is_link)
    return row_of(Stamp.of_status(status), status.st_nlink, is_link=is_link)


class Scan:
    """A look at all entries of some directories, begun when it is made and waited for in `rows`."""

    def __init__(self, listings: list[Listing]) -> None:
        self._entries = [entry for listing in listings for entry in listing.entries]
        self._descriptors = [listing.descriptor for listing in listings if listing.descriptor is not None]
        self._size = len(self._entries)
        self._chunks = -(-self._size // _CHUNK)
        self._table: mmap.mmap | bytearray
        self._helper: int | None = None
        if self._size >= HELPED_FROM and _may_fork():
            # One byte for each chunk stands behind the rows: which is begun, so that the two ends meet.
            self._table = mmap.mmap(-1, self._size * _ROW.size + self._chunks)
            self._helper = _started(self._help)
        else:
            self._table = bytearray(self._size * _ROW.size + self._chunks)

    def rows(self, cancellation: Cancellation | None = None) -> bytes:
        """A row for each entry, in the order of the listings. Raises `Cancelled`."""
        begun = self._size * _ROW.size
        try:
            for chunk in range(self._chunks):
                if cancellation is not None:
                    cancellation.check()
                if self._table[begun + chunk]:
                    break
                self._look(chunk)
                self._table[begun + chunk] = _DONE
        finally:
            if self._helper is not None:
                with contextlib.suppress(ChildProcessError):  # where the parent process had us ignore our children
                    os.waitpid(self._helper, 0)
                self._helper = None
            if cancellation is not None and cancellation.cancelled:
                self._close()
        for chunk in range(self._chunks):  # also what a helper left that was killed
            if self._table[begun + chunk] != _DONE:
                self._look(chunk)
        self._close()
        return self._table[:begun] if isinstance(self._table, mmap.mmap) else bytes(self._table[:begun])

    def _close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []

    def _help(self) -> None:
        begun = self._size * _ROW.size
        for chunk in range(self._chunks - 1, -1, -1):
            if self._table[begun + chunk]:
                return
            self._table[begun + chunk] = _BEGUN
            self._look(chunk)
            self._table[begun + chunk] = _DONE

    def _look(self, chunk: int) -> None:
        pack, table = _ROW.pack_into, self._table
        start = chunk * _CHUNK
        for number, entry in enumerate(self._entries[start : start + _CHUNK], start):
            try:
                status = entry.stat()
                pack(
                    table,
                    number * _ROW.size,
                    status.st_dev,
                    status.st_ino,
                    status.st_size,
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                    status.st_nlink | LINK if entry.is_symlink() else status.st_nlink,
                )
            except OSError:  # it went away, or is a link to nothing
                pack(table, number * _ROW.size, 0, 0, 0, 0, 0, LINK if entry.is_symlink() else 0)
            except struct.error:  # a number of more than 64 bits
                row = row_of(Stamp.of_status(status), status.st_nlink, is_link=entry.is_symlink())
                table[number * _ROW.size : (number + 1) * _ROW.size] = row


_BEGUN, _DONE = 1, 2


def _may_fork() -> bool:
    """Whether this process has one thread, so that a fork of it is a whole process."""
    try:
        return hasattr(os, "fork") and sum(1 for _ in Path("/proc/self/task").iterdir()) == 1
    except OSError:
        return False


def _started(work: Callable[[], None]) -> int | None:
    """A process that does the work and nothing else, by its number; None where there can be none."""
    try:
        child = os.fork()
    except OSError:
        return None
    if child == 0:
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    return child
