"""The hits of a nemp recall: what answers in one tier of one store, successors before what they replaced.

A tier may have 100,000 hits, of which ten are shown: only those are made. Knows no way of searching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempStore
from memory_recall.stores.nemp_entry import NempEntry

_MOST_FOLLOWED = 1_000
"""How many memories are looked at for what replaced them. Longer chains stand as they are found."""


class Hit(NamedTuple):
    """One memory that answers. `score` is above 0 and at most 1; 1 is the key itself.

    `words` are the stems that were found in it; in the related tier they are not the query's own.
    """

    store: NempStore
    number: int
    score: float
    words: tuple[str, ...] = ()

    @property
    def entry(self) -> NempEntry:
        """The memory itself; `number` counts the entries of its store."""
        return self.store.entry(self.number)


class Tier(NamedTuple):
    """What answers in one tier of one store: how many, the best so many, and the hit of a number, if it is one."""

    store: NempStore
    size: int
    best: Callable[[int], Sequence[Hit]]
    of_number: Callable[[int], Hit | None]

    @classmethod
    def of_hits(cls, store: NempStore, hits: Sequence[Hit]) -> Tier:
        """The tier of hits that were all made, the best first."""
        by_number = {hit.number: hit for hit in hits}
        return cls(store, len(hits), lambda most: hits[:most], by_number.get)


def first_of(tiers: Iterable[Tier], most: int) -> tuple[Hit, ...]:
    """The first hits, tier after tier; within each, what superseded a memory stands before it if it is a hit."""
    hits: list[Hit] = []
    for tier in tiers:
        if len(hits) == most:
            break
        hits += _in_succession(tier, most - len(hits))
    return tuple(hits)


def _in_succession(tier: Tier, most: int) -> Sequence[Hit]:
    """The first hits of a tier. What stands earlier for what it replaced takes over the better score."""
    best = tier.best(most)
    before = _successors(tier.store, [hit.number for hit in best])
    if not any(before.values()):
        return best
    from memory_recall.recall.coven_order import successors_first

    known = {str(hit.number): hit for hit in best}
    ranks = {number: rank for rank, number in enumerate(known)}
    for number in before:
        hit = None if number in known else tier.of_number(int(number))
        if hit is not None:
            known[number] = hit
    ordered = successors_first(list(known), before)
    last = len(known)
    scores = [
        max(
            known[number].score,
            *(known[other].score for other in ordered[place + 1 :] if ranks.get(other, last) < ranks.get(number, last)),
            0.0,
        )
        for place, number in enumerate(ordered[:most])
    ]
    return [known[number]._replace(score=score) for number, score in zip(ordered, scores, strict=False)]


def _successors(store: NempStore, numbers: Sequence[int]) -> dict[str, list[str]]:
    """For each of these memories, and for those in turn, the numbers of those that superseded it."""
    found: dict[str, list[str]] = {}
    pending = list(reversed(numbers))
    while pending and len(found) < _MOST_FOLLOWED:
        number = pending.pop()
        if str(number) in found:
            continue
        keys = store.successors_of(store.entry(number))
        successors = [entry.number for key in keys for entry in store.by_key(key)] if keys else []
        found[str(number)] = [str(other) for other in successors if other != number]
        pending += successors
    return found
