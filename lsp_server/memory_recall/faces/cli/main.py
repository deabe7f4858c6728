"""`memory-recall <verb>`: finds the verb, imports only its module, and turns whatever happens into an exit code.

Exit codes: 0 answered, also with nothing found; 2 the request is wrong; 3 the recall failed; 130 interrupted;
128 + n ended by signal n; 141 nobody reads the answer any more. No traceback reaches anybody who has not set
MEMORY_RECALL_DEBUG.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from memory_recall import __version__
from memory_recall.environment import Environment
from memory_recall.errors import RecallError, UsageError
from memory_recall.faces.cli.invocation import PROGRAM, HelpAsked, Invocation, Streams
from memory_recall.records import NamedTuple

FAILED = 3
INTERRUPTED = 130
SIGNALLED = 128
NOBODY_READS = 141
DEBUG = "MEMORY_RECALL_DEBUG"

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that ask a process to end; Ctrl-C asks in its own way."""


class Verb(NamedTuple):
    """A verb: the function that does it, by module and name so that only the one asked for is imported."""

    module: str
    function: str
    summary: str

    def load(self) -> Callable[[Invocation], int]:
        """The function itself."""
        function: Callable[[Invocation], int] = getattr(import_module(self.module), self.function)
        return function


_CLI = "memory_recall.faces.cli"

