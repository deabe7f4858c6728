"""The tiers of a nemp recall: which memories answer a query, and how well they were hit.

docs/contract.md, "nemp", "How it is searched". Ranks and orders; reads no file and records nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

from memory_recall.cancellation import Cancellation
from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempStore
from memory_recall.stores.nemp_entry import NempEntry

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
    """All hits, best first; `match` is the best tier that hit, `shadowed` what an exact hit overrules."""

    match: Match
    hits: tuple[Hit, ...] = ()
    shadowed: tuple[tuple[NempStore, NempEntry], ...] = ()


def find(query: str, stores: Sequence[NempStore], cancellation: Cancellation | None = None) -> Found:
    """Search the stores, of which an earlier one goes before a later one in every tier. Raises `Cancelled`."""
    exact = _exact(query, stores)
    if exact is not None:
        return exact
    wanted = query.strip()
    by_key = [hit for store in stores for hit in _partial(wanted, store, cancellation)]
    taken = {(id(hit.store), hit.number) for hit in by_key}
    by_value = [
        hit
        for store in stores
        for hit in _by_words(wanted, store, cancellation)
        if (id(hit.store), hit.number) not in taken
    ]
    if by_key or by_value:
        return Found("partial" if by_key else "value", (*by_key, *by_value))
    related = tuple(_related(wanted, stores, cancellation))
    return Found("related", related) if related else Found("none")


def _exact(query: str, stores: Sequence[NempStore]) -> Found | None:
    """The entries whose key is the query, from the first store that has any. (A key may begin with a space.)"""
    for key in dict.fromkeys((query, query.strip())):
        named = [(store, entry) for store in stores for entry in store.by_key(key)]
        if named:
            first = named[0][0]
            hits = tuple(Hit(store, entry.number, 1.0) for store, entry in named if store is first)
            return Found("exact", hits, tuple(pair for pair in named if pair[0] is not first))
    return None


def _partial(query: str, store: NempStore, cancellation: Cancellation | None) -> list[Hit]:
    """The entries whose key contains the whole query, whatever the case: the fuller the match, the earlier."""
    wanted = _without_case(query)
    hits = []
    for number, written in enumerate(store.keys):
        _check(cancellation, number)
        key = _without_case(written)
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


def _related(query: str, stores: Sequence[NempStore], cancellation: Cancellation | None) -> Iterator[Hit]:
    """What the query may mean: words of the same matter, misspelt words, a misspelt key."""
    from memory_recall.ranking.widened import DISCOUNT, rank_widened

    documents = [document for store in stores for document in store.documents]
    scores = rank_widened(query, documents, cancellation=cancellation)
    if scores:
        numbered = [(store, number) for store in stores for number in range(len(store.entries))]
        hits = [Hit(*numbered[score.index], score.score, score.words) for score in scores]
    else:
        hits = [
            Hit(store, entry.number, DISCOUNT)
            for key in _near_keys(query, stores)
            for store in stores
            for entry in store.by_key(key)
        ]
    for store in stores:
        yield from (hit for hit in hits if hit.store is store)


def _near_keys(query: str, stores: Sequence[NempStore]) -> list[str]:
    from memory_recall.ranking.typos import closest

    return closest(query, (key for store in stores for key in store.keys), limit=_SUGGESTED_KEYS)


def _without_case(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _check(cancellation: Cancellation | None, count: int) -> None:
    if cancellation is not None and not count % _CHECK_EVERY:
        cancellation.check()
