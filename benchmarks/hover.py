#!/usr/bin/env python3
"""Hover over the wire beside an empty pygls server: from the start to the first hover, round trips, and both at once.

    python -m benchmarks.hover [--memories N ...] [--runs N] [--hovers N] [--json]

Both servers are started in turn, several times, on the same project of N nemp memories, and asked by the same small
client. Prints medians: what our first hover takes beyond the empty server's, the ratio of the round trips, and, from
the last run, hovers while `memoryRecall.search` runs without a pause. Those come one every 20 ms: hovers sent back to
back find the interpreter in the server's hands already, and would show less than a person waits. `benchmarks.scale`
measures all stores and recalls; this is the quick look at one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.wire import EMPTY, OURS, Session

SIZES = [10, 1_000, 10_000, 100_000]
AT = 6
"""The column of the citation in the note's only line."""

PAUSE = 0.02
"""Seconds between two hovers while a search runs."""


class Visit(NamedTuple):
    """One life of a server, in milliseconds: the first hover after its start, and each hover after it."""

    first: float
    trips: Sequence[float]


def make_project(folder: Path, memories: int) -> Path:
    """A project with that many memories of about 0.3 KB, and a note that cites one of them."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".nemp").mkdir()
    entries = [{"key": f"key-{n}", "value": "word " * 60 + str(n), "agent_id": "main"} for n in range(memories)]
    (folder / ".nemp" / "memories.json").write_text(json.dumps({"memories": entries}, indent=2), encoding="utf-8")
    note = folder / "note.md"
    note.write_text("see key-5 here\n", encoding="utf-8")
    return note


def start(command: Sequence[str], note: Path) -> Session:
    """A server in the project, whose home is there too."""
    return Session(command, note.parent, {"HOME": str(note.parent / "home"), "PATH": os.environ.get("PATH", "")})


def hover(session: Session, note: Path) -> float:
    """Milliseconds of one round trip. A hover without an answer raises."""
    asked = time.perf_counter_ns()
    session.hover(note, 0, AT)
    return (time.perf_counter_ns() - asked) / 1e6


def visit(command: Sequence[str], note: Path, hovers: int) -> Visit:
    """Start a server, hover, and hover again."""
    started = time.perf_counter_ns()
    with start(command, note) as session:
        session.open(note)
        hover(session, note)
        first = (time.perf_counter_ns() - started) / 1e6
        return Visit(first, [hover(session, note) for _ in range(hovers)])


def under_load(note: Path, hovers: int) -> list[float]:
    """Milliseconds of hovers that each began while a search was under way."""
    trips: list[float] = []
    with start(OURS, note) as session:
        session.open(note)
        hover(session, note)
        session.execute("memoryRecall.search", {"query": "word 77"})  # what only the first search loads and builds
        search = session.begin_command("memoryRecall.search", {"query": "word 77"})
        for _ in range(hovers):
            trips.append(hover(session, note))
            if session.has(search):
                session.wait(search)
                search = session.begin_command("memoryRecall.search", {"query": "word 77"})
            time.sleep(PAUSE)
        session.wait(search)
    return trips


def compare(memories: int, runs: int, hovers: int) -> dict[str, float]:
    """Medians of both servers at that many memories."""
    with tempfile.TemporaryDirectory() as scratch:
        note = make_project(Path(scratch).resolve() / "project", memories)
        visits: dict[str, list[Visit]] = {"peer": [], "ours": []}
        for number in range(runs):
            for name in ("peer", "ours") if number % 2 else ("ours", "peer"):
                visits[name].append(visit(EMPTY if name == "peer" else OURS, note, hovers))
        loaded = under_load(note, hovers)
    row: dict[str, float] = {"memories": memories}
    for name, found in visits.items():
        row[f"{name}_first_ms"] = statistics.median(one.first for one in found)
        row[f"{name}_p50_ms"] = statistics.median(statistics.median(one.trips) for one in found)
    row["first_beyond_empty_ms"] = row["ours_first_ms"] - row["peer_first_ms"]
    row["p50_ratio"] = row["ours_p50_ms"] / row["peer_p50_ms"]
    row["under_load_p50_ms"] = statistics.median(loaded)
    row["under_load_p99_ms"] = sorted(loaded)[int(0.99 * (len(loaded) - 1))]
    return row


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, nargs="+", default=SIZES, help=f"sizes (default {SIZES})")
    parser.add_argument("--runs", type=int, default=5, help="starts of each server (default 5)")
    parser.add_argument("--hovers", type=int, default=200, help="hovers after each start (default 200)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    if min(options.runs, options.hovers) < 1 or min(options.memories) < 6:
        parser.error("--runs and --hovers are at least 1, --memories at least 6")
    rows = [compare(memories, options.runs, options.hovers) for memories in options.memories]
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    print(f"{'':10}  {'start to first hover, ms':^30}   {'hover p50, ms':^22}   {'while searching, ms':^19}")
    print(
        f"{'memories':>10}  {'ours':>8} {'empty':>8} {'beyond it':>12}"
        f"   {'ours':>6} {'empty':>7} {'ratio':>7}   {'p50':>9} {'p99':>9}"
    )
    for row in rows:
        print(
            f"{row['memories']:>10,}  {row['ours_first_ms']:>8.0f} {row['peer_first_ms']:>8.0f}"
            f" {row['first_beyond_empty_ms']:>+12.0f}   {row['ours_p50_ms']:>6.2f} {row['peer_p50_ms']:>7.2f}"
            f" {row['p50_ratio']:>7.2f}   {row['under_load_p50_ms']:>9.2f} {row['under_load_p99_ms']:>9.2f}"
        )


if __name__ == "__main__":
    main()
