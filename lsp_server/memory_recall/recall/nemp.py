"""`/nemp:recall`: a read that is accounted for. What is asked, what is answered, and in which order things happen.

docs/contract.md, "nemp". The searching is `nemp_tiers.py`'s, what a read leaves is `nemp_accounting.py`'s, and
`nemp_recount.py` counts again what was left.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment, Place
from memory_recall.errors import UsageError
from memory_recall.model import Problem, Standing
from memory_recall.recall.nemp_hits import Hit
from memory_recall.recall.nemp_tiers import Found, Match, find
from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempPlaces, NempStore, Source, find_stores, no_store
from memory_recall.stores.nemp_entry import NempEntry

if TYPE_CHECKING:
    from memory_recall.recall.budget import Budget, Item, Share, Spent, Trimmed
    from memory_recall.stores.shelf import Shelf

LARGEST_LIMIT = 50


class NempQuery(NamedTuple):
    """What is asked: a key, or words. `limit` (1 to 50) cuts what is no exact hit.

    With `record`, each memory returned counts as read by `agent` (else `$CLAUDE_AGENT_NAME`, else `main`). What a
    `budget` has no room for is not returned.
    """

    query: str
    limit: int = 10
    record: bool = True
    agent: str | None = None
    budget: Budget | None = None


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
    trimmed: Trimmed | None = None

    def as_json(self) -> dict[str, Any]:
        """The contract's object for one memory. `text` is null for a value that is text already.

        `trimmed` stands there only where `value` is the beginning of a longer text.
        """
        shape = {
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
        return shape if self.trimmed is None else {**shape, "trimmed": self.trimmed.as_json()}


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
    budget: Spent | None = None

    def items(self) -> Sequence[Item]:
        """Its memories for a budget. A value that is no text is given whole or not at all."""
        from memory_recall.recall.budget import Item

        return [
            Item(memory.key, memory.value if isinstance(memory.value, str) else None, memory.trimmed is not None)
            for memory in self.memories
        ]

    def within(self, share: Share) -> NempResult:
        """The answer with no more than this."""
        from memory_recall.recall.budget import trimmed_to

        memories = []
        for portion in share.portions:
            memory = self.memories[portion.number]
            trimmed = trimmed_to(memory.text, portion, memory.trimmed)
            text = memory.text if portion.text is None else portion.text
            value = memory.value if portion.text is None else portion.text
            memories.append(memory._replace(value=value, text=text, trimmed=trimmed))
        return self._replace(memories=tuple(memories), problems=self.problems[: share.problems], budget=share.spent)

    def as_json(self) -> dict[str, Any]:
        """`{v, query, match, count, memories, shadowed, omitted, problems}`, and `budget` where there was one."""
        shape = {
            "v": 1,
            "query": self.query,
            "match": self.match,
            "count": len(self.memories),
            "memories": [memory.as_json() for memory in self.memories],
            "shadowed": [memory.as_json() for memory in self.shadowed],
            "omitted": self.omitted,
            "problems": [problem.as_json() for problem in self.problems],
        }
        return shape if self.budget is None else {**shape, "budget": self.budget.as_json()}


def recall(
    request: NempQuery,
    place: Place,
    environment: Environment,
    shelf: Shelf,
    cancellation: Cancellation | None = None,
) -> NempResult:
    """Answer from the stores that the place sees, and account for each memory returned: no other counts as read.

    Whatever is broken in a store, or keeps a read from being recorded, and that there is no store at all, is a problem
    beside the answer. Raises
    `UsageError` for an empty query or a limit out of range, and `Cancelled`, which leaves nothing recorded.
    """
    _check(request)
    places = find_stores(place, environment)
    stores = shelf.nemp_stores(places)
    nowhere = () if stores else (no_store(place, environment),)
    found = find(request.query, stores, request.limit, shelf, cancellation)
    hits = found.hits
    if cancellation is not None:
        cancellation.check()
    known = (*nowhere, *(problem for store in stores for problem in store.problems))
    answer = NempResult(request.query, found.match, (), tuple(_shadowed(found)), found.total - len(hits), known)
    share = None if request.budget is None else _share(request, answer, hits, places, environment)
    if share is not None:
        hits = tuple(hits[portion.number] for portion in share.portions)
    if request.record:
        memories, problems = _accounted(request, hits, places, environment, shelf, cancellation=cancellation)
    else:
        memories, problems = tuple(_unrecorded(hit, hit.entry) for hit in hits), ()
    if any(memory.recorded for memory in memories):
        stores = [_after_writing(store, memories, shelf) for store in stores]
        known = (*nowhere, *(problem for store in stores for problem in store.problems))
    answer = answer._replace(
        memories=memories, problems=(*known[: None if share is None else share.problems], *problems)
    )
    return answer if share is None else _settled(answer, share, request.budget)


def _check(request: NempQuery) -> None:
    if not request.query.strip():
        raise UsageError("The query is empty; give a memory's key or words to search for.")
    if type(request.limit) is not int or not 1 <= request.limit <= LARGEST_LIMIT:
        raise UsageError(f"The limit must be a whole number from 1 to {LARGEST_LIMIT}.")
    if request.budget is not None:
        request.budget.check()


def _share(
    request: NempQuery, answer: NempResult, hits: Sequence[Hit], places: NempPlaces, environment: Environment
) -> Share | None:
    """What fits of the memories as they will be after their reads, and so which of them are read at all."""
    from memory_recall.recall.budget import share_of
    from memory_recall.recall.nemp_accounting import Goals, foreseen

    memories = [_unrecorded(hit, hit.entry) for hit in hits]
    if request.record and places.log is not None:
        goals, now = Goals.of(places), environment.now()
        memories = [
            memory._replace(recorded=True, **foreseen(hit.entry, now, goals))
            for memory, hit in zip(memories, hits, strict=True)
        ]
    return share_of(answer._replace(memories=tuple(memories)), request.budget)


def _settled(answer: NempResult, share: Share, budget: Budget | None) -> NempResult:
    """The answer within its share, whatever recording it added. A value that changed meanwhile is looked at anew."""
    from memory_recall.recall.budget import Portion, settled

    texts = [
        portion.text if portion.text is not None and memory.text.startswith(portion.text) else None
        for portion, memory in zip(share.portions, answer.memories, strict=True)
    ]
    portions = tuple(Portion(number, text) for number, text in enumerate(texts))
    return settled(answer.within(share._replace(portions=portions, problems=len(answer.problems))), budget)


def _accounted(
    request: NempQuery,
    hits: Sequence[Hit],
    places: NempPlaces,
    environment: Environment,
    shelf: Shelf,
    *,
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
        entries = [hit.entry for _, hit in ours]
        accounted = account(store, entries, reader, goals, check)
        problems += accounted.problems
        if accounted.store is not None:
            shelf.put_nemp(accounted.store)
        for (number, hit), before, entry, there in zip(ours, entries, accounted.entries, accounted.places, strict=True):
            if entry is None:
                memories[number] = _unrecorded(hit, before)
            else:
                memories[number] = _memory(hit, entry, there, recorded=True)
    if goals.problem is not None:
        problems.append(goals.problem)
    return tuple(memories[number] for number in range(len(hits))), tuple(problems)


def _unrecorded(hit: Hit, entry: NempEntry) -> NempMemory:
    return _memory(hit, entry, hit.store.place_of(entry), recorded=False)


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
