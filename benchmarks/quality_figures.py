"""The measures of search quality: what became of each question, means over many, and how sure they are.

Owns the formulas. Knows no collection file and no subject but by its interface.

- R@5, R@10: the share of the relevant memories among the first 5 or 10.
- nDCG@10: discounted gain, 1/log2(rank + 1) for each relevant memory, over the best gain possible (Järvelin and
  Kekäläinen 2002).
- first: the share of questions whose first answer is relevant.
- silent: the share of questions without an answer for which nothing is returned.
- lost: the share of answerable questions that have a right answer among the first 10 when nothing is held back, and
  none when the ranking holds back what it is not sure of. Absent for subjects that hold nothing back.
- in order: of questions that name memories which must not come first (superseded ones), the share where none of them
  stands before the first relevant one, which must be there.

All are in percent. Intervals are percentile bootstraps over questions (Efron 1979), 95 %, from a fixed seed: the same
outcomes give the same interval.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks.corpora import ANSWERABLE_KINDS, UNANSWERABLE_KINDS, Query
from benchmarks.corpora import Collection as Gathered
from benchmarks.subjects import HasFloor, Subject

DEPTH = 10
RESAMPLES = 1_000
SEED = 20_261_130


class Outcome(NamedTuple):
    """What became of one question. Shares lie between 0 and 1; None where a measure does not apply to the question."""

    kind: str
    recall_5: float | None
    recall_10: float | None
    ndcg_10: float | None
    first: float | None
    silent: float | None
    lost: float | None
    in_order: float | None
    returned: int
    milliseconds: float


MEASURES: tuple[str, ...] = ("recall_5", "recall_10", "ndcg_10", "first", "silent", "lost", "in_order")


class Estimate(NamedTuple):
    """A mean in percent, with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


def measure(subject: Subject, collection: Gathered) -> list[Outcome]:
    """What the subject makes of each question of the collection, in the order of the collection."""
    outcomes: list[Outcome] = []
    for store in collection.stores:
        subject.index(store.documents)
        outcomes += [outcome(subject, query) for query in store.queries]
    return outcomes


def outcome(subject: Subject, query: Query) -> Outcome:
    """Ask one question of a subject that has its store."""
    before = time.perf_counter_ns()
    found = subject.search(query.text, DEPTH)
    milliseconds = (time.perf_counter_ns() - before) / 1e6
    relevant = query.relevant
    if not relevant:
        silent = float(not found)
        return Outcome(query.kind, None, None, None, None, silent, None, None, len(found), milliseconds)
    lost: float | None = None
    if isinstance(subject, HasFloor):
        unfloored = subject.search_without_floor(query.text, DEPTH)
        lost = float(not relevant.isdisjoint(unfloored) and relevant.isdisjoint(found))
    return Outcome(
        query.kind,
        len(relevant.intersection(found[:5])) / len(relevant),
        len(relevant.intersection(found)) / len(relevant),
        normalised_gain(found, relevant),
        float(bool(found) and found[0] in relevant),
        None,
        lost,
        in_order(found, relevant, query.unwanted) if query.unwanted else None,
        len(found),
        milliseconds,
    )


def normalised_gain(found: Sequence[int], relevant: Collection[int]) -> float:
    """nDCG with binary relevance of a ranking cut at `DEPTH`."""
    gained = sum(1 / math.log2(rank + 1) for rank, index in enumerate(found[:DEPTH], start=1) if index in relevant)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, len(relevant)) + 1))
    return gained / best


def in_order(found: Sequence[int], relevant: Collection[int], unwanted: Collection[int]) -> float:
    """1 if the first relevant memory is found and none of the unwanted ones stands before it, else 0."""
    for index in found:
        if index in relevant:
            return 1.0
        if index in unwanted:
            return 0.0
    return 0.0


def summary(outcomes: Sequence[Outcome], *, intervals: bool = True) -> dict[str, Any]:
    """The figures of many questions as JSON: a measure is absent where it applies to none of them."""
    figures: dict[str, Any] = {"queries": len(outcomes)}
    for name in MEASURES:
        values = [value for value in (getattr(outcome, name) for outcome in outcomes) if value is not None]
        if values:
            figures[name] = as_json(estimate(values)) if intervals else round(100 * statistics.fmean(values), 1)
    if outcomes:
        figures["mean_returned"] = round(statistics.fmean(outcome.returned for outcome in outcomes), 1)
        figures["median_ms"] = round(statistics.median(outcome.milliseconds for outcome in outcomes), 3)
    return figures


def by_kind(outcomes: Sequence[Outcome]) -> dict[str, Sequence[Outcome]]:
    """The outcomes of each kind that appears: those of our corpus in its order, then others."""
    present = dict.fromkeys(outcome.kind for outcome in outcomes)
    kinds = [kind for kind in (*ANSWERABLE_KINDS, *UNANSWERABLE_KINDS) if kind in present]
    kinds += [kind for kind in present if kind not in kinds]
    return {kind: [outcome for outcome in outcomes if outcome.kind == kind] for kind in kinds}


def advantage(ours: Sequence[Outcome], theirs: Sequence[Outcome], name: str) -> dict[str, float] | None:
    """By how many points the first subject is better, question by question; None where the measure applies to none.

    The interval is that of the paired differences. Raises ValueError for outcomes of different questions.
    """
    differences = [
        getattr(mine, name) - getattr(other, name)
        for mine, other in zip(ours, theirs, strict=True)
        if getattr(mine, name) is not None and getattr(other, name) is not None
    ]
    return as_json(estimate(differences)) if differences else None


def estimate(values: Sequence[float], *, statistic: Callable[[Iterable[float]], float] = statistics.fmean) -> Estimate:
    """The mean of values between 0 and 1 (differences: -1 and 1), in percent, with its bootstrap interval."""
    drawn = random.Random(SEED)
    means = sorted(statistic(drawn.choices(values, k=len(values))) for _ in range(RESAMPLES))
    low, high = means[round(0.025 * (RESAMPLES - 1))], means[round(0.975 * (RESAMPLES - 1))]
    return Estimate(100 * statistic(values), 100 * low, 100 * high)


def as_json(value: Estimate) -> dict[str, float]:
    return {name: round(number, 1) for name, number in value._asdict().items()}
