"""The `coven-memory` program: finding it, giving it a copy of its index, running it within bounds.

The program changes what it opens (it creates tables, journals, missing databases): it is never shown the live index.
The query is an argument of its process and nothing else: standard error is discarded, because it may repeat it;
standard output stays in memory; and no exception of `subprocess`, whose text holds the arguments, leaves this module.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment
from memory_recall.errors import RecallError, UsageError
from memory_recall.files.reading import Stamp, Unreadable, read_pieces, stamp_of

if TYPE_CHECKING:
    from subprocess import Popen

PROGRAM = "coven-memory"
INSTALL_POINTER = "install it from OpenCoven/coven (crates/coven-memory)"

_DATABASE = "archival.sqlite3"
_VECTORS = "archival.tvim"
_JOURNAL = "-wal"

_PREFIX = "memory-recall-index-"
_ABANDONED_AFTER = 2 * 86_400.0
"""Seconds; above the longest time limit of a recall."""
_COPY_ATTEMPTS = 6
_COPY_PAUSE = 0.05
_OUTPUT_LIMIT = 16 * 1024 * 1024
_TICK = 0.05
_GRACE = 2.0
_PANIC = 101


def find_binary(named: str | None, environment: Environment) -> Path:
    """The program: what was named (`--binary`), else `$COVEN_MEMORY_BIN`, else the first on PATH.

    Only absolute entries of PATH count, and a bare name is never looked for in the working directory: a project cannot
    bring its own. Raises `RecallError` (`binary-missing`) with a pointer to where it is installed from.
    """
    if named:
        return _usable(named, environment, "`--binary`", base=environment.cwd)
    variable = environment.variable("COVEN_MEMORY_BIN")
    if variable is not None:
        return _usable(variable, environment, "`$COVEN_MEMORY_BIN`", base=None)
    found = _on_path(PROGRAM, environment)
    if found is None:
        raise RecallError("binary-missing", f"`{PROGRAM}` is not on PATH; {INSTALL_POINTER}, or name it by `--binary`.")
    return found


def _usable(named: str, environment: Environment, origin: str, base: Path | None) -> Path:
    if "/" not in named and os.sep not in named:
        found = _on_path(named, environment)
        if found is None:
            raise RecallError(
                "binary-missing",
                f"The program that {origin} names is not on PATH; give its path, or {INSTALL_POINTER}.",
            )
        return found
    path = Path(named)
    if path.parts[0] == "~" and environment.home is not None:
        path = environment.home.joinpath(*path.parts[1:])
    if base is not None:
        path = base / path
    if not path.is_absolute():
        raise RecallError("binary-missing", f"{origin} is a relative path; give an absolute one.")
    if not _is_file(path):
        raise RecallError("binary-missing", f"{origin} names no file ({path}); mend it, or {INSTALL_POINTER}.")
    if not os.access(path, os.X_OK):
        raise RecallError("binary-missing", f"{origin} names a file that may not be executed ({path}); `chmod +x` it.")
    return path


def _on_path(name: str, environment: Environment) -> Path | None:
    file = f"{name}.exe" if os.name == "nt" else name  # never a batch file: those are run by a shell
    for entry in (environment.variable("PATH") or "").split(os.pathsep):
        path = Path(entry) / file
        # An empty or relative entry means the working directory.
        if path.is_absolute() and _is_file(path) and os.access(path, os.X_OK):
            return path
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class PrivateIndex:
    """A copy of the index that nobody else sees. It vanishes with its directory."""

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
    import tempfile

    live = _live_files(store)
    directory: Path | None = None
    try:
        try:
            wanted = environment.variable("TMPDIR")
            if wanted is None or not Path(wanted).is_absolute() or not Path(wanted).is_dir():
                wanted = tempfile.gettempdir()
            _remove_abandoned(Path(wanted))
            directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=wanted))
            _copy_consistently(live, directory, cancellation)
        except OSError as failure:
            reason = os.strerror(failure.errno or errno.EIO)
            raise RecallError(
                "index-unreadable", f"The Coven index could not be copied to a temporary directory: {reason}."
            ) from failure
        yield PrivateIndex(directory, directory / _DATABASE, directory / _VECTORS)
    finally:
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)


def _remove_abandoned(base: Path) -> None:
    """Remove copies whose makers were killed: what they hold is private, and no recall lasts that long."""
    import shutil

    with suppress(OSError):
        for copy in base.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                status = copy.lstat()
                own = status.st_uid == os.getuid() if hasattr(os, "getuid") else True
                if own and stat.S_ISDIR(status.st_mode) and time.time() - status.st_mtime > _ABANDONED_AFTER:
                    shutil.rmtree(copy, ignore_errors=True)


def _live_files(store: Path) -> dict[str, Path]:
    """The files to copy, by the name of their copy. Links are followed: a journal lies beside the real database."""
    live = {}
    for name in (_DATABASE, _VECTORS):
        real = Path(os.path.realpath(store / name))
        if not _is_file(real):
            raise RecallError(
                "index-missing",
                f"The Coven index is missing ({store / name}); build it with `{PROGRAM} ingest`, then ask again.",
            )
        live[name] = real
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
    with open(target, "xb") as writing:
        try:
            for piece in read_pieces(source):
                if cancellation is not None:
                    cancellation.check()
                writing.write(piece)
        except Unreadable as failure:
            if not failure.missing:  # one that vanished since it was looked at shows in the stamps
                raise RecallError("index-unreadable", failure.problem.message) from failure


def search(
    binary: Path,
    index: PrivateIndex,
    environment: Environment,
    *,
    query: str,
    familiar: str,
    count: int,
    timeout: float,
    cancellation: Cancellation | None = None,
) -> bytes:
    """What the program prints for one search, at exit code 0.

    `timeout` is in seconds. Raises `RecallError` (`binary-failed`, `binary-crashed`, `binary-timeout`), `UsageError`
    (`query-invalid`) for a query that no process can be given, and `Cancelled`. The whole process group is killed
    when this returns or raises.
    """
    # A name that begins with a dash would be taken for an option of its own.
    scope = [f"--familiar={familiar}"] if familiar.startswith("-") else ["--familiar", familiar]
    options = [*scope, "-k", str(count), "--index", str(index.vectors), "--db", str(index.database)]
    argv: list[str | bytes] = [str(binary), "search", *options, "--", _argument(query)]
    process = _start(argv, index.directory, _variables(index, environment))
    try:
        output = _collect(process, timeout, cancellation)
    finally:
        _end(process)
    code: int | None = process.returncode
    if code == 0:
        return output
    if code is None or code == _PANIC or code < 0:
        raise RecallError("binary-crashed", f"`{PROGRAM}` crashed (exit code {code}); its output was not used.")
    raise RecallError("binary-failed", f"`{PROGRAM}` failed (exit code {code}); `{PROGRAM} status` may say why.")


def _argument(query: str) -> str | bytes:
    """The query as the program's argument. Errors are raised outside of `except`: an encoding error holds the text."""
    encoded: bytes | None = None
    with suppress(UnicodeEncodeError):
        encoded = query.encode("utf-8")
    if encoded is None or b"\x00" in encoded:
        raise UsageError(
            "The query holds a character that no program can be given; leave it out.", code="query-invalid"
        )
    return query if os.name == "nt" else encoded


