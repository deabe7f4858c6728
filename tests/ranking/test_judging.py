"""Documents that are judged all at once are answers where `rank_parts` answers with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_texts import queries, stores

from memory_recall.ranking import floor
from memory_recall.ranking.hybrid import rank_parts
from memory_recall.ranking.judging import answers_among
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.parts import Collection, Part
from memory_recall.ranking.segment import Segment

STORE = [
    Document("user-prefers-bun", "Use bun instead of npm for every script"),
    Document("auth-flow", "JWT access tokens in cookies"),
    Document("db", "PostgreSQL 16; migrations by hand"),
    Document("style", "Indent with tabs, never with spaces"),
]


def judged(query: str, parts: list[Part]) -> set[int]:
    collection = Collection(parts)
    everyone = np.arange(collection.size)
    return set(everyone[answers_among(query, collection, everyone)].tolist())


def ranked(query: str, parts: list[Part]) -> set[int]:
    return {score.index for score in rank_parts(query, parts, floor=floor.answers).scores}


@settings(derandomize=True, deadline=None, max_examples=150)
@given(queries, st.lists(stores, max_size=3))
def test_the_judgement_is_that_of_the_ranking(query: str, collections: list[list[Document]]) -> None:
    parts = [Part(Segment.build(documents)) for documents in collections]
    if parts:
        assert judged(query, parts) == ranked(query, parts)


@pytest.mark.parametrize(
    "query",
    ["package installer", "login cookies", "auth flow", '"jwt access"', "spaces", "purple monkey", "?!"],
)
def test_any_kind_of_question_is_judged(query: str) -> None:
    parts = [Part(Segment.build(STORE[:2])), Part(Segment.build(STORE[2:]))]
    assert judged(query, parts) == ranked(query, parts)
