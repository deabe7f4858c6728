"""Which entries answer a question, and in which order. Pure: a store that was read, a question, a moment; no disk.

Relevance ranks. Confidence and recency move it by so little that they decide between near-equals only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_recall.recall.agent_query import AgentQuery
from memory_recall.stores.agent import AgentEntry, AgentStore
from memory_recall.text.dates import days_between, parse_moment

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.ranking.hybrid import Floor, Ranking
    from memory_recall.recall.budget import Trimmed

CONFIDENCE_SHARE, RECENCY_SHARE = 0.03, 0.02
"""How far confidence and recency may move a relevance: together by 5 %."""
UNKNOWN_CONFIDENCE = 0.5
"""What an entry without a confidence counts as where order is concerned. It is shown as unknown."""
RECENCY_HALF_LIFE = 30.0
"""Days after which an entry's recency is half of a new one's."""
CLOCK_TOLERANCE = 1.0
"""Days that a date may lie ahead of us before it is taken for a mistake."""

_CHECK_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class AgentHit:
    """An entry that answers. `score` is from 0 to 1; it says how well against the other hits of this answer."""

    entry: AgentEntry
    score: float
    expired: bool
    trimmed: Trimmed | None = None

    @property
    def content(self) -> str:
        """What of the entry's content is given."""
        return self.entry.content if self.trimmed is None else self.trimmed.text

    def as_json(self) -> dict[str, Any]:
        """The contract's members of a memory, and what a reader wants to see beside them.

        `trimmed` stands there only where `content` is the beginning of a longer text.
        """
        entry = self.entry
        shape = {
            "memory_id": entry.memory_id,
            "type": entry.type,
            "title": entry.title,
            "content": self.content,
            "tags": list(entry.tags),
            "confidence": entry.confidence,
            "score": self.score,
            "created_at": entry.created_at,
            "path": entry.file,
            "line": 1,
            "scope": entry.scope,
            "pinned": entry.pinned,
            "expires_at": entry.expires_at,
            "expired": self.expired,
            "updated_at": entry.updated_at,
        }
        return shape if self.trimmed is None else {**shape, "trimmed": self.trimmed.as_json()}


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the entries of the types asked for. Each entry is counted under the first filter that it fails.

    `held_back` are those of the matched ones that answer too poorly to be returned, whatever the limit.
    """

    scanned: int
    matched: int = 0
    returned: int = 0
    held_back: int = 0
    expired_skipped: int = 0
    low_confidence_skipped: int = 0
    scope_filtered_skipped: int = 0

    def as_json(self) -> dict[str, int]:
        """All seven, under their names."""
        return {
            "scanned": self.scanned,
            "matched": self.matched,
            "returned": self.returned,
            "held_back": self.held_back,
            "expired_skipped": self.expired_skipped,
            "low_confidence_skipped": self.low_confidence_skipped,
            "scope_filtered_skipped": self.scope_filtered_skipped,
        }


def has_words(request: AgentQuery) -> bool:
    """Whether there is anything to search by: a query of stop words and signs ranks by confidence and recency."""
    from memory_recall.text.tokens import query_words

    return bool(query_words(request.query))


def search(
    request: AgentQuery, store: AgentStore, now: datetime, cancellation: Cancellation | None
) -> tuple[Counts, tuple[AgentHit, ...]]:
    """The best entries for a question, and what became of the others. Raises `Cancelled`.

    Filters in the order scope, expired, confidence; an entry whose confidence is unknown passes.
    """
    types = request.asked_types
    scanned = [index for index, entry in enumerate(store.entries) if entry.type in types]
    kept: list[int] = []
    out_of_scope = expired = unsure = 0
    for count, index in enumerate(scanned):
        if cancellation is not None and count % _CHECK_EVERY == 0:
            cancellation.check()
        entry = store.entries[index]
        if request.scope is not None and entry.scope != request.scope:
            out_of_scope += 1
        elif not request.include_expired and entry.is_expired(now):
            expired += 1
        elif entry.confidence is not None and entry.confidence < request.min_confidence:
            unsure += 1
        else:
            kept.append(index)
    best = _best(request, store, kept, now, cancellation)
    hits = tuple(
        AgentHit(store.entries[index], round(score, 4), store.entries[index].is_expired(now))
        for score, index in best.scored
    )
    return Counts(len(scanned), best.matched, len(hits), best.held_back, expired, unsure, out_of_scope), hits


class Best(NamedTuple):
    """The scores and numbers of the best entries, best first; how many match; how many of those are held back."""

    scored: Sequence[tuple[float, int]]
    matched: int
    held_back: int = 0


def floor_of(request: AgentQuery) -> Floor | None:
    """What decides which of the best entries are answers; None where all are asked for."""
    from memory_recall.ranking.floor import answers

    return None if request.include_weak else answers


def to_the_hour(now: datetime) -> datetime:
    """The moment from which recency is told, so that what is ranked can be kept: it moves no score by 0.00002."""
    return now.replace(minute=0, second=0, microsecond=0)


def _best(
    request: AgentQuery, store: AgentStore, kept: list[int], now: datetime, cancellation: Cancellation | None
) -> Best:
    """All entries match where the query has no words."""
    if not has_words(request):
        alone = [(_standing_alone(store.entries[index], now), index) for index in kept]
        alone.sort(key=lambda scored: (-scored[0], scored[1]))
        return Best(alone[: request.limit], len(kept))
    from memory_recall.ranking.hybrid import certain_answer

    weights = [_preference(store.entries[index], to_the_hour(now)) for index in kept]
    documents = [store.documents[index] for index in kept]
    ranking = certain_answer(request.query, documents, weights=weights, limit=request.limit, cancellation=cancellation)
    if ranking is not None:
        scored = [(score.score, kept[score.index]) for score in ranking.scores]
    else:
        ranking = _by_meaning(request, store, kept, weights, cancellation)
        scored = [(score.score, score.index) for score in ranking.scores]
    return Best(scored, ranking.matched, ranking.held_back)


def _by_meaning(
    request: AgentQuery,
    store: AgentStore,
    kept: Sequence[int],
    weights: Sequence[float],
    cancellation: Cancellation | None,
) -> Ranking:
    """The answer of the entries that are kept, by their numbers in the store."""
    import numpy as np

    from memory_recall.ranking.hybrid import rank_parts
    from memory_recall.ranking.parts import Part

    allowed, factors = np.zeros(store.count, bool), np.ones(store.count, np.float32)
    allowed[kept], factors[kept] = True, weights
    part = Part(store.held.segment, allowed, factors)
    return rank_parts(request.query, [part], limit=request.limit, floor=floor_of(request), cancellation=cancellation)


def _preference(entry: AgentEntry, now: datetime) -> float:
    """The factor by which confidence and recency move a relevance: from 0.95 to 1."""
    return 1.0 - CONFIDENCE_SHARE * (1.0 - _confidence(entry)) - RECENCY_SHARE * (1.0 - _recency(entry, now))


def _standing_alone(entry: AgentEntry, now: datetime) -> float:
    """The score of an entry that was not asked for by words: two parts confidence, one part recency."""
    return (2.0 * _confidence(entry) + _recency(entry, now)) / 3.0


def _confidence(entry: AgentEntry) -> float:
    return UNKNOWN_CONFIDENCE if entry.confidence is None else entry.confidence


def _recency(entry: AgentEntry, now: datetime) -> float:
    """1 for an entry written now, half of that every 30 days; 0 where its dates say nothing or lie in the future."""
    written = parse_moment(entry.updated_at) or parse_moment(entry.created_at)
    if written is None or days_between(now, written) > CLOCK_TOLERANCE:
        return 0.0
    return math.pow(0.5, days_between(written, now) / RECENCY_HALF_LIFE)
