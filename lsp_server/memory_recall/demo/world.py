"""The sample world: a home, a project and a Coven store, all invented, copied to a directory of its own before use.

The files ship beside this module. What cannot ship (an index with this machine's paths, a program with this
interpreter's) is made here. Nothing of the user's is read or written.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.abc import Traversable
from importlib.resources import files
from pathlib import Path

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_STANDIN = Path(__file__).resolve().parent / "standin.py"


@dataclass(frozen=True, slots=True)
class World:
    """Where the sample world stands."""

    root: Path

    @property
    def home(self) -> Path:
        """A home directory with a global nemp store and a Coven store."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """A project with a nemp store, an `.agent` tree and a note."""
        return self.root / "project"

    @property
    def programs(self) -> Path:
        """The directory that holds the stand-in under the name `coven-memory`."""
        return self.root / "bin"

    @property
    def note(self) -> Path:
        """The note that cites memories of all three systems."""
        return self.project / "notes" / "login.md"

    def variables(self) -> dict[str, str]:
        """The whole environment of a process in this world: its own home, nothing of the user's but PATH."""
        variables = {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "PATH": os.pathsep.join((str(self.programs), os.environ.get("PATH", os.defpath))),
            "PYTHONPATH": str(_PACKAGE_ROOT),
            "NO_COLOR": "1",
        }
        if "SYSTEMROOT" in os.environ:  # without it no Python starts on Windows
            variables["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        return variables


@contextmanager
def temporary() -> Iterator[Path]:
    """A new directory for a world, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="memory-recall-demo-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)


def build(root: Path) -> World:
    """Copy the sample world into a directory (made where it is missing) and complete it."""
    world = World(root.resolve())
    _copy(files("memory_recall.demo") / "world", world.root)
    _index_claims(world.home / ".coven" / "memory")
    _install_standin(world.programs)
    return world


def _copy(source: Traversable, target: Path) -> None:
    """Contents only: an installed package may be read-only, its copy must not be."""
    target.mkdir(parents=True, exist_ok=True)
    for item in source.iterdir():
        if item.is_dir():
            _copy(item, target / item.name)
        else:
            (target / item.name).write_bytes(item.read_bytes())


def _index_claims(store: Path) -> None:
    """The database as `coven-memory ingest` leaves it: one row a chunk, with the absolute path of its file."""
    with closing(sqlite3.connect(store / "archival.sqlite3")) as database:
        database.execute(
            "CREATE TABLE docs (id INTEGER PRIMARY KEY, path TEXT NOT NULL, familiar TEXT NOT NULL DEFAULT 'coven',"
            " chunk TEXT NOT NULL, chunk_offset INTEGER NOT NULL DEFAULT 0, content_hash TEXT NOT NULL,"
            " ingested_at INTEGER NOT NULL)"
        )
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        for snapshot in sorted((store / "snapshots").iterdir()):
            body = snapshot.read_text(encoding="utf-8").split("---\n", 2)[2].strip()
            database.execute(
                "INSERT INTO docs (path, chunk, content_hash, ingested_at) VALUES (?, ?, ?, 0)",
                (str(snapshot), body, snapshot.stem),
            )
        database.commit()
    (store / "archival.tvim").write_bytes(b"A vector index would stand here; the stand-in ranks by words.\n")


def _install_standin(programs: Path) -> None:
    programs.mkdir(parents=True, exist_ok=True)
    if os.name == "nt":
        (programs / "coven-memory.cmd").write_text(f'@"{sys.executable}" "{_STANDIN}" %*\n', encoding="utf-8")
        return
    program = programs / "coven-memory"
    # A shell line rather than a `#!` of its own: an interpreter's path may be long or hold spaces.
    program.write_text(f'#!/bin/sh\nexec {_quoted(sys.executable)} {_quoted(str(_STANDIN))} "$@"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
