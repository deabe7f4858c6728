"""Where the words of a question are mentioned in segments: as themselves, or by a word near to them.

Owns the walk through the postings. Knows no formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from memory_recall.cancellation import Cancellation
from memory_recall.ranking.layout import IN_TITLE, MOST_FREQUENT
from memory_recall.ranking.nearness import NearTerms
from memory_recall.ranking.parts import Collection, Floats, Numbers, Part
from memory_recall.text import tokens

_NONE = np.zeros(0, np.int64)
_NO_FIGURES = np.zeros(0, np.float32)


class Mentions(NamedTuple):
    """Which documents mention a word of the question, and which one near to it (numbers, each ascending).

    `exact` and `near` are weighted frequencies, of the word itself and of the nearest word; `cosines` say how near.
    """

    documents: Numbers
    exact: Floats
    near_documents: Numbers
    near: Floats
    cosines: Floats


def mentions_of(
    words: Sequence[tokens.QueryWord],
    near: Sequence[Sequence[NearTerms]],
    collection: Collection,
    cancellation: Cancellation | None = None,
) -> list[Mentions]:
    """The mentions of each word. `near` has for each word its near terms by part, or nothing. Raises `Cancelled`."""
    buffers = _Buffers(collection.size)
    found: list[Mentions] = []
    for word, terms in zip(words, near, strict=True):
        if cancellation is not None:
            cancellation.check()
        documents, exact = _exact(word, collection, buffers)
        found.append(Mentions(documents, exact, *_near(terms, collection, buffers)))
    return found


class _Buffers:
    """A place for each document, used for one word after another, and cleared where it was written: most are rare."""

    def __init__(self, size: int) -> None:
        self.marks = np.zeros(size, bool)
        self.frequencies = np.zeros(size, np.float32)
        self.last = np.full(size, -1, np.int32)


def _exact(word: tokens.QueryWord, collection: Collection, buffers: _Buffers) -> tuple[Numbers, Floats]:
    found = list(_own_terms(word, collection))
    if len({offset for _, offset, _ in found}) == len(found):
        return _one_term_each(found, collection)
    for part, offset, term in found:
        documents, frequencies = part.segment.postings(term)
        within = slice(offset, offset + len(part.segment))
        buffers.frequencies[within][documents] += frequencies & MOST_FREQUENT
        buffers.marks[within][documents] = True
    marked = np.flatnonzero(buffers.marks)
    counted = _counting(marked, collection)
    exact = buffers.frequencies[counted]
    buffers.marks[marked] = False
    buffers.frequencies[marked] = 0.0
    return counted, exact


def _one_term_each(found: Sequence[tuple[Part, int, int]], collection: Collection) -> tuple[Numbers, Floats]:
    """The mentions of a word of which each part has one spelling at most: its postings as they are."""
    postings = [(part.segment.postings(term), offset) for part, offset, term in found]
    documents = np.concatenate([held.documents.astype(np.int64) + offset for held, offset in postings] or [_NONE])
    frequencies = np.concatenate([held.frequencies & MOST_FREQUENT for held, _ in postings] or [_NONE])
    if collection.allowed is not None:
        counted = collection.allowed[documents]
        documents, frequencies = documents[counted], frequencies[counted]
    return documents, frequencies.astype(np.float32)


def _near(terms: Sequence[NearTerms], collection: Collection, buffers: _Buffers) -> tuple[Numbers, Floats, Floats]:
    found = []
    for (part, offset), (numbers, cosines) in zip(collection.numbered(), terms, strict=False):
        (documents, frequencies), counts = part.segment.postings_of(numbers)
        found.append((documents.astype(np.int64) + offset, frequencies, np.repeat(cosines, counts)))
    if not found:
        return _NONE, _NO_FIGURES, _NO_FIGURES
    documents, frequencies, cosines = (np.concatenate(columns) for columns in zip(*found, strict=True))
    # Where a document stands more than once, what is written last stays: the nearest word.
    buffers.last[documents] = np.arange(len(documents), dtype=np.int32)
    marked = np.flatnonzero(buffers.last >= 0)
    counted = _counting(marked, collection)
    chosen = buffers.last[counted]
    buffers.last[marked] = -1
    return counted, (frequencies[chosen] & MOST_FREQUENT).astype(np.float32), cosines[chosen]


def _counting(documents: Numbers, collection: Collection) -> Numbers:
    return documents if collection.allowed is None else documents[collection.allowed[documents]]


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
