"""The tiers of a nemp recall: which memories answer a query, and how well they were hit.

docs/contract.md, "nemp", "How it is searched". Ranks and orders; reads no file and records nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeAlias

from memory_recall.cancellation import Cancellation
from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempStore
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.text.names import without_case

if TYPE_CHECKING:
    from memory_recall.ranking.held import HeldDocuments
    from memory_recall.ranking.lexical import Score
    from memory_recall.ranking.parts import Part
    from memory_recall.stores.nemp_ranked import RankedStore
    from memory_recall.text.names import Names

Match = Literal["exact", "partial", "value", "related", "none"]

_CHECK_EVERY = 1_000
_SUGGESTED_KEYS = 3


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


class Found(NamedTuple):
    """The hits, best first, as many as were wanted, and how many there are; all of them where a key was named.

    `match` is the best tier that hit, `shadowed` what an exact hit overrules.
    """

    match: Match
    hits: tuple[Hit, ...] = ()
    total: int = 0
    shadowed: tuple[tuple[NempStore, NempEntry], ...] = ()


class _Tier(NamedTuple):
    """The first hits of a tier in a store, and how many it has."""

    hits: list[Hit]
    total: int


Ranked: TypeAlias = "Callable[[NempStore], HeldDocuments | RankedStore]"
"""What ranking makes of a store."""


def find(
    query: str, stores: Sequence[NempStore], limit: int, ranked: Ranked, cancellation: Cancellation | None = None
) -> Found:
    """Search the stores, of which an earlier one goes before a later one in every tier. Raises `Cancelled`."""
    exact = _exact(query, stores)
    if exact is not None:
        return exact
    wanted = query.strip()
    made = [ranked(store) for store in stores]
    named = [_partial(wanted, store, each.titles, cancellation) for store, each in zip(stores, made, strict=True)]
    by_key = [
        _Tier([Hit(store, number, -score) for score, number in found[: _looked_at(limit)]], len(found))
        for store, found in zip(stores, named, strict=True)
    ]
    by_value = [
        _by_words(wanted, store, each, {number for _, number in found}, limit, cancellation=cancellation)
        for store, each, found in zip(stores, made, named, strict=True)
    ]
    match: Match = "partial" if any(named) else "value"
    if not any(tier.total for tier in (*by_key, *by_value)):
        by_key, by_value, match = [], _related(wanted, stores, made, limit, cancellation), "related"
    tiers = (*by_key, *by_value)
    hits = [hit for tier in tiers for hit in _successors_first(tier.hits)]
    return Found(match, tuple(hits[:limit]), sum(tier.total for tier in tiers)) if hits else Found("none")


def _looked_at(limit: int) -> int:
    """How many hits of a tier are made: more than are shown, since a successor may stand behind what it replaced."""
    return 2 * limit


def _exact(query: str, stores: Sequence[NempStore]) -> Found | None:
    """The entries whose key is the query, from the first store that has any. (A key may begin with a space.)"""
    for key in dict.fromkeys((query, query.strip())):
        named = [(store, entry) for store in stores for entry in store.by_key(key)]
        if named:
            first = named[0][0]
            hits = tuple(Hit(store, entry.number, 1.0) for store, entry in named if store is first)
            return Found("exact", hits, len(hits), tuple(pair for pair in named if pair[0] is not first))
    return None


def _partial(query: str, store: NempStore, titles: Names, cancellation: Cancellation | None) -> list[tuple[float, int]]:
    """The entries whose key contains the whole query, whatever the case, by score (negative) and number.

    The fuller the match, the earlier.
    """
    keys, wanted = store.keys, without_case(query)
    found = []
    for count, (number, key) in enumerate(titles.containing(query)):
        _check(cancellation, count)
        found.append((-len(wanted) / (len(key) + (key != keys[number] or wanted != query)), number))
    found.sort()
    return found


def _by_words(
    query: str,
    store: NempStore,
    made: HeldDocuments | RankedStore,
    taken: Set[int],
    limit: int,
    *,
    cancellation: Cancellation | None,
) -> _Tier:
    """The entries that contain words of the query: more different words first, then by relevance."""
    if made.is_cut:
        from memory_recall.ranking.indexed import most_words_first
        from memory_recall.ranking.parts import Collection

        scores, total = most_words_first(
            query,
            Collection(made.parts),
            _looked_at(limit),
            map(made.document_of, taken),
            cancellation=cancellation,
        )
    else:
        from memory_recall.ranking.lexical import rank

        scores = [score for score in rank(query, made.documents, cancellation=cancellation) if score.index not in taken]
        scores.sort(key=lambda score: -score.matched)
        total = len(scores)
    shown = scores[: _looked_at(limit)]
    return _Tier([Hit(store, made.memory_of(score.index), score.score, score.words) for score in shown], total)


def _related(
    query: str,
    stores: Sequence[NempStore],
    made: Sequence[HeldDocuments | RankedStore],
    limit: int,
    cancellation: Cancellation | None,
) -> list[_Tier]:
    """What the query may mean: words of the same matter, misspelt words, a misspelt key."""
    sizes = [each.size for each in made]
    if any(each.is_cut for each in made):
        found = _widened(query, [part for each in made for part in each.parts], sizes, limit, cancellation)
    else:
        from memory_recall.ranking.widened import rank_widened

        scores = rank_widened(query, [text for each in made for text in each.documents], cancellation=cancellation)
        own = [[score for score in scores if begin <= score.index < begin + size] for begin, size in _ranges(sizes)]
        found = [(each[: _looked_at(limit)], len(each)) for each in own]
    if not any(total for _, total in found):
        return _named_nearly(query, stores, made)
    tiers = []
    for store, each, (begin, _), (shown, total) in zip(stores, made, _ranges(sizes), found, strict=True):
        hits = [Hit(store, each.memory_of(score.index - begin), score.score, score.words) for score in shown]
        tiers.append(_Tier(hits, total))
    return tiers


def _ranges(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where the numbers of each store begin, and how many it has."""
    return zip(accumulate(sizes, initial=0), sizes, strict=False)