VERBS: dict[tuple[str, ...], Verb] = {
    ("nemp", "recall"): Verb(f"{_CLI}.nemp", "recall", "a nemp memory by its key or by words; counts as a read"),
    ("nemp", "recount"): Verb(f"{_CLI}.nemp", "recount", "bring the 7 and 30 day read counters in line with the log"),
    ("memory", "recall"): Verb(f"{_CLI}.memory", "recall", "this project's .agent memories, leaving a run record"),
    ("coven", "recall"): Verb(f"{_CLI}.coven", "recall", "verified claims of the Coven store, changing nothing"),
    ("coven", "open"): Verb(f"{_CLI}.coven", "open_source", "the source that a claim was drawn from"),
    ("search",): Verb(f"{_CLI}.browse", "search", "all stores at once, recording nothing"),
    ("show",): Verb(f"{_CLI}.browse", "show", "one full record by key, MEM- id or ULID, recording nothing"),
    ("doctor",): Verb(f"{_CLI}.doctor", "doctor", "which stores are found, what is broken, what is missing"),
    ("demo",): Verb(f"{_CLI}.demo", "demo", "all of it on a sample project that touches nothing of yours"),
    ("lsp",): Verb(f"{_CLI}.lsp", "lsp", "the language server, on standard input and output"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code.

    Without `argv` it is the command line of this process, and the process ends here: a program that has given its
    answer does not make anybody wait while it tidies up its memory.
    """
    if argv is None:
        # One command is over before garbage matters, and looking for it is a quarter of the time of a large store.
        gc.disable()
        arguments = sys.argv[1:]
        # The server handles signals itself: it has answers under way that this would interrupt anywhere.
        _leave(_exit_code(arguments, cleans_up=arguments[:1] != ["lsp"]))
    return _exit_code(argv)


class _Ended(BaseException):
    """A signal asked this process to end: not a failure that anything on the way could handle."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _clean_up_before_ending() -> None:
    """Let a signal that ends this process do so by way of every `finally`: no program and no copy is left behind.

    What the caller has set to be ignored (nohup) stays ignored.
    """
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _frame: object) -> NoReturn:
    for other in _ENDING:  # a second one must not interrupt the cleaning up
        signal.signal(other, signal.SIG_IGN)
    raise _Ended(number)


def _leave(code: int) -> NoReturn:
    for number in _ENDING:  # nothing is left to clean up
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        # What cannot be written any more has nobody to read it, or has been told of already.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _exit_code(arguments: Sequence[str], *, cleans_up: bool = False) -> int:
    try:
        if cleans_up:
            _clean_up_before_ending()
        streams = _streams_of_process()
        return run(arguments, Environment.of_process(), streams)
    except RecallError as error:  # not even a place to ask the question from
        return Invocation(arguments, Environment(Path(), None), streams).fail(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except _Ended as ended:
        return SIGNALLED + ended.number
    except BrokenPipeError:
        return NOBODY_READS
    except OSError:  # not even the sentence about what failed could be written
        return FAILED


def run(arguments: Sequence[str], env: Environment, streams: Streams) -> int:
    """Run one command line in the given surroundings; returns the exit code.

    Raises only `KeyboardInterrupt`, and `OSError` where an answer cannot be written: a process has its own manners.
    """
    name, rest = _verb_of(arguments)
    invocation = Invocation(rest, env, streams)
    try:
        if name is not None:
            return VERBS[name].load()(invocation)
        return _without_verb(arguments, invocation)
    except HelpAsked as asked:
        invocation.write(asked.text)
        return 0
    except BrokenPipeError:
        raise
    except RecallError as error:
        return invocation.fail(error)
    except Exception as failure:  # the last resort: a person gets a sentence, whatever went wrong
        if env.variable(DEBUG):
            import traceback

            traceback.print_exc(file=streams.stderr)
        return invocation.fail(_unexpected(failure))


def _verb_of(arguments: Sequence[str]) -> tuple[tuple[str, ...] | None, Sequence[str]]:
    for length in (2, 1):
        name = tuple(arguments[:length])
        if name in VERBS:
            return name, arguments[length:]
    return None, arguments


def _without_verb(arguments: Sequence[str], invocation: Invocation) -> int:
    first = arguments[0] if arguments else ""
    if first in ("--version", "-V"):
        invocation.write(f"{PROGRAM} {__version__}")
        return 0
    group = [name for name in VERBS if len(name) > 1 and name[0] == first]
    if first in ("--help", "-h", "help") or (group and invocation.arguments[1:2] in (["--help"], ["-h"])):
        invocation.write(_overview(group or list(VERBS)))
        return 0
    if group:
        verbs = " or ".join(f"`{PROGRAM} {' '.join(name)}`" for name in group)
        raise UsageError(f"Say what to do with {first}: {verbs}.")
    if first.startswith("-"):
        raise UsageError(f"Options stand after the verb, as in `{PROGRAM} nemp recall --json KEY`.")
    known = ", ".join(" ".join(name) for name in VERBS)
    said = "There is no such verb" if first else "Say what to do"
    raise UsageError(f"{said}; the verbs are {known} (`{PROGRAM} --help` explains them).")


def _overview(names: Sequence[tuple[str, ...]]) -> str:
    lines = [f"  {' '.join(name):<14} {VERBS[name].summary}" for name in names]
    return "\n".join(
        [
            f"usage: {PROGRAM} <verb> [options] [words]",
            "",
            "What a coding agent's memory says, who claimed it, and whether it still holds.",
            "",
            "verbs:",
            *lines,
            "",
            f"`{PROGRAM} <verb> --help` shows a verb's options and an example. Every verb but lsp has --json.",
            "Words after the verb are the query; -- ends options; --query-stdin reads the query from standard input.",
        ]
    )


def _unexpected(failure: Exception) -> RecallError:
    if isinstance(failure, OSError) and failure.errno is not None:
        return RecallError("system", f"The system refused: {os.strerror(failure.errno)}; see to that and try again.")
    # Only the kind of failure is told: its text may hold a query that must appear nowhere.
    kind = type(failure).__name__
    return RecallError("internal", f"Something unexpected went wrong ({kind}); set {DEBUG}=1 to see where.")


def _streams_of_process() -> Streams:
    for stream in (sys.stdout, sys.stderr):
        # Memories are written in every script, whatever the locale of the terminal says.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return Streams(getattr(sys.stdin, "buffer", None), sys.stdout, sys.stderr)
