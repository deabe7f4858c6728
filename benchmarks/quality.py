#!/usr/bin/env python3
"""Whether the right memory comes first: recall and nDCG of our ranking on collections with known answers.

    python benchmarks/quality.py [FILE ...] [--data DIR] [--json]

A collection is a JSON file, `[{name, memories: [text], queries: [{query, relevant: [index], category}]}]`: every item
is a store of its own. The collections are not ours and do not ship with the repository; they are looked for in
`../shared/bench` beside it, and what is absent is skipped with a word. Category 5 of LoCoMo (questions that have no
answer) is left out. Figures are means over queries, in percent:

- R@5, R@10: the share of the relevant memories among the first 5 or 10.
- nDCG@10: discounted gain, 1/log2(rank + 1) for each relevant memory, over the best gain possible (Järvelin and
  Kekäläinen 2002).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_recall.ranking.lexical import Document, rank

DATA = Path(__file__).resolve().parents[2] / "shared" / "bench"
COLLECTIONS = ("locomo-dev.json", "cranfield.json")
UNANSWERABLE = 5
DEPTH = 10


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="collections (default: those in --data)")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the collections")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    files = options.files or [options.data / name for name in COLLECTIONS]
    measured = [measure(path) for path in files if path.is_file()]
    skipped = [f"{path.name}: not found" for path in files if not path.is_file()]
    report = {"v": 1, "benchmark": "quality", "collections": measured, "skipped": skipped}
    print(json.dumps(report, indent=2) if options.json else as_table(report))
    return 0


def measure(path: Path) -> dict[str, Any]:
    """The figures of one collection."""
    figures: dict[str, list[float]] = {"recall_5": [], "recall_10": [], "ndcg_10": [], "milliseconds": []}
    for store in json.loads(path.read_text(encoding="utf-8")):
        documents = [Document("", text) for text in store["memories"]]
        for query in store["queries"]:
            relevant = set(query["relevant"])
            if not relevant or query.get("category") == UNANSWERABLE:
                continue
            before = time.perf_counter_ns()
            first = [score.index for score in rank(query["query"], documents)[:DEPTH]]
            figures["milliseconds"].append((time.perf_counter_ns() - before) / 1e6)
            figures["recall_5"].append(len(relevant.intersection(first[:5])) / len(relevant))
            figures["recall_10"].append(len(relevant.intersection(first)) / len(relevant))
            figures["ndcg_10"].append(normalised_gain(first, relevant))
    if not figures["milliseconds"]:
        raise SystemExit(f"{path} has no query with a relevant memory.")
    return {
        "name": path.stem,
        "queries": len(figures["recall_5"]),
        **{name: round(100 * statistics.fmean(figures[name]), 1) for name in ("recall_5", "recall_10", "ndcg_10")},
        "median_ms": round(statistics.median(figures["milliseconds"]), 2),
    }


def normalised_gain(first: Sequence[int], relevant: Collection[int]) -> float:
    """nDCG with binary relevance of a ranking cut at `DEPTH`."""
    gained = sum(1 / math.log2(rank_ + 1) for rank_, index in enumerate(first, start=1) if index in relevant)
    best = sum(1 / math.log2(rank_ + 1) for rank_ in range(1, min(DEPTH, len(relevant)) + 1))
    return gained / best


def as_table(report: Mapping[str, Any]) -> str:
    """The report for people."""
    lines = [f"{'':16} queries    R@5   R@10  nDCG@10  median ms"]
    lines += [
        f"{row['name']:16} {row['queries']:7} {row['recall_5']:6.1f} {row['recall_10']:6.1f} {row['ndcg_10']:8.1f}"
        f" {row['median_ms']:10.2f}"
        for row in report["collections"]
    ]
    lines += [f"skipped: {reason}" for reason in report["skipped"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
