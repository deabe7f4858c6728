"""The last attempt: what to rank when none of a question's words was found.

Words of the same matter first, then the words that the question may have misspelt. Never asked while its own words
find something, because this answers a question next to the one that was asked. Meaning (vectors) has its place here.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_recall.cancellation import Cancellation
from memory_recall.ranking.lexical import Document, Score, rank, rank_any
from memory_recall.ranking.related import related_terms
from memory_recall.ranking.typos import corrected_query

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
    return [Score(score.index, score.score * DISCOUNT, score.matched, score.words) for score in found]
