"""Ranking by words alone, on segments: what `lexical.py` does on documents.

Owns the answers for callers that need neither meaning nor evidence. There may be 100,000 documents in one: they stay
arrays, and only of those that somebody looks at is it told which words they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import fusion
from memory_recall.ranking.lexical import Score
from memory_recall.ranking.parts import Collection, Doubles, Mask, Numbers
from memory_recall.text import tokens


class Matches(NamedTuple):
    """The documents that answer a question, ascending, and how well: as many scores.

    `question` says which of its words are mentioned where; None where nothing was asked.
    """

    documents: Numbers
    scores: Doubles
    question: fusion.Question | None

    def only(self, wanted: Mask) -> Matches:
        """Those of them in whose place stands True."""
        return self._replace(documents=self.documents[wanted], scores=self.scores[wanted])

    def within(self, begin: int, end: int) -> Matches:
        """Those whose number is from `begin` on and below `end`."""
        first, stop = np.searchsorted(self.documents, (begin, end)).tolist()
        return self._replace(documents=self.documents[first:stop], scores=self.scores[first:stop])

    def having(self, size: int) -> NDArray[np.int32]:
        """How many words of the question each of the documents has. There are so many documents in all."""
        counts = np.zeros(size, np.int32)
        for mentions in self.question.mentions if self.question is not None else ():
            counts[mentions.documents] += 1
        found: NDArray[np.int32] = counts[self.documents]
        return found

    def place_of(self, document: int) -> int | None:
        """Where a document stands among them."""
        place = int(np.searchsorted(self.documents, document))
        return place if place < len(self.documents) and self.documents[place] == document else None

    def score_at(self, place: int) -> Score:
        """What is to be told of one of them."""
        document, words = int(self.documents[place]), []
        for word, mentions in zip(self.question.words, self.question.mentions, strict=True) if self.question else ():
            at = int(np.searchsorted(mentions.documents, document))
            if at < len(mentions.documents) and mentions.documents[at] == document:
                words.append(word.stem)
        return Score(document, float(self.scores[place]), len(words), tuple(words))


NO_MATCHES = Matches(np.zeros(0, np.int64), np.zeros(0), None)


def matches_in(query: str, collection: Collection, cancellation: Cancellation | None = None) -> Matches:
    """What `lexical.rank` ranks. Raises `Cancelled`."""
    words = tokens.analysed(query)
    if not words or not collection.count:
        return NO_MATCHES
    question, documents, scores = fusion.scored_by_words(words, collection, cancellation)
    return Matches(documents, scores, question)


def matches_any_in(words: Sequence[str], collection: Collection, cancellation: Cancellation | None = None) -> Matches:
    """What `lexical.rank_any` ranks. Raises `Cancelled`."""
    asked = tokens.analysed(" ".join(words))
    if not asked or not collection.count:
        return NO_MATCHES
    question, documents, scores = fusion.scored_by_any(asked, collection, cancellation)
    return Matches(documents, scores, question)


def first_of(
    scores: Doubles, positions: NDArray[np.integer], most: int | None, groups: NDArray[np.integer] | None = None
) -> Numbers:
    """The places of the best scores, best first; among equals by position. Of a larger group all come earlier."""
    places = np.arange(len(scores))
    whole = scores if groups is None else scores + 2.0 * groups  # no score is above 1
    if most is not None and most < len(scores):
        least = np.partition(whole, len(whole) - most)[len(whole) - most] if most else np.inf
        places = np.flatnonzero(whole >= least)
    keys = [positions[places], -scores[places], *([] if groups is None else [-groups[places]])]
    chosen: Numbers = places[np.lexsort(keys)][:most]
    return chosen


def rank_in(query: str, collection: Collection, *, cancellation: Cancellation | None = None) -> list[Score]:
    """As `lexical.rank`. Raises `Cancelled`."""
    return scores_of(matches_in(query, collection, cancellation), collection)


def rank_any_in(
    words: Sequence[str], collection: Collection, *, cancellation: Cancellation | None = None
) -> list[Score]:
    """As `lexical.rank_any`. Raises `Cancelled`."""
    return scores_of(matches_any_in(words, collection, cancellation), collection)


def scores_of(matches: Matches, collection: Collection) -> list[Score]:
    """What is to be told of all of them, best first."""
    places = first_of(matches.scores, collection.positions(matches.documents), None)
    return [matches.score_at(place) for place in places.tolist()]
