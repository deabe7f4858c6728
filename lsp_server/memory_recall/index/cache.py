"""The directory of rebuildable indexes: where it is, whether it may be trusted, and bytes in and out of it.

It holds words of memories, so it is the user's alone: directories 0700, files 0600. What is not so, belongs to
somebody else, or is a link, is neither read nor written. Nothing here raises for the state of a disk: a cache that
cannot be read is empty, one that cannot be written stays as it is, and `fault` says why. Knows no format of what it
keeps.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias, TypeVar

from memory_recall.environment import Environment
from memory_recall.records import NamedTuple

NO_CACHE_VARIABLE = "MEMORY_RECALL_NO_CACHE"
"""Set to anything, it has every answer made from the stores alone."""

LARGEST_FILE = 2 * 1024**3
"""The most bytes that are read of one file."""

_ORIGIN = "origin"
_HALF_WRITTEN = ".tmp"
_DAY = 86_400.0
_GARBAGE_AGE = _DAY / 24
"""Seconds after which a file that nobody names was left behind by a writer that is gone."""
_FORGOTTEN_AGE = 90 * _DAY
"""Seconds after which the cache of a store that nobody asks any more is removed; of one that is gone, after a day."""
_MOST = 4 * 1024**3
"""Bytes of all caches together above which those go that were not asked for longest."""


Buffer: TypeAlias = bytes | mmap.mmap
"""Bytes that can be looked at in place."""

_Taken = TypeVar("_Taken", bytes, Buffer)


class Cache(NamedTuple):
    """Where indexes are kept between two commands, one folder for each store."""

    directory: Path

    @classmethod
    def of(cls, environment: Environment) -> Cache | None:
        """The user's own, under the system's directory for caches; None where there is no home, or it is not wanted."""
        if environment.variable(NO_CACHE_VARIABLE) is not None:
            return None
        base = environment.variable("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
        if base is None or not Path(base).is_absolute():  # a relative one counts as unset: XDG Base Directory 0.8
            if environment.home is None:
                return None
            base = str(environment.home / ".cache")
        return cls(Path(base) / "memory-recall" / "index")

    def folder(self, kind: str, origin: str) -> Folder:
        """The folder of one store, whether it is there yet or not; `origin` is the path that the store lies at."""
        import hashlib  # takes longer than finding a memory whose place is known, which needs no digest

        digest = hashlib.blake2b(os.fsencode(origin), digest_size=12).hexdigest()
        return Folder(self.directory, f"{kind}-{digest}", origin)

    def folders(self) -> Iterator[Folder]:
        """The folders that there are, as far as they can be trusted."""
        with contextlib.suppress(OSError, ValueError, _Distrusted):
            _check_directory(self.directory)
            for path in sorted(self.directory.iterdir()):
                folder = Folder(self.directory, path.name, "")
                origin = folder.read(_ORIGIN, limit=1 << 16)
                if origin is not None:
                    yield Folder(self.directory, path.name, os.fsdecode(origin))

    def sweep(self) -> None:
        """Remove what no store needs: of stores that are gone, that nobody asked for long, and beyond all measure."""
        now, total = time.time(), 0
        ages = [(folder.last_used() or 0.0, folder) for folder in self.folders()]
        for used, folder in sorted(ages, key=lambda pair: -pair[0]):
            total += folder.size()
            age = now - used
            gone = age > _DAY and not os.path.lexists(folder.origin)
            if gone or age > _FORGOTTEN_AGE or total > _MOST:
                folder.remove()


class Folder:
    """The files of one store's index. `fault` says what kept it from being used last, None while nothing did."""

    def __init__(self, parent: Path, name: str, origin: str) -> None:
        self.path = parent / name
        self.origin = origin
        self.fault: str | None = None

    def read(self, name: str, *, limit: int = LARGEST_FILE) -> bytes | None:
        """The bytes of a file; None where there is none that is the user's own and no larger than that."""
        try:
            self._check()
            return _read(self.path / name, limit, _all_bytes)
        except (OSError, ValueError, _Distrusted) as failure:
            self._note(failure)
            return None

    def mapped(self, name: str) -> Buffer | None:
        """The same as a view of the file, which costs neither copying nor memory of its own.

        For a process that is soon gone: a disk that fails under a view ends the process, and not just the reading.
        """
        try:
            self._check()
            return _read(self.path / name, LARGEST_FILE, _view)
        except (OSError, ValueError, _Distrusted) as failure:
            self._note(failure)
            return None

    def write(self, name: str, pieces: Iterable[bytes]) -> bool:
        """Give a file these bytes, at once or not at all; says whether it did."""
        temporary = self.path / f"{os.urandom(8).hex()}{_HALF_WRITTEN}"
        try:
            self._make()
            _write(temporary, pieces)
            temporary.replace(self.path / name)
        except (OSError, ValueError, _Distrusted) as failure:
            self._note(failure)
            with contextlib.suppress(OSError, ValueError):
                temporary.unlink()
            return False
        self.fault = None
        return True

    def note_use(self, name: str) -> None:
        """Note that a file was of use today."""
        with contextlib.suppress(OSError, ValueError):
            path = self.path / name
            if time.time() - os.lstat(path).st_mtime > _DAY:
                os.utime(path, follow_symlinks=False)

    def keep_only(self, names: Iterable[str]) -> None:
        """Remove the other files, but for those so young that another process may be about to name them."""
        kept = {*names, _ORIGIN}
        for name, status in self._files():
            if name not in kept and time.time() - status.st_mtime > _GARBAGE_AGE:
                with contextlib.suppress(OSError):
                    (self.path / name).unlink()

    def trouble(self) -> str | None:
        """What would keep it from being used, in a sentence; None where nothing would. Writes nothing."""
        self.fault = None
        self.read(_ORIGIN, limit=1 << 16)
        place = self.path
        while not os.path.lexists(place) and place != place.parent:
            place = place.parent
        if self.fault is None and not os.access(place, os.W_OK | os.X_OK):
            return f"{place} may not be written to, so no index is kept there."
        return self.fault

    def remove(self) -> None:
        """Remove all of it."""
        for name, _ in self._files():
            with contextlib.suppress(OSError):
                (self.path / name).unlink()
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def size(self) -> int:
        """Bytes of all its files."""
        return sum(status.st_size for _, status in self._files())

    def last_used(self) -> float | None:
        """When one of its files was last written or of use, in seconds of the epoch; None where there is none."""
        return max((status.st_mtime for _, status in self._files()), default=None)

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        with contextlib.suppress(OSError, ValueError, _Distrusted):
            self._check()
            for path in self.path.iterdir():
                with contextlib.suppress(OSError):
                    yield path.name, path.lstat()

    def _check(self) -> None:
        """Refuse anything that is not a directory of the user's alone, from `memory-recall` down to this one."""
        for directory in (self.path.parent.parent, self.path.parent, self.path):
            _check_directory(directory)

    def _make(self) -> None:
        """Make the directories that are missing, and none in a place that belongs to somebody else."""
        own = (self.path.parent.parent, self.path.parent, self.path)
        _check_base(own[0].parent)
        for directory in own:
            with contextlib.suppress(FileExistsError):
                directory.mkdir(mode=0o700, parents=directory == own[0])
            _check_directory(directory)
        if not os.path.lexists(self.path / _ORIGIN):
            temporary = self.path / f"{os.urandom(8).hex()}{_HALF_WRITTEN}"
            _write(temporary, [os.fsencode(self.origin)])
            temporary.replace(self.path / _ORIGIN)

    def _note(self, failure: Exception) -> None:
        if isinstance(failure, _Distrusted):
            self.fault = str(failure)
        elif isinstance(failure, OSError) and failure.errno not in (errno.ENOENT, errno.ENOTDIR):
            reason = os.strerror(failure.errno) if failure.errno else "unknown reason"
            self.fault = f"{self.path} could not be used ({reason}); answers are right and take longer."


