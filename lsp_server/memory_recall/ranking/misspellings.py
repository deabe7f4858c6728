"""Misspelt words of a question: the terms of a collection that they may be meant for, as near words.

Owns how near a misspelling is. What may be a misspelling at all is `typos.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_recall.ranking import typos
from memory_recall.ranking.nearness import NearTerms, united
from memory_recall.ranking.parts import Collection
from memory_recall.ranking.segment import Segment

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
