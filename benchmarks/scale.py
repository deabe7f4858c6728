#!/usr/bin/env python3
"""Speed, memory and growth: what a recall, a search and a hover cost at 10 to 100,000 memories, in each store.

    python -m benchmarks.scale [--quick] [--sizes N ...] [--stores NAME ...] [--json FILE] [--docs] [--goals]

Makes a world for each store and size (see worlds.py), starts commands in it (cold.py), talks to a language server in it
(warm.py), and prints tables (report.py). `--docs` writes them into docs/benchmarks.md and draws docs/growth.svg. What
fails is named at the end and makes the exit code 1; the rest is measured all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import cold, goals, report, warm
from benchmarks.figures import Figure
from benchmarks.wire import ServerFailed
from benchmarks.worlds import STORES, World, make

REPOSITORY = Path(__file__).resolve().parents[1]
SIZES = (10, 1_000, 10_000, 100_000)
QUICK_SIZES = (10, 1_000, 10_000)


def main() -> int:
    """Measure, print, and return the exit code."""
    options = parse()
    began = time.monotonic()
    result: dict[str, Any] = {
        "v": 1,
        "benchmark": "scale",
        "quick": options.quick,
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **surroundings(options.source),
        "figures": [],
        "failed": [],
    }
    with worlds_folder(options.worlds) as folder:
        for memories in options.sizes:
            for store in options.stores:
                tell(f"{store}, {memories:,} memories")
                world = make(store, memories, folder)
                measured, failures = measure(world, options)
                result["figures"] += [figure.as_json() for figure in measured]
                result["failed"] += [f"{store}, {memories:,} memories: {failure}" for failure in failures]
                result["seconds"] = round(time.monotonic() - began)
                result["growth"] = report.growth_rows(result["figures"])
                result["goals"] = goals.goals(result["figures"])
                if options.json:  # after each world: what takes long may be interrupted
                    options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
                if options.worlds is None:
                    shutil.rmtree(world.root)
    if options.docs:
        report.write_docs(result, REPOSITORY / "docs")
    print(report.goals_table(result["goals"]) if options.goals else report.as_text(result))
    return 1 if result["failed"] else 0


def parse() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="sizes 10 to 10,000 with few samples, in about a minute")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of memories (default 10 1000 10000 100000)")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES, help="which systems (default: all)")
    parser.add_argument("--seconds", type=float, help="the most that one figure takes (default 10, quick 0.3)")
    parser.add_argument("--only", choices=("cold", "warm"), help="the terminal's half or the editor's alone")
    parser.add_argument("--source", type=Path, metavar="DIR", help="measure the package in this directory instead")
    parser.add_argument("--worlds", type=Path, metavar="DIR", help="keep the worlds here, and use those that stand")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured as JSON")
    parser.add_argument("--docs", action="store_true", help="write tables and plot into docs/")
    parser.add_argument("--goals", action="store_true", help="print the goals alone")
    options = parser.parse_args()
    options.sizes = sorted(set(options.sizes or (QUICK_SIZES if options.quick else SIZES)))
    if options.sizes[0] < 1:
        parser.error("--sizes are at least 1")
    if os.name != "posix":
        parser.error("this benchmark needs a POSIX system")
    options.seconds = options.seconds or (0.3 if options.quick else 10.0)
    return options


@contextmanager
def worlds_folder(kept: Path | None) -> Iterator[Path]:
    """The folder of the worlds: the one that is kept, else one that is gone afterwards."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="memory-recall-scale-") as folder:
        yield Path(folder)


def measure(world: World, options: argparse.Namespace) -> tuple[list[Figure], list[str]]:
    """The figures of one world, and why there are none where something failed."""
    variables = world.variables()
    if options.source is not None:
        variables["PYTHONPATH"] = str(options.source.resolve())
    figures = [Figure("store on disk", world.facts.store, world.facts.memories, "MB", [world.facts.bytes / 1e6], {})]
    failures: list[str] = []
    if options.only != "warm":
        try:
            figures += cold.measure(world, program(), variables, cold_bounds(options))
        except SystemExit as failure:
            failures.append(f"cold: {failure}")
    if options.only != "cold":
        try:
            figures += warm.measure(world, variables, warm_bounds(options))
        except (ServerFailed, SystemExit) as failure:
            failures.append(f"warm: {failure}")
    return figures, failures


def cold_bounds(options: argparse.Namespace) -> cold.Bounds:
    """How often commands are started."""
    if options.quick:
        return cold.Bounds(options.seconds, least=2, rounds=3, warm_up=False)
    return cold.Bounds(options.seconds, least=3, rounds=11, warm_up=True)


def warm_bounds(options: argparse.Namespace) -> warm.Bounds:
    """How much a server is asked."""
    if options.quick:
        return warm.Bounds(options.seconds, least=2, spawns=1, hovers=150, recalls=100, changes=3)
    return warm.Bounds(options.seconds, least=3, spawns=6, hovers=500, recalls=400, changes=10)


def program() -> Sequence[str]:
    """The `memory-recall` beside this Python. Raises `SystemExit` where there is none."""
    found = shutil.which("memory-recall", path=str(Path(sys.executable).parent))
    if found is None:
        raise SystemExit("memory-recall is not installed beside this Python; `make setup` installs it into .venv.")
    return [found]


def surroundings(source: Path | None) -> dict[str, Any]:
    """What the figures depend on besides the code, and which code it was."""
    node = shutil.which("node")
    return {
        "revision": "another source" if source else said_by(["git", "describe", "--always", "--dirty"]),
        "python": platform.python_version(),
        "node": said_by([node, "--version"]) if node else None,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def said_by(command: Sequence[str]) -> str | None:
    """The first line that a command prints in the repository; None where it fails."""
    try:
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip().partition("\n")[0] or None


def tell(what: str) -> None:
    """Say on standard error what is being measured."""
    print(f"measuring {what} ...", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
