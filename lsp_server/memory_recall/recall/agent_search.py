"""Which entries answer a question, and in which order. Pure: a store that was read, a question, a moment; no disk.

Relevance ranks. Confidence and recency move it by so little that they decide between near-equals only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory_recall.recall.agent_query import AgentQuery
from memory_recall.stores.agent import AgentEntry, AgentStore
from memory_recall.text.dates import days_between, parse_moment

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
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
    """What became of the entries of the types asked for. Each entry is counted under the first filter that it fails."""

    scanned: int
    matched: int = 0
    returned: int = 0
    expired_skipped: int = 0
    low_confidence_skipped: int = 0
    scope_filtered_skipped: int = 0

    def as_json(self) -> dict[str, int]:
        """All six, under their names."""
        return {
            "scanned": self.scanned,
            "matched": self.matched,
            "returned": self.returned,
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
    matched, best = _best(request, store, kept, now, cancellation)
    hits = tuple(
        AgentHit(store.entries[index], round(score, 4), store.entries[index].is_expired(now)) for score, index in best
    )
    return Counts(len(scanned), matched, len(hits), expired, unsure, out_of_scope), hits


def _best(
    request: AgentQuery, store: AgentStore, kept: list[int], now: datetime, cancellation: Cancellation | None
) -> tuple[int, list[tuple[float, int]]]:
    """How many entries match (all of them where the query has no words), and the scores and indices of the best."""
    from memory_recall.ranking.lexical import rank

    if has_words(request):
        scores = rank(request.query, [store.documents[index] for index in kept], cancellation=cancellation)
        matched = len(scores)
        # What lies further below the last of the best than confidence and recency can lift it need not be looked at.
        least = (
            scores[min(request.limit, matched) - 1].score * (1.0 - CONFIDENCE_SHARE - RECENCY_SHARE) if scores else 0
        )
        near = [(score.score, kept[score.index]) for score in scores if score.score >= least]
        found = [(relevance * _preference(store.entries[index], now), index) for relevance, index in near]
    else:
        matched = len(kept)
        found = [(_standing_alone(store.entries[index], now), index) for index in kept]
    found.sort(key=lambda scored: (-scored[0], scored[1]))
    return matched, found[: request.limit]


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
