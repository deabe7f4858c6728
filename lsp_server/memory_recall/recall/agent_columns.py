"""Which entries of an indexed store answer, and in which order: what `agent_search.py` does entry by entry, in arrays.

Pure but for the entries that are returned, which are read from their files.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_recall.ranking.hybrid import rank_parts
from memory_recall.ranking.parts import Collection, Part
from memory_recall.recall.agent_query import AgentQuery
from memory_recall.recall.agent_search import (
    CLOCK_TOLERANCE,
    CONFIDENCE_SHARE,
    RECENCY_HALF_LIFE,
    RECENCY_SHARE,
    UNKNOWN_CONFIDENCE,
    AgentHit,
    Best,
    Counts,
    floor_of,
    has_words,
    to_the_hour,
)
from memory_recall.stores.agent_columns import NEVER, moment_of
from memory_recall.stores.agent_entry import MEMORY_TYPES, SCOPES

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.index.packing import Arrays
    from memory_recall.stores.agent_indexed import IndexedStore

_Floats = NDArray[np.float64]
_Mask = NDArray[np.bool_]

_A_DAY = 86_400_000_000.0


def search(
    request: AgentQuery, store: IndexedStore, now: datetime, cancellation: Cancellation | None
) -> tuple[Counts, tuple[AgentHit, ...]]:
    """The best entries for a question, and what became of the others. Raises `Cancelled` and `EntryChanged`."""
    asked_types = np.array([type_ in request.asked_types for type_ in MEMORY_TYPES])
    scanned = out_of_scope = expired = unsure = 0
    parts: list[Part] = []
    for number, (block, rows) in enumerate(zip(store.state.blocks, store.state.rows, strict=True)):
        if cancellation is not None:
            cancellation.check()
        asked = (rows >= 0) & asked_types[store.state.types[rows]]
        scanned += int(np.count_nonzero(asked))
        columns = block.columns
        if request.scope is not None:
            elsewhere = asked & (columns["scope"] != SCOPES.index(request.scope))
            out_of_scope += int(np.count_nonzero(elsewhere))
            asked &= ~elsewhere
        if not request.include_expired:
            over = asked & _expired(columns, now)
            expired += int(np.count_nonzero(over))
            asked &= ~over
        low = asked & (columns["confidence"] < request.min_confidence)  # an unknown one is not less
        unsure += int(np.count_nonzero(low))
        parts.append(_part(store, number, asked & ~low, now))
    best = _best(request, store, parts, now, cancellation)
    hits = tuple(_hit(store, row, score, now) for score, row in best.scored)
    return Counts(scanned, best.matched, len(hits), best.held_back, expired, unsure, out_of_scope), hits


def _part(store: IndexedStore, number: int, allowed: _Mask, now: datetime) -> Part:
    """What is to be ranked of one block: the one that was ranked last time, where it is the same.

    A part remembers what was counted. For its sake recency is told by the whole hour.
    """
    hour = to_the_hour(now)
    remembered = store.parts.get(number)
    if remembered is not None and remembered[0] == hour and np.array_equal(remembered[1], allowed):
        return remembered[2]
    block, rows = store.state.blocks[number], store.state.rows[number]
    confidence, recency = _standing(block.columns, hour)
    preference = 1.0 - CONFIDENCE_SHARE * (1.0 - confidence) - RECENCY_SHARE * (1.0 - recency)
    part = Part(block.segment, allowed, preference.astype(np.float32), store.state.table.position[rows])
    store.parts[number] = hour, allowed, part
    return part


def _hit(store: IndexedStore, row: int, score: float, now: datetime) -> AgentHit:
    entry = store.entry(row)
    return AgentHit(entry, round(score, 4), entry.is_expired(now))


def _best(
    request: AgentQuery, store: IndexedStore, parts: list[Part], now: datetime, cancellation: Cancellation | None
) -> Best:
    """The best rows. All entries match where the query has no words."""
    if not parts:
        return Best((), 0)
    rows = np.concatenate(store.state.rows)
    if has_words(request):
        floor = floor_of(request)
        ranking = rank_parts(request.query, parts, limit=request.limit, floor=floor, cancellation=cancellation)
        scored = [(score.score, int(rows[score.index])) for score in ranking.scores]
        return Best(scored, ranking.matched, ranking.held_back)
    allowed = Collection(parts).allowed
    position = np.concatenate([part.position for part in parts])
    standing = [_standing(block.columns, now) for block in store.state.blocks]
    score = np.concatenate([(2.0 * confidence + recency) / 3.0 for confidence, recency in standing])
    best = found = np.arange(len(rows)) if allowed is None else np.flatnonzero(allowed)
    if len(found) > request.limit:  # sort only what cannot lie behind the last of the best
        place = len(found) - request.limit
        best = found[score[found] >= np.partition(score[found], place)[place]]
    best = best[np.lexsort((position[best], -score[best]))][: request.limit]
    return Best([(float(score[index]), int(rows[index])) for index in best], len(found))


def _standing(columns: Arrays, now: datetime) -> tuple[_Floats, _Floats]:
    """The confidence and the recency of each document, as far as order is concerned."""
    return np.nan_to_num(columns["confidence"], nan=UNKNOWN_CONFIDENCE), _recency(columns["written"], now)


def _expired(columns: Arrays, now: datetime) -> _Mask:
    dated: _Mask = columns["expires"] != NEVER
    return dated & ~columns["pinned"] & (columns["expires"] < moment_of(now))


def _recency(written: NDArray[np.int64], now: datetime) -> _Floats:
    """1 for an entry written now, half of that every 30 days; 0 where its dates say nothing or lie in the future."""
    days: _Floats = (moment_of(now) - written.astype(np.float64)) / _A_DAY
    recency = np.power(0.5, np.maximum(0.0, days) / RECENCY_HALF_LIFE)
    recency[(written == NEVER) | (days < -CLOCK_TOLERANCE)] = 0.0
    return recency
