"""The ranking that recalls ask: by words where they are certain to be enough, by words and meaning where they are not.

Owns what an answer of the ranking is, when an answer by words alone is certain, and what speaks for each document. This
module loads no numpy: a small store with a certain answer never needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import lexical
from memory_recall.ranking.lexical import Document, Score
from memory_recall.text import tokens

if TYPE_CHECKING:
    from memory_recall.ranking.fusion import Answer, Shares
    from memory_recall.ranking.parts import Part

_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "'": "'"}
_FEW_WORDS = 2
_JUDGED = 200
"""How many of the best are looked at for what holds up, at least."""


class Evidence(NamedTuple):
    """What speaks for a document as an answer.

    `exact`: the share of the question's idf whose words it has; `near`: the share of what is near to the other words,
    each times its squared cosine; `meaning`: the cosine of question and document, from -1 to 1; `coverage`: the mean
    over the words of 1 for one that it has, and the squared cosine for one that is near. `asked`: how many words the
    question has; `known`: the share of its idf whose words any document has; `found`: how many of its words this one
    has; `telling`: as `near`, but without words that fall into crumbs (`asdfqwer`), to which anything is near by
    chance.
    """

    exact: float
    near: float
    meaning: float
    coverage: float
    asked: int
    known: float
    found: int = 0
    telling: float = 0.0


Floor = Callable[[Sequence[Evidence]], Sequence[bool]]
"""Which of the best documents, best first, are answers at all."""


class Ranking(NamedTuple):
    """An answer: the best documents, best first, and the evidence for each.

    `matched` counts all documents that mention a word of the question or one near to it. `held_back` counts those of
    them that the floor does not let through: `refused` by number, and of those that rank too far behind to be judged,
    the ones that have no word of the question itself; all of them where the last one that was judged is refused.
    `certain` says that words alone decided.
    """

    scores: tuple[Score, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    matched: int = 0
    held_back: int = 0
    certain: bool = False
    refused: frozenset[int] = frozenset()


def may_be_certain(query: str, words: Sequence[tokens.QueryWord]) -> bool:
    """Whether words alone may answer: a quotation, a name (of a key, an id), or one or two words.

    They do if, besides, some document has all of the words: anywhere for a quotation, in its title otherwise. Whoever
    asks for "auth flow" where a memory is called so wants that one and no near thing.
    """
    return bool(words) and (is_quoted(query) or len(words) <= _FEW_WORDS or len(query.split()) == 1)


def is_quoted(query: str) -> bool:
    """Whether the query is one quotation."""
    stripped = query.strip()
    return len(stripped) > 2 and _QUOTES.get(stripped[0]) == stripped[-1]


def rank_documents(
    query: str,
    documents: Sequence[Document],
    *,
    limit: int | None = None,
    floor: Floor | None = None,
    cancellation: Cancellation | None = None,
) -> Ranking:
    """The answer of documents that stand in no index, as `rank_parts` would give it. Raises `Cancelled`."""
    certain = certain_answer(query, documents, limit=limit, cancellation=cancellation)
    if certain is not None:
        return certain
    from memory_recall.ranking.parts import Part
    from memory_recall.ranking.segment import Segment

    segment = Segment.build(documents, cancellation=cancellation)
    return rank_parts(query, [Part(segment)], limit=limit, floor=floor, cancellation=cancellation)


def certain_answer(
    query: str,
    documents: Sequence[Document],
    *,
    weights: Sequence[float] | None = None,
    limit: int | None = None,
    cancellation: Cancellation | None = None,
) -> Ranking | None:
    """The answer by words alone, without numpy, where that is certain; None where `rank_parts` has to be asked.

    `weights` are factors on the scores, as those of a `Part`. Raises `Cancelled`.
    """
    words = tokens.analysed(query)
    if not words or not documents:
        return Ranking()
    if not may_be_certain(query, words):
        return None
    scores = lexical.rank(query, documents, cancellation=cancellation)
    if not _is_certain(query, words, scores, documents):
        return None
    if weights is not None:
        scores = [replace(score, score=score.score * weights[score.index]) for score in scores]
        scores.sort(key=lambda score: (-score.score, score.index))
    return _certain(words, scores, len(documents), limit)


def rank_parts(
    query: str,
    parts: Sequence[Part],
    *,
    limit: int | None = None,
    floor: Floor | None = None,
    cancellation: Cancellation | None = None,
) -> Ranking:
    """The answer of the documents of all parts, which are ranked as one collection.

    `Score.index` is the number of a document in its segment, plus the sizes of the segments before. How the documents
    are divided among parts does not matter, and those that do not count leave no trace. Raises `Cancelled`.
    """
    from memory_recall.ranking import fusion
    from memory_recall.ranking.mentions import in_titles
    from memory_recall.ranking.parts import Collection

    words = tokens.analysed(query)
    collection = Collection(parts)
    if not words or not collection.count:
        return Ranking()
    if may_be_certain(query, words):
        quoted = is_quoted(query)
        if quoted or in_titles(words, collection):
            answer = fusion.by_words(words, collection, limit, cancellation)
            if not quoted or fusion.any_has_all(answer.question):
                return _ranking(answer, limit, None, certain=True)
    most = limit if limit is None or floor is None else max(limit, _JUDGED)
    answer = fusion.by_meaning(query, words, collection, most, cancellation)
    return _ranking(answer, limit, floor, certain=False)


def _is_certain(
    query: str, words: Sequence[tokens.QueryWord], scores: Sequence[Score], documents: Sequence[Document]
) -> bool:
    complete = (score.index for score in scores if score.matched == len(words))
    if is_quoted(query):
        return next(complete, None) is not None
    return any(_has_in_title(words, documents[index].title) for index in complete)


def _has_in_title(words: Sequence[tokens.QueryWord], title: str) -> bool:
    stems = set(tokens.stems(tokens.terms(title)))
    return all(word.stem in stems or not stems.isdisjoint(word.joined) for word in words)


def _certain(words: Sequence[tokens.QueryWord], scores: Sequence[Score], documents: int, limit: int | None) -> Ranking:
    """The answer that a scan gave, with the evidence that is in it."""
    containing = Counter(stem for score in scores for stem in score.words)
    weights = {word.stem: lexical.inverse_frequency(documents, containing[word.stem]) for word in words}
    best = sum(weights.values())
    known = sum(weights[stem] for stem in containing) / best
    shown = tuple(scores[:limit])
    evidence = tuple(
        Evidence(
            sum(weights[stem] for stem in score.words) / best,
            0.0,
            0.0,
            score.matched / len(words),
            len(words),
            known,
            score.matched,
        )
        for score in shown
    )
    return Ranking(shown, evidence, len(scores), certain=True)


def evidence_of(answer: Answer, shares: Shares) -> list[Evidence]:
    """What speaks for each document of an answer."""
    asked = len(answer.question.words)
    columns = (shares.exact, shares.near, answer.meanings, shares.coverage, shares.found.sum(axis=1), shares.telling)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        Evidence(exact, near, like, covered, asked, shares.known, found, telling)
        for exact, near, like, covered, found, telling in rows
    ]


def _ranking(answer: Answer, limit: int | None, floor: Floor | None, *, certain: bool) -> Ranking:
    from memory_recall.ranking.fusion import shares_of

    shares = shares_of(answer)
    judged = evidence_of(answer, shares)
    verdicts = [True] * len(judged) if floor is None else floor(judged)
    shown = [number for number, is_answer in enumerate(verdicts) if is_answer][:limit]
    stems = [word.stem for word in answer.question.words]
    documents, values, found = answer.documents.tolist(), answer.scores.tolist(), shares.found.tolist()
    scores: list[Score] = []
    for number in shown:
        words = tuple(compress(stems, found[number]))
        scores.append(Score(documents[number], values[number], len(words), words))
    evidence = tuple(judged[number] for number in shown)
    refused = frozenset(document for document, is_answer in zip(documents, verdicts, strict=True) if not is_answer)
    behind = 0
    if floor is not None and verdicts:
        behind = answer.matched - len(judged)
        if verdicts[-1]:
            behind -= answer.literal - int(shares.found.any(axis=1).sum())
    return Ranking(tuple(scores), evidence, answer.matched, len(refused) + behind, certain, refused)
