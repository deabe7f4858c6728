"""Where the words of a question are mentioned in segments: as themselves, or by a word near to them.

Owns the walk through the postings. Knows no formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from memory_recall.cancellation import Cancellation
from memory_recall.ranking.layout import IN_TITLE, MOST_FREQUENT
from memory_recall.ranking.nearness import NearTerm
from memory_recall.ranking.parts import Collection, Floats, Numbers, Part
from memory_recall.text import tokens


class Mentions(NamedTuple):
    """The documents (numbers, ascending) that mention a word of the question or one near to it.

    `exact` and `near` are weighted frequencies, of the word itself and of the nearest word; `cosines` say how near.
    """

    documents: Numbers
    exact: Floats
    near: Floats
    cosines: Floats


def mentions_of(
    words: Sequence[tokens.QueryWord],
    near: Sequence[Sequence[NearTerm]],
    collection: Collection,
    cancellation: Cancellation | None = None,
) -> list[Mentions]:
    """The mentions of each word. `near` has for each word its near terms, the nearest last. Raises `Cancelled`."""
    # One buffer for each kind of number, cleared where it was written: a question has many words, and most are rare.
    exact, close, cosines = (np.zeros(collection.size, np.float32) for _ in range(3))
    found: list[Mentions] = []
    for word, terms in zip(words, near, strict=True):
        if cancellation is not None:
            cancellation.check()
        for part, offset, term in _own_terms(word, collection):
            documents, frequencies = part.segment.postings(term)
            exact[offset : offset + len(part.segment)][documents] += frequencies & MOST_FREQUENT
        for number, term, cosine in terms:
            part, offset = collection.parts[number], collection.offsets[number]
            documents, frequencies = part.segment.postings(term)
            within = slice(offset, offset + len(part.segment))
            cosines[within][documents] = cosine  # the nearest comes last and stays
            close[within][documents] = frequencies & MOST_FREQUENT
        touched = np.flatnonzero((exact > 0) | (cosines > 0)) if terms else np.flatnonzero(exact)
        counted = touched if collection.allowed is None else touched[collection.allowed[touched]]
        found.append(Mentions(counted, exact[counted], close[counted], cosines[counted]))
        for buffer in (exact, close, cosines):
            buffer[touched] = 0.0
    return found


def in_titles(words: Sequence[tokens.QueryWord], collection: Collection) -> bool:
    """Whether some document that counts has all the words in its title."""
    common: Numbers | None = None
    for word in words:
        holding: list[Numbers] = []
        for part, offset, term in _own_terms(word, collection):
            documents, frequencies = part.segment.postings(term)
            chosen = documents[(frequencies & IN_TITLE) > 0]
            if part.allowed is not None:
                chosen = chosen[part.allowed[chosen]]
            holding.append(chosen.astype(np.int64) + offset)
        held = np.unique(np.concatenate(holding)) if holding else np.zeros(0, np.int64)
        common = held if common is None else np.intersect1d(common, held, assume_unique=True)
        if not len(common):
            return False
    return common is not None


def _own_terms(word: tokens.QueryWord, collection: Collection) -> Iterator[tuple[Part, int, int]]:
    """The terms that are the word itself or a joined name it is part of, in each part, with the part's offset."""
    for part, offset in collection.numbered():
        for stem in (word.stem, *word.joined):
            for term in part.segment.terms_of(stem):
                yield part, offset, term
