"""Which of given documents are answers to a question: the judgement of `floor.py` on any number of them at once.

Owns no figure of its own. `hybrid.rank_parts` judges the best documents one by one, and these here would be too many.
"""

from __future__ import annotations

import numpy as np

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import fusion
from memory_recall.ranking.floor import FEW_WORDS, MEANING_WEIGHT, NEAR_WEIGHT, least_support, words_needed
from memory_recall.ranking.hybrid import evidence_of, is_quoted, may_be_certain
from memory_recall.ranking.mentions import in_titles
from memory_recall.ranking.parts import Collection, Mask, Numbers
from memory_recall.text import tokens

_FIRST = 10
"""How many of the best documents are looked at; the floor asks three of them."""


def answers_among(
    query: str, collection: Collection, documents: Numbers, cancellation: Cancellation | None = None
) -> Mask:
    """Which of these documents `hybrid.rank_parts` would answer with, given the floor and no limit.

    Raises `Cancelled`.
    """
    words = tokens.analysed(query)
    if not words or not collection.count:
        return np.zeros(len(documents), bool)
    if may_be_certain(query, words):
        quoted = is_quoted(query)
        if quoted or in_titles(words, collection):
            certain = fusion.by_words(words, collection, None, cancellation)
            if not quoted or fusion.any_has_all(certain.question):
                return np.isin(documents, certain.documents)
    question, direction = fusion.meant_by(query, words, collection, cancellation)
    best = fusion.ranked_as_meant(question, direction, collection, _FIRST)
    any_whole = len(words) <= FEW_WORDS and fusion.any_has_all(question)
    least = least_support(evidence_of(best, fusion.shares_of(best)), any_whole=any_whole)
    meanings = collection.cosines(documents, direction)
    shares = fusion.shares_of(best._replace(documents=documents, meanings=meanings))
    support = shares.exact + NEAR_WEIGHT * shares.telling
    support = support + MEANING_WEIGHT * np.maximum(meanings.astype(np.float64), 0.0)
    is_literal = shares.found.sum(axis=1) >= words_needed(len(words))
    answers: Mask = (shares.coverage > 0) & (is_literal | (support >= least))
    return answers
