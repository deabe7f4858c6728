"""Knowing when nothing matches: silence for what nobody wrote down, and an end of the list where relevance ends."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memory_recall.ranking.floor import answers
from memory_recall.ranking.hybrid import Evidence, rank_documents
from memory_recall.ranking.lexical import Document

quietly = settings(derandomize=True, deadline=None, max_examples=200)

STORE = [
    Document("auth-flow", "JWT access tokens with refresh tokens, in httpOnly cookies"),
    Document("db.primary", "PostgreSQL 16 via Prisma; migrations are never edited by hand", ("database", "orm")),
    Document("user-prefers-bun", "Use bun instead of npm for every script"),
    Document("deploy-target", "The deployment goes to Fly.io since May"),
    Document("部署流程", "先跑数据库迁移,再滚动发布"),
    Document("login-page", "Users sign in with their password and username"),
    Document("style", "Indent with tabs, never with spaces"),
    Document("backups", "Nightly dumps are kept for thirty days in a bucket"),
]

shares = st.floats(0, 1)
evidences = st.builds(
    Evidence,
    exact=shares,
    near=shares,
    meaning=st.floats(-1, 1),
    coverage=shares,
    asked=st.integers(1, 6),
    known=shares,
    found=st.integers(0, 6),
    telling=shares,
)


def evidence(exact: float = 0.0, near: float = 0.0, meaning: float = 0.0, **members: float) -> Evidence:
    asked, found = int(members.get("asked", 4)), int(members.get("found", 0))
    telling = members.get("telling", near)
    return Evidence(exact, near, meaning, exact + near, asked, members.get("known", exact), found, telling)


@pytest.mark.parametrize(
    "query",
    [
        "purple monkey dishwasher",
        "what is the airspeed velocity of an unladen swallow",
        "asdf qwer zxcv hjkl",
        "best beaches on the coast of Portugal",
        "recipe for chocolate cake without eggs",
    ],
)
def test_what_nobody_wrote_down_is_met_with_nothing(query: str) -> None:
    ranking = rank_documents(query, STORE, floor=answers)
    assert ranking.scores == ()
    assert ranking.held_back == ranking.matched


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("how is authentication done, which tokens", "auth-flow"),
        ("which SQL server stores our rows", "db.primary"),
        ("where do we deploy to", "deploy-target"),
        ("数据库 迁移 怎么 发布", "部署流程"),
        ("how are passwords entered by a user who signs in", "login-page"),
        ("which package manager should I use", "user-prefers-bun"),
        ("bakcups", "backups"),
    ],
)
def test_what_somebody_wrote_down_is_found(query: str, title: str) -> None:
    ranking = rank_documents(query, STORE, floor=answers)
    assert STORE[ranking.scores[0].index].title == title


@pytest.mark.parametrize("query", ["tokens", "refresh", "password tabs", "JWT dishwasher", "npm", "发布"])
def test_one_or_two_words_find_every_memory_that_has_one(query: str) -> None:
    unheld, ranking = rank_documents(query, STORE), rank_documents(query, STORE, floor=answers)
    having = [score for score in unheld.scores if score.matched]
    assert having
    assert [score for score in ranking.scores if score.matched] == having


def test_who_asks_for_a_word_and_is_given_it_did_not_ask_for_others() -> None:
    store = [Document("one", "npm writes the lockfile"), Document("two", "yarn writes another one")]
    assert len(rank_documents("npm", store).scores) == 2
    assert [score.index for score in rank_documents("npm", store, floor=answers).scores] == [0]
    assert [score.index for score in rank_documents("npm", store[1:], floor=answers).scores] == [0]


def test_a_list_ends_where_relevance_ends() -> None:
    strong, weak = evidence(exact=0.9, found=3), evidence(near=0.1)
    assert answers([strong, strong, weak, strong, weak]) == [True, True, False, True, False]
    assert answers([strong, evidence(exact=0.3)]) == [True, True]


def test_weak_signs_of_several_kinds_add_up() -> None:
    assert answers([evidence(near=0.3)]) == [False]
    assert answers([evidence(meaning=0.6)]) == [False]
    assert answers([evidence(near=0.3, meaning=0.4)]) == [True]
    assert answers([evidence(near=0.3, known=0.5)]) == [True]
    assert answers([evidence(near=0.8, telling=0.3)]) == [False]


def test_the_best_support_may_stand_behind_the_first() -> None:
    assert answers([evidence(near=0.2), evidence(exact=0.5, found=2)]) == [True, True]
    assert answers([evidence(near=0.1), evidence(exact=0.5, found=2)]) == [False, True]
    assert not any(answers([*[evidence()] * 3, evidence(exact=0.5, found=2)]))


@quietly
@given(st.lists(evidences, max_size=8))
def test_what_was_asked_for_in_so_many_words_is_never_held_back(judged: list[Evidence]) -> None:
    verdicts = answers(judged)
    assert len(verdicts) == len(judged)
    assert all(verdict for verdict, each in zip(verdicts, judged, strict=True) if each.found >= each.asked)
    assert all(verdict for verdict, each in zip(verdicts, judged, strict=True) if each.found and each.asked <= 2)


@quietly
@given(st.lists(evidences, min_size=1, max_size=8), st.integers(0, 7))
def test_how_many_are_judged_does_not_matter(judged: list[Evidence], count: int) -> None:
    assume(all(each.asked > 2 for each in judged))
    count = max(3, count)
    assert answers(judged[:count]) == answers(judged)[:count]


def test_it_loads_no_numpy() -> None:
    probe = "import sys, memory_recall.ranking.floor; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", probe], check=True, timeout=30)
