"""How documents become a segment: cut into terms, counted, sorted, and summed up in vectors.

Owns the making of the arrays that `layout.py` describes. A text's terms are those of its pieces between white space,
so each distinct piece is cut only once; everything after that is arithmetic on arrays. What is computed of a document
depends on that document alone, to the last bit, whatever it is cut together with.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import meaning
from memory_recall.ranking.layout import IN_TITLE, JOINED, MOST_FREQUENT, WORD
from memory_recall.ranking.lexical import TAG_WEIGHT, TITLE_WEIGHT, Document
from memory_recall.text import tokens

Numbers = NDArray[np.int64]

_CHECK_EVERY = 1_000
_AT_ONCE = 1_000
"""Documents whose terms are counted at once: few enough for the processor's caches."""
_BYTE = 127
_LONG = 1_000
"""Characters of a piece that takes longer than most: whether somebody still waits is looked at before it."""


class _Pieces(NamedTuple):
    """The documents as numbers of pieces: those of document i lie between bounds i and i + 1.

    A piece occurs as often as it weighs. `titles` are those of the titles alone.
    """

    distinct: list[str]
    numbers: Numbers
    bounds: Numbers
    titles: Numbers
    title_bounds: Numbers
    lengths: NDArray[np.uint32]


class _Terms(NamedTuple):
    """The distinct terms in their final order, and which of them each piece has (a range of `of_pieces`)."""

    texts: list[str]
    kinds: list[int]
    stems: list[str]
    of_pieces: Numbers
    bounds: Numbers


class _Near(NamedTuple):
    """The words that have a vector and are no stop words: numbers of terms; their pieces; their vectors."""

    terms: Numbers
    spelling: meaning.Spelling
    vectors: NDArray[np.float32]
    places: Numbers
    """For each term where it stands among them, or -1."""


class _Held(NamedTuple):
    """Which documents hold which terms, how often, and whether in the title: sorted by document, then by term."""

    documents: Numbers
    terms: Numbers
    frequencies: Numbers
    in_title: NDArray[np.bool_]


