"""The `coven-memory` program: finding it, and running it within bounds on a copy of its index.

The query is an argument of its process and nothing else: standard error is discarded, because it may repeat it;
standard output stays in memory; and no exception of `subprocess`, whose text holds the arguments, leaves this module.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment
from memory_recall.errors import RecallError, UsageError
from memory_recall.recall.coven_index import PROGRAM, PrivateIndex, lies_within

if TYPE_CHECKING:
    from subprocess import Popen

INSTALL_POINTER = "install it from OpenCoven/coven (crates/coven-memory)"
TIMEOUT = "MEMORY_RECALL_COVEN_TIMEOUT"
"""The variable with the time limit of a recall, in seconds."""

_SECONDS = 30.0
_MOST_SECONDS = 86_400.0
_MODELS = "FASTEMBED_CACHE_DIR"
_OUTPUT_LIMIT = 16 * 1024 * 1024
_TICK = 0.05
_GRACE = 0.3
"""Seconds that the output gets to end after the program has."""
_PATIENCE = 2.0
"""Seconds that a killed program gets to be gone."""
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
        raise _missing(PROGRAM, f"`{PROGRAM}`", environment)
    return found


def _usable(named: str, environment: Environment, origin: str, base: Path | None) -> Path:
    if "/" not in named and os.sep not in named:
        found = _on_path(named, environment)
        if found is None:
            raise _missing(named, f"The program that {origin} names", environment)
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
    for entry in _path_entries(environment):
        path = entry / _file_name(name)
        # An empty or relative entry means the working directory.
        if path.is_absolute() and _is_file(path) and os.access(path, os.X_OK):
            return path
    return None


def _missing(name: str, who: str, environment: Environment) -> RecallError:
    """Why a program is not found on PATH: what looks like it there and does not count, or that nothing does."""
    remedy = f"{INSTALL_POINTER}, or give its absolute path in $COVEN_MEMORY_BIN"
    for entry in _path_entries(environment):
        path = environment.cwd / entry / _file_name(name)
        if not _is_file(path):
            continue
        if not entry.is_absolute():
            reason = f"{who} stands only in a relative entry of PATH ({entry}), where no program is taken from"
        else:
            reason = f"{who} is on PATH but may not be executed ({path}); `chmod +x` it"
        return RecallError("binary-missing", f"{reason}; else {remedy}.")
    return RecallError("binary-missing", f"{who} is not on PATH; {remedy}.")


def _path_entries(environment: Environment) -> list[Path]:
    return [Path(entry) for entry in (environment.variable("PATH") or "").split(os.pathsep)]


def _file_name(name: str) -> str:
    return f"{name}.exe" if os.name == "nt" else name  # never a batch file: those are run by a shell


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def time_limit(environment: Environment) -> float:
    """How many seconds all starts of one recall may take together. Raises `UsageError` where that is no number."""
    written = environment.variable(TIMEOUT)
    if written is None:
        return _SECONDS
    try:
        seconds = float(written)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MOST_SECONDS:
        raise UsageError(f"${TIMEOUT} is a number of seconds above 0 and up to {_MOST_SECONDS:.0f}; mend or unset it.")
    return seconds


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
    variables = _variables(index, environment)
    started: list[Popen[bytes]] = []
    try:
        _start(started, argv, index.directory, variables)
        output = _collect(started[0], timeout, cancellation)
        if output is None:
            raise RecallError(
                "binary-timeout",
                f"`{PROGRAM}` did not answer in time and was stopped; raise ${TIMEOUT} (seconds, {_SECONDS:.0f} where"
                f" unset). Its first run downloads a model into {variables[_MODELS]}; set {_MODELS} to a directory"
                " that holds it already to share that.",
            )
    finally:
        for process in started:
            _end(process)
    code: int | None = started[0].returncode
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
    if not Path(variables.get(_MODELS, "")).is_absolute():
        variables[_MODELS] = str(_cache(index, environment) / "fastembed")
    return variables


def _cache(index: PrivateIndex, environment: Environment) -> Path:
    base = environment.variable("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    if base is None or not Path(base).is_absolute() or lies_within(Path(base), index.store):
        if environment.home is None:
            return index.directory
        base = str(environment.home / ".cache")
    cache = Path(base) / "memory-recall"
    with suppress(OSError):  # where it cannot be made, the program says what it cannot do
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    return cache


def _start(
    started: list[Popen[bytes]], argv: Sequence[str | bytes], directory: Path, variables: Mapping[str, str]
) -> None:
    """Start the program. It is in `started` then, also where a signal interrupts the wait for that.

    A signal raises its exception in the main thread, wherever that is. In the middle of `Popen` it would leave a
    running program behind of which nobody knows: so another thread starts it.
    """
    import subprocess

    failures: list[Exception] = []
    done = threading.Event()

    def start() -> None:
        try:
            process = subprocess.Popen(
                argv,
                cwd=directory,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
            started.append(process)
        except Exception as caught:  # a thread that fails prints why, and that may hold the query
            failures.append(caught)
        finally:
            done.set()

    try:
        threading.Thread(target=start, daemon=True).start()
        done.wait()
    except BaseException:
        done.wait(_PATIENCE)
        raise
    if failures:
        raise _not_started(failures[0])


def _not_started(failure: Exception) -> RecallError:
    number = failure.errno if isinstance(failure, OSError) else None
    if number == errno.E2BIG:
        return UsageError("The query is too long for a program's argument; shorten it.", code="query-invalid")
    reason = os.strerror(number or errno.EINVAL)
    return RecallError("binary-failed", f"`{PROGRAM}` could not be started: {reason}. Check the file it is found in.")


def _collect(process: Popen[bytes], timeout: float, cancellation: Cancellation | None) -> bytes | None:
    """Everything the process prints until it has ended; None where it does not end in time.

    It is not waited for by `wait`, whose errors hold the query.
    """
    pieces: list[bytes] = []
    closed = threading.Event()
    assert process.stdout is not None
    threading.Thread(target=_drain, args=(process.stdout, pieces, closed), daemon=True).start()
    deadline = time.monotonic() + timeout
    while True:
        drained = closed.wait(_TICK)
        if cancellation is not None:
            cancellation.check()
        ended = process.poll() is not None
        if ended and not drained:
            _close(process, closed)
        if sum(map(len, pieces)) > _OUTPUT_LIMIT:
            raise RecallError("output-unknown", f"`{PROGRAM}` printed far more than a search does; it was stopped.")
        if ended:
            return b"".join(pieces)
        if time.monotonic() > deadline:
            return None
        if drained:
            time.sleep(_TICK / 10)


def _close(process: Popen[bytes], closed: threading.Event) -> None:
    """Wait for the end of the output of a process that has ended.

    What it printed is in the pipe by now, which a child of it may hold open for as long as it likes.
    """
    if not closed.wait(_GRACE):
        _kill(process)
        closed.wait(_GRACE)  # one that left the group holds it still


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

    _kill(process)
    with suppress(TimeoutExpired):  # a process that the kernel will not let go
        process.wait(_PATIENCE)
    if process.stdout is not None:
        with suppress(OSError):
            process.stdout.close()


def _kill(process: Popen[bytes]) -> None:
    with suppress(OSError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
