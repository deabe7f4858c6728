"""Misspelt words of a question: the terms of a collection that they may be meant for, as near words.

Owns how near a misspelling is. What may be a misspelling at all is `typos.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_recall.ranking import typos
from memory_recall.ranking.nearness import NearTerms, united
from memory_recall.ranking.parts import Collection, Part
from memory_recall.ranking.segment import Segment
from memory_recall.text import tokens

MOST_WORDS = 8
"""Unknown words of the longest question that is guessed at: who pastes a page has misspelt little of it."""


def with_misspellings(
    unknown: Sequence[int], written: Sequence[str], near: Sequence[Sequence[NearTerms]], collection: Collection
) -> dict[int, list[NearTerms]]:
    """What is near to those unknown words of a question (by number) that may be misspelt, the right words among it.

    A misspelling is as near as the share of its letters that are right: its cosine is the root of that, since what is
    near counts by the square.
    """
    guessable = [number for number in unknown if typos.is_guessable(written[number])]
    found: dict[int, list[NearTerms]] = {}
    for number in guessable if len(guessable) <= MOST_WORDS else ():
        terms = [_misspelt(written[number], part.segment) for part in collection.parts]
        if any(len(term.terms) for term in terms):
            others = near[number] or [NearTerms(term.terms[:0], term.cosines[:0]) for term in terms]
            found[number] = [united(*both) for both in zip(others, terms, strict=True)]
    return found


def _misspelt(word: str, segment: Segment) -> NearTerms:
    terms, edits = segment.misspelt(word)
    return NearTerms(terms, np.sqrt(1.0 - edits.astype(np.float32) / np.float32(len(word))))


def nearest_word(word: str, collection: Collection) -> str | None:
    """The word of documents that count, or the stem of one, that a word is most likely a misspelling of.

    The nearest; among equals a word before a stem, and the one that comes first by the alphabet.
    """
    words: list[tuple[int, str]] = []
    stems: dict[str, tuple[int, str]] = {}
    for part in collection.parts:
        segment = part.segment
        words += [(edits, text) for term, edits in segment.words_misspelt(word) for text in _written(part, [term])]
        for stem, terms, edits in segment.stems_misspelt(word):
            for text in _written(part, terms):
                stems[stem] = min(stems.get(stem, (edits, text)), (edits, text))
    nearest = min(words, default=None)
    of_stems = min(((edits, text, stem) for stem, (edits, text) in stems.items()), default=None)
    if of_stems is not None and (nearest is None or of_stems[0] < nearest[0]):
        return of_stems[2]
    return None if nearest is None else nearest[1]


def _written(part: Part, terms: Sequence[int]) -> list[str]:
    """How these words are written, as far as they are no stop words and stand in a document that counts."""
    numbers = np.array(terms, np.uint32)
    texts = [part.segment.term(term) for term in numbers[part.living(numbers)].tolist()]
    return [text for text in texts if text not in tokens.STOP_WORDS]
