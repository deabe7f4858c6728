"""A protocol client of nothing but bytes: it can send what no well-behaved one sends, and sees all that comes back."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PATIENCE = 20.0


class Wire:
    """One server process and its pipes. What it says is kept: `notes` are its notifications, `asked` its requests."""

    def __init__(
        self, variables: Mapping[str, str], cwd: Path, command: Sequence[str] = ("-m", "memory_recall.faces.lsp.main")
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(variables),
        )
        self.notes: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.stray: list[bytes] = []
        self._ids = 0
        self._early: dict[object, dict[str, Any]] = {}
        self._inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._errors: list[bytes] = []
        self._threads = [threading.Thread(target=part, daemon=True) for part in (self._listen, self._drain)]
        for thread in self._threads:
            thread.start()

    # Sending

    def send_bytes(self, data: bytes) -> None:
        """Any bytes at all."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_body(self, body: bytes) -> None:
        """A framed body, whatever it is."""
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def send(self, message: object) -> None:
        """A framed JSON value."""
        self.send_body(json.dumps(message).encode())

    def notify(self, method: str, params: object = None) -> None:
        """A notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": {} if params is None else params})

    def begin(self, method: str, params: object = None) -> int:
        """A request whose answer is taken later; returns its id."""
        self._ids += 1
        self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": {} if params is None else params})
        return self._ids

    # Receiving

    def answer(self, identity: object) -> dict[str, Any]:
        """The whole answer to the request of that id."""
        if identity in self._early:
            return self._early.pop(identity)
        while True:
            message = self._inbox.get(timeout=PATIENCE)
            assert message is not None, f"the server ended without an answer to {identity}: {self.errors}"
            if "method" in message:
                (self.asked if "id" in message else self.notes).append(message)
            elif message.get("id") == identity:
                return message
            else:
                self._early[message.get("id")] = message

    def request(self, method: str, params: object = None) -> dict[str, Any]:
        """A request and its whole answer."""
        return self.answer(self.begin(method, params))

    def result(self, method: str, params: object = None) -> Any:
        """A request's result; an error fails the test."""
        answer = self.request(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def error(self, method: str, params: object = None) -> dict[str, Any]:
        """A request's error; a result fails the test."""
        answer = self.request(method, params)
        assert "error" in answer, answer
        return answer["error"]

    # What tests say most

    def initialize(
        self,
        folders: Sequence[Path | str] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: object = None,
        **more: Any,
    ) -> dict[str, Any]:
        """`initialize` and `initialized`; returns the result. A folder is a path or a URI."""
        uris = None if folders is None else [one if isinstance(one, str) else one.as_uri() for one in folders]
        params = {
            "processId": None,
            "rootUri": None,
            "capabilities": capabilities or {},
            "workspaceFolders": None
            if uris is None
            else [{"uri": uri, "name": uri.rsplit("/", 1)[-1]} for uri in uris],
            **more,
        }
        if options is not None:
            params["initializationOptions"] = options
        result = self.result("initialize", params)
        self.notify("initialized")
        return result

    def open(self, uri: str, text: str, version: int = 1) -> None:
        """`textDocument/didOpen`."""
        document = {"uri": uri, "languageId": "markdown", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def at(self, uri: str, line: int, character: int) -> dict[str, Any]:
        """The parameters of a request at a position."""
        return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}

    def hover(self, uri: str, line: int, character: int) -> Any:
        """The result of a hover."""
        return self.result("textDocument/hover", self.at(uri, line, character))

    def execute(self, command: str, *arguments: object) -> dict[str, Any]:
        """The whole answer to a command."""
        return self.request("workspace/executeCommand", {"command": command, "arguments": list(arguments)})

    # The end

    @property
    def errors(self) -> str:
        """What stands on standard error so far."""
        return b"".join(self._errors).decode()

    def wait(self) -> int:
        """The exit code, once the server has ended and everything it said was read."""
        code = self.process.wait(timeout=PATIENCE)
        for thread in self._threads:
            thread.join(timeout=PATIENCE)
        return code

    def quit(self) -> int:
        """`shutdown`, `exit`; returns the exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.wait()

    def close(self) -> None:
        """End the process, whatever state it is in."""
        self.process.kill()
        self.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        length: int | None = None
        while line := stream.readline():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            elif line == b"\r\n" and length is not None:
                self._inbox.put(json.loads(stream.read(length)))
                length = None
            else:
                self.stray.append(line)
        self._inbox.put(None)

    def _drain(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)
