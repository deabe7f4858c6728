"""Segments: what is found in them is what the documents hold, and arrays that do not fit together are refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_texts import stores

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.ranking import cutting, meaning, segment, typos
from memory_recall.ranking.layout import IN_TITLE, MOST_FREQUENT
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.segment import Segment
from memory_recall.text import tokens

quietly = settings(derandomize=True, deadline=None, max_examples=60)
DOCUMENTS = [
    Document("auth-flow", "JWT access tokens, the tokens of e-mail", ("security",)),
    Document("部署流程", "先跑数据库迁移"),
    Document("", ""),
]


def frequencies(document: Document) -> Counter[str]:
    """The weighted frequency of each stem, by the rule that `lexical.py` states."""
    found: Counter[str] = Counter()
    fields = [(document.title, 3), (document.text, 1), *((tag, 2) for tag in document.tags)]
    for text, weight in fields:
        for stem in tokens.stems(tokens.terms(text)):
            found[stem] += weight
    return found


@quietly
@given(stores)
def test_postings_hold_what_the_documents_say(store: list[Document]) -> None:
    built = Segment.build(store)
    expected = [frequencies(document) for document in store]
    titles = [set(tokens.stems(tokens.terms(document.title))) for document in store]
    for stem in {stem for found in expected for stem in found} | {"absent", ""}:
        counted: Counter[int] = Counter()
        in_title = set()
        for term in built.terms_of(stem):
            for number, frequency in zip(*(column.tolist() for column in built.postings(term)), strict=True):
                counted[number] += frequency & MOST_FREQUENT
                if frequency & IN_TITLE:
                    in_title.add(number)
        assert counted == Counter({number: found[stem] for number, found in enumerate(expected) if stem in found})
        assert in_title == {number for number, found in enumerate(titles) if stem in found}


@quietly
@given(stores, stores)
def test_what_is_computed_of_a_document_does_not_depend_on_the_others(
    store: list[Document], others: list[Document]
) -> None:
    alone, together = Segment.build(store), Segment.build([*others, *store])
    assert np.array_equal(alone.vectors, together.vectors[len(others) :])
    assert np.array_equal(alone.scales, together.scales[len(others) :])
    assert np.array_equal(alone.lengths, together.lengths[len(others) :])


def test_many_documents_are_counted_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = Segment.build(DOCUMENTS * 3)
    monkeypatch.setattr(cutting, "_AT_ONCE", 2)
    for name, array in Segment.build(DOCUMENTS * 3).arrays().items():
        assert np.allclose(array, at_once.arrays()[name]), name


def test_a_segment_comes_back_from_its_arrays() -> None:
    built = Segment.build(DOCUMENTS)
    again = Segment.of(built.arrays())
    assert len(again) == len(built) == 3
    assert all(array.flags.c_contiguous for array in built.arrays().values())
    assert again.terms_of("token") == built.terms_of("token")
    assert [again.term(term) for term in again.terms_of("token")] == ["tokens"]
    assert {"jwt", "auth", "tokens", "数据", "the"} <= set(again.words())
    assert not {"authflow", "email", "数"} & set(again.words())


def test_a_segment_of_nothing_has_nothing() -> None:
    for store in ([], [Document("", "")]):
        empty = Segment.of(Segment.build(store).arrays())
        assert len(empty) == len(store)
        assert empty.words() == []
        assert not empty.terms_of("token")


def test_a_document_without_known_words_has_no_vector() -> None:
    built = Segment.build(DOCUMENTS)
    lengths = np.linalg.norm(built.vectors * built.scales[:, None], axis=1)
    assert lengths == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)


def test_frequencies_saturate() -> None:
    built = Segment.build([Document("word", "word " * 70_000)])
    (term,) = built.terms_of("word")
    assert built.postings(term).frequencies.tolist() == [IN_TITLE | MOST_FREQUENT]


def broken(name: str, array: Any) -> dict[str, Any]:
    return {**Segment.build(DOCUMENTS).arrays(), name: array}


@pytest.mark.parametrize("name", sorted(Segment.build(DOCUMENTS).arrays()))
def test_arrays_that_do_not_fit_together_are_refused(name: str) -> None:
    arrays = Segment.build(DOCUMENTS).arrays()
    with pytest.raises(ValueError, match=name):
        Segment.of({key: array for key, array in arrays.items() if key != name})
    with pytest.raises(ValueError, match=name):
        Segment.of(broken(name, arrays[name].astype(np.complex128)))
    with pytest.raises(ValueError, match="fit together"):
        Segment.of(broken(name, arrays[name][:-1]))
    with pytest.raises(ValueError, match=name):
        Segment.of(broken(name, arrays[name][None]))


@pytest.mark.parametrize("name", ["stem_terms", "starts", "near_bounds", "stem_ends", "term_ends"])
def test_bounds_that_run_back_or_too_far_are_refused(name: str) -> None:
    bounds = Segment.build(DOCUMENTS).arrays()[name]
    for wrong in (bounds[::-1].copy(), bounds + np.array(1_000, bounds.dtype)):
        with pytest.raises(ValueError, match="fit together"):
            Segment.of(broken(name, wrong))


def test_the_format_says_which_vectors_it_was_made_with() -> None:
    assert segment.FORMAT.endswith(meaning.ASSET)


def test_stops_when_nobody_waits() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        Segment.build(DOCUMENTS, cancellation=cancellation)


LETTERS = st.text(st.sampled_from("abcdefgtoken2éß中-J"), min_size=1, max_size=14)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(LETTERS, max_size=40), LETTERS, st.integers(0, 39), st.integers(0, 13))
def test_what_a_word_may_misspell_is_what_comparing_with_all_finds(
    vocabulary: list[str], other: str, chosen: int, place: int
) -> None:
    near = vocabulary[chosen][:place] + other[:1] + vocabulary[chosen][place + 1 :] if chosen < len(vocabulary) else ""
    segment = Segment.build([Document("", " ".join(vocabulary))])
    known = segment.words()
    for word in (tokens.normalise(text) for text in (near, other)):
        expected: dict[str, int] = {}
        for text, stem in zip(known, tokens.stems(known), strict=True):
            for form in filter(typos.is_guessable, (text, stem)):
                for _, edits in typos.distances(word, [form]):
                    expected[text] = min(edits, expected.get(text, edits))
        terms, distances = segment.misspelt(word)
        assert dict(zip(map(segment.term, terms.tolist()), distances.tolist(), strict=True)) == expected


@pytest.mark.parametrize("unit", ["aB3/", "決策", "x-"])
def test_a_long_text_without_a_space_takes_no_longer_than_one_with(unit: str) -> None:
    """A quadratic step would take minutes here."""
    built = Segment.build([Document("", unit * 100_000)])
    assert built.lengths.tolist() == [len(unit) * 100_000]
