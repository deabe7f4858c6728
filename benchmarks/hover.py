#!/usr/bin/env python3
"""Hover over the wire beside an empty pygls server: time to the first hover after the start, and round trips after it.

Both servers are started in turn, several times, on the same project of N memories (default 10, 1,000 and 100,000), and
asked by the same small client. Prints medians and ratios; with --json one object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from memory_recall.demo.editor import Editor

EMPTY = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("empty", "1")

@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params):
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, "x" * 400))

server.start_io()
"""
OURS = [sys.executable, "-m", "memory_recall.faces.lsp.main"]
PEER = [sys.executable, "-c", EMPTY]


def make_project(folder: Path, memories: int) -> Path:
    """A project with that many memories of about 0.3 KB, and a note that cites one of them."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".nemp").mkdir()
    entries = [{"key": f"key-{n}", "value": "word " * 60 + str(n), "agent_id": "main"} for n in range(memories)]
    (folder / ".nemp" / "memories.json").write_text(json.dumps({"memories": entries}, indent=2), encoding="utf-8")
    note = folder / "note.md"
    note.write_text("see key-5 here\n", encoding="utf-8")
    return note


def measure(command: Sequence[str], note: Path, hovers: int) -> tuple[float, list[float]]:
    """Milliseconds from the start to the first hover, and of each hover after it."""
    started = time.perf_counter()
    with Editor(command, note.parent, {"HOME": str(note.parent / "home")}) as editor:
        editor.open(note)
        assert editor.ask("textDocument/hover", note, 0, 6)
        first = time.perf_counter() - started
        trips = []
        for _ in range(hovers):
            asked = time.perf_counter()
            editor.ask("textDocument/hover", note, 0, 6)
            trips.append(1000 * (time.perf_counter() - asked))
    return 1000 * first, trips


def compare(memories: int, runs: int, hovers: int) -> dict[str, float]:
    """Medians of both servers at that many memories."""
    with tempfile.TemporaryDirectory() as scratch:
        note = make_project(Path(scratch).resolve() / "project", memories)
        results: dict[str, list[tuple[float, list[float]]]] = {"ours": [], "peer": []}
        for _ in range(runs):
            for name, command in (("peer", PEER), ("ours", OURS)):
                results[name].append(measure(command, note, hovers))
    row: dict[str, float] = {"memories": memories}
    for name, found in results.items():
        row[f"{name}_first_ms"] = statistics.median(first for first, _ in found)
        row[f"{name}_p50_ms"] = statistics.median(statistics.median(trips) for _, trips in found)
    row["p50_ratio"] = row["ours_p50_ms"] / row["peer_p50_ms"]
    return row


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, nargs="+", default=[10, 1_000, 100_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hovers", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [compare(memories, options.runs, options.hovers) for memories in options.memories]
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    print(f"{'memories':>10}  first hover ms: ours, empty pygls   hover p50 ms: ours, empty pygls   ratio")
    for row in rows:
        print(
            f"{row['memories']:>10}  {row['ours_first_ms']:>19.0f} {row['peer_first_ms']:>13.0f}"
            f"   {row['ours_p50_ms']:>18.2f} {row['peer_p50_ms']:>13.2f}   {row['p50_ratio']:>5.2f}"
        )


if __name__ == "__main__":
    main()
