"""The last attempt: what to rank when none of a question's words was found.

Words of the same matter first, then the words that the question may have misspelt, then words that mean about the same.
Never asked while its own words find something, because this answers a question next to the one that was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memory_recall.cancellation import Cancellation
from memory_recall.ranking.lexical import Document, Score, rank, rank_any
from memory_recall.ranking.related import related_terms
from memory_recall.ranking.typos import corrected_by, corrected_query
from memory_recall.text import tokens

if TYPE_CHECKING:
    from memory_recall.ranking.indexed import Answers
    from memory_recall.ranking.parts import Part

DISCOUNT = 0.5
"""How much less an answer counts that has none of the words asked for."""
_MOST_ALIKE = 200
"""How many of the documents that are answers by meaning are looked at."""


def rank_widened(query: str, documents: Sequence[Document], *, cancellation: Cancellation | None = None) -> list[Score]:
    """The documents that a question without a literal answer may mean, best first; often none.

    The scores are those of `rank`, discounted; `words` are the words that were found in place of the question's own.
    Raises `Cancelled`.
    """
    found = rank_any(related_terms(query), documents, cancellation=cancellation)
    if not found:
        found = rank(corrected_query(query, documents, cancellation=cancellation), documents, cancellation=cancellation)
    if not found and documents:
        from memory_recall.ranking.parts import Part
        from memory_recall.ranking.segment import Segment

        found = _alike(query, [Part(Segment.build(documents, cancellation=cancellation))], cancellation).all()
    return _discounted(found)


def answers_widened(query: str, parts: Sequence[Part], *, cancellation: Cancellation | None = None) -> Answers:
    """As `rank_widened`, for documents that stand in segments; their numbers are those of `hybrid.rank_parts`."""
    from memory_recall.ranking.indexed import NOTHING, answers_any_in, answers_in
    from memory_recall.ranking.parts import Collection

    collection = Collection(parts)
    if not collection.count:
        return NOTHING
    found = answers_any_in(related_terms(query), collection, cancellation=cancellation)
    if not len(found.documents):
        corrected = corrected_by(query, lambda asked: _misspelt(asked, parts))
        found = answers_in(corrected, collection, cancellation=cancellation)
    if not len(found.documents):
        found = _alike(query, parts, cancellation)
    return found._replace(scores=found.scores * DISCOUNT)


def rank_widened_parts(query: str, parts: Sequence[Part], *, cancellation: Cancellation | None = None) -> list[Score]:
    """What is to be told of all those answers."""
    return answers_widened(query, parts, cancellation=cancellation).all() if parts else []


def _misspelt(asked: Sequence[str], parts: Sequence[Part]) -> list[str]:
    """The words of documents that count which one of those asked for may be a misspelling of."""
    found: set[str] = set()
    for part in parts:
        for word in asked:
            terms = part.segment.misspelt(word)[0]
            found.update(part.segment.term(term) for term in terms[part.living(terms)].tolist())
    return sorted(found - tokens.STOP_WORDS)


def _alike(query: str, parts: Sequence[Part], cancellation: Cancellation | None) -> Answers:
    """What has words that mean about the same as the question's, and is an answer by all that speaks for it."""
    import numpy as np

    from memory_recall.ranking import floor
    from memory_recall.ranking.hybrid import rank_parts
    from memory_recall.ranking.indexed import NOTHING, answers_any_in
    from memory_recall.ranking.nearness import words_alike
    from memory_recall.ranking.parts import Collection

    collection = Collection(parts)
    found = answers_any_in(words_alike(query, collection), collection, cancellation=cancellation)
    if not len(found.documents):
        return NOTHING
    ranking = rank_parts(query, parts, limit=_MOST_ALIKE, floor=floor.answers, cancellation=cancellation)
    chosen = np.isin(found.documents, [score.index for score in ranking.scores])
    return found._replace(documents=found.documents[chosen], scores=found.scores[chosen])


def _discounted(found: Iterable[Score]) -> list[Score]:
    return [Score(score.index, score.score * DISCOUNT, score.matched, score.words) for score in found]
