"""The least client of a language server that a measurement needs: requests and answers over pipes, and what they cost.

One thread and no queue between the pipe and the clock. Several requests may be under way at once: `begin` sends one,
`wait` reads until its answer is there and keeps the others. Not for tests of the protocol, which send what no
well-behaved client does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

OURS = (sys.executable, "-P", "-m", "memory_recall.faces.lsp.main")
EMPTY_SERVER = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("empty", "1")

@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params):
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, "x" * 400))

server.start_io()
"""
EMPTY = (sys.executable, "-P", "-c", EMPTY_SERVER)
"""A pygls server that does nothing but answer hovers with 400 letters: the floor of any server in Python."""

PATIENCE = 180.0
"""Seconds after which an answer is not waited for any longer."""


class ServerFailed(Exception):
    """The server ended, answered with an error, or took longer than it was given."""


class Session:
    """One server process in a project, initialized, as a context manager. Killed where one answer takes too long."""

    def __init__(
        self, command: Sequence[str], project: Path, variables: Mapping[str, str], patience: float = PATIENCE
    ) -> None:
        self._project = project
        self._last = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._server = subprocess.Popen(
            list(command),
            cwd=project,
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._waits_since: float | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._watch, args=(patience,), daemon=True).start()

    def __enter__(self) -> Session:
        try:
            self._initialize()
        except BaseException:
            self._close()
            raise
        return self

    def _initialize(self) -> None:
        folder = self._project.as_uri()
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder,
                "workspaceFolders": [{"uri": folder, "name": self._project.name}],
                "capabilities": {"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}},
            },
        )
        self.notify("initialized", {})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.request("shutdown", None)
                self.notify("exit", None)
                self._server.wait(timeout=5)
        except (ServerFailed, OSError, subprocess.TimeoutExpired):
            pass  # it is killed below
        finally:
            self._close()

    def _close(self) -> None:
        self._closed.set()
        self._server.kill()
        self._server.wait()
        for stream in (self._server.stdin, self._server.stdout):
            if stream is not None:
                with suppress(OSError):  # what a dead server was still to be told
                    stream.close()

    def _watch(self, patience: float) -> None:
        """Kill a server whose answer is long overdue, so that reading ends. A timer a request would be measured."""
        while not self._closed.wait(min(1.0, patience / 4)):
            since = self._waits_since
            if since is not None and time.monotonic() - since > patience:
                self._server.kill()

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._server.poll() is not None

    # What is asked

    def open(self, note: Path) -> None:
        """Open a note as it stands on disk."""
        document = {"uri": note.as_uri(), "languageId": "markdown", "version": 1, "text": note.read_text("utf-8")}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def hover(self, note: Path, line: int, character: int) -> Any:
        """The hover at a position (from 0). Raises `ServerFailed` where there is none."""
        position = {"line": line, "character": character}
        found = self.request("textDocument/hover", {"textDocument": {"uri": note.as_uri()}, "position": position})
        if not found:
            raise ServerFailed(f"no hover at line {line}, character {character}")
        return found

    def execute(self, command: str, options: Mapping[str, object]) -> Any:
        """The result of one of the server's commands."""
        return self.wait(self.begin_command(command, options))

    def begin_command(self, command: str, options: Mapping[str, object]) -> int:
        """Send a command and return; its answer is fetched by this number."""
        return self.begin("workspace/executeCommand", {"command": command, "arguments": [dict(options)]})

    # How it is asked

    def request(self, method: str, params: object) -> Any:
        """Send a request and return its result. Raises `ServerFailed`."""
        return self.wait(self.begin(method, params))

    def begin(self, method: str, params: object) -> int:
        """Send a request and return; its answer is fetched by this number."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        return self._last

    def has(self, number: int) -> bool:
        """Whether the answer to that request was read already, while waiting for another."""
        return number in self._answers

    def wait(self, number: int) -> Any:
        """The result of that request. Raises `ServerFailed`."""
        self._waits_since = time.monotonic()
        while number not in self._answers:
            message = self._receive()
            if "method" not in message:
                self._answers[message["id"]] = message
            elif "id" in message:
                self._send({"id": message["id"], "result": None})
        self._waits_since = None
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ServerFailed(str(answer["error"].get("message")))
        return answer.get("result")

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def megabytes(self) -> tuple[float, float] | None:
        """Resident memory of the server now, and the most it had, in MB of 10^6 bytes; None without /proc."""
        try:
            status = Path(f"/proc/{self._server.pid}/status").read_text(encoding="ascii", errors="replace")
        except OSError:
            return None
        kilobytes = {
            name: line.split()[0]
            for name, _, line in (row.partition(":") for row in status.split("\n"))
            if line.strip()
        }
        if "VmRSS" not in kilobytes or "VmHWM" not in kilobytes:
            return None
        return int(kilobytes["VmRSS"]) * 1024 / 1e6, int(kilobytes["VmHWM"]) * 1024 / 1e6

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self._server.stdin.flush()
        except OSError as failure:
            raise ServerFailed("the server ended") from failure

    def _receive(self) -> dict[str, Any]:
        assert self._server.stdout is not None
        length = 0
        while header := self._server.stdout.readline().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self._server.stdout.read(length)
        if not body:
            raise ServerFailed("the server ended without an answer, or took too long")
        message: dict[str, Any] = json.loads(body)
        return message