def _widened(
    query: str, parts: Sequence[Part], sizes: Sequence[int], limit: int, cancellation: Cancellation | None
) -> list[tuple[list[Score], int]]:
    """For each store the first scores, and how many there are."""
    from memory_recall.ranking.widened import answers_widened

    answers = answers_widened(query, parts, cancellation=cancellation)
    found = []
    for begin, size in _ranges(sizes):
        places = ((answers.documents >= begin) & (answers.documents < begin + size)).nonzero()[0]
        found.append((answers.shown(places[: _looked_at(limit)]), len(places)))
    return found


def _named_nearly(query: str, stores: Sequence[NempStore], made: Sequence[HeldDocuments | RankedStore]) -> list[_Tier]:
    """The entries whose keys the query may be a misspelling of."""
    from memory_recall.ranking.typos import closest
    from memory_recall.ranking.widened import DISCOUNT

    keys = closest(query, (key for each in made for key in each.titles_near(query)), limit=_SUGGESTED_KEYS)
    hits = [[Hit(store, entry.number, DISCOUNT) for key in keys for entry in store.by_key(key)] for store in stores]
    return [_Tier(each, len(each)) for each in hits]


def _successors_first(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits of one tier and store, except that a memory stands behind the one that superseded it."""
    numbers: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    entries = [hit.entry for hit in hits]
    for number, entry in enumerate(entries):
        numbers.setdefault(entry.key, []).append(str(number))
    for number, (hit, entry) in enumerate(zip(hits, entries, strict=True)):
        successors = (standing.successor for standing in hit.store.standings_of(entry))
        before[str(number)] = [other for name in successors if name is not None for other in numbers.get(name, ())]
    if not any(before.values()):
        return hits
    from memory_recall.recall.coven_order import successors_first

    return [hits[int(number)] for number in successors_first(list(before), before)]


def _check(cancellation: Cancellation | None, count: int) -> None:
    if cancellation is not None and not count % _CHECK_EVERY:
        cancellation.check()
