"""A question to the memories of one project, and which questions can be meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from memory_recall.errors import UsageError
from memory_recall.recall.agent_runs import check_run_id
from memory_recall.stores.agent import MEMORY_TYPES, SCOPES, MemoryType

if TYPE_CHECKING:
    from memory_recall.recall.budget import Budget

MOST = 50
"""The largest limit."""

Notify = Literal["always", "failures", "never"]


@dataclass(frozen=True, slots=True)
class AgentQuery:
    """A question to the memories of one project.

    `types` and `scope` None mean all. `include_weak` returns what answers poorly, too. `run_id` None has one made.
    `parent` is who is told; None: the environment's `MEMORY_RECALL_PARENT`, else `coordinator`. What a `budget` has no
    room for is not returned.
    """

    query: str
    limit: int = 5
    types: tuple[str, ...] | None = None
    min_confidence: float = 0.3
    scope: str | None = None
    include_expired: bool = False
    include_weak: bool = False
    run_id: str | None = None
    parent: str | None = None
    notify: str = "always"
    budget: Budget | None = None

    @property
    def asked_types(self) -> tuple[MemoryType, ...]:
        """The types to search, in the order of the directories."""
        return MEMORY_TYPES if self.types is None else tuple(type_ for type_ in MEMORY_TYPES if type_ in self.types)

    def filters_as_json(self) -> dict[str, Any]:
        """What was asked for, as either record holds it."""
        return {
            "query": self.query,
            "types": list(self.asked_types),
            "min_confidence": self.min_confidence,
            "limit": self.limit,
            "scope": self.scope,
            "include_expired": self.include_expired,
            "include_weak": self.include_weak,
        }


def check(request: AgentQuery) -> None:
    """Raise `UsageError`, with a sentence, for a question that cannot be meant."""
    if isinstance(request.limit, bool) or not isinstance(request.limit, int) or not 1 <= request.limit <= MOST:
        raise UsageError(f"The limit is a whole number from 1 to {MOST}.")
    least = request.min_confidence
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise UsageError("The minimum confidence is a number from 0 to 1.")
    if request.types is not None and (not request.types or not set(request.types) <= set(MEMORY_TYPES)):
        raise UsageError(f"The types are one or more of {', '.join(MEMORY_TYPES)}.")
    if request.scope is not None and request.scope not in SCOPES:
        raise UsageError(f"The scope is one of {', '.join(SCOPES)}.")
    if request.notify not in get_args(Notify):
        raise UsageError(f"Notify is one of {', '.join(get_args(Notify))}.")
    if request.parent is not None and not request.parent.strip():
        raise UsageError("The parent is the name of whoever is to be told, and not empty.")
    if request.run_id is not None:
        check_run_id(request.run_id)
    if request.budget is not None:
        request.budget.check()
