"""Ranking by words: BM25 over documents that are given, without an index.

Owns how well a document answers a question by the words they share. Knows no store, no memory and no file.

The scan is linear, and still takes a fraction of a second for 100,000 documents: only documents that contain a query
word as a substring are looked at closely, and of their pieces between white space only the distinct ones that contain
a query word are cut into words. Both filters let too much through and never too little, so that the answer is the one
that cutting every document into words would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_recall.cancellation import Cancellation
from memory_recall.text import tokens

SHORT_TEXTS = 220.0
"""Characters on average (some 40 words) up to which the texts of a collection are short."""
LONG_TEXTS = 660.0
"""Characters on average (some 120 words) from which on they are long."""
TITLE_WEIGHT = 3.0
TAG_WEIGHT = 2.0
_PREFILTER_WORDS = 32
_CHECK_EVERY = 1_000


class Document(NamedTuple):
    """What can be searched of one memory. A tuple, since a store makes 100,000 of them for one question."""

    title: str
    text: str
    tags: tuple[str, ...] = ()


class Proportions(NamedTuple):
    """How much things count in a collection, by the length of its texts.

    `saturation` is BM25's k1: how soon a repeated word stops counting. `length_weight` is its b: how much a long text
    is held against itself; the lengths of short notes say little. `coverage` is the share of a score that depends on
    how many of the question's words were found; a long text has most of them anyway.
    """

    saturation: float
    length_weight: float
    coverage: float

    @classmethod
    def of(cls, average: float) -> Proportions:
        """The proportions for texts of so many characters on average."""
        share = min(1.0, max(0.0, (average - SHORT_TEXTS) / (LONG_TEXTS - SHORT_TEXTS)))
        return cls(0.9 + 0.3 * share, 0.2 + 0.4 * share, 0.5 * (1.0 - share))


@dataclass(frozen=True, slots=True)
class Score:
    """How well the document at `index` answers.

    `score` lies above 0 and at most at 1 and compares between stores: the share of what a perfect document would score.
    `matched` counts the distinct query words found, `words` are their stems in the order of the query.
    """

    index: int
    score: float
    matched: int
    words: tuple[str, ...]


def rank(query: str, documents: Sequence[Document], *, cancellation: Cancellation | None = None) -> list[Score]:
    """The documents that contain at least one word of the query, best first, ties in the order given.

    Words match by stem, without accents and case; stop words of the query do not count. Empty for a query without
    words. Raises `Cancelled`.
    """
    question = tokens.analysed(query)
    found, average = _found(question, documents, cancellation)
    return _scored(question, found, documents, average)


def rank_any(
    words: Sequence[str], documents: Sequence[Document], *, cancellation: Cancellation | None = None
) -> list[Score]:
    """The documents that contain any of the words, which stand for one another: none of them is missed in a document
    that has others. Best first; the words that nobody else has weigh most. Raises `Cancelled`.
    """
    question = tokens.analysed(" ".join(words))
    found, average = _found(question, documents, cancellation)
    return _scored_as_one(question, found, documents, average)


def _found(
    question: Sequence[tokens.QueryWord], documents: Sequence[Document], cancellation: Cancellation | None
) -> tuple[list[tuple[int, dict[int, float]]], float]:
    """Which documents mention which words of a question how often; and the average length of all documents."""
    if not question:
        return [], 1.0
    candidates, average = _candidates(question, documents, cancellation)
    mentions = _mentions(question, (documents[index] for index in candidates), cancellation)
    found: list[tuple[int, dict[int, float]]] = []
    for count, index in enumerate(candidates):
        _check(cancellation, count)
        frequencies = _frequencies(documents[index], mentions)
        if frequencies:
            found.append((index, frequencies))
    return found, average


def _candidates(
    question: Sequence[tokens.QueryWord], documents: Sequence[Document], cancellation: Cancellation | None
) -> tuple[list[int], float]:
    """The documents that contain a query word somewhere, perhaps inside another word; and the average length of all."""
    keys = _keys(question)
    candidates: list[int] = []
    total_length = 0
    for index, (title, text, tags) in enumerate(documents):
        _check(cancellation, index)
        total_length += len(title) + len(text)
        # With a whole page as the question nearly every document holds one of its words: looking would save nothing.
        if len(keys) <= _PREFILTER_WORDS:
            haystack = tokens.squeeze(f"{title}\n{text}\n{' '.join(tags)}" if tags else f"{title}\n{text}")
            for key in keys:
                if key in haystack:
                    break
            else:
                continue
        candidates.append(index)
    return candidates, max(1.0, total_length / max(1, len(documents)))


def _mentions(
    question: Sequence[tokens.QueryWord], documents: Iterable[Document], cancellation: Cancellation | None
) -> dict[str, tuple[int, ...]]:
    """The pieces of text that mention query words, with the numbers of the words, as often as the piece has them."""
    distinct: set[str] = set()
    for count, (title, text, tags) in enumerate(documents):
        _check(cancellation, count)
        distinct.update(title.split(), text.split())
        for tag in tags:
            distinct.update(tag.split())
    numbers: dict[str, list[int]] = {}
    for number, word in enumerate(question):
        for stem in (word.stem, *word.joined):
            numbers.setdefault(stem, []).append(number)
    mentions: dict[str, tuple[int, ...]] = {}
    for count, piece in enumerate(_containing(_keys(question), sorted(distinct))):
        _check(cancellation, count)
        found = [number for stem in tokens.stems(tokens.terms(piece)) for number in numbers.get(stem, ())]
        if found:
            mentions[piece] = tuple(found)
    return mentions


def _containing(keys: Sequence[str], pieces: Sequence[str]) -> Iterable[str]:
    """The pieces that contain one of the keys, searched as one text, since a call for each would cost the most."""
    if len(keys) > _PREFILTER_WORDS:
        return pieces
    squeezed = tokens.squeeze("\n".join(pieces))
    lines: set[int] = set()
    for key in keys:
        line, counted = 0, 0
        found = squeezed.find(key)
        while found >= 0:
            line += squeezed.count("\n", counted, found)
            lines.add(line)
            counted = found
            end = squeezed.find("\n", found)
            found = squeezed.find(key, end) if end >= 0 else -1
    return [pieces[line] for line in sorted(lines)]


def _frequencies(document: Document, mentions: Mapping[str, tuple[int, ...]]) -> dict[int, float]:
    """The weighted frequency of each query word (by its number) in a document; empty where none occurs."""
    counts: dict[int, float] = {}
    fields = [(document.title, TITLE_WEIGHT), (document.text, 1.0), *((tag, TAG_WEIGHT) for tag in document.tags)]
    for text, weight in fields:
        for numbers in [mentions[piece] for piece in text.split() if piece in mentions]:
            for number in numbers:
                counts[number] = counts.get(number, 0.0) + weight
    return counts


def _check(cancellation: Cancellation | None, count: int) -> None:
    if cancellation is not None and not count % _CHECK_EVERY:
        cancellation.check()


def _scored(
    question: Sequence[tokens.QueryWord],
    found: Sequence[tuple[int, dict[int, float]]],
    documents: Sequence[Document],
    average: float,
) -> list[Score]:
    """BM25 (Robertson and Zaragoza 2009, with the field weights of BM25F inside the frequency).

    Each word contributes idf·tf/(tf + k1·(1 - b + b·length/average)), which tends to idf; the sum is divided by the
    sum of all idf and multiplied by a factor for the share of the query's words that were found.
    """
    weights = _inverse_frequencies(len(question), found, len(documents))
    best = sum(weights)
    proportions = Proportions.of(average)
    scores: list[Score] = []
    for index, frequencies in found:
        damping = _damping(documents[index], average, proportions)
        gained = sum(weights[word] * frequency / (frequency + damping) for word, frequency in frequencies.items())
        covered = 1.0 - proportions.coverage * (1.0 - len(frequencies) / len(question))
        scores.append(_score(index, gained / best * covered, frequencies, question))
    scores.sort(key=lambda score: (-score.score, score.index))
    return scores


def _scored_as_one(
    question: Sequence[tokens.QueryWord],
    found: Sequence[tuple[int, dict[int, float]]],
    documents: Sequence[Document],
    average: float,
) -> list[Score]:
    """BM25 for one word with many spellings, each of which counts by its idf in proportion to the rarest."""
    weights = _inverse_frequencies(len(question), found, len(documents))
    proportions = Proportions.of(average)
    scores: list[Score] = []
    for index, frequencies in found:
        mentioned = sum(weights[word] * frequency for word, frequency in frequencies.items()) / max(weights)
        score = mentioned / (mentioned + _damping(documents[index], average, proportions))
        scores.append(_score(index, score, frequencies, question))
    scores.sort(key=lambda score: (-score.score, score.index))
    return scores


def _inverse_frequencies(words: int, found: Sequence[tuple[int, dict[int, float]]], documents: int) -> list[float]:
    """The idf of each word: ln(1 + (N - n + 1/2)/(n + 1/2))."""
    containing = [0] * words
    for _, frequencies in found:
        for word in frequencies:
            containing[word] += 1
    return [inverse_frequency(documents, count) for count in containing]


def inverse_frequency(documents: int, containing: int) -> float:
    """The idf of a word that so many of the documents contain; above 0. An absent word counts as one seen once."""
    seen = max(1, containing)
    return math.log(1.0 + (documents - seen + 0.5) / (seen + 0.5))


def _damping(document: Document, average: float, proportions: Proportions) -> float:
    length = len(document.title) + len(document.text)
    return proportions.saturation * (1.0 + proportions.length_weight * (length / average - 1.0))


def _score(index: int, score: float, frequencies: Mapping[int, float], question: Sequence[tokens.QueryWord]) -> Score:
    words = tuple(question[word].stem for word in sorted(frequencies))
    return Score(index, score, len(words), words)


def _keys(question: Sequence[tokens.QueryWord]) -> tuple[str, ...]:
    stems = (stem for word in question for stem in (word.stem, *word.joined))
    return tuple(dict.fromkeys(key for stem in stems for key in prefilter_keys(stem)))


def prefilter_keys(stem: str) -> tuple[str, ...]:
    """Substrings of which every word with this stem contains at least one.

    Snowball's English stemmer keeps the beginning of a word but for the stem's last letter: y turns into i (policy,
    polici), an e is put back (hoping, hope), -ability becomes -abl, skies become sky; and dying, lying, tying become
    die, lie, tie.
    """
    if len(stem) <= 2 or not stem.isascii():
        return (stem,)
    if len(stem) == 3 and stem.endswith("ie"):
        return (stem[:2], stem[0] + "ying")
    return (stem[:-1],) if stem.endswith(("i", "e", "y", "bl")) else (stem,)
