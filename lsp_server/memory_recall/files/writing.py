"""Everything that writes to a user's file, and nothing else does.

A file is replaced whole or not at all: the old bytes stay until the new ones are on the disk. Who reads meanwhile sees
one or the other; who writes meanwhile without our lock is noticed and wins. A failure of any step leaves the file as it
was, and no temporary behind. Knows bytes and lines, not what they mean.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from memory_recall.files.locking import NotLocked, held_briefly, locked
from memory_recall.files.reading import FileBytes, Unreadable, is_unchanged, read_file, stamp_of
from memory_recall.model import Problem
from memory_recall.text.untrusted import for_log

_ATTEMPTS = 5
_TEMPORARY = re.compile(r"\.memory-recall-[0-9a-f]{16}\.tmp")
_WINDOWS = os.name == "nt"
_WINDOWS_ATTEMPTS, _WINDOWS_PAUSE = 20, 0.025  # a reader without delete sharing is gone within half a second
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})


_Result = TypeVar("_Result")


class NotWritten(Exception):
    """A file that was not written, and is as it was; a `Problem` says why and what to do."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def rewrite(
    path: Path,
    change: Callable[[bytes], bytes],
    *,
    known: FileBytes | None = None,
    before_replace: Callable[[], None] | None = None,
    check: Callable[[], None] | None = None,
) -> None:
    """Give an existing file the bytes that `change` makes of its present ones, under the lock of its directory.

    A link is followed; mode, and where permitted owner and extended attributes, are kept. `change` may be called again
    with newer bytes, when someone without our lock has written meanwhile; when it returns what it was given nothing is
    written. Bytes `known` from an earlier reading are not read again where their stamp says that they still stand.
    `before_replace` is called at most once, when the new bytes are on the disk and only their renaming is
    left; whoever undoes what it did when `NotWritten` comes, has a step that is done with the replacement or not at
    all. `check` is called while the lock is waited for and a last time before `before_replace`; it raises where nobody
    wants the file written any more. What any of the three raises comes through, the file untouched.

    Raises `NotWritten`.
    """
    told = False
    still_wanted = None if check is None else functools.partial(_asking, check)
    with _writing(path):
        real = Path(os.path.realpath(path))
    with _writing(path), locked(real.parent, check=still_wanted):
        _remove_stale(real.parent)
        for attempt in range(_ATTEMPTS):
            still_known = known if not attempt and known is not None and is_unchanged(path, known.stamp) else None
            old = still_known or read_file(path)
            _check_writable(real)
            _check_writable(real.parent)
            new = _asking(change, old.data)
            if new == old.data:
                return
            with _temporary(real.parent, new, like=real) as temporary:
                if not is_unchanged(path, old.stamp) and read_file(path) != old:
                    continue
                if still_wanted and not told:
                    still_wanted()
                if before_replace and not told:
                    _asking(before_replace)
                told = True
                if _unchanged(path, real, old):
                    _replace(temporary, real)
                    _sync_directory(real.parent)
                    return
    message = f"{path} was changed by another program each time it was about to be written; try again later."
    raise NotWritten(Problem("changed-meanwhile", message, str(path)))


def replace_file(path: Path, data: bytes) -> None:
    """Give a file these bytes, whatever it holds; make it where there is none. Raises `NotWritten`."""
    if os.path.lexists(path):
        rewrite(path, lambda _: data)
    else:
        create(path, data)


def create(path: Path, data: bytes) -> None:
    """Make a new file with all its bytes at once, and the directories above it; an existing one is never overwritten.

    A failure takes the directories away again that were made for it. Raises `NotWritten`.
    """
    with _writing(path), _directory_for(path), locked(path.parent):
        _remove_stale(path.parent)
        _check_writable(path.parent)
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with _temporary(path.parent, data) as temporary:
            try:
                os.link(temporary, path)
            except OSError as failure:
                if failure.errno not in _NO_LINKS:
                    raise
                temporary.rename(path)  # we hold the lock, and saw that there is no such file
        _sync_directory(path.parent)


def append_line(path: Path, line: str) -> Callable[[], bool]:
    """Add one line to the end of a log, which is made, with its directory, where it is missing.

    The line is written in one step, so that lines of several writers never mix; whatever would end a line early in it
    is escaped. A last line that was left unfinished is ended first. A link is not followed: it could lead the line
    anywhere. Returns a function that takes the line away again, if it still is the last, and says whether it did.
    Raises `NotWritten`.
    """
    data = for_log(line).encode("utf-8") + b"\n"
    with _writing(path):
        _make_directory(path.parent)
        descriptor = _open_to_append(path)
        with _closing(descriptor):
            log = os.fstat(descriptor)
            with held_briefly(descriptor):
                start = os.fstat(descriptor).st_size
                if start and _read_at(descriptor, start - 1, 1) not in (b"\n", b"\r"):
                    data = b"\n" + data
                _append(descriptor, start, data)
    return functools.partial(_take_back_from, path, log, start, data)


def _take_back_from(path: Path, log: os.stat_result, start: int, data: bytes) -> bool:
    with contextlib.suppress(OSError, NotWritten):
        descriptor = _open_to_append(path, make=False)
        with _closing(descriptor), held_briefly(descriptor):
            return os.path.samestat(os.fstat(descriptor), log) and _take_back(descriptor, start, data)
    return False


