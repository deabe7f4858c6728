"""Ranking by words alone, on segments: what `lexical.py` does on documents.

Owns the answers as scores, all of them, for callers that need neither meaning nor evidence.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import fusion
from memory_recall.ranking.lexical import Score
from memory_recall.ranking.parts import Collection
from memory_recall.text import tokens


def rank_in(query: str, collection: Collection, *, cancellation: Cancellation | None = None) -> list[Score]:
    """As `lexical.rank`. Raises `Cancelled`."""
    words = tokens.analysed(query)
    return _scores(fusion.by_words(words, collection, None, cancellation)) if words and collection.count else []


def rank_any_in(
    words: Sequence[str], collection: Collection, *, cancellation: Cancellation | None = None
) -> list[Score]:
    """As `lexical.rank_any`. Raises `Cancelled`."""
    question = tokens.analysed(" ".join(words))
    return _scores(fusion.by_any(question, collection, cancellation)) if question and collection.count else []


def _scores(answer: fusion.Answer) -> list[Score]:
    stems = [word.stem for word in answer.question.words]
    found = fusion.shares_of(answer).found
    scores: list[Score] = []
    for index, score, row in zip(answer.documents.tolist(), answer.scores.tolist(), found, strict=True):
        words = tuple(stems[column] for column in row.nonzero()[0])
        scores.append(Score(index, score, len(words), words))
    return scores
