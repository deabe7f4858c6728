"""`/nemp:recall`: a read that is accounted for. What is asked, what is answered, and in which order things happen.

docs/contract.md, "nemp". The searching is `nemp_tiers.py`'s, what a read leaves is `nemp_accounting.py`'s, and
`nemp_recount.py` counts again what was left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment, Place
from memory_recall.errors import UsageError
from memory_recall.model import Problem, Standing
from memory_recall.recall.nemp_tiers import Found, Hit, Match, find
from memory_recall.stores.nemp import NempPlaces, NempStore, Source, find_stores, no_store
from memory_recall.stores.nemp_entry import NempEntry

if TYPE_CHECKING:
    from memory_recall.recall.nemp_accounting import Accounted
    from memory_recall.stores.shelf import Shelf

LARGEST_LIMIT = 50


class NempQuery(NamedTuple):
    """What is asked: a key, or words. `limit` (1 to 50) cuts what is no exact hit.

    With `record`, each memory returned counts as read by `agent` (else `$CLAUDE_AGENT_NAME`, else `main`).
    """

    query: str
    limit: int = 10
    record: bool = True
    agent: str | None = None


class NempMemory(NamedTuple):
    """One memory of an answer, with its figures after the read where `recorded`.

    `text` is the value as text, its numbers as the store spells them; empty where the entry has no value.
    `line` and `column` (from 1) are where its key stands now. Fields that the store does not have are None.
    """

    key: str
    value: Any
    text: str
    source: Source
    path: Path
    line: int
    column: int
    agent_id: str | None
    created: str | None
    updated: str | None
    type: Any
    confidence: Any
    vitality: Any
    links: Any
    tags: tuple[str, ...]
    score: float
    recorded: bool
    standings: tuple[Standing, ...] = ()
    words: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The contract's object for one memory. `text` is null for a value that is text already."""
        return {
            "key": self.key,
            "value": self.value,
            "text": None if isinstance(self.value, str) else self.text,
            "source": self.source,
            "path": str(self.path),
            "line": self.line,
            "column": self.column,
            "agent_id": self.agent_id,
            "created": self.created,
            "updated": self.updated,
            "type": self.type,
            "confidence": self.confidence,
            "vitality": self.vitality,
            "links": self.links,
            "tags": list(self.tags),
            "score": round(self.score, 4),
            "recorded": self.recorded,
            "standings": [standing.as_json() for standing in self.standings],
            "words": list(self.words),
        }


class ShadowedMemory(NamedTuple):
    """A memory that the answer overrules: the same key in the global store."""

    key: str
    source: Source
    path: Path
    line: int
    column: int

    def as_json(self) -> dict[str, Any]:
        """`{key, source, path, line, column}`."""
        return {
            "key": self.key,
            "source": self.source,
            "path": str(self.path),
            "line": self.line,
            "column": self.column,
        }


class NempResult(NamedTuple):
    """An answer. `match` is the best tier that hit, `omitted` the number of hits that the limit cut."""

    query: str
    match: Match
    memories: tuple[NempMemory, ...]
    shadowed: tuple[ShadowedMemory, ...] = ()
    omitted: int = 0
    problems: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """`{v, query, match, count, memories, shadowed, omitted, problems}`."""
        return {
            "v": 1,
            "query": self.query,
            "match": self.match,
            "count": len(self.memories),
            "memories": [memory.as_json() for memory in self.memories],
            "shadowed": [memory.as_json() for memory in self.shadowed],
            "omitted": self.omitted,
            "problems": [problem.as_json() for problem in self.problems],
        }


