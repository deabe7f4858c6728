"""One question to every store in sight: one ranked list over all systems. docs/contract.md, "Everything at once".

Browsing: records nothing, anywhere. Coven takes part only when asked, since the question then reaches its program; it
is given to nobody else. A system that fails is a problem beside the others' answers, one that is absent is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment, Place
from memory_recall.errors import RecallError, UsageError
from memory_recall.model import Memory, Problem, StandingCode, System
from memory_recall.ranking.held import HeldDocuments
from memory_recall.ranking.lexical import Document, Score
from memory_recall.recall.budget import Budget, Item, Portion, Share, Spent, Trimmed, fitted, trimmed_to
from memory_recall.recall.everywhere_scores import Match, Naming, Section, numbered, scores_of, section_of
from memory_recall.recall.near_duplicates import groups
from memory_recall.stores.agent_reading import EntryChanged
from memory_recall.text.names import Names, without_case
from memory_recall.text.snippets import shortened, snippet

if TYPE_CHECKING:
    from memory_recall.stores.nemp import NempStore
    from memory_recall.stores.nemp_ranked import RankedStore
    from memory_recall.stores.shelf import Shelf

LARGEST_LIMIT = 50
TEXT_LENGTH = 4_000
"""Code points of a hit's `text`: as much as an entry of `.agent` may hold. `show` has the rest of a longer one."""
SNIPPET_LENGTH = 240

DISCOUNTS: dict[StandingCode, float] = {
    "superseded": 0.5,
    "expired": 0.5,
    "archived": 0.5,
    "unverified": 0.7,
    "extinct": 0.8,
}
"""What is left of the score of a memory that may no longer hold. A conflict says of neither side that it is wrong."""

_RANKED = 100
"""How many of the best are ranked at all."""
_SPARE = 5
"""How many more than the limit are looked at for standings, successors and near-duplicates: each has to be read."""
_CLAIMS = 20


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is asked. `limit` is 1 to 50. `familiar` is whose Coven documents are meant, with `with_coven` only.

    `include_weak` returns what answers poorly, too. What a `budget` has no room for is not returned.
    """

    query: str = field(repr=False)
    limit: int = 10
    with_coven: bool = False
    familiar: str = "coven"
    include_weak: bool = False
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, with those that say the same in `also`.

    `score` is above 0 and at most 1 and falls from hit to hit. `words` are the stems that were found in it.
    """

    memory: Memory
    score: float
    words: tuple[str, ...] = ()
    also: tuple[Memory, ...] = ()
    trimmed: Trimmed | None = None

    @property
    def text(self) -> str:
        """What of the memory's text is given."""
        return shortened(self.memory.text, TEXT_LENGTH) if self.trimmed is None else self.trimmed.text

    def as_json(self) -> dict[str, Any]:
        """The contract's hit. `truncated` says that `text` is only the beginning; `snippet` is one line of it.

        `trimmed` stands there only where a budget has no room for the rest: then the line is one of what is given.
        """
        memory, trimmed = self.memory, self.trimmed
        shape = {
            "system": memory.system,
            "id": memory.id,
            "title": memory.title,
            "text": self.text,
            "truncated": trimmed is not None or len(memory.text) > TEXT_LENGTH,
            "snippet": snippet(memory.text if trimmed is None else trimmed.text, self.words, SNIPPET_LENGTH),
            "score": round(self.score, 4),
            "words": list(self.words),
            "tags": list(memory.tags),
            "standings": [standing.as_json() for standing in memory.standings],
            "provenance": memory.provenance.as_json(),
            "also": [
                {
                    "system": other.system,
                    "id": other.id,
                    "title": other.title,
                    "standings": [standing.as_json() for standing in other.standings],
                    "provenance": other.provenance.as_json(),
                }
                for other in self.also
            ],
        }
        return shape if trimmed is None else {**shape, "trimmed": trimmed.as_json()}

    def within(self, portion: Portion) -> Hit:
        """The hit with no more than this of its text."""
        trimmed = trimmed_to(self.memory.text if self.trimmed is None else self.trimmed.text, portion, self.trimmed)
        return replace(self, trimmed=trimmed)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """An answer. `match` says what the best hits have of the query: the name itself, words, words of the same matter.

    `omitted` counts the hits that the limit cut off. Far down the list, where nothing is folded, each memory is one.
    `held_back` counts the memories that answer too poorly to be hits, whatever the limit.
    """

    query: str = field(repr=False)
    match: Match
    hits: tuple[Hit, ...]
    omitted: int = 0
    held_back: int = 0
    problems: tuple[Problem, ...] = ()
    budget: Spent | None = None

    def items(self) -> Sequence[Item]:
        """Its hits for a budget."""
        return [Item(f"{hit.memory.system}:{hit.memory.id}", hit.text, hit.trimmed is not None) for hit in self.hits]

    def within(self, share: Share) -> SearchResult:
        """The answer with no more than this."""
        hits = tuple(self.hits[portion.number].within(portion) for portion in share.portions)
        return replace(self, hits=hits, problems=self.problems[: share.problems], budget=share.spent)

    def as_json(self) -> dict[str, Any]:
        """`{v, query, match, count, hits, omitted, held_back, problems}`, and `budget` where there was one."""
        shape = {
            "v": 1,
            "query": self.query,
            "match": self.match,
            "count": len(self.hits),
            "hits": [hit.as_json() for hit in self.hits],
            "omitted": self.omitted,
            "held_back": self.held_back,
            "problems": [problem.as_json() for problem in self.problems],
        }
        return shape if self.budget is None else {**shape, "budget": self.budget.as_json()}


