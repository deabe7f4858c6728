"""A Coven store for a test, built claim by claim, and the stand-in program on a PATH of its own."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import memory_recall
from memory_recall.environment import Environment
from worlds import World

STANDIN = Path(memory_recall.__file__).parent / "demo" / "standin.py"

A = "01J4K9R81M6D92TX6D4E7R31VA"
B = "01J4K9R81M6D92TX6D4E7R31VB"
C = "01J4K9R81M6D92TX6D4E7R31VC"
D = "01J4K9R81M6D92TX6D4E7R31VD"
ATTESTATION = "01J8AT00000000000000000000"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def manifest_line(ulid: str = A, **fields: Any) -> dict[str, Any]:
    """A valid promotion; `fields` replace members, and `...` removes one."""
    line = {
        "timestamp": "2026-07-24T10:00:00Z",
        "ulid": ulid,
        "operation": "promote",
        "entry_path": f"memory/{ulid.lower()}.md",
        "author": "sage",
        "attested_by": "sage",
        "source_session": "session://sage/2026-07-24/queue",
        "sha256": "0" * 64,
        "prior_ulid": None,
        **fields,
    }
    return {name: value for name, value in line.items() if value is not ...}


def manifest_bytes(*lines: dict[str, Any] | bytes) -> bytes:
    return b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)


@dataclass
class Coven:
    """A store under the home of a world, the stand-in beside it, and what both were told."""

    world: World
    lines: list[dict[str, Any] | bytes] = field(default_factory=list)
    rows: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.world.home / ".coven" / "memory"

    @property
    def log(self) -> Path:
        return self.world.home.parent / "starts.jsonl"

    @property
    def programs(self) -> Path:
        return self.world.home.parent / "bin"

    def claim(
        self,
        ulid: str,
        text: str,
        *,
        indexed: bool = True,
        promoted: bool = True,
        frontmatter: dict[str, str | None] | None = None,
        where: str | None = None,
        **fields: Any,
    ) -> Path:
        """A snapshot with its frontmatter, its manifest line, and its row in the index."""
        header: dict[str, str | None] = {
            "ulid": ulid,
            "type": "coven-fact",
            "scope": "coven",
            "memory_type": "semantic",
            "created_at": "2026-07-24T09:00:00Z",
            "attested_by": "sage",
            "attested_via": ATTESTATION,
            "title": text.split(".", maxsplit=1)[0],
            "source_context": "session://sage/2026-07-24/queue",
            "confidence": "high",
            **(frontmatter or {}),
        }
        block = "".join(f"{name}: {value}\n" for name, value in header.items() if value is not None)
        path = self.put(where or f"snapshots/{ulid}.md", f"---\n{block}---\n\n{text}\n")
        if promoted:
            self.lines.append(manifest_line(ulid, **{"sha256": digest(path.read_bytes()), **fields}))
        if indexed:
            self.rows.append((str(path), "coven", text))
        return path

    def put(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        return target

    def attest(self, ulid: str = ATTESTATION, kind: str = "familiar-witness") -> Path:
        return self.put(f"attestations/{ulid}.md", f"---\nattester: moss\nattestation_type: {kind}\n---\nSeen.\n")

    def finish(self) -> Coven:
        """Write manifest and index as the promotion layer and the ingestion leave them."""
        self.put("manifest.jsonl", manifest_bytes(*self.lines).decode("utf-8", "surrogateescape"))
        (self.root / "archival.sqlite3").unlink(missing_ok=True)
        with closing(sqlite3.connect(self.root / "archival.sqlite3")) as database:
            database.execute(
                "CREATE TABLE docs (id INTEGER PRIMARY KEY, path TEXT NOT NULL, familiar TEXT NOT NULL,"
                " chunk TEXT NOT NULL, chunk_offset INTEGER NOT NULL DEFAULT 0, content_hash TEXT NOT NULL DEFAULT '',"
                " ingested_at INTEGER NOT NULL DEFAULT 0)"
            )
            database.executemany("INSERT INTO docs (path, familiar, chunk) VALUES (?, ?, ?)", self.rows)
            database.commit()
        (self.root / "archival.tvim").write_bytes(b"vectors\n")
        return self

    def env(self, **variables: str) -> Environment:
        """Surroundings in which the stand-in is on PATH and logs its starts."""
        own = {"PATH": f"{self.programs}{os.pathsep}{os.defpath}", "COVEN_STANDIN_LOG": str(self.log)}
        return self.world.env._replace(variables={**own, **variables})

    def starts(self) -> list[dict[str, Any]]:
        """How the program was started, once for each time."""
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def trace(self) -> dict[str, tuple[int, int, bytes | None]]:
        """Everything under `.coven`: mode, modification time and bytes of each entry."""
        return {str(path): state_of(path) for path in all_below(self.world.home / ".coven")}


def all_below(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        for entry in sorted(path.iterdir()):
            yield from all_below(entry)


def state_of(path: Path) -> tuple[int, int, bytes | None]:
    status = path.lstat()
    return status.st_mode, status.st_mtime_ns, path.read_bytes() if path.is_file() else None


def install_program(directory: Path, script: str | None = None, name: str = "coven-memory") -> Path:
    """The stand-in, or a shell script instead of it, as an executable program."""
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / name
    program.write_text(script or f'#!/bin/sh\nexec "{sys.executable}" "{STANDIN}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def coven_in(world: World) -> Coven:
    """An empty store with an attestation, the stand-in installed."""
    coven = Coven(world)
    coven.attest()
    install_program(coven.programs)
    return coven
