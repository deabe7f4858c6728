"""Knowing when nothing matches: which of the best documents are answers, judged by what speaks for each.

Owns the judgement and its figures. Pure; knows no document and loads no numpy. docs/ranking.md has what was measured.

    support = exact + 0.9 telling + 0.4 max(0, meaning)

Nothing is an answer where the most support among the first three, plus 0.3 known, is below 0.345; and no document is
one that has less than a quarter of that support. But a document that has all the words asked for is always an answer,
and to a question of one or two words one that has either. To such a question, where some document has all of its words,
one with less than 0.6 of the support is no answer: who asks for npm and is given it did not ask for yarn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_recall.ranking.hybrid import Evidence

NEAR_WEIGHT, MEANING_WEIGHT, KNOWN_WEIGHT = 0.9, 0.4, 0.3
LEAST = 0.345
"""The support below which a question is answered with nothing."""
LEAST_SHARE = 0.25
"""The share of the best document's support below which another document is no answer beside it."""
LEAST_SHARE_OF_LITTLE = 0.6
"""The same for a question of one or two words which some document has."""
_FIRST = 3
"""How many of the first are asked for the most support: the very first may stand there by a rare word alone."""
FEW_WORDS = 2


def answers(evidence: Sequence[Evidence]) -> list[bool]:
    """For each of the best documents, best first, whether it is an answer."""
    least = least_support(evidence, any_whole=any(map(_is_whole_of_little, evidence)))
    return [_is_literal(each) or _support(each) >= least for each in evidence]


def least_support(evidence: Sequence[Evidence], *, any_whole: bool) -> float:
    """The support that makes an answer, given the best documents, of which no more than the first three count.

    `any_whole` says whether any document has all words of a question of one or two. Infinite where nothing answers.
    """
    first = evidence[:_FIRST]
    most = max((_support(each) for each in first), default=0.0)
    known = max((each.known for each in first), default=0.0)
    if most + KNOWN_WEIGHT * known < LEAST:
        return math.inf
    return (LEAST_SHARE_OF_LITTLE if any_whole else LEAST_SHARE) * most


def words_needed(asked: int) -> int:
    """How many words of a question of so many make an answer, whatever else speaks for it."""
    return 1 if asked <= FEW_WORDS else asked


def _support(evidence: Evidence) -> float:
    return evidence.exact + NEAR_WEIGHT * evidence.telling + MEANING_WEIGHT * max(0.0, evidence.meaning)


def _is_literal(evidence: Evidence) -> bool:
    """Whether the document says what was asked for in so many words."""
    return evidence.found >= words_needed(evidence.asked)


def _is_whole_of_little(evidence: Evidence) -> bool:
    """Whether the document has all words of a question of few."""
    return evidence.asked <= FEW_WORDS and evidence.found == evidence.asked