def search(
    request: SearchQuery,
    place: Place,
    environment: Environment,
    shelf: Shelf,
    cancellation: Cancellation | None = None,
) -> SearchResult:
    """Search the stores that the place sees, all in one ranking.

    Raises `UsageError` (empty query, limit out of range, a familiar that is no name) and `Cancelled`.
    """
    _check(request)
    for held in (False, False, False, True):  # what is held in memory cannot change under our hands
        sections, problems = _sections(request, place, environment, shelf, cancellation, held=held)
        try:
            result = _found(request, sections, cancellation)
        except EntryChanged:
            for section in sections:
                section.doubt()
        else:
            break
    return fitted(replace(result, problems=tuple(problems)), request.budget)


def _found(request: SearchQuery, sections: Sequence[Section], cancellation: Cancellation | None) -> SearchResult:
    """The answer of what was read. Raises `EntryChanged`."""
    weak = request.include_weak
    scores = scores_of(request.query.strip(), sections, _RANKED, cancellation, include_weak=weak)
    starts = [start for start, _ in numbered(sections)]
    considered = request.limit + _SPARE
    hits: list[Hit] = []
    while True:
        hits += [_hit(score, sections, starts) for score in scores.best[len(hits) : considered]]
        folded = _folded(_in_order_of_succession(hits))
        if len(hits) == len(scores.best):
            break
        if len(folded) >= request.limit and folded[request.limit - 1].score >= scores.best[len(hits)].score:
            break
        considered *= 2
    omitted = len(folded[request.limit :]) + len(scores.best) - len(hits) + scores.beyond
    return SearchResult(request.query, scores.match, tuple(folded[: request.limit]), omitted, scores.held_back)


def _check(request: SearchQuery) -> None:
    if not request.query.strip():
        raise UsageError("The query is empty; say what to search for.")
    if type(request.limit) is not int or not 1 <= request.limit <= LARGEST_LIMIT:
        raise UsageError(f"The limit must be a whole number from 1 to {LARGEST_LIMIT}.")
    if request.budget is not None:
        request.budget.check()


def _sections(
    request: SearchQuery,
    place: Place,
    environment: Environment,
    shelf: Shelf,
    cancellation: Cancellation | None,
    *,
    held: bool,
) -> tuple[list[Section], list[Problem]]:
    """What each system has, and what is broken there."""
    readers: dict[System, Callable[[], Iterator[Section | Problem]]] = {
        "nemp": lambda: _nemp(place, environment, shelf, cancellation),
        "memory": lambda: _agent(place, environment, shelf, cancellation, held=held),
    }
    if request.with_coven:
        readers["coven"] = lambda: _coven(request, environment, cancellation)
    sections: list[Section] = []
    problems: list[Problem] = []
    for system, read in readers.items():
        try:
            for found in read():
                if isinstance(found, Problem):
                    problems.append(found)
                else:
                    sections.append(found)
        except UsageError:
            raise
        except RecallError as failure:
            problems.append(Problem(failure.code, failure.message))
        except OSError as failure:
            message = f"The {system} store did not answer ({failure.strerror or 'input/output error'}); the others did."
            problems.append(Problem("store-failed", message))
        if cancellation is not None:
            cancellation.check()
    return sections, problems


def _nemp(
    place: Place, environment: Environment, shelf: Shelf, cancellation: Cancellation | None
) -> Iterator[Section | Problem]:
    from memory_recall.stores.nemp import find_stores

    for store in shelf.nemp_stores(find_stores(place, environment)):
        yield from store.problems
        ranked = shelf.ranked(store, cancellation)
        if ranked is not None:
            yield _ranked_nemp(store, ranked)
        else:
            held = shelf.held(store)
            yield Section.of_held("nemp", held, partial(_nemp_memory, store), held.titles)


