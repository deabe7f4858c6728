"""What is ranked when nothing was found literally: on documents and on segments alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_texts import WORDS, queries, stores

from memory_recall.ranking.indexed import rank_any_in, rank_in
from memory_recall.ranking.lexical import Document, Score, rank, rank_any
from memory_recall.ranking.parts import Collection, Part
from memory_recall.ranking.segment import Segment
from memory_recall.ranking.widened import DISCOUNT, rank_widened, rank_widened_parts

quietly = settings(derandomize=True, deadline=None, max_examples=60)

STORE = [
    Document("user-prefers-bun", "Use bun instead of npm for every script"),
    Document("auth-flow", "JWT access tokens in cookies"),
    Document("db", "PostgreSQL 16; migrations by hand"),
    Document("style", "Indent with tabs, never with spaces"),
]


def in_one_part(query: str, documents: list[Document]) -> list[Score]:
    return rank_widened_parts(query, [Part(Segment.build(documents))])


def in_parts_with_dead(query: str, documents: list[Document]) -> list[Score]:
    """Each document in a part of its own, before one that does not count and would be the better answer."""
    parts = [
        Part(Segment.build([document, Document(query, f"{query} whitespaced tokne migraton")]), np.array([True, False]))
        for document in documents
    ]
    return [
        Score(score.index // 2, score.score, score.matched, score.words) for score in rank_widened_parts(query, parts)
    ]


ways = pytest.mark.parametrize("widened", [rank_widened, in_one_part, in_parts_with_dead])
Way = Callable[[str, list[Document]], list[Score]]


@ways
@pytest.mark.parametrize(
    ("query", "title", "words"),
    [
        ("package manager", "user-prefers-bun", ("npm", "bun")),
        ("single sign-on", "auth-flow", ("auth", "jwt", "cooki", "token")),
        ("postgress", "db", ("postgr",)),
        ("migratons", "db", ("migrat",)),
        ("acess tokns", "auth-flow", ("access", "token")),
        ("whitespace", "style", ("space",)),
    ],
)
def test_a_question_without_a_literal_answer_is_widened(
    widened: Way, query: str, title: str, words: tuple[str, ...]
) -> None:
    scores = widened(query, STORE)
    assert STORE[scores[0].index].title == title
    assert set(scores[0].words) <= set(words)
    assert scores[0].matched == len(scores[0].words) > 0
    assert all(0 < score.score <= DISCOUNT for score in scores)


@ways
@pytest.mark.parametrize(
    "query",
    [
        "",
        "?!",
        "purple monkey dishwasher",
        "asdf qwer zxcv",
        "quantum blockchain synergy",
        "lorem ipsum",
        "1234",
        "决定",
    ],
)
def test_a_nonsense_question_finds_nothing(widened: Way, query: str) -> None:
    assert widened(query, STORE) == []


@ways
def test_an_empty_store_has_nothing(widened: Way) -> None:
    assert widened("package manager", []) == []


@quietly
@given(queries, stores, st.integers(0, 10))
def test_segments_rank_words_as_documents_do(query: str, store: list[Document], cut: int) -> None:
    collection = Collection([Part(Segment.build(store[:cut])), Part(Segment.build(store[cut:]))])
    assert_same(rank_in(query, collection), rank(query, store))


@quietly
@given(st.lists(st.sampled_from(WORDS), max_size=6), stores, st.integers(0, 10))
def test_segments_rank_any_word_as_documents_do(words: list[str], store: list[Document], cut: int) -> None:
    collection = Collection([Part(Segment.build(store[:cut])), Part(Segment.build(store[cut:]))])
    assert_same(rank_any_in(words, collection), rank_any(words, store))


def assert_same(ours: list[Score], theirs: list[Score]) -> None:
    assert {score.index: score.words for score in ours} == {score.index: score.words for score in theirs}
    expected = {score.index: score.score for score in theirs}
    for score, other in zip(ours, theirs, strict=True):
        assert score.score == pytest.approx(expected[score.index], abs=1e-5)
        assert score.score == pytest.approx(other.score, abs=1e-5)


@ways
def test_a_word_that_is_a_little_like_another_is_no_answer(widened: Way) -> None:
    documents = [
        *STORE,
        Document("session-tokens", "Sessions last for thirty days, and nothing extends them by itself."),
    ]
    assert widened("nothing-like-this-exists-anywhere", documents[:-1]) == []
