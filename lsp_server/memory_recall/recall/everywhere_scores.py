"""The memories of several stores as one list of numbers, and how well each answers a question.

Owns what a store is to a search (a section), and its scores: by words and meaning, and by name. All stores are ranked
as one, so that a word weighs the same in each of them. Knows no store but by what is handed to it, and does not order,
fold or show.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from memory_recall.cancellation import Cancellation
from memory_recall.model import Memory, System
from memory_recall.ranking.floor import answers
from memory_recall.ranking.hybrid import Ranking, certain_answer, rank_parts
from memory_recall.ranking.lexical import Score
from memory_recall.text.names import without_case
from memory_recall.text.tokens import words

if TYPE_CHECKING:
    from memory_recall.ranking.held import HeldDocuments
    from memory_recall.ranking.parts import Part
    from memory_recall.text.names import Names

NAMED, PART_OF_NAME = 1.0, 0.5
"""The score of a memory whose name is the query, and the least of a nemp memory whose key contains it."""
CLAIM_WITHOUT_WORDS = 0.2
"""The score of a claim that Coven found by meaning. Its own figures compare with nothing, and may be another hit's."""

Match = Literal["named", "words", "related", "none"]


class Naming(NamedTuple):
    """Names that contain a text, folded, with their numbers; and how many others do that are no better."""

    found: Iterable[tuple[int, str]]
    others: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """The memories of one store, by number. `memory` makes the noun, which most of them never need.

    `naming` gives the names that contain a text, whatever the case, with their numbers: the shortest, as many as are
    wanted, and those of the given numbers; or more. `parts` is what is ranked by
    meaning; its numbers are those of the memories, one part after the other. `held` are the memories as texts, where
    they are. `doubt` is told that a memory was found changed. What was `found_elsewhere` answers in any case.
    """

    system: System
    size: int
    memory: Callable[[int], Memory]
    naming: Callable[[str, int, Collection[int]], Naming]
    parts: Callable[[], Sequence[Part]]
    held: HeldDocuments | None = None
    doubt: Callable[[], None] = lambda: None
    found_elsewhere: bool = False

    @classmethod
    def of_held(
        cls,
        system: System,
        held: HeldDocuments,
        memory: Callable[[int], Memory],
        names: Names,
        *,
        found_elsewhere: bool = False,
    ) -> Section:
        """The section of a store whose memories are held."""
        return cls(
            system,
            len(held.documents),
            memory,
            naming=lambda text, _most, _wanted: Naming(names.containing(text)),
            parts=lambda: held.parts,
            held=held,
            found_elsewhere=found_elsewhere,
        )


@dataclass(frozen=True, slots=True)
class Scores:
    """The best scores, best first; an `index` counts through all sections.

    `beyond` counts the memories that answer and are not among them, `held_back` those that answer too poorly.
    """

    match: Match
    best: Sequence[Score]
    beyond: int = 0
    held_back: int = 0


def scores_of(
    query: str,
    sections: Sequence[Section],
    considered: int,
    cancellation: Cancellation | None,
    *,
    include_weak: bool = False,
) -> Scores:
    """How well the memories of all sections answer. Raises `Cancelled`."""
    ranking = _ranked(query, sections, considered, cancellation, include_weak=include_weak)
    by_index = {score.index: score for score in ranking.scores}
    match: Match = "none" if not by_index else "words" if any(score.words for score in ranking.scores) else "related"
    named = _named(query, sections, considered, {*by_index, *ranking.refused}, cancellation)
    for index, score in named.found:
        known = by_index.get(index, Score(index, 0.0, 0, ()))
        by_index[index] = replace(known, score=max(known.score, score))
        match = "named" if score == NAMED else "words" if match != "named" else match
    for start, section in numbered(sections):
        for index in range(start, start + section.size) if section.found_elsewhere else ():
            by_index.setdefault(index, Score(index, CLAIM_WITHOUT_WORDS, 0, ()))
            match = "related" if match == "none" else match
    revived = len(ranking.refused.intersection(by_index))
    starts = [start for start, _ in numbered(sections)]
    best = sorted(by_index.values(), key=lambda score: (-score.score, section_of(starts, score.index)))
    beyond = ranking.matched - ranking.held_back - len(ranking.scores) + len(best[considered:]) + named.others
    return Scores(match, best[:considered], beyond, ranking.held_back - revived)


def numbered(sections: Sequence[Section]) -> Iterator[tuple[int, Section]]:
    """The sections, each with the index of its first memory."""
    return zip(accumulate((section.size for section in sections), initial=0), sections, strict=False)


def section_of(starts: Sequence[int], index: int) -> int:
    """The number of the section that an index lies in. Empty sections hold none."""
    return bisect_right(starts, index) - 1


def _ranked(
    query: str,
    sections: Sequence[Section],
    considered: int,
    cancellation: Cancellation | None,
    *,
    include_weak: bool,
) -> Ranking:
    """The best by words and meaning; by words alone where that is certain and meaning would have to be made."""
    held = [section.held for section in sections if section.held is not None]
    if len(held) == len(sections) and not all(documents.is_cut for documents in held):
        together = [document for documents in held for document in documents.documents]
        certain = certain_answer(query, together, limit=considered, cancellation=cancellation)
        if certain is not None:
            return certain
    parts = [part for section in sections for part in section.parts()]
    floor = None if include_weak else answers
    return rank_parts(query, parts, limit=considered, floor=floor, cancellation=cancellation) if parts else Ranking()


class _Named(NamedTuple):
    """Memories by index, and the score that each has by its name; how many others are named besides."""

    found: Sequence[tuple[int, float]]
    others: int


def _named(
    query: str,
    sections: Sequence[Section],
    considered: int,
    known: Collection[int],
    cancellation: Cancellation | None,
) -> _Named:
    """The memories that the query names: by id, or (nemp) by a part of the key, which counts by its share of it.

    The best, and those that are known. A part must have a word in it: every other key contains a hyphen.
    """
    wanted = without_case(query)
    names_parts = bool(words(query))
    scores: list[tuple[int, float]] = []
    others = 0
    for start, section in numbered(sections):
        if cancellation is not None:
            cancellation.check()
        counts_parts = names_parts and section.system == "nemp"
        own = [index - start for index in known if start <= index < start + section.size]
        naming = section.naming(query, considered, own)
        for number, name in naming.found:
            if name == wanted:
                scores.append((start + number, NAMED))
            elif counts_parts:
                share = len(wanted) / (len(name) + 1)
                scores.append((start + number, PART_OF_NAME + (NAMED - PART_OF_NAME) * share))
        others += naming.others if counts_parts else 0
    return _Named(scores, others)
