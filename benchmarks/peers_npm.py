"""A peer that is a program of its own: the MCP reference memory server from npm, asked over standard input and output.

Owns its installation into a cache folder of the benchmark's own, its process, and the few MCP messages
that are needed. Tests must not run it: it fetches from a registry.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.subjects import Document, Unavailable

PACKAGE = "@modelcontextprotocol/server-memory"
PROTOCOL = "2025-06-18"
_PROGRAM = Path("node_modules") / PACKAGE / "dist" / "index.js"
_INSTALL_SECONDS = 180
_BATCH = 500


class NpmMemoryServer:
    """npm's `@modelcontextprotocol/server-memory`: each memory an entity with its text and tags as observations."""

    name = f"npm {PACKAGE.rpartition('/')[2]}"

    def __init__(self) -> None:
        self._program = _installed(_cache() / "npm")
        self._folder = Path(tempfile.mkdtemp(prefix="memory-recall-bench-"))
        atexit.register(self.close)
        self._process: subprocess.Popen[str] | None = None
        self._sent = 0

    def index(self, documents: Sequence[Document]) -> None:
        """A new server for each store; its file is handed over by its own `create_entities`."""
        self._stop()
        store = self._folder / "memory.jsonl"
        store.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            ["node", str(self._program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={"MEMORY_FILE_PATH": str(store), "PATH": _path_of_node()},
        )
        client = {"name": "benchmark", "version": "1"}
        self._ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        entities = [
            {
                "name": f"{number}\n{document.key}\n{document.title}",
                "entityType": "memory",
                "observations": [document.text, " ".join(document.tags)],
            }
            for number, document in enumerate(documents)
        ]
        for first in range(0, len(entities), _BATCH):
            self._call("create_entities", {"entities": entities[first : first + _BATCH]})

    def search(self, query: str, depth: int) -> list[int]:
        found = json.loads(self._call("search_nodes", {"query": query})["content"][0]["text"])
        return [int(entity["name"].partition("\n")[0]) for entity in found["entities"]][:depth]

    def close(self) -> None:
        """End the process and remove its store."""
        self._stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return self._ask("tools/call", {"name": tool, "arguments": arguments})

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._sent += 1
        self._send({"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params})
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._sent:
                if "error" in answer:
                    raise RuntimeError(f"{PACKAGE} answered {method} with {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"{PACKAGE} ended before it answered {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


def _cache() -> Path:
    """In the user's cache, not in the shared temporary directory: what lies there is run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memory-recall-bench"


def _installed(folder: Path) -> Path:
    """The server's program, installed once into `folder`. Raises `Unavailable`."""
    program = folder / _PROGRAM
    if shutil.which("node") is None:
        raise Unavailable("node is not on the PATH")
    if program.is_file():
        return program
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not on the PATH")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), PACKAGE]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_SECONDS)
    except (subprocess.SubprocessError, OSError) as error:
        raise Unavailable(f"npm could not install {PACKAGE} ({type(error).__name__})") from error
    return program


def _path_of_node() -> str:
    return str(Path(shutil.which("node") or "node").parent)
