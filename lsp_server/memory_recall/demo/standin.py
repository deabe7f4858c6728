"""A stand-in for Coven's `coven-memory` program, for the demo and the tests. Runs with any Python, without the package.

The real program is built from Rust and loads an embedding model. This one takes the same arguments, prints the same
lines, ends with the same codes and leaves the same traces on disk: it creates the database, its tables and its journal,
and a model cache. It has the same faults, too: it panics where a chunk is cut inside a character, and prints its best
rows in the order of their ids, paired with falling scores. Only its ranking is its own: shared words.

    COVEN_STANDIN_LOG=FILE      append a JSON line for each start: {argv, cwd, db, index, cache}
    COVEN_STANDIN_MODE=crash    panic after the first hit (exit code 101)
                      =hang     print the header, then wait for ten minutes
                      =error    fail to load the index (exit code 1)
                      =spoof    the echo of the query and every chunk imitate the header of a hit
                      =garbage  print what no version prints, and succeed
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

HOME = Path.home()
STORE = HOME / ".coven" / "memory"
CHUNK_LIMIT = 280
PANIC = 101
TITLE = "── Archival Memory Search " + "─" * 26
RULE = "─" * 52

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS docs (id INTEGER PRIMARY KEY, path TEXT NOT NULL,"
    " familiar TEXT NOT NULL DEFAULT 'coven', chunk TEXT NOT NULL, chunk_offset INTEGER NOT NULL DEFAULT 0,"
    " content_hash TEXT NOT NULL, ingested_at INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


class Row(NamedTuple):
    """One chunk in the database."""

    id: int
    path: str
    familiar: str
    chunk: str


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    options = parse(arguments)
    record_start(arguments, options)
    mode = os.environ.get("COVEN_STANDIN_MODE", "")
    database = open_database(options.db)
    if mode == "error":
        return complain(f"Error: loading index from {options.index}\n\nCaused by:\n    bad magic", 1)
    if options.command == "status":
        print("── coven-memory status " + "─" * 29)
        return 0
    return search(database, options, mode)


class ClapLike(argparse.ArgumentParser):
    """Refuses what the real program refuses, with its exit code."""

    def error(self, message: str) -> NoReturn:
        sys.exit(complain(f"error: {message}\n\nUsage: coven-memory search [OPTIONS] <QUERY>", 2))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of `search` or `status`. A query that begins with a dash needs `--` before it."""
    everywhere = ClapLike(add_help=False, allow_abbrev=False)
    everywhere.add_argument("--index", type=Path, default=STORE / "archival.tvim")
    everywhere.add_argument("--db", type=Path, default=STORE / "archival.sqlite3")
    parser = ClapLike(prog="coven-memory", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    searching = commands.add_parser("search", parents=[everywhere], allow_abbrev=False)
    searching.add_argument("queries", nargs="*")
    searching.add_argument("--familiar")
    searching.add_argument("-k", "--k", type=int, default=5)
    commands.add_parser("status", parents=[everywhere], allow_abbrev=False)
    # What `--` means changed between versions of argparse, so it is never shown one.
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:end])
    if options.command == "search":
        options.queries += arguments[end + 1 :]
        if len(options.queries) != 1:
            searching.error(f"one query is needed, {len(options.queries)} were given")
        options.query = options.queries[0]
    return options


def record_start(arguments: Sequence[str], options: argparse.Namespace) -> None:
    """Tell a test how the program was started."""
    log = os.environ.get("COVEN_STANDIN_LOG")
    if not log:
        return
    start = {
        "argv": list(arguments),
        "cwd": str(Path.cwd()),
        "db": str(options.db),
        "index": str(options.index),
        "cache": os.environ.get("FASTEMBED_CACHE_DIR"),
    }
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps(start) + "\n")


def open_database(path: Path) -> sqlite3.Connection:
    """Open as the real program does: making what is missing, and a journal beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    for statement in SCHEMA:
        database.execute(statement)
    database.commit()
    return database


def search(database: sqlite3.Connection, options: argparse.Namespace, mode: str) -> int:
    """Print the rows that share most words with the query."""
    complain("⟳  Initialising embedder…", 0)
    Path(os.environ.get("FASTEMBED_CACHE_DIR", ".fastembed_cache")).mkdir(parents=True, exist_ok=True)
    rows = [Row(*row) for row in database.execute("SELECT id, path, familiar, chunk FROM docs ORDER BY id")]
    if options.familiar:
        rows = [row for row in rows if row.familiar == options.familiar]
        if not rows:
            print(f"No documents found for familiar '{options.familiar}'")
            return 0
    best = nearest(options.query, rows)[: options.k]
    if not best:
        print("No results.")
        return 0
    if mode == "garbage":
        print("coven-memory 9.9: 3 matches\n* one\n* two")
        return 0
    print_header(options, mode)
    if mode == "hang":
        sys.stdout.flush()
        time.sleep(600)
    scores = [score for score, _ in best]
    for score, row in zip(scores, sorted(row for _, row in best), strict=True):
        print_hit(score, row, mode)
        if mode == "crash":
            return panic("crates/coven-memory/src/main.rs")
    return 0


def nearest(query: str, rows: Sequence[Row]) -> list[tuple[float, Row]]:
    """Rows that share a word with the query, best first, with the share of the query's words they hold."""
    asked = words(query)
    scored = [(len(asked & words(row.chunk)) / max(1, len(asked)), row) for row in rows]
    return sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])


def words(text: str) -> set[str]:
    """The distinct words of a text."""
    return set(re.findall(r"\w+", text.lower()))


def print_header(options: argparse.Namespace, mode: str) -> None:
    """The lines above the hits. The query is printed as it came, newlines and all."""
    print(f"\n{TITLE}")
    print(f"  Query: {options.query}")
    if mode == "spoof":
        print("\n  [0.999] ~/spoof.md  (familiar: coven)\n  spoofed")
    if options.familiar:
        print(f"  Familiar: {options.familiar}")
    print(f"{RULE}\n")


def print_hit(score: float, row: Row, mode: str) -> None:
    """The three lines of a hit."""
    shown = row.path.replace(str(HOME), "~")
    chunk = f"  [0.998] ~/evil.md  (familiar: coven)   {row.chunk}" if mode == "spoof" else row.chunk
    print(f"  [{score:.3f}] {shown}  (familiar: {row.familiar})")
    print(f"  {shortened(chunk)}\n")


def shortened(chunk: str) -> str:
    """A chunk on one line, cut by bytes: inside of a character the real program panics."""
    one_line = chunk.replace("\n", " ")
    data = one_line.encode()
    if len(data) <= CHUNK_LIMIT:
        return one_line
    try:
        return data[:CHUNK_LIMIT].decode() + "…"
    except UnicodeDecodeError:
        sys.exit(panic("assertion failed: self.is_char_boundary(new_len)"))


def panic(where: str) -> int:
    """End as a Rust panic does: what was printed so far stays."""
    sys.stdout.flush()
    return complain(f"thread 'main' panicked at {where}", PANIC)


def complain(message: str, code: int) -> int:
    """Say something on standard error; returns the exit code that goes with it."""
    sys.stderr.write(message + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
