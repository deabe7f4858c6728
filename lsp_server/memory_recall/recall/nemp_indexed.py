"""The tiers of a nemp recall on stores that are cut into terms: what `nemp_tiers.py` does by looking at every memory.

All hits of a tier stay arrays until somebody looks at one. The answers are those of a scan, which is the oracle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import indexed
from memory_recall.ranking.indexed import Matches
from memory_recall.ranking.parts import Collection, Part
from memory_recall.ranking.widened import widened_in
from memory_recall.recall.nemp_hits import Hit, Tier
from memory_recall.stores.nemp import NempStore
from memory_recall.stores.nemp_ranked import RankedStore

Numbers = NDArray[np.int64]


def partial(query: str, store: NempStore, ranked: RankedStore) -> tuple[Tier, Numbers]:
    """The memories whose key contains the query, the fuller the match, the earlier; and their numbers."""
    numbers = ranked.names.containing(query)
    scores = ranked.names.shares(numbers, query)

    def best(most: int) -> list[Hit]:
        places = indexed.first_of(scores, numbers, most)
        return [Hit(store, int(numbers[place]), float(scores[place])) for place in places]

    def of_number(number: int) -> Hit | None:
        place = int(np.searchsorted(numbers, number))
        if place == len(numbers) or numbers[place] != number:
            return None
        return Hit(store, number, float(scores[place]))

    return Tier(store, len(numbers), best, of_number), numbers


def by_words(
    query: str, store: NempStore, ranked: RankedStore, taken: Numbers, cancellation: Cancellation | None
) -> Tier:
    """The memories that contain words of the query, but for those taken: more different words first, then relevance."""
    matches = indexed.matches_in(query, ranked.collection, cancellation)
    if len(taken):
        is_free = np.ones(len(ranked.documents), bool)
        is_free[taken] = False
        matches = matches.only(is_free[ranked.memories[matches.documents]])
    return _tier(store, ranked.memories, ranked.documents, matches, matches.having(ranked.collection.size))


def related(
    query: str,
    stores: Sequence[NempStore],
    parts: Sequence[Sequence[Part]],
    ranked: Sequence[RankedStore | None],
    cancellation: Cancellation | None,
) -> Iterator[Tier]:
    """What the query may mean by other words, in the parts of each store together."""
    only = ranked[0] if len(ranked) == 1 else None
    collection = only.collection if only is not None else Collection([part for own in parts for part in own])
    matches = widened_in(query, collection, cancellation)
    sizes = [sum(len(part.segment) for part in own) for own in parts]
    for store, own, size, begin in zip(stores, ranked, sizes, accumulate(sizes, initial=0), strict=False):
        within = matches.within(begin, begin + size)
        if own is None:
            memories = documents = np.arange(size, dtype=np.int32)
        else:
            memories, documents = own.memories, own.documents
        yield _tier(store, memories, documents, within, begin=begin)


def _tier(
    store: NempStore,
    memories: NDArray[np.int32],
    documents: NDArray[np.int32],
    matches: Matches,
    groups: NDArray[np.int32] | None = None,
    *,
    begin: int = 0,
) -> Tier:
    """The tier of matches, of which larger groups come first; the store's documents are counted from `begin`."""
    numbers = memories[matches.documents - begin]

    def hit_at(place: int) -> Hit:
        score = matches.score_at(place)
        return Hit(store, int(numbers[place]), score.score, score.words)

    def best(most: int) -> list[Hit]:
        return [hit_at(place) for place in indexed.first_of(matches.scores, numbers, most, groups).tolist()]

    def of_number(number: int) -> Hit | None:
        place = matches.place_of(begin + int(documents[number]))
        return None if place is None else hit_at(place)

    return Tier(store, len(numbers), best, of_number)
