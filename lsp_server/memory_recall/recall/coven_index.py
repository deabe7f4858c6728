"""A private copy of Coven's index, which the program may change as it likes.

The program changes what it opens (it creates tables, journals, missing databases): it is never shown the live index.
The copy is for its owner only, lies outside of the store, and vanishes with its question. Where a question was killed,
the next one removes what nobody holds any more.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment
from memory_recall.errors import RecallError
from memory_recall.files.reading import Stamp, Unreadable, read_pieces, stamp_of

PROGRAM = "coven-memory"

_DATABASE = "archival.sqlite3"
_VECTORS = "archival.tvim"
_JOURNAL = "-wal"

_PREFIX = "memory-recall-index-"
_ABANDONED_AFTER = 2 * 86_400.0
"""Seconds, where directories cannot be locked; above the longest time limit of a recall."""
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_OTHER_PLACES = ("/tmp", "/var/tmp")
_HELD_ATTEMPTS = 20
_COPY_ATTEMPTS = 6
_COPY_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class PrivateIndex:
    """A copy of the index of `store` that nobody else sees. It vanishes with its directory."""

    store: Path
    directory: Path
    database: Path
    vectors: Path


@contextmanager
def private_index(
    store: Path, environment: Environment, cancellation: Cancellation | None = None
) -> Iterator[PrivateIndex]:
    """A private copy of the store's index, removed at the end whatever happens.

    The files are read as bytes, never through SQLite, which would write beside them. A writer that is at work is
    noticed by the files' stamps, and the copy is made again. The shared-memory file is left out: SQLite makes it anew
    from the journal. Raises `RecallError`: `index-missing`, `index-busy`, `index-unreadable`.
    """
    import shutil

    live = _live_files(store)
    directory: Path | None = None
    hold: int | None = None
    try:
        try:
            base = _temporary_place(store, environment)
            _remove_abandoned(base)
            directory, hold = _new_directory(base)
            _copy_consistently(live, directory, cancellation)
        except OSError as failure:
            reason = os.strerror(failure.errno or errno.EIO)
            raise RecallError(
                "index-unreadable", f"The Coven index could not be copied to a temporary directory: {reason}."
            ) from failure
        yield PrivateIndex(store, directory, directory / _DATABASE, directory / _VECTORS)
    finally:
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)
        if hold is not None:
            os.close(hold)


def _temporary_place(store: Path, environment: Environment) -> Path:
    """`$TMPDIR`, or where the system has temporary files; never in the store, in which nothing is ever written.

    `tempfile.gettempdir` is not asked: it finds out by writing, which may be into the store.
    """
    named = [environment.variable(name) for name in _TEMPORARY]
    for place in (Path(name) for name in (*named, *_OTHER_PLACES) if name is not None):
        if _is_usable(place, store):
            return place
    raise RecallError(
        "index-unreadable",
        "There is no temporary directory outside of the Coven store to copy its index to; set $TMPDIR to one.",
    )


def _is_usable(place: Path, store: Path) -> bool:
    return (
        place.is_absolute() and os.access(place, os.W_OK | os.X_OK) and place.is_dir() and not lies_within(place, store)
    )


def lies_within(place: Path, store: Path) -> bool:
    """Whether a place lies in the store or in the directory that Coven keeps it in, links resolved."""
    real = Path(os.path.realpath(place))
    return any(real.is_relative_to(os.path.realpath(home)) for home in (store, store.parent))


class _Held(Exception):
    """A directory belongs to somebody who is at work, or is being removed."""


def _new_directory(base: Path) -> tuple[Path, int | None]:
    """A directory of our own and what holds it: a descriptor, or None where directories cannot be locked."""
    import tempfile

    for _ in range(_HELD_ATTEMPTS):
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        try:
            hold = _hold(directory)
        except _Held:  # somebody took it for abandoned in the moment before it was held
            continue
        if directory.exists():
            return directory, hold
        if hold is not None:
            os.close(hold)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _hold(directory: Path) -> int | None:
    """Lock a directory for as long as this process lives, or until the descriptor is closed.

    None where that is not possible. Raises `_Held` where somebody else holds it, or it has vanished.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    descriptor: int | None = None
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as failure:
        if descriptor is not None:
            os.close(descriptor)
        if failure.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.ENOENT):
            raise _Held from failure
        return None
    return descriptor


def _remove_abandoned(base: Path) -> None:
    """Remove copies whose makers were killed: what they hold is private."""
    import shutil

    with suppress(OSError):
        for copy in base.glob(f"{_PREFIX}*"):
            with suppress(OSError, _Held):
                status = copy.lstat()
                own = status.st_uid == os.getuid() if hasattr(os, "getuid") else True
                if not own or not stat.S_ISDIR(status.st_mode):
                    continue
                hold = _hold(copy)
                if hold is not None or time.time() - status.st_mtime > _ABANDONED_AFTER:
                    shutil.rmtree(copy, ignore_errors=True)
                if hold is not None:
                    os.close(hold)


def _live_files(store: Path) -> dict[str, Path]:
    """The files to copy, by the name of their copy. Links are followed: a journal lies beside the real database."""
    live = {}
    for name in (_DATABASE, _VECTORS):
        path = store / name
        live[name] = Path(os.path.realpath(path))
        try:
            status = live[name].stat()
        except (FileNotFoundError, NotADirectoryError) as failure:
            raise RecallError(
                "index-missing",
                f"The Coven index is missing ({path}); build it with `{PROGRAM} ingest`, then ask again.",
            ) from failure
        except OSError as failure:
            reason = os.strerror(failure.errno or errno.EIO)
            raise RecallError("index-unreadable", f"The Coven index cannot be read ({path}): {reason}.") from failure
        if not stat.S_ISREG(status.st_mode):
            raise RecallError(
                "index-unreadable",
                f"The Coven index is no regular file ({path}); move that away, and build it with `{PROGRAM} ingest`.",
            )
    live[_DATABASE + _JOURNAL] = live[_DATABASE].with_name(live[_DATABASE].name + _JOURNAL)
    return live


def _copy_consistently(live: Mapping[str, Path], directory: Path, cancellation: Cancellation | None) -> None:
    for attempt in range(_COPY_ATTEMPTS):
        if attempt:
            time.sleep(_COPY_PAUSE * attempt)
        before = _stamps(live)
        for name, path in live.items():
            if before[name] is not None or name in (_DATABASE, _VECTORS):
                _copy(path, directory / name, cancellation)
        if _stamps(live) == before:
            return
        for name in live:
            (directory / name).unlink(missing_ok=True)
    raise RecallError("index-busy", "The Coven index is being written at this moment; ask again when that is done.")


def _stamps(live: Mapping[str, Path]) -> dict[str, Stamp | None]:
    return {name: stamp_of(path) for name, path in live.items()}


def _copy(source: Path, target: Path, cancellation: Cancellation | None) -> None:
    with open(target, "xb", opener=_for_the_owner) as writing:
        try:
            for piece in read_pieces(source):
                if cancellation is not None:
                    cancellation.check()
                writing.write(piece)
        except Unreadable as failure:
            if not failure.missing:  # one that vanished since it was looked at shows in the stamps
                raise RecallError("index-unreadable", failure.problem.message) from failure


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