@contextlib.contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    """Close a descriptor that was written through directly: nothing is left for the closing that could fail."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _open_to_append(path: Path, *, make: bool = True) -> int:
    """A descriptor of a regular file, never waiting for anyone (as a pipe would have us do)."""
    present = os.path.lexists(path)
    if present:
        _check_regular(path, os.lstat(path))
    if present or make:
        _check_writable(path if present else path.parent)
    flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT if make else 0)
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        _check_regular(path, os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(path: Path, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise NotWritten(Problem("not-a-file", f"{path} is not a regular file; nothing was written to it.", str(path)))


def _append(descriptor: int, start: int, data: bytes) -> None:
    """Write at the end of a file, which was at `start`. What was written in part is taken back."""
    written = os.write(descriptor, data)
    if written < len(data):
        _take_back(descriptor, start, data[:written])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _take_back(descriptor: int, start: int, data: bytes) -> bool:
    """Cut a file off at `start`, if what stands there is `data` and nothing follows it."""
    if os.fstat(descriptor).st_size != start + len(data) or _read_at(descriptor, start, len(data)) != data:
        return False
    os.ftruncate(descriptor, start)
    return True


def _read_at(descriptor: int, offset: int, count: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, count)


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError as failure:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from failure


@contextlib.contextmanager
def _directory_for(path: Path) -> Iterator[None]:
    """Make the directories above a path; those that were not there are removed when the block fails, if still empty."""
    made = [directory for directory in path.parents if not os.path.lexists(directory)]
    try:
        _make_directory(path.parent)
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for directory in made:
                directory.rmdir()
        raise


@contextlib.contextmanager
def _temporary(directory: Path, data: bytes, *, like: Path | None = None) -> Iterator[Path]:
    """A file beside the one to be written, with its bytes on the disk; removed again unless it was renamed."""
    temporary = directory / f".memory-recall-{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if like is None else 0o600)
    try:
        try:
            _write_all(descriptor, data)
            if like is not None:
                _take_after(descriptor, like)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.write(descriptor, view)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


def _take_after(descriptor: int, model: Path) -> None:
    """Give a file the mode, owner and extended attributes of another: all of them that this user may give."""
    if not hasattr(os, "fchown"):  # Windows: what can be inherited is inherited from the directory
        return
    status = os.stat(model)
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except OSError:
            with contextlib.suppress(OSError):
                os.fchown(descriptor, -1, status.st_gid)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:  # where there are no modes, setting one would be an error
        os.fchmod(descriptor, mode)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(model):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(model, name))


def _unchanged(path: Path, real: Path, old: FileBytes) -> bool:
    """The quick look at the very end; a change within one tick of the file system's clock was looked for before."""
    if os.path.realpath(path) != str(real) or stamp_of(real) != old.stamp:
        return False
    return old.stamp.settled or read_file(real).data == old.data


def _check_writable(there: Path) -> None:
    """Respect a file or directory that may not be written to, also where renaming would get around it.

    To root everything is accessible; but what nobody at all may write to was marked so on purpose.
    """
    marked = not _WINDOWS and not stat.S_IMODE(os.stat(there).st_mode) & 0o222
    if marked or not os.access(there, os.W_OK):
        on_read_only = hasattr(os, "statvfs") and os.statvfs(there).f_flag & os.ST_RDONLY
        code = errno.EROFS if on_read_only else errno.EACCES
        raise OSError(code, os.strerror(code))


def _replace(temporary: Path, real: Path) -> None:
    """Rename over the old file. Windows refuses while a reader has it open, which is over in a moment."""
    for left in reversed(range(_WINDOWS_ATTEMPTS if _WINDOWS else 1)):
        try:
            temporary.replace(real)
            return
        except PermissionError:
            if not left:
                raise
            time.sleep(_WINDOWS_PAUSE)


def _sync_directory(directory: Path) -> None:
    """Make a renaming last. It has happened by now, so a failure is no reason to say that it has not."""
    if _WINDOWS:
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_stale(directory: Path) -> None:
    """Remove the temporaries of writers that died: a living one would hold the lock that we hold."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()


class _Raised(Exception):
    """Carries what a caller's own function raised past the handlers that are for our failures."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


def _asking(function: Callable[..., _Result], *arguments: object) -> _Result:
    try:
        return function(*arguments)
    except Exception as failure:
        raise _Raised(failure) from failure


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn every failure of the block into `NotWritten` with a sentence about `path`, but for a caller's own."""
    try:
        yield
    except _Raised as raised:
        raise raised.cause from None
    except (NotLocked, Unreadable) as failure:
        raise NotWritten(failure.problem) from failure
    except (OSError, ValueError) as failure:
        raise NotWritten(_problem(path, failure)) from failure


def _problem(path: Path, failure: OSError | ValueError) -> Problem:
    code, reason = _REASONS.get(getattr(failure, "errno", None) or 0, ("not-written", ""))
    if isinstance(failure, ValueError):
        code, reason = "bad-path", "that is not a path this system can open."
    reason = reason or f"{getattr(failure, 'strerror', None) or 'unknown error'}."
    return Problem(code, f"{path} was not written: {reason}", str(path))


_FULL = ("disk-full", "the disk is full or the quota used up; free some space and try again.")
_FORBIDDEN = ("not-permitted", "this user may not write there; check the permissions of the file and its directory.")
_GONE = ("missing", "its directory is missing or not a directory.")
_REASONS: dict[int, tuple[str, str]] = {
    errno.ENOSPC: _FULL,
    getattr(errno, "EDQUOT", errno.ENOSPC): _FULL,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: ("read-only", "its file system is read-only."),
    errno.EEXIST: ("exists", "there is a file of that name already; it was left alone."),
    errno.ENOENT: _GONE,
    errno.ENOTDIR: _GONE,
    errno.EISDIR: ("is-a-directory", "it is a directory; a file belongs there."),
    errno.ELOOP: ("is-a-link", "it is a symbolic link, which is not followed here; put a plain file in its place."),
    errno.ENAMETOOLONG: ("bad-path", "its name is too long for this file system."),
}
"""What a failure of the system means to the person who reads it: a problem code and the end of a sentence."""
