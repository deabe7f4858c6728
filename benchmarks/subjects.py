"""What can be measured: a thing that is given documents and a question, and says which documents answer it.

Owns the interface that our ranking and its peers are measured through, and our side of it. Knows no collection and no
measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from memory_recall.ranking import lexical


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
    """The ranking of memory-recall."""

    name = "memory-recall"

    def __init__(self) -> None:
        self._documents: list[lexical.Document] = []

    def index(self, documents: Sequence[Document]) -> None:
        self._documents = [
            lexical.Document(" ".join(filter(None, (document.key, document.title))), document.text, document.tags)
            for document in documents
        ]

    def search(self, query: str, depth: int) -> list[int]:
        return [score.index for score in lexical.rank(query, self._documents)[:depth]]
