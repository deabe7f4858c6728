"""The process: `memory-recall-lsp`, and the verb `memory-recall lsp`. Owns standard input and output, log and exit."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Sequence
from typing import BinaryIO

from memory_recall import __version__
from memory_recall.errors import UsageError
from memory_recall.text.untrusted import for_log

_PROGRAM = "memory-recall-lsp"

_GRACE = 2.0
"""Seconds that work under way gets at the end, to stop its subprocess or to finish a write."""

_TURN = 0.001
"""Seconds after which a working thread lets another have the interpreter. With Python's own five milliseconds, a hover
while a recall runs waits ten and more: one turn until the client is heard, one until it is answered."""

_USAGE = """\
usage: memory-recall-lsp [--log-level LEVEL] [--version] [--help]

The language server of memory-recall, on standard input and output. An editor starts it.

  --log-level LEVEL  error, warning (default), info or debug (every message with the time it took); the log goes to
                     standard error and never holds the text of a note, a memory or a query
  --version          print the version and end

--stdio and --clientProcessId, which editors add of themselves, are accepted and mean nothing.
"""

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one client on standard input and output. Returns the exit code; does not return where work hangs."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if "--help" in given or "-h" in given:
        sys.stdout.write(_USAGE)
        return 0
    if "--version" in given:
        sys.stdout.write(f"memory-recall {__version__}\n")
        return 0
    try:
        _start_log(_level_in(given))
    except UsageError as error:
        sys.stderr.write(f"{_PROGRAM}: {error.message}\n")
        return 2
    source, sink = _take_standard_streams()
    return serve(source, sink)


def serve(source: BinaryIO, sink: BinaryIO) -> int:
    """Serve one client over two pipes."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of numpy's, whose memory nobody would use
    # What is imported now stays: to look for garbage among it would take a tenth of the time of starting.
    gc.disable()
    sys.setswitchinterval(_TURN)
    from memory_recall.environment import Environment
    from memory_recall.errors import RecallError
    from memory_recall.faces.lsp.server import MemoryServer

    try:
        environment = Environment.of_process()
    except RecallError as error:
        sys.stderr.write(f"{error.message}\n")
        return 3

    async def session() -> tuple[int, bool]:
        server = MemoryServer(environment)
        gc.freeze()
        gc.enable()
        code = await server.serve(source, sink)
        return code, await asyncio.to_thread(server.workers.stop, _GRACE)

    try:
        code, finished = asyncio.run(session())
    except KeyboardInterrupt:
        return 130
    if not finished:  # leaving the usual way would wait for threads that do not stop
        logging.shutdown()
        os._exit(code)
    return code


def _take_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """The protocol's own pipes. After this, whatever prints, here or in a subprocess, prints to standard error.

    Standard input becomes empty for everybody else.
    """
    nothing = os.open(os.devnull, os.O_RDONLY)
    while nothing <= 2:  # the editor closed a standard stream, whose number must not become one of our pipes
        nothing = os.dup(nothing)
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.stdout = sys.stderr
    return source, sink


def _level_in(arguments: Sequence[str]) -> int:
    """The log level asked for. Raises `UsageError` for what this program does not know."""
    level = logging.WARNING
    waiting = iter(arguments)
    for argument in waiting:
        name, equals, value = argument.partition("=")
        if name == "--log-level":
            given = value if equals else next(waiting, "")
            if given.lower() not in _LEVELS:
                raise UsageError(f"--log-level must be one of {', '.join(_LEVELS)}.")
            level = _LEVELS[given.lower()]
        elif name == "--clientProcessId":
            if not equals:
                next(waiting, None)
        elif argument != "--stdio":
            raise UsageError(
                f"{for_log(argument)!r} means nothing here; the server speaks on standard input and output. See --help."
            )
    return level


def _start_log(level: int) -> None:
    """Start the log on standard error. pygls stays at warnings whatever is asked: below, it logs whole messages."""
    logging.basicConfig(stream=sys.stderr, level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("pygls").setLevel(logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.ERROR)


if __name__ == "__main__":
    sys.exit(main())
