"""Which words are near, and that what a segment remembers or forgets of it changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from memory_recall.ranking import meaning, nearness
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.nearness import near_terms, words_alike
from memory_recall.ranking.parts import Collection, Part
from memory_recall.ranking.segment import Segment
from memory_recall.text import tokens

WORDS = "database databases sqlite mysql postgresql oracle dataset datasets db sql table schema query butter".split()  # noqa: SIM905
STORE = [Document("", word) for word in WORDS]


def near_to(word: str, collection: Collection) -> dict[str, float]:
    (stem,) = tokens.stems([word])
    (by_part,) = near_terms("", [stem], meaning.load().vectors_of([word]), collection)
    return {
        part.segment.term(term): cosine
        for part, (terms, cosines) in zip(collection.parts, by_part, strict=True)
        for term, cosine in zip(terms.tolist(), cosines.tolist(), strict=True)
    }


def test_what_is_near_to_a_word() -> None:
    near = near_to("database", Collection([Part(Segment.build(STORE))]))
    assert {"sqlite", "mysql", "dataset", "db"} <= near.keys()
    assert not {"database", "databases", "butter"} & near.keys()
    assert list(near.values()) == sorted(near.values())
    assert all(nearness.LEAST <= cosine < 1.0 for cosine in near.values())


def test_a_word_without_a_vector_has_nothing_near() -> None:
    assert near_terms("", ["sha256"], np.zeros((1, meaning.DIMENSIONS), np.float32), Collection([])) == [[]]


@pytest.mark.parametrize("kept", [1, 3, 128])
@pytest.mark.parametrize("dead", [(), ("sqlite", "mysql", "db", "dataset")])
def test_what_is_forgotten_is_found_again(monkeypatch: pytest.MonkeyPatch, kept: int, dead: tuple[str, ...]) -> None:
    alive = [document for document in STORE if document.text not in dead]
    monkeypatch.setattr(nearness, "MOST", 3)
    expected = near_to("database", Collection([Part(Segment.build(alive))]))
    assert len(expected) == 3
    monkeypatch.setattr(nearness, "_KEPT", kept)
    parts = [
        Part(Segment.build(half), np.array([document.text not in dead for document in half]))
        for half in (STORE[::2], STORE[1::2])
    ]
    for _ in range(2):  # the second time from memory
        assert near_to("database", Collection(parts)) == expected


def test_a_segment_remembers_only_so_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearness, "_REMEMBERED", 2)
    segment = Segment.build(STORE)
    for word in WORDS:
        near_to(word, Collection([Part(segment)]))
        assert len(segment.near) <= 2


def test_the_table_of_subjects_speaks_beside_the_vectors() -> None:
    segment = Segment.build([Document("", "bun"), Document("", "packages"), Document("", "butter")])
    query = "package manager"
    vectors = meaning.load().vectors_of(query.split())
    for ((terms, cosines),) in near_terms(query, tokens.stems(query.split()), vectors, Collection([Part(segment)])):
        near = dict(zip(map(segment.term, terms.tolist()), cosines.tolist(), strict=True))
        assert near["bun"] == pytest.approx(nearness.RELATED)
        assert "butter" not in near


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("datastore mysql", ("sqlite",)),
        ("zeppelin", ()),
        ("sqlite zeppelin airship", ()),
        ("asdf", ()),
        ("", ()),
    ],
)
def test_words_alike_stand_for_others_only_when_they_are_telling(query: str, expected: tuple[str, ...]) -> None:
    store = [Document("", "sqlite with df and butter")]
    found = words_alike(query, Collection([Part(Segment.build(store))]))
    assert set(expected) <= set(found)
    assert bool(found) is bool(expected)