def _ranked_nemp(store: NempStore, ranked: RankedStore) -> Section:
    """The section of a store that is cut into terms: its numbers are those of documents."""

    def naming(text: str, most: int, wanted: Collection[int]) -> Naming:
        numbers, others = ranked.names.shortest(text, most, [int(ranked.memories[document]) for document in wanted])
        return Naming([(int(ranked.documents[number]), ranked.names.folded(number)) for number in numbers], others)

    return Section(
        "nemp",
        ranked.size,
        lambda document: _nemp_memory(store, int(ranked.memories[document])),
        naming=naming,
        parts=lambda: ranked.parts,
    )


def _nemp_memory(store: NempStore, number: int) -> Memory:
    from memory_recall.stores.nemp import as_memory

    return as_memory(store, store.entry(number))


def _agent(
    place: Place, environment: Environment, shelf: Shelf, cancellation: Cancellation | None, *, held: bool
) -> Iterator[Section | Problem]:
    from memory_recall.stores.agent import AgentStore, as_memory

    store = (shelf.held_agent if held else shelf.agent)(place.project, cancellation)
    yield from store.problems
    now = environment.now()
    if not isinstance(store, AgentStore):
        yield Section(
            "memory",
            store.size,
            lambda at: as_memory(store.entry_at(at), now),
            naming=lambda name, _most, _wanted: Naming(
                [(number, without_case(name)) for number in store.numbers_named(name)]
            ),
            parts=lambda: store.whole,
            doubt=store.doubt,
        )
        return
    yield Section.of_held("memory", store.held, lambda at: as_memory(store.entries[at], now), Names(store.memory_ids))


def _coven(
    request: SearchQuery, environment: Environment, cancellation: Cancellation | None
) -> Iterator[Section | Problem]:
    from memory_recall.recall.coven import CovenQuery, recall

    asked = CovenQuery(request.query, familiar=request.familiar, k=_CLAIMS)
    result = recall(asked, environment, cancellation)
    yield from result.problems
    claims = [hit.memory for hit in result.hits]
    documents = [Document(claim.title, claim.text, claim.tags) for claim in claims]
    held, names = HeldDocuments(documents), Names([claim.id for claim in claims])
    yield Section.of_held("coven", held, claims.__getitem__, names, found_elsewhere=True)


def _hit(score: Score, sections: Sequence[Section], starts: Sequence[int]) -> Hit:
    number = section_of(starts, score.index)
    memory = sections[number].memory(score.index - starts[number])
    discount = min((DISCOUNTS.get(standing.code, 1.0) for standing in memory.standings), default=1.0)
    return Hit(memory, score.score * discount, score.words)


def _in_order_of_succession(hits: Sequence[Hit]) -> list[Hit]:
    """By score, except that a successor stands before what it replaced, and takes over the better score of the two.

    The project's memory of a nemp key is in this sense the successor of the global one.
    """
    from memory_recall.recall.coven_order import successors_first

    ranked = sorted(hits, key=lambda hit: -hit.score)
    numbers: dict[tuple[System, str], list[int]] = {}
    for number, hit in enumerate(ranked):
        numbers.setdefault((hit.memory.system, hit.memory.id), []).append(number)
    before: dict[str, list[str]] = {}
    for number, hit in enumerate(ranked):
        system, name = hit.memory.system, hit.memory.id
        replacing = [standing.successor for standing in hit.memory.standings if standing.successor is not None]
        earlier = [other for successor in replacing for other in numbers.get((system, successor), ())]
        if system == "nemp" and hit.memory.provenance.source == "global":
            same = numbers[system, name]
            earlier += [other for other in same if ranked[other].memory.provenance.source == "project"]
        before[str(number)] = [str(other) for other in earlier]
    ordered = [ranked[int(number)] for number in successors_first(list(before), before)]
    best = 0.0
    for number in range(len(ordered) - 1, -1, -1):
        best = max(best, ordered[number].score)
        ordered[number] = replace(ordered[number], score=best)
    return ordered


def _folded(hits: Sequence[Hit]) -> list[Hit]:
    """The hits that say different things, each with the later ones that say the same."""
    memories = [hit.memory for hit in hits]
    return [
        replace(hits[first], also=tuple(memories[number] for number in others)) if others else hits[first]
        for first, *others in groups(memories)
    ]
