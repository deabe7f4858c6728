"""One writer at a time in one directory, across processes, containers and crashes.

Where the system allows it the directory itself is locked: no lock file appears in a user's project, whoever shares the
directory shares the lock, and it dies with its holder. Elsewhere (Windows, some network file systems) a lock file in a
directory of the user's own, outside every project, stands in for it. Readers need no lock: writers replace whole files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from memory_recall.model import Problem
from memory_recall.records import NamedTuple

try:
    import fcntl as _fcntl
except ImportError:  # Windows
    _fcntl = None  # type: ignore[assignment]

FCNTL: ModuleType | None = _fcntl
"""The system's own file locks; None where it has none."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.03  # seconds between two attempts

# What a file system says that cannot lock a directory. A directory that may not be opened (EACCES, and on Windows any)
# may still be written to, so it is locked the other way as well.
_NO_DIRECTORY_LOCKS = frozenset({
    errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EISDIR, errno.EACCES,
    errno.EPERM,
})  # fmt: skip
_HELD_BY_ANOTHER = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR})


class NotLocked(Exception):
    """A directory that could not be locked, as a `Problem` to show."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Patience(NamedTuple):
    """How long a lock is waited for: until a moment, or until `check` raises because nobody needs it any more."""

    deadline: float
    check: Callable[[], None] | None = None

    def until(self, attempt: Callable[[], bool]) -> bool:
        """Whether one of the attempts succeeded in time; there is always a first."""
        pause = _FIRST_PAUSE
        while not attempt():
            if self.check is not None:
                self.check()
            if time.monotonic() >= self.deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return True


@contextlib.contextmanager
def locked(
    directory: Path,
    timeout: float = 10.0,
    *,
    lock_files: Path | None = None,
    check: Callable[[], None] | None = None,
) -> Iterator[None]:
    """Hold the lock of an existing directory for the length of a `with` block; wait for it `timeout` seconds at most.

    Threads exclude each other as processes do, so a block inside a block of the same directory would wait for itself.
    `lock_files` is where lock files are kept, where they are needed. `check` is called again and again while somebody
    else has the lock, and ends the waiting by raising. Raises `NotLocked`, and what `check` raises.
    """
    patience = _Patience(time.monotonic() + timeout, check)
    descriptor = _lock_directory(directory, patience)
    if descriptor is None:
        with _lock_file(directory, patience, lock_files):
            yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the work is done, and the lock let go, whatever is said here
            os.close(descriptor)


@contextlib.contextmanager
def held_briefly(descriptor: int, timeout: float = 1.0) -> Iterator[None]:
    """Keep others of our kind off an open file, as far as its file system can; go on after `timeout` seconds anyway.

    For appending, which is safe without: the lock only makes looking at a file's end and changing it one step.
    """
    if FCNTL is None:
        yield
        return
    with contextlib.suppress(OSError):
        _wait_for_lock(descriptor, _Patience(time.monotonic() + timeout))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            FCNTL.flock(descriptor, FCNTL.LOCK_UN)


def _lock_directory(directory: Path, patience: _Patience) -> int | None:
    """A descriptor that holds the lock; None where directories cannot be locked."""
    if FCNTL is None:
        return None
    while True:
        try:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as failure:
            if failure.errno in _NO_DIRECTORY_LOCKS:
                return None
            raise NotLocked(_problem(directory, failure)) from failure
        try:
            if not _wait_for_lock(descriptor, patience):
                raise NotLocked(_timeout(directory))
            if _leads_to(directory, descriptor):
                descriptor, held = -1, descriptor
                return held
        except OSError as failure:
            if failure.errno in _NO_DIRECTORY_LOCKS:
                return None
            raise NotLocked(_problem(directory, failure)) from failure
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def _wait_for_lock(descriptor: int, patience: _Patience) -> bool:
    """Whether the lock was had in time. Raises OSError where there are no locks."""

    def attempt() -> bool:
        assert FCNTL is not None
        try:
            FCNTL.flock(descriptor, FCNTL.LOCK_EX | FCNTL.LOCK_NB)
        except OSError as failure:
            if failure.errno not in _HELD_BY_ANOTHER:
                raise
            return False
        return True

    return patience.until(attempt)


def _leads_to(directory: Path, descriptor: int) -> bool:
    """Whether the path still names what was locked, and not a directory that took its place while we waited."""
    try:
        return os.path.samestat(os.stat(directory), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _lock_file(directory: Path, patience: _Patience, lock_files: Path | None) -> Iterator[None]:
    import hashlib

    import filelock

    def attempt() -> bool:
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout:
            return False
        return True

    try:
        if not stat.S_ISDIR(os.stat(directory).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        folder = lock_files or _own_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_own(folder)
        name = hashlib.sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:32]
        lock = filelock.FileLock(folder / f"{name}.lock")
        if not patience.until(attempt):
            raise NotLocked(_timeout(directory))
    except OSError as failure:
        raise NotLocked(_problem(directory, failure)) from failure
    except NotImplementedError as failure:
        message = f"{directory} cannot be locked: neither it nor the temporary directory knows locks."
        raise NotLocked(Problem("not-locked", message, str(directory))) from failure
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.release()


def _own_folder() -> Path:
    """Where this user's lock files are kept: in the system's temporary directory, whatever a process's variables say
    of caches and homes, for all processes of the user must agree on it."""
    import tempfile

    owner = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"memory-recall-locks-{owner}"


def _check_own(folder: Path) -> None:
    """Refuse a folder that somebody else has put there: its owner could lock us out or lead us elsewhere."""
    status = os.lstat(folder)
    owned = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    if not stat.S_ISDIR(status.st_mode) or not owned:
        raise PermissionError(errno.EPERM, f"{folder} belongs to another user")


def _timeout(directory: Path) -> Problem:
    message = f"{directory} is being written to by another process; try again when it has finished."
    return Problem("lock-timeout", message, str(directory))


def _problem(directory: Path, failure: OSError) -> Problem:
    if failure.errno in (errno.ENOENT, errno.ENOTDIR):
        return Problem("missing", f"{directory} is not an existing directory.", str(directory))
    reason = failure.strerror or "unknown error"
    return Problem("not-locked", f"{directory} could not be locked: {reason}.", str(directory))
