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

if TYPE_CHECKING:
    from memory_recall.ranking.indexed import Matches
    from memory_recall.ranking.parts import Collection, Part

DISCOUNT = 0.5
"""How much less an answer counts that has none of the words asked for."""


def rank_widened(query: str, documents: Sequence[Document], *, cancellation: Cancellation | None = None) -> list[Score]:
    """The documents that a question without a literal answer may mean, best first; often none.

    The scores are those of `rank`, discounted; `words` are the words that were found in place of the question's own.
    Raises `Cancelled`.
    """
    found = rank_any(related_terms(query), documents, cancellation=cancellation)
    if not found:
        found = rank(corrected_query(query, documents, cancellation=cancellation), documents, cancellation=cancellation)
    if not found and documents:
        from memory_recall.ranking.indexed import scores_of
        from memory_recall.ranking.parts import Collection, Part
        from memory_recall.ranking.segment import Segment

        collection = Collection([Part(Segment.build(documents, cancellation=cancellation))])
        found = scores_of(_alike(query, collection, cancellation), collection)
    return _discounted(found)


def rank_widened_parts(query: str, parts: Sequence[Part], *, cancellation: Cancellation | None = None) -> list[Score]:
    """As `rank_widened`, for documents that stand in segments; `Score.index` as in `hybrid.rank_parts`."""
    from memory_recall.ranking.indexed import scores_of
    from memory_recall.ranking.parts import Collection

    collection = Collection(parts)
    return scores_of(widened_in(query, collection, cancellation), collection)


def widened_in(query: str, collection: Collection, cancellation: Cancellation | None = None) -> Matches:
    """What `rank_widened` ranks. Raises `Cancelled`."""
    from memory_recall.ranking.indexed import NO_MATCHES, matches_any_in, matches_in
    from memory_recall.ranking.misspellings import nearest_word

    if not collection.count:
        return NO_MATCHES
    found = matches_any_in(related_terms(query), collection, cancellation)
    if not len(found.documents):
        corrected = corrected_by(query, lambda word: nearest_word(word, collection))
        found = matches_in(corrected, collection, cancellation)
    if not len(found.documents):
        found = _alike(query, collection, cancellation)
    return found._replace(scores=found.scores * DISCOUNT)


def _alike(query: str, collection: Collection, cancellation: Cancellation | None) -> Matches:
    """What has words that mean about the same as the question's, and is an answer by all that speaks for it."""
    from memory_recall.ranking.indexed import matches_any_in
    from memory_recall.ranking.judging import answers_among
    from memory_recall.ranking.nearness import words_alike

    found = matches_any_in(words_alike(query, collection), collection, cancellation)
    if not len(found.documents):
        return found
    return found.only(answers_among(query, collection, found.documents, cancellation))


def _discounted(scores: Iterable[Score]) -> list[Score]:
    return [Score(score.index, score.score * DISCOUNT, score.matched, score.words) for score in scores]