def _variables(index: PrivateIndex, environment: Environment) -> dict[str, str]:
    """The caller's variables; the program's home is the home the store was found in, its model cache a lasting place.

    Without a place of its own the program would put some hundred megabytes of model into its working directory.
    """
    variables = dict(environment.variables)
    if environment.home is not None:
        variables["USERPROFILE" if os.name == "nt" else "HOME"] = str(environment.home)
    chosen = variables.get("FASTEMBED_CACHE_DIR", "")
    if not Path(chosen).is_absolute():
        variables["FASTEMBED_CACHE_DIR"] = str(_cache(index, environment) / "fastembed")
    return variables


def _cache(index: PrivateIndex, environment: Environment) -> Path:
    base = environment.variable("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    if base is None or not Path(base).is_absolute():
        if environment.home is None:
            return index.directory
        base = str(environment.home / ".cache")
    cache = Path(base) / "memory-recall"
    with suppress(OSError):  # where it cannot be made, the program says what it cannot do
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    return cache


def _start(argv: Sequence[str | bytes], directory: Path, variables: Mapping[str, str]) -> Popen[bytes]:
    import subprocess

    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    failure: OSError | None = None
    try:
        return subprocess.Popen(
            argv,
            cwd=directory,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            creationflags=flags,
        )
    except OSError as caught:
        failure = caught
    if failure.errno == errno.E2BIG:
        raise UsageError("The query is too long for a program's argument; shorten it.", code="query-invalid")
    reason = os.strerror(failure.errno or errno.EIO)
    raise RecallError("binary-failed", f"`{PROGRAM}` could not be started: {reason}. Check the file it is found in.")


def _collect(process: Popen[bytes], timeout: float, cancellation: Cancellation | None) -> bytes:
    """Everything the process prints until it has ended. It is not waited for by `wait`, whose errors hold the query."""
    pieces: list[bytes] = []
    closed = threading.Event()
    assert process.stdout is not None
    threading.Thread(target=_drain, args=(process.stdout, pieces, closed), daemon=True).start()
    deadline = time.monotonic() + timeout
    ended_at: float | None = None
    while True:
        drained = closed.wait(_TICK)
        if cancellation is not None:
            cancellation.check()
        if sum(map(len, pieces)) > _OUTPUT_LIMIT:
            raise RecallError("output-unknown", f"`{PROGRAM}` printed far more than a search does; it was stopped.")
        if process.poll() is not None:
            if drained:
                return b"".join(pieces)
            # A child of the program may hold its output open; what the program itself printed is there by now.
            ended_at = ended_at or time.monotonic()
            if time.monotonic() - ended_at > _GRACE:
                return b"".join(pieces)
        elif drained:
            time.sleep(_TICK / 10)
        if time.monotonic() > deadline:
            raise RecallError(
                "binary-timeout",
                f"`{PROGRAM}` did not answer in time ({timeout:.0f} seconds) and was stopped. Its first run loads a"
                f" model: run `{PROGRAM} search` once by hand, or raise $MEMORY_RECALL_COVEN_TIMEOUT.",
            )


def _drain(stream: IO[bytes], pieces: list[bytes], closed: threading.Event) -> None:
    total = 0
    with suppress(OSError, ValueError):  # the pipe was closed under the reader
        while total <= _OUTPUT_LIMIT and (piece := os.read(stream.fileno(), 1 << 16)):
            pieces.append(piece)
            total += len(piece)
    closed.set()


def _end(process: Popen[bytes]) -> None:
    """End the process and whatever it started. Its group outlives it, and may hold more than it."""
    from subprocess import TimeoutExpired

    with suppress(OSError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutExpired):  # a process that the kernel will not let go
        process.wait(_GRACE)
    if process.stdout is not None:
        with suppress(OSError):
            process.stdout.close()
