"""A recall from the Coven store: what was promoted and attested there, verified, in the order of succession.

Read-only by construction: the store is read as bytes, the program that ranks sees a private copy of its index, and
nothing else is opened. The query is given to that program and to nobody else: no message, no note, no problem and no
result of this module holds a word of it.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment
from memory_recall.errors import RecallError, UsageError
from memory_recall.model import Problem
from memory_recall.recall.budget import Budget, Item, Share, Spent, fitted, trimmed_to
from memory_recall.recall.coven_binary import find_binary, search, time_limit
from memory_recall.recall.coven_index import PrivateIndex, private_index
from memory_recall.recall.coven_join import CovenHit, Joined, join
from memory_recall.recall.coven_order import TELLING, by_words, is_row_order, successors_first
from memory_recall.recall.coven_output import PrintedHit, parse_output
from memory_recall.recall.coven_period import Period
from memory_recall.recall.coven_sources import OpenedSource, open_source
from memory_recall.stores.coven import CovenStore, familiar_root, read_store, relative_familiar_root
from memory_recall.stores.coven_manifest import Manifest
from memory_recall.text.dates import utc_seconds

__all__ = ["CovenHit", "CovenQuery", "CovenResult", "OpenedSource", "open_source", "recall"]

NOTHING_PROMOTED = "promotion layer has not run"

Order = Literal["printed", "words", "members"]

_FAMILIAR = re.compile("[A-Za-z0-9_-]{1,128}", re.ASCII)
_MOST_HITS = 20
_FETCHED_A_HIT = 4
_FETCHED_FIRST = 20
_FETCHED_MORE = 5
_FETCHED_MOST = 500
_PROBLEMS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CovenQuery:
    """What is asked. `k` counts claims, 1 to 20; `since` and `until` are ISO dates or times, both inclusive.

    `binary` names the program where PATH should not decide; `timeout` is in seconds; None leaves it to the environment.
    What a `budget` has no room for is not returned.
    """

    query: str = field(repr=False)
    familiar: str = "coven"
    k: int = 5
    since: str | None = None
    until: str | None = None
    verified_only: bool = True
    binary: str | None = None
    familiar_root: Path | None = None
    timeout: float | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class CovenResult:
    """What the store says. `dropped` counts hits and manifest lines that could not be trusted, by reason.

    `filtered` counts claims outside of the period, `omitted` those beyond `k`. `order` says what decided the order: the
    program ("printed"), words ("words"), or first who is among the program's `k` best and then words ("members"); see
    `coven_order`.
    """

    hits: tuple[CovenHit, ...]
    queried_at: str
    manifest_hash: str | None
    dropped_reasons: Mapping[str, int] = field(default_factory=dict)
    filtered: int = 0
    omitted: int = 0
    order: Order = "printed"
    note: str | None = None
    problems: tuple[Problem, ...] = ()
    budget: Spent | None = None

    def items(self) -> Sequence[Item]:
        """Its claims for a budget."""
        return [Item(hit.claim.ulid, hit.snippet, hit.trimmed is not None) for hit in self.hits]

    def within(self, share: Share) -> CovenResult:
        """The answer with no more than this."""
        hits = []
        for portion in share.portions:
            hit = self.hits[portion.number]
            trimmed = trimmed_to(hit.snippet, portion, hit.trimmed)
            hits.append(replace(hit, snippet=hit.snippet if trimmed is None else trimmed.text, trimmed=trimmed))
        return replace(self, hits=tuple(hits), problems=self.problems[: share.problems], budget=share.spent)

    def as_json(self) -> dict[str, Any]:
        """The contract's output, every key in every case; `budget` only where there was one."""
        shape = {
            "v": 1,
            "hits": [hit.as_json() for hit in self.hits],
            "count": len(self.hits),
            "queried_at": self.queried_at,
            "manifest_hash": self.manifest_hash,
            "dropped": sum(self.dropped_reasons.values()),
            "dropped_reasons": dict(self.dropped_reasons),
            "filtered": self.filtered,
            "omitted": self.omitted,
            "order": self.order,
            "note": self.note,
            "problems": [problem.as_json() for problem in self.problems],
        }
        return shape if self.budget is None else {**shape, "budget": self.budget.as_json()}


def recall(request: CovenQuery, environment: Environment, cancellation: Cancellation | None = None) -> CovenResult:
    """Answer one recall.

    Raises `UsageError` (`query-invalid`, `familiar-invalid`, `period-invalid`, `usage`), `Cancelled`, and `RecallError`
    (`manifest-unreadable`, `binary-missing`, `index-missing`, `index-busy`, `index-unreadable`, `binary-failed`,
    `binary-crashed`, `binary-timeout`, `output-unknown`).
    """
    period = _checked(request)
    seconds = request.timeout if request.timeout is not None else time_limit(environment)
    queried_at = utc_seconds(environment.now())
    home = environment.home
    store = read_store(home) if home is not None else None
    if store is not None and store.unreadable is not None:
        raise RecallError("manifest-unreadable", store.unreadable.message)
    if home is None or store is None or store.manifest is None or store.manifest.blank:
        manifest_hash = store.manifest_hash if store is not None else None
        return fitted(CovenResult((), queried_at, manifest_hash, note=NOTHING_PROMOTED), request.budget)
    binary = find_binary(request.binary, environment)
    with private_index(store.root, environment, cancellation) as index:
        deadline = time.monotonic() + seconds
        session = _Session(
            request, period, environment, home, store, store.manifest, binary, index, deadline, cancellation
        )
        answer = session.answer()
    hits = _in_order_of_succession(answer.hits, store.manifest)
    dropped = Counter(answer.joined.dropped)
    dropped.update(store.manifest.skip_reasons)
    ignored = relative_familiar_root(environment) if request.familiar_root is None else None
    if ignored is not None:
        answer.problems.append(Problem("familiar-root-ignored", ignored))
    result = CovenResult(
        hits[: request.k],
        queried_at,
        store.manifest.sha256,
        dropped_reasons=dropped,
        filtered=answer.joined.filtered,
        omitted=max(0, len(hits) - request.k),
        order=answer.order,
        problems=(*answer.problems, *answer.joined.problems, *store.problems)[:_PROBLEMS_SHOWN],
    )
    return fitted(result, request.budget)


