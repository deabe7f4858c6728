"""Near words: which words of a collection mean about what a word of the question means.

Owns which they are and how near. Knows no scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.ranking import meaning
from memory_recall.ranking.parts import Collection, Floats, Part
from memory_recall.ranking.related import related_stems
from memory_recall.ranking.segment import Segment
from memory_recall.text import tokens

LEAST = 0.3
"""The cosine from which on a word is near: unrelated words lie about 0, give or take an eighth."""
MOST = 50
"""How many words are near to a word at most. Words equally near (the same word in several parts) count as one."""

RELATED = 0.65
"""The cosine that stands for a word of the same matter by the table of `related.py`."""
ALIKE = 0.45
"""The cosine from which on a word may stand for another one that nobody has written."""
_TELLING = 3
"""How many letters the pieces of a word must have on average, for something to stand for it: a slip of the fingers has
a vector too, but one that says nothing."""
_REMEMBERED = 1_000
"""Words whose nearest terms a segment remembers, a kilobyte each. People ask with the same words again and again."""
_KEPT = 128
"""How many of the nearest terms it remembers: more than are used, since some may stand in dead documents only."""


class NearTerms(NamedTuple):
    """Terms of one part that are near to a word of the question, the nearest last, and their cosines with it."""

    terms: NDArray[np.uint32]
    cosines: Floats


def near_terms(query: str, stems: Sequence[str], vectors: Floats, collection: Collection) -> list[list[NearTerms]]:
    """For each word of a question, and for each part, the terms nearest to it. Words of its own stem are none of them.

    Only what stands in a document that counts is near. To a word without a vector (a row of zeros) only that is near
    which the table knows.
    """
    related = related_stems(query)
    found: list[list[NearTerms]] = []
    for stem, vector in zip(stems, vectors, strict=True):
        near = _nearest_to(stem, vector, collection) if vector.any() else []
        if stem in related:
            others = [_related(part.segment, related[stem]) for part in collection.parts]
            near = [united(*both) for both in zip(near, others, strict=True)] if near else others
        found.append(near)
    return found


def words_alike(query: str, collection: Collection) -> tuple[str, ...]:
    """The words of a collection that may stand for those of a query, which nobody has written; often none.

    At least half of the query's words must have some: a single one in a longer question is chance.
    """
    table = meaning.load()
    asked = list(dict.fromkeys(word for word in tokens.words(query) if word not in tokens.STOP_WORDS))
    found: dict[str, None] = {}
    answered = 0
    for word, stem, vector in zip(asked, tokens.stems(asked), table.vectors_of(asked), strict=True):
        pieces = table.pieces_of(word)
        if pieces and len(word) >= _TELLING * len(pieces):
            alike = {
                part.segment.term(term)
                for part, (terms, cosines) in zip(collection.parts, _nearest_to(stem, vector, collection), strict=True)
                for term in terms[cosines >= np.float32(ALIKE)].tolist()
            }
            found.update(dict.fromkeys(sorted(alike)))
            answered += bool(alike)
    return tuple(found) if found and 2 * answered >= len(asked) else ()


def _related(segment: Segment, stems: Sequence[str]) -> NearTerms:
    terms = np.array([term for stem in stems for term in segment.terms_of(stem)], np.uint32)
    return NearTerms(np.sort(terms), np.full(len(terms), RELATED, np.float32))


def united(one: NearTerms, other: NearTerms) -> NearTerms:
    """What is near by either measure, the nearest last. A term may stand there twice; its nearest place counts."""
    terms, cosines = np.concatenate([one.terms, other.terms]), np.concatenate([one.cosines, other.cosines])
    order = np.lexsort((terms, cosines))
    return NearTerms(terms[order], cosines[order])


def _nearest_to(stem: str, vector: Floats, collection: Collection) -> list[NearTerms]:
    """The terms nearest to a word with a vector, by part."""
    direction = vector / np.linalg.norm(vector)
    remembered = _remembered(stem, direction, collection)
    chosen = _nearest(remembered, collection)
    forgotten = [float(found.cosines[0]) for found in remembered if len(found.terms) == _KEPT]
    cosines = np.unique(np.concatenate([found.cosines for found in chosen]))
    if forgotten and (len(cosines) < MOST or cosines[0] <= max(forgotten)):
        # So many of the nearest are dead that what was not kept counts as well.
        products = meaning.load().products(direction)
        chosen = _nearest([_found(part.segment, stem, products) for part in collection.parts], collection)
    return chosen


def _remembered(stem: str, direction: Floats, collection: Collection) -> list[NearTerms]:
    """For each part the nearest of all that is near to a word, alive or dead."""
    key = stem, direction.tobytes()
    known = [part.segment.near.get(key) for part in collection.parts]
    products = meaning.load().products(direction) if None in known else None
    near: list[NearTerms] = []
    for part, before in zip(collection.parts, known, strict=True):
        if before is not None:
            near.append(NearTerms(*before))
        elif products is not None:
            terms, cosines = _found(part.segment, stem, products)
            near.append(NearTerms(terms[-_KEPT:].copy(), cosines[-_KEPT:].copy()))
            if len(part.segment.near) >= _REMEMBERED:
                part.segment.near.clear()
            part.segment.near[key] = near[-1]
    return near


def _nearest(near: Sequence[NearTerms], collection: Collection) -> list[NearTerms]:
    """The nearest of what is near in each part, among what stands in a document that counts."""
    distinct = np.unique(np.concatenate([found.cosines for found in near]))[::-1]
    window = MOST
    while True:
        least = distinct[window - 1] if window < len(distinct) else np.float32(LEAST)
        alive = [_alive(part, _from(found, least)) for part, found in zip(collection.parts, near, strict=True)]
        living = np.unique(np.concatenate([found.cosines for found in alive]))
        if len(living) >= MOST:
            return [_from(found, living[-MOST]) for found in alive]
        if window >= len(distinct):
            return alive
        window *= 2


def _found(segment: Segment, stem: str, products: Floats) -> NearTerms:
    """The near terms of a segment, the nearest last, among equals in the order of terms.

    `products` are those of the word with all pieces.
    """
    cosines = meaning.summed(products, segment.near_pieces, segment.near_bounds) * segment.near_scales
    places = np.flatnonzero(cosines >= np.float32(LEAST))
    terms, cosines = segment.near_terms[places], cosines[places]
    own = segment.terms_of(stem)
    order = np.lexsort((terms, cosines))
    order = order[(terms[order] < own.start) | (terms[order] >= own.stop)]
    return NearTerms(terms[order], cosines[order])


def _from(near: NearTerms, least: np.float32) -> NearTerms:
    begin = int(np.searchsorted(near.cosines, least))
    return NearTerms(near.terms[begin:], near.cosines[begin:])


def _alive(part: Part, near: NearTerms) -> NearTerms:
    if part.allowed is None or not len(near.terms):
        return near
    alive = part.living(near.terms)
    return NearTerms(near.terms[alive], near.cosines[alive])