def cut(documents: Sequence[Document], cancellation: Cancellation | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of a segment of these documents. Raises `Cancelled`."""
    pieces = _cut_into_pieces(documents, cancellation)
    terms = _cut_into_terms(pieces.distinct, cancellation)
    near = _near_words(terms)
    vectors = np.zeros((len(documents), meaning.DIMENSIONS), np.int8)
    scales = np.zeros(len(documents), np.float32)
    found: list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]] = []
    for first in range(0, len(documents), _AT_ONCE):
        if cancellation is not None:
            cancellation.check()
        last = min(first + _AT_ONCE, len(documents))
        held = _counted(pieces, terms, first, last)
        vectors[first:last], scales[first:last] = quantised(_summed(held, last - first, near))
        marked = held.frequencies.astype(np.uint16) | np.where(held.in_title, np.uint16(IN_TITLE), np.uint16(0))
        found.append((held.terms.astype(np.uint32), (held.documents + first).astype(np.uint32), marked))
    scaled = vectors.astype(np.float32) * scales[:, None]
    return {
        **_postings(found, len(terms.texts)),
        **_named(terms),
        "lengths": pieces.lengths,
        "vectors": vectors,
        "scales": scales,
        "sum": scaled.sum(axis=0, dtype=np.float64),
        "near_terms": near.terms.astype(np.uint32),
        "near_bounds": near.spelling.bounds.astype(np.uint32),
        "near_pieces": near.spelling.pieces,
        "near_scales": near.spelling.scales,
    }


def quantised(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The directions of rows in signed bytes, and the factor that gives each unit length (0 for a row of zeros)."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    steps = np.where(largest > 0, largest / _BYTE, 1.0)[:, None]
    values = np.rint(rows / steps).astype(np.int8)
    lengths = np.sqrt(np.einsum("ij,ij->i", values.astype(np.float64), values.astype(np.float64)))
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return values, scales.astype(np.float32)


def _cut_into_pieces(documents: Sequence[Document], cancellation: Cancellation | None) -> _Pieces:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    number_of = numbers.__getitem__
    occurring, titles = array("q"), array("q")
    bounds, title_bounds, lengths = array("q", [0]), array("q", [0]), array("q")
    for index, (title, text, tags) in enumerate(documents):
        if cancellation is not None and not index % _CHECK_EVERY:
            cancellation.check()
        in_title = list(map(number_of, title.split()))
        titles.extend(in_title)
        occurring.extend(in_title * int(TITLE_WEIGHT))
        occurring.extend(map(number_of, text.split()))
        for tag in tags:
            occurring.extend(list(map(number_of, tag.split())) * int(TAG_WEIGHT))
        bounds.append(len(occurring))
        title_bounds.append(len(titles))
        lengths.append(len(title) + len(text))
    return _Pieces(
        distinct=list(numbers),
        numbers=np.frombuffer(occurring, np.int64),
        bounds=np.frombuffer(bounds, np.int64),
        titles=np.frombuffer(titles, np.int64),
        title_bounds=np.frombuffer(title_bounds, np.int64),
        lengths=np.frombuffer(lengths, np.int64).astype(np.uint32),
    )


def _cut_into_terms(pieces: Sequence[str], cancellation: Cancellation | None) -> _Terms:
    numbers: defaultdict[tuple[str, int], int] = defaultdict(count().__next__)
    of_pieces, bounds = array("q"), array("q", [0])
    for index, piece in enumerate(pieces):
        if cancellation is not None and (not index % _CHECK_EVERY or len(piece) > _LONG):
            cancellation.check()
        terms = tokens.terms(piece)
        if len(terms) == 1:
            of_pieces.append(numbers[terms[0], WORD])
        else:
            words = tokens.words(piece)
            of_pieces.extend(numbers[word, WORD] for word in words)
            others = Counter(terms)
            others.subtract(words)
            of_pieces.extend(numbers[term, JOINED] for term in others.elements())
        bounds.append(len(of_pieces))
    found = list(numbers)
    stems = tokens.stems(text for text, _ in found)
    order = sorted(range(len(found)), key=lambda number: (stems[number], *found[number]))
    places = np.empty(len(found), np.int64)
    places[order] = np.arange(len(found))
    return _Terms(
        texts=[found[number][0] for number in order],
        kinds=[found[number][1] for number in order],
        stems=[stems[number] for number in order],
        of_pieces=places[np.frombuffer(of_pieces, np.int64)],
        bounds=np.frombuffer(bounds, np.int64),
    )


def _near_words(terms: _Terms) -> _Near:
    numbers = [
        number
        for number, (text, kind) in enumerate(zip(terms.texts, terms.kinds, strict=True))
        if kind == WORD and text not in tokens.STOP_WORDS
    ]
    spelling = meaning.load().spelling_of([terms.texts[number] for number in numbers])
    vectors = meaning.load().vectors_of_spelling(spelling)
    near = np.array(numbers, np.int64)[spelling.words]
    places = np.full(len(terms.texts), -1)
    places[near] = np.arange(len(near))
    return _Near(near, spelling, vectors, places)


def _counted(pieces: _Pieces, terms: _Terms, first: int, last: int) -> _Held:
    """What documents `first` to `last` hold, their numbers counted from `first`."""
    size = max(1, len(terms.texts))
    occurring = _keys(pieces.numbers, pieces.bounds[first : last + 1], terms, size)
    keys, frequencies = np.unique(occurring, return_counts=True)
    titles = _keys(pieces.titles, pieces.title_bounds[first : last + 1], terms, size)
    held_in_title = np.zeros(len(keys), bool)
    held_in_title[np.searchsorted(keys, titles)] = True
    return _Held(keys // size, keys % size, np.minimum(frequencies, MOST_FREQUENT), held_in_title)


def _keys(numbers: Numbers, bounds: Numbers, terms: _Terms, size: int) -> Numbers:
    """Each occurrence of a term in documents as one number: that of the document times `size`, plus that of the term.

    The pieces of document i are the `numbers` between bounds i and i + 1.
    """
    occurring = numbers[bounds[0] : bounds[-1]]
    documents = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    counts = terms.bounds[occurring + 1] - terms.bounds[occurring]
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    found = terms.of_pieces[np.repeat(terms.bounds[occurring], counts) + within]
    keys: Numbers = np.repeat(documents, counts) * size + found
    return keys


def _summed(held: _Held, size: int, near: _Near) -> NDArray[np.float32]:
    """A vector for each of `size` documents: the sum of those of its words, each times 1 + ln of its frequency.

    Word after word, the first of all documents, then the second: each step is one addition of arrays, and each document
    sums up its words in their order.
    """
    known = np.flatnonzero(near.places[held.terms] >= 0)
    weights = _LOGARITHMS[held.frequencies[known], None]
    places = near.places[held.terms[known]]
    counts = np.bincount(held.documents[known], minlength=size)
    starts = np.cumsum(counts) - counts
    order = np.argsort(-counts, kind="stable")
    longest_first = starts[order]
    rows = np.zeros((size, meaning.DIMENSIONS), np.float32)
    having = size - np.searchsorted(np.sort(counts), np.arange(counts.max(initial=0)), side="right")
    for number, documents in enumerate(having.tolist()):
        at = longest_first[:documents] + number
        rows[:documents] += near.vectors[places[at]] * weights[at]
    summed = np.empty_like(rows)
    summed[order] = rows
    return summed


_LOGARITHMS = (1.0 + np.log(np.maximum(np.arange(MOST_FREQUENT + 1), 1))).astype(np.float32)


def _postings(
    found: Sequence[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]], terms: int
) -> dict[str, NDArray[Any]]:
    """What was counted, by term in place of by document."""
    held = np.concatenate([part[0] for part in found] or [np.zeros(0, np.uint32)])
    order = np.argsort(held, kind="stable")
    starts = np.zeros(terms + 1, np.uint32)
    starts[1:] = np.cumsum(np.bincount(held, minlength=terms))
    return {
        "starts": starts,
        "documents": np.concatenate([part[1] for part in found] or [np.zeros(0, np.uint32)])[order],
        "frequencies": np.concatenate([part[2] for part in found] or [np.zeros(0, np.uint16)])[order],
    }


def _named(terms: _Terms) -> dict[str, NDArray[Any]]:
    stems = list(dict.fromkeys(terms.stems))
    begins = {stem: place for place, stem in reversed(list(enumerate(terms.stems)))}
    return {
        **_lines("term", terms.texts),
        **_lines("stem", stems),
        "kinds": np.array(terms.kinds, np.uint8),
        "stem_terms": np.array([*(begins[stem] for stem in stems), len(terms.texts)], np.uint32),
    }


def _lines(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    encoded = [text.encode("utf-8") for text in texts]
    ends = np.cumsum([len(text) + 1 for text in encoded], dtype=np.int64) - 1
    joined = b"".join(text + b"\n" for text in encoded)
    return {f"{name}s": np.frombuffer(joined, np.uint8), f"{name}_ends": ends.astype(np.uint32)}
