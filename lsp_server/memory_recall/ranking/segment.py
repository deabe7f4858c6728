"""Documents cut into terms once, to be asked often: an inverted index in a handful of numpy arrays.

Owns how to look things up in the arrays. They may be memory-mapped and are never changed; `layout.py` says what they
hold, `cutting.py` makes them, `fusion.py` ranks by them. Knows no file, no store and no question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.cancellation import Cancellation
from memory_recall.ranking import meaning, typos
from memory_recall.ranking.cutting import cut
from memory_recall.ranking.layout import LAYOUT, MATRICES, WORD
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.lines import Lines

Arrays = Mapping[str, NDArray[Any]]

FORMAT = f"3-{meaning.ASSET}"
"""Changes whenever arrays made before mean something else now: part of the version of whatever keeps them."""

_REMEMBERED = 4_000
"""Stems of which it is remembered where they stand: a search in sorted texts takes longer than all else."""


class Postings(NamedTuple):
    """In which documents a term stands (numbers, ascending) and how often (see `IN_TITLE`)."""

    documents: NDArray[np.uint32]
    frequencies: NDArray[np.uint16]


class Segment:
    """Documents by number, and their terms by number."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = dict(arrays)
        self.lengths: NDArray[np.uint32] = self._arrays["lengths"]
        self.vectors: NDArray[np.int8] = self._arrays["vectors"]
        self.scales: NDArray[np.float32] = self._arrays["scales"]
        self.vector_sum: NDArray[np.float64] = self._arrays["sum"]
        self.near_terms: NDArray[np.uint32] = self._arrays["near_terms"]
        self.near_bounds: NDArray[np.uint32] = self._arrays["near_bounds"]
        self.near_pieces: NDArray[np.uint16] = self._arrays["near_pieces"]
        self.near_scales: NDArray[np.float32] = self._arrays["near_scales"]
        self.near: dict[tuple[str, bytes], tuple[NDArray[np.uint32], NDArray[np.float32]]] = {}
        """What `nearness.py` has found before, which depends on the segment alone."""
        self._found: dict[str, range] = {}
        self._misspelt: dict[str, tuple[NDArray[np.uint32], NDArray[np.uint8]]] = {}
        self._documents: NDArray[np.uint32] = self._arrays["documents"]
        self._frequencies: NDArray[np.uint16] = self._arrays["frequencies"]
        self._starts: NDArray[np.uint32] = self._arrays["starts"]
        self._stem_terms: NDArray[np.uint32] = self._arrays["stem_terms"]
        self._stems = Lines(self._arrays["stems"], self._arrays["stem_ends"])
        self._terms = Lines(self._arrays["terms"], self._arrays["term_ends"])

    @classmethod
    def build(cls, documents: Sequence[Document], *, cancellation: Cancellation | None = None) -> Segment:
        """Cut documents into terms. 25,000 of 0.6 KB take about a second. Raises `Cancelled`."""
        return cls(cut(documents, cancellation))

    @classmethod
    def of(cls, arrays: Arrays) -> Segment:
        """A segment of arrays that `arrays` gave. Raises ValueError where they do not fit together.

        What lies in the postings is not looked at: that would read them all.
        """
        for name, dtype in LAYOUT.items():
            dimensions = 2 if name in MATRICES else 1
            if name not in arrays or arrays[name].dtype != dtype or arrays[name].ndim != dimensions:
                raise ValueError(f"a segment needs {name} in {dimensions} dimensions of {np.dtype(dtype).name}")
        found = cls(arrays)
        shapes = {name: arrays[name].shape for name in LAYOUT}
        stems = len(arrays["stem_ends"])
        count, terms, near = len(arrays["lengths"]), len(arrays["kinds"]), len(arrays["near_terms"])
        expected = {
            "vectors": (count, meaning.DIMENSIONS),
            "scales": (count,),
            "sum": (meaning.DIMENSIONS,),
            "starts": (terms + 1,),
            "stem_terms": (stems + 1,),
            "term_ends": (terms,),
            "frequencies": shapes["documents"],
            "near_scales": (near,),
        }
        wrong = [name for name, shape in expected.items() if shapes[name] != shape]
        wrong += [name for name in ("stems", "terms") if not _ends(arrays[f"{name[:-1]}_ends"], len(arrays[name]))]
        if (arrays["near_terms"] >= terms).any():
            wrong.append("near_terms")
        wrong += [
            name
            for name, last in (
                ("stem_terms", terms),
                ("starts", len(arrays["documents"])),
                ("near_bounds", len(arrays["near_pieces"])),
            )
            if not _partitions(arrays[name], last)
        ]
        if not _narrows(arrays["near_bounds"], first=near):
            wrong.append("near_bounds")
        if wrong:
            raise ValueError(f"the arrays of a segment do not fit together: {', '.join(dict.fromkeys(wrong))}")
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All there is to keep, by name."""
        return dict(self._arrays)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def terms(self) -> int:
        """How many terms there are."""
        return len(self._terms)

    def terms_of(self, stem: str) -> range:
        """The numbers of the terms with that stem."""
        found = self._found.get(stem)
        if found is None:
            place = self._stems.find(stem)
            found = range(0) if place is None else range(*self._stem_terms[place : place + 2].tolist())
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            self._found[stem] = found
        return found

    def postings(self, term: int) -> Postings:
        """Where a term stands."""
        begin, end = int(self._starts[term]), int(self._starts[term + 1])
        return Postings(self._documents[begin:end], self._frequencies[begin:end])

    def postings_of(self, terms: NDArray[np.uint32]) -> tuple[Postings, NDArray[np.int64]]:
        """Where each of these terms stands, one after another; and how many postings each has."""
        begins, ends = self._starts[terms], self._starts[terms + np.uint32(1)]
        stretches = [slice(*bounds) for bounds in zip(begins.tolist(), ends.tolist(), strict=True)]
        if not stretches:
            return Postings(self._documents[:0], self._frequencies[:0]), np.zeros(0, np.int64)
        documents = np.concatenate([self._documents[stretch] for stretch in stretches])
        frequencies = np.concatenate([self._frequencies[stretch] for stretch in stretches])
        return Postings(documents, frequencies), (ends - begins).astype(np.int64)

    def term(self, number: int) -> str:
        """How a term is written, normalised."""
        return self._terms[number]

    def words(self, allowed: NDArray[np.bool_] | None = None) -> list[str]:
        """The distinct words of the documents (of the allowed ones), stop words as well, sorted by stem."""
        wanted = self._arrays["kinds"] == WORD
        if allowed is not None and len(wanted):
            wanted = wanted & np.logical_or.reduceat(allowed[self._documents], self._starts[:-1])
        return [term for term, is_wanted in zip(self._terms, wanted.tolist(), strict=True) if is_wanted]

    def misspelt(self, word: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """The terms that a word may be a misspelling of, ascending, and how many edits away each is.

        By their stems as well: `tokne` is one edit from token, and two from the tokens that the text has.
        """
        known = self._misspelt.get(word)
        if known is None:
            found = dict(self.words_misspelt(word))
            for _, terms, edits in self.stems_misspelt(word):
                for term in terms:
                    found[term] = min(edits, found.get(term, edits))
            ascending = sorted(found)
            known = np.array(ascending, np.uint32), np.array([found[term] for term in ascending], np.uint8)
            if len(self._misspelt) >= _REMEMBERED:
                self._misspelt.clear()
            self._misspelt[word] = known
        return known

    def words_misspelt(self, word: str) -> list[tuple[int, int]]:
        """The terms that a word may be a misspelling of, by how they are written, and how many edits away each is."""
        return self._near_to(word, self._terms, typos.edits_allowed(len(word)), self._is_word)

    def stems_misspelt(self, word: str) -> list[tuple[str, list[int], int]]:
        """The stems that a word may be a misspelling of, the words that have each, and how many edits away it is."""
        found: list[tuple[str, list[int], int]] = []
        for stem, edits in self._near_to(word, self._stems, typos.edits_allowed(len(word))):
            terms = [term for term in range(*self._stem_terms[stem : stem + 2].tolist()) if self._is_word[term]]
            found.append((self._stems[stem], terms, edits))
        return found

    @cached_property
    def _is_word(self) -> NDArray[np.bool_]:
        return np.asarray(self._arrays["kinds"] == WORD)

    @staticmethod
    def _near_to(word: str, lines: Lines, edits: int, among: NDArray[np.bool_] | None = None) -> list[tuple[int, int]]:
        """Which of these texts a word may be a misspelling of, and how many edits away each is."""
        texts = {number: lines[number] for number in lines.resembling(word, edits, among).tolist()}
        numbers = [number for number, text in texts.items() if typos.is_guessable(text)]
        return [(numbers[index], away) for index, away in typos.distances(word, [texts[each] for each in numbers])]


def _ends(ends: NDArray[Any], size: int) -> bool:
    """Whether the ends of lines ascend, and the last of so many bytes is the newline behind the last line."""
    last = int(ends[-1]) + 1 if len(ends) else 0
    return last == size and bool((ends[1:] > ends[:-1]).all())


def _partitions(bounds: NDArray[Any], last: int) -> bool:
    """Whether these bounds cut 0 to `last` into ranges."""
    return len(bounds) > 0 and bounds[0] == 0 and bounds[-1] == last and bool((bounds[1:] >= bounds[:-1]).all())


def _narrows(bounds: NDArray[Any], first: int) -> bool:
    """Whether the first range between these bounds is so long, and none longer than the one before."""
    lengths = np.diff(bounds.astype(np.int64))
    return (int(lengths[0]) if len(lengths) else 0) == first and bool((lengths[1:] <= lengths[:-1]).all())
