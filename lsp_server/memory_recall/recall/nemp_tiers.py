"""The tiers of a nemp recall: which memories answer a query, and how well they were hit.

docs/contract.md, "nemp", "How it is searched". Ranks and orders; records nothing. Small stores are scanned here, large
ones are searched by `nemp_indexed.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from memory_recall.cancellation import Cancellation
from memory_recall.recall.nemp_hits import Hit, Tier, first_of
from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempStore
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.text.names import without_case

if TYPE_CHECKING:
    from memory_recall.stores.nemp_ranked import RankedStore
    from memory_recall.stores.shelf import Shelf

Match = Literal["exact", "partial", "value", "related", "none"]

_CHECK_EVERY = 1_000
_SUGGESTED_KEYS = 3


class Found(NamedTuple):
    """The best hits, best first, as many as were wanted, and how many there are; all of them where a key was named.

    `match` is the best tier that hit, `shadowed` what an exact hit overrules.
    """

    match: Match
    hits: tuple[Hit, ...] = ()
    total: int = 0
    shadowed: tuple[tuple[NempStore, NempEntry], ...] = ()


def find(
    query: str, stores: Sequence[NempStore], limit: int, shelf: Shelf, cancellation: Cancellation | None = None
) -> Found:
    """Search the stores, of which an earlier one goes before a later one in every tier. Raises `Cancelled`.

    The shelf holds what is made of large ones.
    """
    exact = _exact(query, stores)
    if exact is not None:
        return exact
    wanted = query.strip()
    ranked = [shelf.ranked(store, cancellation) for store in stores]
    pairs = list(zip(stores, ranked, strict=True))
    tiers = [_named_and_worded(wanted, *pair, cancellation=cancellation) for pair in pairs]
    by_key, by_value = [pair[0] for pair in tiers], [pair[1] for pair in tiers]
    if any(tier.size for tier in by_key):
        return _found("partial", (*by_key, *by_value), limit)
    if any(tier.size for tier in by_value):
        return _found("value", by_value, limit)
    return _found("related", list(_related(wanted, stores, ranked, shelf, cancellation)), limit)


def _found(match: Match, tiers: Sequence[Tier], limit: int) -> Found:
    count = sum(tier.size for tier in tiers)
    return Found(match, first_of(tiers, limit), count) if count else Found("none")


def _exact(query: str, stores: Sequence[NempStore]) -> Found | None:
    """The entries whose key is the query, from the first store that has any. (A key may begin with a space.)"""
    for key in dict.fromkeys((query, query.strip())):
        named = [(store, entry) for store in stores for entry in store.by_key(key)]
        if named:
            first = named[0][0]
            hits = tuple(Hit(store, entry.number, 1.0) for store, entry in named if store is first)
            return Found("exact", hits, len(hits), tuple(pair for pair in named if pair[0] is not first))
    return None


def _named_and_worded(
    query: str, store: NempStore, ranked: RankedStore | None, *, cancellation: Cancellation | None
) -> tuple[Tier, Tier]:
    """What contains the query in its key, and what else has words of it."""
    if ranked is not None:
        from memory_recall.recall.nemp_indexed import by_words, partial

        named, numbers = partial(query, store, ranked)
        return named, by_words(query, store, ranked, numbers, cancellation)
    hits = _partial(query, store, cancellation)
    taken = {hit.number for hit in hits}
    others = [hit for hit in _by_words(query, store, cancellation) if hit.number not in taken]
    return Tier.of_hits(store, hits), Tier.of_hits(store, others)


def _partial(query: str, store: NempStore, cancellation: Cancellation | None) -> list[Hit]:
    """The entries whose key contains the whole query, whatever the case: the fuller the match, the earlier."""
    wanted = without_case(query)
    hits = []
    for number, written in enumerate(store.keys):
        _check(cancellation, number)
        key = without_case(written)
        if wanted in key:
            hits.append(Hit(store, number, len(wanted) / (len(key) + (key != written or wanted != query))))
    hits.sort(key=lambda hit: -hit.score)
    return hits


def _by_words(query: str, store: NempStore, cancellation: Cancellation | None) -> list[Hit]:
    """The entries that contain words of the query: more different words first, then by relevance."""
    from memory_recall.ranking.lexical import rank

    scores = rank(query, store.documents, cancellation=cancellation)
    scores.sort(key=lambda score: -score.matched)
    return [Hit(store, score.index, score.score, score.words) for score in scores]


def _related(
    query: str,
    stores: Sequence[NempStore],
    ranked: Sequence[RankedStore | None],
    shelf: Shelf,
    cancellation: Cancellation | None,
) -> Iterator[Tier]:
    """What the query may mean: words of the same matter, misspelt words, a misspelt key."""
    if any(made is not None for made in ranked):
        from memory_recall.recall.nemp_indexed import related

        parts = [
            shelf.held(store).parts if made is None else made.parts for store, made in zip(stores, ranked, strict=True)
        ]
        tiers = list(related(query, stores, parts, ranked, cancellation))
    else:
        tiers = _scanned_related(query, stores, cancellation)
    if any(tier.size for tier in tiers):
        yield from tiers
        return
    from memory_recall.ranking.widened import DISCOUNT

    keys = _near_keys(query, stores, ranked)
    for store in stores:
        yield Tier.of_hits(store, [Hit(store, entry.number, DISCOUNT) for key in keys for entry in store.by_key(key)])


def _scanned_related(query: str, stores: Sequence[NempStore], cancellation: Cancellation | None) -> list[Tier]:
    from memory_recall.ranking.widened import rank_widened

    documents = [document for store in stores for document in store.documents]
    numbered = [(store, number) for store in stores for number in range(len(store.keys))]
    scores = rank_widened(query, documents, cancellation=cancellation)
    hits = [Hit(*numbered[score.index], score.score, score.words) for score in scores]
    return [Tier.of_hits(store, [hit for hit in hits if hit.store is store]) for store in stores]


def _near_keys(query: str, stores: Sequence[NempStore], ranked: Sequence[RankedStore | None]) -> list[str]:
    """The keys that the query is most likely a misspelling of: the nearest, then in the order of the stores."""
    from memory_recall.ranking.typos import closest

    keys: list[str] = []
    for store, made in zip(stores, ranked, strict=True):
        keys += store.keys if made is None else [store.keys[number] for number, _ in sorted(made.names.misspelt(query))]
    return closest(query, keys, limit=_SUGGESTED_KEYS)


def _check(cancellation: Cancellation | None, count: int) -> None:
    if cancellation is not None and not count % _CHECK_EVERY:
        cancellation.check()
