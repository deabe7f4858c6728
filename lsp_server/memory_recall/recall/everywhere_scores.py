"""The memories of several stores as one list of numbers, and how well each answers a question.

Owns what a store is to a search (a section), and its scores: by words, by name, by related terms, by index where there
is one. Knows no store but by what is handed to it, and does not order, fold or show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from memory_recall.cancellation import Cancellation
from memory_recall.model import Memory, System
from memory_recall.ranking.lexical import Document, Score, rank
from memory_recall.text.tokens import words

if TYPE_CHECKING:
    from memory_recall.stores.agent_indexed import IndexedStore

NAMED, PART_OF_NAME = 1.0, 0.5
"""The score of a memory whose name is the query, and the least of a nemp memory whose key contains it."""
CLAIM_WITHOUT_WORDS = 0.2
"""The score of a claim that Coven found by meaning. Its own figures compare with nothing, and may be another hit's."""
_CHECK_EVERY = 1_000

Match = Literal["named", "words", "related", "none"]


@dataclass(frozen=True, slots=True)
class Section:
    """The memories of one store, by number. `memory` makes the noun, which most of them never need.

    Of a store that is `indexed` the documents and ids are not held; its numbers then count through its blocks.
    """

    system: System
    documents: Sequence[Document]
    ids: Sequence[str]
    memory: Callable[[int], Memory]
    found_elsewhere: bool = False
    indexed: IndexedStore | None = None

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.documents) if self.indexed is None else sum(block.size for block in self.indexed.state.blocks)


def scores_of(
    query: str, sections: Sequence[Section], considered: int, cancellation: Cancellation | None
) -> tuple[Match, list[Score], int]:
    """The scores of the memories that answer, best first, and how many answer beyond them.

    An `index` counts through all sections. All stores are ranked as one, so that a word weighs the same in each of
    them.
    """
    if any(section.indexed is not None for section in sections):
        ranked, beyond = _ranked_by_index(query, sections, considered, cancellation)
    else:
        documents = [document for section in sections for document in section.documents]
        ranked, beyond = rank(query, documents, cancellation=cancellation), 0
    by_index = {score.index: score for score in ranked}
    match: Match = "words" if by_index else "none"
    for index, score in _named(query, sections, cancellation):
        known = by_index.get(index, Score(index, 0.0, 0, ()))
        by_index[index] = replace(known, score=max(known.score, score))
        match = "named" if score == NAMED else "words" if match == "none" else match
    if not by_index:
        from memory_recall.ranking.widened import rank_widened

        held = [(start, section) for start, section in numbered(sections) if section.indexed is None]
        numbers = [number for start, section in held for number in _range(start, section)]
        documents = [document for _, section in held for document in section.documents]
        widened = rank_widened(query, documents, cancellation=cancellation)
        by_index = {numbers[score.index]: replace(score, index=numbers[score.index]) for score in widened}
        match = "related" if by_index else "none"
    for start, section in numbered(sections):
        for index in _range(start, section) if section.found_elsewhere else ():
            by_index.setdefault(index, Score(index, CLAIM_WITHOUT_WORDS, 0, ()))
            match = "related" if match == "none" else match
    return match, sorted(by_index.values(), key=lambda score: (-score.score, score.index)), beyond


def _ranked_by_index(
    query: str, sections: Sequence[Section], considered: int, cancellation: Cancellation | None
) -> tuple[Sequence[Score], int]:
    """The best scores of stores one of which is indexed, and how many memories answer beyond them."""
    from memory_recall.ranking.hybrid import rank_parts
    from memory_recall.ranking.parts import Part
    from memory_recall.ranking.segment import Segment

    parts: list[Part] = []
    for section in sections:
        if section.indexed is not None:
            parts += section.indexed.whole
        else:
            parts.append(Part(Segment.build(section.documents, cancellation=cancellation)))
    ranking = rank_parts(query, parts, limit=considered, cancellation=cancellation)
    return ranking.scores, ranking.matched - len(ranking.scores)


def numbered(sections: Sequence[Section]) -> Iterator[tuple[int, Section]]:
    """The sections, each with the index of its first memory."""
    start = 0
    for section in sections:
        yield start, section
        start += section.size


def _range(start: int, section: Section) -> range:
    return range(start, start + section.size)


def _named(query: str, sections: Sequence[Section], cancellation: Cancellation | None) -> Iterator[tuple[int, float]]:
    """The memories that the query names: by id, or (nemp) by a part of the key, which counts by its share of it.

    A part must have a word in it: every other key contains a hyphen.
    """
    wanted = query.casefold()
    names_parts = bool(words(query))
    for start, section in numbered(sections):
        if section.indexed is not None:
            yield from ((start + number, NAMED) for number in section.indexed.numbers_named(query))
        for index, name in enumerate(section.ids, start):
            if cancellation is not None and not index % _CHECK_EVERY:
                cancellation.check()
            folded = name.casefold()
            if folded == wanted:
                yield index, NAMED
            elif names_parts and section.system == "nemp" and wanted in folded:
                yield index, PART_OF_NAME + (NAMED - PART_OF_NAME) * len(wanted) / (len(folded) + 1)
