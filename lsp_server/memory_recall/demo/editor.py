"""The least that an editor does: start the language server as a process, open a note, rest the mouse, quit.

A protocol client over standard input and output with nothing but the standard library, so that the demo shows what the
server itself says.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

_PATIENCE = 30.0
"""Seconds after which a server that says nothing is given up."""


class ServerSilent(Exception):
    """The server ended, or answered an error, or said nothing for too long."""


class Editor:
    """One session with one server, as a context manager. Answers what a server may ask, and forgets notifications."""

    def __init__(self, command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> None:
        self._folder = folder
        self._requests = 0
        self._server = subprocess.Popen(
            list(command),
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._watchdog = threading.Timer(_PATIENCE, self._server.kill)
        self._watchdog.daemon = True

    def __enter__(self) -> Editor:
        self._watchdog.start()
        folder = self._folder.as_uri()
        self.capabilities = self._request(
            "initialize",
            {
                "processId": None,
                "clientInfo": {"name": "memory-recall demo"},
                "rootUri": folder,
                "workspaceFolders": [{"uri": folder, "name": self._folder.name}],
                "capabilities": {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}},
            },
        )
        self._notify("initialized", {})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._request("shutdown", None)
                self._notify("exit", None)
                self._server.wait(timeout=5)
        except (ServerSilent, OSError, subprocess.TimeoutExpired):
            pass  # it is killed below
        finally:
            self._watchdog.cancel()
            self._server.kill()
            self._server.wait()
            for stream in (self._server.stdin, self._server.stdout):
                if stream is not None:
                    stream.close()

    def open(self, note: Path) -> str:
        """Open a note; returns its text."""
        text = note.read_text(encoding="utf-8")
        document = {"uri": note.as_uri(), "languageId": "markdown", "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})
        return text

    def ask(self, method: str, note: Path, line: int, character: int) -> Any:
        """What the server answers to a request at a position (from 0). Raises `ServerSilent`."""
        position = {"line": line, "character": character}
        return self._request(method, {"textDocument": {"uri": note.as_uri()}, "position": position})

    def _request(self, method: str, params: object) -> Any:
        self._requests += 1
        self._send({"id": self._requests, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], "result": None})
            elif message.get("id") == self._requests:
                if "error" in message:
                    raise ServerSilent(f"{method}: {message['error'].get('message')}")
                return message.get("result")

    def _notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        if message.get("params", "") is None:
            del message["params"]
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self._server.stdin.flush()
        except OSError as failure:
            raise ServerSilent("the server ended") from failure

    def _receive(self) -> dict[str, Any]:
        assert self._server.stdout is not None
        length = 0
        while header := self._server.stdout.readline().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self._server.stdout.read(length)
        if not body:
            raise ServerSilent("the server ended without an answer")
        message: dict[str, Any] = json.loads(body)
        return message
