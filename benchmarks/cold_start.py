#!/usr/bin/env python3
"""How long a terminal waits for `memory-recall nemp recall KEY`, beside the least that Python and Node can do.

    python benchmarks/cold_start.py [--runs N] [--entries N ...] [--json]

Each round starts every subject once, one after another and in turning order, so that whatever else the machine does
hits all of them alike. Medians of wall-clock time in milliseconds, and their ratios to `node -e 0` and to a Python that
does nothing. Of a store that is large enough to be remembered, a first recall (its cache is emptied before each start)
and later ones are measured; each start records its read, so that the store is another one each time. Stores and caches
are the benchmark's own, in a temporary directory that is also the home; nothing else is read or written. Standard
library only; `memory-recall` is the one beside this Python, else the first on PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEY = "auth-flow"
REMEMBERED = 1_000
"""Entries from which on the stores here are large enough for a command to remember where theirs stand."""

NODE, PYTHON = "node -e 0", "python -c pass"


@dataclass(frozen=True)
class Subject:
    """One command to start. `must_print` proves that it did its work, because a failure can be very fast."""

    name: str
    command: Sequence[str]
    folder: Path
    must_print: bytes = b""
    forgets: bool = False
    milliseconds: list[float] = field(default_factory=list)

    def run(self, environment: Mapping[str, str]) -> float:
        """Start it once, wait for its end, and return the milliseconds between. Who `forgets` has no cache then."""
        cache = self.folder / "cache"
        if self.forgets:
            shutil.rmtree(cache, ignore_errors=True)
        environment = {**environment, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)}
        before = time.perf_counter_ns()
        done = subprocess.run(
            self.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        taken = (time.perf_counter_ns() - before) / 1e6
        if done.returncode or self.must_print not in done.stdout:
            raise SystemExit(f"{self.name} failed ({done.returncode}): {done.stderr.decode(errors='replace').strip()}")
        return taken


def main() -> int:
    """Measure, print, and return the exit code."""
    options = parse()
    program = options.program or find_program()
    if program is None:
        raise SystemExit("memory-recall is not installed; `make setup` installs it into .venv.")
    with tempfile.TemporaryDirectory(prefix="memory-recall-cold-start-") as directory:
        world = Path(directory)
        environment = {"HOME": str(world), "USERPROFILE": str(world), "PATH": os.environ.get("PATH", "")}
        subjects, skipped = make_subjects(program, world, options.entries)
        for subject in subjects:  # once unmeasured: compiled modules and warm file caches
            subject.run(environment)
        for number in range(options.runs):
            turn = number % len(subjects)
            for subject in (*subjects[turn:], *subjects[:turn]):
                subject.milliseconds.append(subject.run(environment))
    report = summarise(subjects, skipped, options.runs)
    print(json.dumps(report, indent=2) if options.json else as_table(report))
    return 0


def parse() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=21, help="rounds to measure (default 21)")
    parser.add_argument(
        "--entries", type=int, nargs="+", default=[10, 10_000], help="sizes of the stores (default 10 10000)"
    )
    parser.add_argument("--program", help="the memory-recall to measure")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    if options.runs < 1 or min(options.entries) < 1:
        parser.error("--runs and --entries are at least 1")
    return options


def find_program() -> str | None:
    """The `memory-recall` beside this Python, else the first on PATH."""
    beside = shutil.which("memory-recall", path=str(Path(sys.executable).parent))
    return beside or shutil.which("memory-recall")


def make_subjects(program: str, world: Path, sizes: Sequence[int]) -> tuple[list[Subject], list[str]]:
    """What is measured, and what is not and why."""
    imports = "import argparse, json, dataclasses"
    subjects = [
        Subject(PYTHON, [sys.executable, "-c", "pass"], world),
        Subject(f"python -c '{imports}'", [sys.executable, "-c", imports], world),
    ]
    skipped = []
    node = shutil.which("node")
    if node is None:
        skipped.append(f"{NODE}: node is not on PATH")
    else:
        subjects.append(Subject(NODE, [node, "-e", "0"], world))
    for size in sizes:
        whens = ("",) if size < REMEMBERED else (", first", ", later")
        for when in whens:
            folder = make_store(world / f"project-{size}{when[2:]}", size)
            name = f"memory-recall nemp recall {KEY}, {size:,} entries{when}"
            command = [program, "nemp", "recall", KEY]
            subjects.append(Subject(name, command, folder, must_print=KEY.encode(), forgets=when == ", first"))
    return subjects, skipped


def make_store(project: Path, entries: int) -> Path:
    """A project whose nemp store has that many entries, the one to recall in the middle; returns the project."""
    store = project / ".nemp" / "memories.json"
    store.parent.mkdir(parents=True)
    (project / ".git").mkdir()
    memories = [entry(f"note-{number:06}", f"Memory number {number} of a benchmark.") for number in range(entries - 1)]
    memories.insert(len(memories) // 2, entry(KEY, "Access tokens live fifteen minutes, refresh tokens a week."))
    store.write_text(json.dumps({"version": "1.0", "memories": memories}, indent=2) + "\n", encoding="utf-8")
    return project


def entry(key: str, value: str) -> dict[str, Any]:
    """One entry as the current generation of nemp writes it."""
    moment = "2026-02-04T12:00:00Z"
    return {
        "key": key,
        "value": value,
        "created": moment,
        "updated": moment,
        "agent_id": "main",
        "tags": [],
        "type": "fact",
        "confidence": {"score": 0.9, "source": "user-confirmed", "reason": "benchmark"},
    }


def summarise(subjects: Sequence[Subject], skipped: Sequence[str], runs: int) -> dict[str, Any]:
    """The report: milliseconds and ratios of medians; None where there is nothing to compare with."""
    medians = {subject.name: statistics.median(subject.milliseconds) for subject in subjects}
    return {
        "v": 1,
        "benchmark": "cold-start",
        "runs": runs,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "subjects": [
            {
                "name": subject.name,
                "median_ms": round(medians[subject.name], 2),
                "fastest_ms": round(min(subject.milliseconds), 2),
                "slowest_ms": round(max(subject.milliseconds), 2),
                "to_node": ratio(medians[subject.name], medians.get(NODE)),
                "to_python": ratio(medians[subject.name], medians[PYTHON]),
            }
            for subject in subjects
        ],
        "skipped": list(skipped),
    }


def ratio(taken: float, floor: float | None) -> float | None:
    """How many times the floor; None without one."""
    return None if not floor else round(taken / floor, 2)


def as_table(report: Mapping[str, Any]) -> str:
    """The report for people."""
    width = max(len(subject["name"]) for subject in report["subjects"])
    lines = [
        f"Cold start, {report['runs']} interleaved runs, Python {report['python']}, {report['machine']}",
        "",
        f"{'':{width}}  median ms   fastest   × node   × python",
    ]
    for subject in report["subjects"]:
        to_node = "-" if subject["to_node"] is None else f"{subject['to_node']:.2f}"
        lines.append(
            f"{subject['name']:{width}}  {subject['median_ms']:9.1f} {subject['fastest_ms']:9.1f}"
            f" {to_node:>8} {subject['to_python']:10.2f}"
        )
    lines += [f"skipped: {reason}" for reason in report["skipped"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