def _checked(request: CovenQuery) -> Period:
    if not request.query.strip():
        raise UsageError("The query is empty; say what to recall.", code="query-invalid")
    if not _FAMILIAR.fullmatch(request.familiar):
        raise UsageError(
            "`familiar` is 1 to 128 ASCII letters, digits, `_` and `-`; `coven` is the shared store.",
            code="familiar-invalid",
        )
    if not 1 <= request.k <= _MOST_HITS:
        raise UsageError(f"`k` is a number from 1 to {_MOST_HITS}.")
    if request.budget is not None:
        request.budget.check()
    return Period.between(request.since, request.until)


@dataclass(slots=True)
class _Answer:
    """What the program's starts amount to: the claims, their order, and what went wrong after the first start."""

    joined: Joined
    hits: Sequence[CovenHit]
    order: Order
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class _Session:
    """One recall's use of the program. `deadline` is in the time of `time.monotonic`, for all starts together."""

    request: CovenQuery
    period: Period
    environment: Environment
    home: Path
    store: CovenStore
    manifest: Manifest
    binary: Path
    index: PrivateIndex
    deadline: float
    cancellation: Cancellation | None

    def answer(self) -> _Answer:
        """All claims that were found, nearest first. Raises what `search` raises, for the first start only."""
        joined, printed, problems = self._fetch()
        answer = _Answer(joined, joined.hits, "printed", problems)
        if not is_row_order(printed, self.index.database, self.home, self.request.familiar):
            return answer
        if len(printed) >= TELLING:
            texts = [(hit.claim.title, hit.snippet) for hit in joined.hits]
            answer.hits, answer.order = [joined.hits[at] for at in by_words(self.request.query, texts)], "words"
        if len(joined.hits) > self.request.k:
            try:
                nearest = {hit.claim.ulid for hit in self._joined(self._printed(self.request.k)).hits}
            except RecallError as failure:
                message = (
                    f"Claims may stand too far back or be cut off: which are nearest was not told. {failure.message}"
                )
                problems.append(Problem("nearest-unknown", message))
            else:
                answer.hits = sorted(answer.hits, key=lambda hit: hit.claim.ulid not in nearest)
                answer.order = "members"
        return answer

    def _fetch(self) -> tuple[Joined, Sequence[PrintedHit], list[Problem]]:
        """Enough hits for `k` claims, where the index has them.

        More are fetched than asked for, because chunks of one claim collapse and hits are dropped; and more again where
        that was still too little. What the first start found stands, also where a later one fails.
        """
        count = max(_FETCHED_FIRST, self.request.k * _FETCHED_A_HIT)
        printed = self._printed(count)
        joined = self._joined(printed)
        while len(joined.hits) < self.request.k and len(printed) >= count < _FETCHED_MOST:
            count = min(_FETCHED_MOST, count * _FETCHED_MORE)
            try:
                printed = self._printed(count)
            except RecallError as failure:
                message = f"Claims may be missing from this answer: looking further failed. {failure.message}"
                return joined, printed, [Problem("overfetch-failed", message)]
            joined = self._joined(printed)
        return joined, printed, []

    def _printed(self, count: int) -> Sequence[PrintedHit]:
        request = self.request
        output = search(
            self.binary,
            self.index,
            self.environment,
            query=request.query,
            familiar=request.familiar,
            count=count,
            timeout=max(0.0, self.deadline - time.monotonic()),
            cancellation=self.cancellation,
        )
        return parse_output(output, request.query, request.familiar)

    def _joined(self, printed: Sequence[PrintedHit]) -> Joined:
        return join(
            printed,
            self.store,
            self.manifest,
            query=self.request.query,
            home=self.home,
            period=self.period,
            verified_only=self.request.verified_only,
            familiar_root=familiar_root(self.environment, self.request.familiar_root),
            cancellation=self.cancellation,
        )


def _in_order_of_succession(hits: Sequence[CovenHit], manifest: Manifest) -> tuple[CovenHit, ...]:
    by_ulid = {hit.claim.ulid: hit for hit in hits}
    superseders = {ulid: ledger.superseders for ulid, ledger in manifest.ledgers.items() if ledger.superseders}
    return tuple(by_ulid[ulid] for ulid in successors_first(list(by_ulid), superseders))