def recall(
    request: NempQuery,
    place: Place,
    environment: Environment,
    shelf: Shelf,
    cancellation: Cancellation | None = None,
) -> NempResult:
    """Answer from the stores that the place sees, and account for each memory returned.

    Whatever is broken in a store, or keeps a read from being recorded, and that there is no store at all, is a problem
    beside the answer. Raises
    `UsageError` for an empty query or a limit out of range, and `Cancelled`, which leaves nothing recorded.
    """
    _check(request)
    places = find_stores(place, environment)
    stores = shelf.nemp_stores(places)
    nowhere = () if stores else (no_store(place, environment),)
    found = find(request.query, stores, cancellation)
    hits = found.hits if found.match == "exact" else found.hits[: request.limit]
    if cancellation is not None:
        cancellation.check()
    memories, problems = (
        _accounted(request, hits, places, environment, cancellation)
        if request.record
        else (tuple(_memory(hit, hit.entry, hit.store.place_of(hit.entry), recorded=False) for hit in hits), ())
    )
    if any(memory.recorded for memory in memories):
        stores = [_after_writing(store, memories, shelf) for store in stores]
    return NempResult(
        query=request.query,
        match=found.match,
        memories=memories,
        shadowed=tuple(_shadowed(found)),
        omitted=len(found.hits) - len(hits),
        problems=(*nowhere, *(problem for store in stores for problem in store.problems), *problems),
    )


def _check(request: NempQuery) -> None:
    if not request.query.strip():
        raise UsageError("The query is empty; give a memory's key or words to search for.")
    if type(request.limit) is not int or not 1 <= request.limit <= LARGEST_LIMIT:
        raise UsageError(f"The limit must be a whole number from 1 to {LARGEST_LIMIT}.")


def _accounted(
    request: NempQuery,
    hits: Sequence[Hit],
    places: NempPlaces,
    environment: Environment,
    cancellation: Cancellation | None,
) -> tuple[tuple[NempMemory, ...], tuple[Problem, ...]]:
    """The memories after their reads. Each store is written once, the project's first.

    Nobody waiting any more counts until something was recorded: what was begun then is ended, so that an answer is
    recorded whole or not at all.
    """
    from memory_recall.recall.nemp_accounting import Goals, Reader, account

    if not hits or places.log is None:
        return (), ()
    reader = Reader.of(environment, request.query, request.agent, places.log)
    goals = Goals.of(places)
    memories: dict[int, NempMemory] = {}
    problems: list[Problem] = []
    for store in dict.fromkeys(hit.store for hit in hits):
        ours = [(number, hit) for number, hit in enumerate(hits) if hit.store is store]
        recorded = any(memory.recorded for memory in memories.values())
        check = None if cancellation is None or recorded else cancellation.check
        accounted = account(store, [hit.entry for _, hit in ours], reader, goals, check)
        problems += accounted.problems
        memories.update(_memories_after(store, ours, accounted))
    if goals.problem is not None:
        problems.append(goals.problem)
    return tuple(memories[number] for number in range(len(hits))), tuple(problems)


def _memories_after(
    store: NempStore, hits: Sequence[tuple[int, Hit]], accounted: Accounted
) -> Mapping[int, NempMemory]:
    memories = {}
    for (number, hit), entry, there in zip(hits, accounted.entries, accounted.places, strict=True):
        if entry is None:
            memories[number] = _memory(hit, hit.entry, store.place_of(hit.entry), recorded=False)
        else:
            memories[number] = _memory(hit, entry, there, recorded=True)
    return memories


def _memory(hit: Hit, entry: NempEntry, there: tuple[int, int], *, recorded: bool) -> NempMemory:
    return NempMemory(
        key=entry.key,
        value=entry.value,
        text=entry.text,
        source=hit.store.source,
        path=hit.store.path,
        line=there[0],
        column=there[1],
        agent_id=entry.agent_id,
        created=entry.created,
        updated=entry.updated,
        type=entry.type,
        confidence=entry.confidence,
        vitality=entry.vitality,
        links=entry.links,
        tags=entry.tags,
        score=hit.score,
        recorded=recorded,
        standings=hit.store.standings_of(entry),
        words=hit.words,
    )


def _shadowed(found: Found) -> list[ShadowedMemory]:
    return [
        ShadowedMemory(entry.key, store.source, store.path, *store.place_of(entry)) for store, entry in found.shadowed
    ]


def _after_writing(store: NempStore, memories: Sequence[NempMemory], shelf: Shelf) -> NempStore:
    """The store whose problems are to be shown: those of a store just written to stand on other lines by now."""
    written = any(memory.recorded and memory.path == store.path for memory in memories)
    return shelf.nemp(store.path, store.source) if written and store.problems else store
