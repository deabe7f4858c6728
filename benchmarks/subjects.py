"""What can be measured: a thing that is given documents and a question, and says which documents answer it.

Owns the interface that our ranking and its peers are measured through, and our side of it. Knows no collection and no
measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from memory_recall.ranking import lexical
from memory_recall.ranking.floor import answers
from memory_recall.ranking.held import HeldDocuments
from memory_recall.ranking.hybrid import Floor, rank_parts
from memory_recall.recall.coven_order import successors_first
from memory_recall.recall.everywhere import DISCOUNTS

CONSIDERED = 100
"""How many of the best a search looks at for what superseded them."""


class Document(NamedTuple):
    """A memory as a subject gets it. `key` and `title` may be empty; `superseded_by` is the index of the successor."""

    key: str
    text: str
    tags: tuple[str, ...] = ()
    title: str = ""
    superseded_by: int | None = None

    def flat(self) -> str:
        """All of it as one text, for subjects that know no fields."""
        return "\n".join(filter(None, (self.key, self.title, " ".join(self.tags), self.text)))


class Unavailable(Exception):
    """A subject cannot be measured here; the message says what is missing and how to get it."""


class Subject(Protocol):
    """A search over one store at a time."""

    name: str

    def index(self, documents: Sequence[Document]) -> None:
        """Take a store, in place of the one before."""

    def search(self, query: str, depth: int) -> list[int]:
        """The indices of the documents that answer, best first, at most `depth`; empty where nothing does."""


@runtime_checkable
class HasFloor(Protocol):
    """A subject that holds back what it is not sure of, and can be asked for that as well."""

    def search_without_floor(self, query: str, depth: int) -> list[int]:
        """As `search`, with nothing held back for being a poor answer."""


class Ours:
    """The ranking of memory-recall as a recall of a store asks it, with successors before what they replaced."""

    name = "memory-recall"

    def __init__(self) -> None:
        self._held = HeldDocuments([])
        self._successors: Mapping[int, int] = {}

    def index(self, documents: Sequence[Document]) -> None:
        self._held = HeldDocuments(
            [
                lexical.Document(" ".join(filter(None, (document.key, document.title))), document.text, document.tags)
                for document in documents
            ]
        )
        self._held.segment  # noqa: B018  (made once for a store, and not while a question is timed)
        self._successors = {
            number: document.superseded_by
            for number, document in enumerate(documents)
            if document.superseded_by is not None
        }

    def search(self, query: str, depth: int) -> list[int]:
        return self._ranked(query, depth, answers)

    def search_without_floor(self, query: str, depth: int) -> list[int]:
        return self._ranked(query, depth, None)

    def _ranked(self, query: str, depth: int, floor: Floor | None) -> list[int]:
        ranking = rank_parts(query, self._held.parts, limit=max(CONSIDERED, depth), floor=floor)
        return in_order_of_succession(ranking.scores, self._successors)[:depth]


def in_order_of_succession(scores: Sequence[lexical.Score], successors: Mapping[int, int]) -> list[int]:
    """As a search over everything orders memories: the score of a superseded one is halved, and it stands behind its
    successor, which takes over the better score of the two.
    """
    halved = [(score.score * DISCOUNTS["superseded"] if score.index in successors else score.score) for score in scores]
    by_score = sorted(range(len(scores)), key=lambda place: -halved[place])
    ranked = [scores[place].index for place in by_score]
    before = {str(index): [str(successors[index])] if successors.get(index) in ranked else [] for index in ranked}
    return [int(name) for name in successors_first([str(index) for index in ranked], before)]