class _Distrusted(Exception):
    """Something in the place of the cache that is not the user's alone."""


def _check_base(base: Path) -> None:
    """Refuse to make a cache in somebody else's directory (as root with a user's HOME: they could not use it)."""
    while not os.path.lexists(base) and base != base.parent:
        base = base.parent
    if hasattr(os, "geteuid") and os.stat(base).st_uid != os.geteuid():
        raise _Distrusted(f"{base} belongs to somebody else, so no index is kept there.")


def _check_directory(path: Path) -> None:
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise _Distrusted(f"{path} is no directory, or a link, so no index is kept there; remove it.")
    _check_owner(path, status, "chmod 700")


def _check_owner(path: Path, status: os.stat_result, remedy: str) -> None:
    if not hasattr(os, "geteuid"):
        return
    if status.st_uid != os.geteuid():
        raise _Distrusted(f"{path} belongs to somebody else, so it is not used; remove it.")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise _Distrusted(f"{path} is open to others, so it is not used; {remedy} or remove it.")


def _read(path: Path, limit: int, taking: Callable[[int, int], _Taken]) -> _Taken:
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise _Distrusted(f"{path} is no file of its own, so it is not used; remove it.")
        _check_owner(path, status, "chmod 600")
        if status.st_size > limit:
            raise _Distrusted(f"{path} is larger than any index, so it is not used; remove it.")
        return taking(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def _all_bytes(descriptor: int, size: int) -> bytes:
    pieces: list[bytes] = []
    while size and (piece := os.read(descriptor, size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _view(descriptor: int, size: int) -> Buffer:
    if not size:
        return b""
    if os.name == "nt":
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_POPULATE", 0)
    return mmap.mmap(descriptor, size, flags, mmap.PROT_READ)


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """A new file. Not synchronised: what a crash of the system leaves of it is found out by its checksum."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
