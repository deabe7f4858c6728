"""Ranking by words alone, on segments: what `lexical.py` does on documents.

Owns the answers for callers that need neither meaning nor evidence. All documents of an answer are counted and in
order; what they have of the question is only told of those that somebody looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import fusion
from memory_recall.ranking.lexical import Score
from memory_recall.ranking.parts import Collection, Doubles, Numbers
from memory_recall.text import tokens

_ROUNDING = 1e-9


class Answers(NamedTuple):
    """All documents of an answer by number, best first, and their scores."""

    documents: Numbers
    scores: Doubles
    question: fusion.Question | None = None

    def shown(self, places: Sequence[int] | Numbers) -> list[Score]:
        """What is to be told of the documents in these places."""
        if self.question is None or not len(places):
            return []
        documents, values = self.documents[places], self.scores[places]
        answer = fusion.Answer(self.question, documents, values, np.zeros(0, np.float32), 0, 0)
        stems = [word.stem for word in self.question.words]
        scores: list[Score] = []
        found = fusion.shares_of(answer).found
        for index, score, row in zip(documents.tolist(), values.tolist(), found, strict=True):
            words = tuple(stems[column] for column in row.nonzero()[0])
            scores.append(Score(index, score, len(words), words))
        return scores

    def all(self) -> list[Score]:
        """What is to be told of every document."""
        return self.shown(range(len(self.documents)))


NOTHING = Answers(np.zeros(0, np.int64), np.zeros(0))


def answers_in(query: str, collection: Collection, *, cancellation: Cancellation | None = None) -> Answers:
    """The answer of `lexical.rank`. Raises `Cancelled`."""
    words = tokens.analysed(query)
    return _answers(fusion.by_words(words, collection, None, cancellation)) if words and collection.count else NOTHING


def answers_any_in(
    words: Sequence[str], collection: Collection, *, cancellation: Cancellation | None = None
) -> Answers:
    """The answer of `lexical.rank_any`. Raises `Cancelled`."""
    question = tokens.analysed(" ".join(words))
    return _answers(fusion.by_any(question, collection, cancellation)) if question and collection.count else NOTHING


def most_words_first(
    query: str,
    collection: Collection,
    most: int,
    without: Iterable[int] = (),
    *,
    cancellation: Cancellation | None = None,
) -> tuple[list[Score], int]:
    """The answer of `lexical.rank` without some documents, those with more of the words first: the first, and how many.

    Raises `Cancelled`.
    """
    words = tokens.analysed(query)
    if not words or not collection.count:
        return [], 0
    question, documents, scores = fusion.scored_by_words(words, collection, cancellation)
    excluded = np.fromiter(without, np.int64)
    if len(excluded):
        counted = np.isin(documents, excluded, invert=True)
        documents, scores = documents[counted], scores[counted]
    matched = np.zeros(collection.size, np.int64)
    for mentions in question.mentions:
        matched[mentions.documents] += 1
    order = matched[documents]
    places = np.arange(len(documents))
    if len(documents) > most:
        value = 2.0 * order + scores
        places = np.flatnonzero(value >= np.partition(value, len(value) - most)[len(value) - most] - _ROUNDING)
    chosen = places[np.lexsort((collection.positions(documents[places]), -scores[places], -order[places]))][:most]
    answers = Answers(documents[chosen], scores[chosen], question)
    return answers.all(), len(documents)


def rank_in(query: str, collection: Collection, *, cancellation: Cancellation | None = None) -> list[Score]:
    """As `lexical.rank`. Raises `Cancelled`."""
    return answers_in(query, collection, cancellation=cancellation).all()


def rank_any_in(
    words: Sequence[str], collection: Collection, *, cancellation: Cancellation | None = None
) -> list[Score]:
    """As `lexical.rank_any`. Raises `Cancelled`."""
    return answers_any_in(words, collection, cancellation=cancellation).all()


def _answers(answer: fusion.Answer) -> Answers:
    return Answers(answer.documents, answer.scores, answer.question)
