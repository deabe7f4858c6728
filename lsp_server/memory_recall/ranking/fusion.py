"""Ranking by words, near words and meaning, over segments.

Owns the formula and its constants. Its part of exact words is that of `lexical.py`, on an index in place of a scan.

For a word q of the question and a document d, with the idf, tf and damping of `lexical.py`:

    exact    = tf/(tf + damping)
    near     = cosine^2 · tf/(tf + damping)     for the word of d that is nearest to q, if it is near (`nearness.py`),
                                                or that q, if nobody has it, may misspell (`misspellings.py`)
    words    = sum of idf · max(exact, near), over sum of idf, times 1 - c (1 - coverage)
    coverage = the mean over the words of 1 for one that d has, and cosine^2 for one that is near
    meaning  = the cosine of the question's vector with the document's, both centred on the mean of the collection
    score    = (words + 0.6 · max(words) · max(0, meaning)) / 1.6, where max(words) is that of the best document

The question's vector is the sum of its words' vectors, each times its idf. Once the first documents are known, it moves
towards the mean of the best three, and the first ones are ranked again (pseudo-relevance feedback, Rocchio 1971).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import meaning
from memory_recall.ranking.lexical import inverse_frequency
from memory_recall.ranking.mentions import Mentions, mentions_of
from memory_recall.ranking.misspellings import with_misspellings
from memory_recall.ranking.nearness import near_terms
from memory_recall.ranking.parts import Collection, Doubles, Floats, Mask, Numbers
from memory_recall.text import tokens

MEANING_WEIGHT = 0.6
FEEDBACK_WEIGHT = 0.3
FEEDBACK_DOCUMENTS = 3
RANKED_AGAIN = 200
"""How many of the first documents the feedback may reorder."""
JUDGED_FIRST = 1_000
"""Of how many documents the meaning is looked at before it is known which others could be among the best at all."""
_LARGEST_COSINE = 1.001
"""More than a cosine of float32 can be."""


class Question(NamedTuple):
    """The words of a question, where each is mentioned, its idf, and whether what is near to it tells anything."""

    words: Sequence[tokens.QueryWord]
    mentions: Sequence[Mentions]
    weights: Sequence[float]
    telling: Sequence[bool]


class Answer(NamedTuple):
    """The best documents, best first: numbers, scores, and the cosines with the question itself, without feedback.

    `matched` counts all documents that mention a word or a near one, also those that are not among the best; `literal`
    those that have a word of the question itself.
    """

    question: Question
    documents: Numbers
    scores: Doubles
    meanings: Floats
    matched: int
    literal: int


def by_words(
    words: Sequence[tokens.QueryWord],
    collection: Collection,
    most: int | None,
    cancellation: Cancellation | None = None,
) -> Answer:
    """The documents that have a word of the question, ranked by exact words alone, as `lexical.rank` does."""
    question, documents, scores = scored_by_words(words, collection, cancellation)
    chosen = _first(documents, scores, collection, most)
    return Answer(
        question, documents[chosen], scores[chosen], np.zeros(len(chosen), np.float32), len(documents), len(documents)
    )


def scored_by_words(
    words: Sequence[tokens.QueryWord], collection: Collection, cancellation: Cancellation | None = None
) -> tuple[Question, Numbers, Doubles]:
    """The documents that have a word of the question, ascending, and their scores by exact words alone."""
    question = _weighed(words, mentions_of(words, [()] * len(words), collection, cancellation), collection)
    documents, scores = _word_scores(question, collection)
    return question, documents, scores * collection.weights(documents)


def scored_by_any(
    words: Sequence[tokens.QueryWord], collection: Collection, cancellation: Cancellation | None = None
) -> tuple[Question, Numbers, Doubles]:
    """The documents that have any of the words, ascending, and their scores as `lexical.rank_any` has them."""
    question = _weighed(words, mentions_of(words, [()] * len(words), collection, cancellation), collection)
    mentioned = np.zeros(collection.size)
    for mentions, weight in zip(question.mentions, question.weights, strict=True):
        mentioned[mentions.documents] += weight / max(question.weights) * mentions.exact
    documents = np.flatnonzero(mentioned)
    scores = mentioned[documents] / (mentioned[documents] + collection.damping[documents])
    return question, documents, scores * collection.weights(documents)


def by_meaning(
    query: str,
    words: Sequence[tokens.QueryWord],
    collection: Collection,
    most: int | None,
    cancellation: Cancellation | None = None,
) -> Answer:
    """The documents that have a word of the question or a near one, ranked by words and meaning."""
    question, direction = meant_by(query, words, collection, cancellation)
    return ranked_as_meant(question, direction, collection, most)


def meant_by(
    query: str,
    words: Sequence[tokens.QueryWord],
    collection: Collection,
    cancellation: Cancellation | None = None,
) -> tuple[Question, Floats]:
    """A question with what is near to its words, and its direction from the centre of the collection."""
    written = _written(query, words)
    vectors = meaning.load().vectors_of(written)
    near = near_terms(query, [word.stem for word in words], vectors, collection)
    mentions = mentions_of(words, near, collection, cancellation)
    telling = [not meaning.load().is_crumbly(word) for word in written]
    unknown = [number for number, found in enumerate(mentions) if not len(found.documents)]
    for number, guessed in with_misspellings(unknown, written, near, collection).items():
        mentions[number] = mentions_of([words[number]], [guessed], collection, cancellation)[0]
        telling[number] = True
    question = _weighed(words, mentions, collection, telling)
    return question, _direction(np.array(question.weights) @ vectors, collection)


def ranked_as_meant(question: Question, direction: Floats, collection: Collection, most: int | None) -> Answer:
    """The answer to a question of that direction."""
    documents, word_scores = _word_scores(question, collection)
    if not len(documents):
        return Answer(question, documents, word_scores, np.zeros(0, np.float32), 0, 0)
    best = float(word_scores.max())
    factors = collection.weights(documents)
    wanted = None if most is None else max(most, RANKED_AGAIN)
    meanings = _meanings(_Mentioning(documents, word_scores, factors), direction, collection, wanted)
    scores = _fused(word_scores, meanings, best) * factors
    chosen = _first(documents, scores, collection, wanted)
    again, rest = chosen[:RANKED_AGAIN], chosen[RANKED_AGAIN:]

    centred = collection.rows(documents[again[:FEEDBACK_DOCUMENTS]])
    moved = direction + FEEDBACK_WEIGHT * centred.mean(axis=0)
    moved /= np.float32(max(float(np.linalg.norm(moved)), 1e-9))
    ascending = np.sort(again)
    scores[ascending] = (
        _fused(word_scores[ascending], collection.cosines(documents[ascending], moved), best) * factors[ascending]
    )
    order = np.lexsort((collection.positions(documents[again]), -scores[again]))
    again = again[order]
    if len(rest):
        scores[rest] = np.minimum(scores[rest], scores[again[-1]])
    chosen = np.concatenate([again, rest])[:most]
    literal = _literal(question, collection)
    return Answer(question, documents[chosen], scores[chosen], meanings[chosen], len(documents), literal)


def _literal(question: Question, collection: Collection) -> int:
    marks = np.zeros(collection.size, bool)
    for mentions in question.mentions:
        marks[mentions.documents] = True
    return int(np.count_nonzero(marks))


class _Mentioning(NamedTuple):
    """Documents that mention a word, ascending, their scores by words, and the factors on their scores."""

    documents: Numbers
    word_scores: Doubles
    factors: Floats


def _meanings(mentioning: _Mentioning, direction: Floats, collection: Collection, wanted: int | None) -> Floats:
    """The cosines of documents with a direction; 0 for those that are not among the best `wanted` with any cosine."""
    documents, word_scores, factors = mentioning
    if wanted is None or len(documents) <= max(JUDGED_FIRST, wanted):
        return collection.cosines(documents, direction)
    best = float(word_scores.max())
    most = _fused(word_scores, np.full(len(documents), _LARGEST_COSINE, np.float32), best) * factors
    first = max(JUDGED_FIRST, wanted)
    places = np.sort(np.argpartition(most, len(most) - first)[len(most) - first :])
    meanings = np.zeros(len(documents), np.float32)
    meanings[places] = collection.cosines(documents[places], direction)
    scores = _fused(word_scores[places], meanings[places], best) * factors[places]
    least = np.partition(scores, first - wanted)[first - wanted]
    hopeful = most >= least
    hopeful[places] = False
    others = np.flatnonzero(hopeful)
    meanings[others] = collection.cosines(documents[others], direction)
    return meanings


def any_has_all(question: Question) -> bool:
    """Whether some document that counts has all the words of the question."""
    holding = [mentions.documents for mentions in question.mentions]
    return bool(len(reduce(partial(np.intersect1d, assume_unique=True), holding)))


class Shares(NamedTuple):
    """What of a question the documents of an answer have: a row each, in their order.

    `found` has a column for each word: whether the document has it. `exact`, `near`, `coverage` and `telling` are those
    of `hybrid.Evidence`; `known`, a single number, as well.
    """

    found: Mask
    exact: Doubles
    near: Doubles
    coverage: Doubles
    known: float
    telling: Doubles


def shares_of(answer: Answer) -> Shares:
    """The evidence for the documents of an answer, as far as it lies in words."""
    question, documents = answer.question, answer.documents
    shape = (len(documents), len(question.words))
    found, squares = np.zeros(shape, bool), np.zeros(shape)
    for column, mentions in enumerate(question.mentions):
        places, found[:, column] = _looked_up(documents, mentions.documents)
        places, mentioned = _looked_up(documents, mentions.near_documents)
        squares[mentioned, column] = mentions.cosines[places[mentioned]] ** 2
    weights = np.array(question.weights) / sum(question.weights)
    squares[found] = 0.0
    known = np.array([len(mentions.documents) > 0 for mentions in question.mentions])
    telling = np.where(question.telling, squares, 0.0)
    return Shares(
        found,
        found @ weights,
        squares @ weights,
        (found + squares).mean(axis=1),
        float(known @ weights),
        telling @ weights,
    )


def _looked_up(wanted: Numbers, among: Numbers) -> tuple[Numbers, Mask]:
    """Where the wanted numbers stand among ascending ones, and which of them do."""
    places = np.searchsorted(among, wanted)
    within = np.flatnonzero(places < len(among))
    present = np.zeros(len(wanted), bool)
    present[within] = among[places[within]] == wanted[within]
    return places, present


def _fused(word_scores: Doubles, meanings: Floats, best: float) -> Doubles:
    fused: Doubles = (word_scores + MEANING_WEIGHT * best * np.maximum(meanings, 0.0)) / (1.0 + MEANING_WEIGHT)
    return fused


def _weighed(
    words: Sequence[tokens.QueryWord],
    mentions: Sequence[Mentions],
    collection: Collection,
    telling: Sequence[bool] | None = None,
) -> Question:
    weights = [inverse_frequency(collection.count, len(found.documents)) for found in mentions]
    return Question(words, mentions, weights, [True] * len(words) if telling is None else telling)


def _word_scores(question: Question, collection: Collection) -> tuple[Numbers, Doubles]:
    """The documents that mention any word, ascending, and their scores by words, above 0 and at most 1."""
    gained, covered, own = (np.zeros(collection.size, np.float32) for _ in range(3))
    damping = collection.damping
    for mentions, weight in zip(question.mentions, question.weights, strict=True):
        exact = mentions.exact / (mentions.exact + damping[mentions.documents])
        gained[mentions.documents] += exact * np.float32(weight)
        covered[mentions.documents] += np.float32(1.0)
        if len(mentions.near_documents):
            documents, squares = mentions.near_documents, mentions.cosines**2
            own[mentions.documents] = exact
            already = own[documents]
            near = squares * (mentions.near / (mentions.near + damping[documents])) - already
            gained[documents] += np.maximum(near, np.float32(0.0)) * np.float32(weight)
            covered[documents] += np.where(already > 0, np.float32(0.0), squares)
            own[mentions.documents] = 0.0
    mentioned = np.flatnonzero(gained > 0)
    share = 1.0 - covered[mentioned] / len(question.words)
    scores = gained[mentioned] / sum(question.weights) * (1.0 - collection.proportions.coverage * share)
    return mentioned, np.minimum(scores.astype(np.float64), 1.0)


def _written(query: str, words: Sequence[tokens.QueryWord]) -> list[str]:
    """Each word of a question as it is first written there; nothing for what is no word of its own."""
    written: dict[str, str] = {}
    asked = [word for word in tokens.words(query) if word not in tokens.STOP_WORDS]
    for stem, word in zip(tokens.stems(asked), asked, strict=True):
        written.setdefault(stem, word)
    return [written.get(word.stem, "") for word in words]


def _direction(vector: Doubles, collection: Collection) -> Floats:
    """The direction of a vector as seen from the centre of the collection; zeros for a vector of zeros."""
    length = float(np.linalg.norm(vector))
    if not length:
        return np.zeros(len(vector), np.float32)
    centred = vector / length - collection.centre
    direction: Floats = (centred / max(float(np.linalg.norm(centred)), 1e-9)).astype(np.float32)
    return direction


def _first(documents: Numbers, scores: Doubles, collection: Collection, most: int | None) -> Numbers:
    """Where the best documents stand in `documents`, best first; among equals by position. All where `most` is None."""
    if most is not None and most < len(scores):
        least = np.partition(scores, len(scores) - most)[len(scores) - most] if most else np.inf
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    order = np.lexsort((collection.positions(documents[places]), -scores[places]))
    chosen: Numbers = places[order][:most]
    return chosen
