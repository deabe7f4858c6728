"""Bytes in, messages out: the framing of the protocol over two pipes. Knows JSON, and no method of any protocol.

The client is read by a thread of its own, which never waits for an answer to be made: a server that stops reading would
not hear that it should stop working. That thread is a daemon: it holds up no exit.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from memory_recall.text.json_values import dumps

# Searched at the end of a line rather than matched from its start: after a body with a wrong length, the rest of it and
# the next header stand on one line, and this is how the stream is found again.
_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,18})\s*$", re.IGNORECASE)
_HEADER_LIMIT = 8 * 1024
_BODY_LIMIT = 256 * 1024 * 1024
_CHUNK = 1024 * 1024


class Malformed(NamedTuple):
    """A body that is no message: what the client should be told about it."""

    message: str


class ClientGone(Exception):
    """Nobody reads what the server writes any more."""


def bodies(stream: BinaryIO) -> Iterator[bytes | Malformed]:
    """Each framed body, until the stream ends. Bytes that belong to no frame are skipped."""
    length: int | None = None
    while line := stream.readline(_HEADER_LIMIT):
        match = _LENGTH.search(line)
        if match:
            length = int(match.group(1))
        elif not line.strip() and length is not None:
            body = _read_body(stream, length)
            length = None
            if body is None:
                return
            yield body


def parse(body: bytes) -> object:
    """The JSON value of a body, with nothing in it interpreted; `Malformed` where it has none."""
    try:
        return json.loads(body)
    except RecursionError:
        return Malformed("The message is nested too deeply to be read.")
    except ValueError:
        return Malformed("The message is not JSON, or its Content-Length does not fit its body.")


def listen(stream: BinaryIO, deliver: Callable[[object], None], ended: Callable[[], None]) -> threading.Thread:
    """Start the reading thread: every message, or `Malformed`, is delivered in order, and the end is told once."""

    def read() -> None:
        try:
            for body in bodies(stream):
                deliver(body if isinstance(body, Malformed) else parse(body))
        except (OSError, ValueError):  # the pipe broke, or was closed under us
            pass
        finally:
            ended()

    thread = threading.Thread(target=read, name="memory-recall-reader", daemon=True)
    thread.start()
    return thread


def write(stream: BinaryIO, message: object) -> None:
    """Send one message. Characters travel as UTF-8 and not as escapes. Raises `ClientGone`."""
    body = dumps(message).encode("utf-8")
    try:
        stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        stream.flush()
    except (OSError, ValueError) as failure:
        raise ClientGone from failure


def _read_body(stream: BinaryIO, length: int) -> bytes | Malformed | None:
    if length <= _BODY_LIMIT:
        body = stream.read(length)
        return body if len(body) == length else None
    while length > 0:
        skipped = stream.read(min(length, _CHUNK))
        if not skipped:
            return None
        length -= len(skipped)
    return Malformed(f"The message is larger than {_BODY_LIMIT:,} bytes; it was not read.")
