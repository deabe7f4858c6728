#!/usr/bin/env python3
"""Whether the right memory comes first, and nothing where nothing answers: our ranking and its peers, in one run.

    python -m benchmarks.quality [FILE ...] [--split dev|held-out|all] [--peers] [--data DIR] [--json | --markdown]

Collections are our own corpus (corpus/README.md) and, where they stand in `../shared/bench` beside the repository,
LoCoMo and Cranfield, which are not ours and do not ship; what is absent is skipped with a word. A collection of several
stores is measured store by store, and LoCoMo once more with all its conversations in one store. What the figures mean
stands in quality_figures.py; tuning looks at `--split dev` only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, peers, quality_figures, quality_report
from benchmarks.corpora import Collection
from benchmarks.quality_figures import Outcome
from benchmarks.subjects import Ours, Subject, Unavailable

COMPARED = ("recall_5", "recall_10", "ndcg_10", "silent")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit code."""
    options = parse(arguments)
    collections, skipped = gathered(options.files, options.data, options.split)
    if not collections:
        print("no collection to measure: " + "; ".join(skipped), file=sys.stderr)
        return 1
    subjects: list[Subject] = [Ours()]
    if options.peers:
        for peer in peers.available():
            if isinstance(peer, Unavailable):
                skipped.append(str(peer))
            else:
                subjects.append(peer)
    report = {
        "v": 2,
        "benchmark": "quality",
        "collections": [measured(collection, subjects, options.split) for collection in collections],
        "skipped": skipped,
    }
    if options.json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
    elif options.markdown:
        print(quality_report.as_markdown(report))
    else:
        print(quality_report.as_table(report))
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="collections (default: all there are)")
    parser.add_argument("--split", choices=("dev", "held-out", "all"), default="all", help="which half of our corpus")
    parser.add_argument("--peers", action="store_true", help="measure the peers as well")
    parser.add_argument("--data", type=Path, default=corpora.SHARED, help="the folder of LoCoMo and Cranfield")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    form.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    return parser.parse_args(arguments)


def gathered(files: Sequence[Path], data: Path, split: str) -> tuple[list[Collection], list[str]]:
    """The collections to measure, and what is skipped and why."""
    if files:
        found = list(_read(files))
        absent = [path for path in files if not path.is_file()]
    else:
        paths = [data / name for name in corpora.COLLECTIONS]
        found = [corpora.read_corpus(corpora.corpus_files()), *_read(paths)]
        absent = [path for path in paths if not path.is_file()]
    collections = [corpora.in_split(collection, split) for collection in found]
    return collections, [f"{path.name}: not found in {path.parent.name}/" for path in absent]


def measured(collection: Collection, subjects: Sequence[Subject], split: str = "all") -> dict[str, Any]:
    """The figures of one collection: of each subject, of each kind of question for the first, and the distance between.

    Raises SystemExit for a collection without questions.
    """
    queries = [query for store in collection.stores for query in store.queries]
    if not queries:
        raise SystemExit(f"{collection.name} has no question to ask.")
    rows: list[dict[str, Any]] = []
    outcomes = {subject.name: quality_figures.measure(subject, collection) for subject in subjects}
    ours = outcomes[subjects[0].name]
    for name, theirs in outcomes.items():
        row: dict[str, Any] = {"name": name, **quality_figures.summary(theirs)}
        if theirs is not ours:
            row["ours_better_by"] = _advantages(ours, theirs)
            row["ours_takes_times"] = round(rows[0]["median_ms"] / max(row["median_ms"], 0.001), 1)
        row["kinds"] = {
            kind: quality_figures.summary(of_kind, intervals=False)
            for kind, of_kind in quality_figures.by_kind(theirs).items()
        }
        rows.append(row)
    return {
        "name": collection.name,
        "split": split if any(query.split for query in queries) else "all",
        "stores": len(collection.stores),
        "memories": sum(len(store.documents) for store in collection.stores),
        "subjects": rows,
    }


def _advantages(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    points = ((name, quality_figures.advantage(ours, theirs, name)) for name in COMPARED)
    return {name: value for name, value in points if value is not None}


def _read(paths: Sequence[Path]) -> Iterator[Collection]:
    for path in paths:
        if path.is_file():
            collection = corpora.read(path)
            yield collection
            # Questions without an answer in their own store could have one in another, so only a collection whose
            # questions all have answers can be thrown together.
            answered = all(query.relevant for store in collection.stores for query in store.queries)
            if len(collection.stores) > 1 and answered:
                yield corpora.merged(collection)


if __name__ == "__main__":
    sys.exit(main())
