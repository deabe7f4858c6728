"""Ranking by words and meaning: the scan's answer where words decide, better ones where they do not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_texts import documents, queries, stores

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.ranking import fusion, hybrid, lexical
from memory_recall.ranking.hybrid import Evidence, Ranking, may_be_certain, rank_documents, rank_parts
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.parts import Collection, Part
from memory_recall.ranking.segment import Segment
from memory_recall.text import tokens

quietly = settings(derandomize=True, deadline=None, max_examples=80)

STORE = [
    Document("auth-flow", "JWT access tokens with refresh tokens, in httpOnly cookies"),
    Document("db.primary", "PostgreSQL 16 via Prisma; migrations are never edited by hand", ("database", "orm")),
    Document("user-prefers-bun", "Use bun instead of npm for every script"),
    Document("deployTarget", "The deployment goes to Fly.io since May"),
    Document("部署流程", "先跑数据库迁移,再滚动发布"),
    Document("login-page", "Users sign in with their password and username"),
    Document("style", "Indent with tabs, never with spaces"),
]


def part(store: list[Document]) -> Part:
    return Part(Segment.build(store))


def indices(ranking: Ranking) -> list[int]:
    return [score.index for score in ranking.scores]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("how do we handle authentication credentials here", "auth-flow"),
        ("which SQL server stores our rows", "db.primary"),
        ("where is it being shipped and hosted on servers", "deployTarget"),
        ("数据库 迁移 怎么 发布", "部署流程"),
        ("accounts logging on, with passwords", "login-page"),
    ],
)
def test_finds_what_is_meant(query: str, title: str) -> None:
    assert STORE[rank_documents(query, STORE).scores[0].index].title == title


@pytest.mark.parametrize(
    "query", ["", "  ", "the of", "?!", "\x00", "xqzvkj zvxq kqjz", "12345 67890 13579", "甲乙 丙丁 戊己"]
)
def test_finds_nothing(query: str) -> None:
    assert rank_documents(query, STORE) == Ranking()


def test_nothing_to_rank() -> None:
    assert rank_documents("auth", []) == rank_parts("auth", []) == rank_documents("auth flow", [Document("", "")])
    assert rank_parts("auth", [Part(Segment.build(STORE), np.zeros(len(STORE), bool))]) == Ranking()


@quietly
@given(queries, stores)
def test_exact_words_are_those_of_the_scan(query: str, store: list[Document]) -> None:
    """An index finds the same documents by the same words, with the same scores."""
    scanned = {score.index: score for score in lexical.rank(query, store)}
    words = tokens.analysed(query)
    if not words or not store:
        assert not scanned
        return
    collection = Collection([part(store)])
    exact = fusion.by_words(words, collection, None)
    scores = dict(zip(exact.documents.tolist(), exact.scores.tolist(), strict=True))
    assert scores == pytest.approx({index: score.score for index, score in scanned.items()}, abs=1e-5)
    found = {score.index: score for score in rank_parts(query, collection.parts).scores}
    assert {index: score.words for index, score in found.items() if score.words} == {
        index: score.words for index, score in scanned.items()
    }
    assert all(score.matched == len(score.words) for score in found.values())


@quietly
@given(queries, stores)
def test_documents_and_parts_give_one_answer(query: str, store: list[Document]) -> None:
    scanned, indexed = rank_documents(query, store), rank_parts(query, [part(store)])
    assert scanned.certain == indexed.certain
    assert (scanned.matched, scanned.held_back) == (indexed.matched, indexed.held_back)
    assert_same(scanned, indexed)


def assert_same(one: Ranking, other: Ranking) -> None:
    """Equal but for the last bits of the scores, which may order documents that are about equally good differently."""
    ours = {score.index: (score, evidence) for score, evidence in zip(one.scores, one.evidence, strict=True)}
    theirs = {score.index: (score, evidence) for score, evidence in zip(other.scores, other.evidence, strict=True)}
    assert ours.keys() == theirs.keys()
    for index, (score, evidence) in ours.items():
        assert score.score == pytest.approx(theirs[index][0].score, abs=1e-4)
        assert score.words == theirs[index][0].words
        assert tuple(evidence) == pytest.approx(tuple(theirs[index][1]), abs=1e-4)
    for mine, its in zip(one.scores, other.scores, strict=True):
        assert mine.index == its.index or mine.score == pytest.approx(its.score, abs=1e-5)


@st.composite
def divided(draw: st.DrawFn) -> tuple[list[Document], list[Part], list[int]]:
    """Documents; parts that hold them in an order of their own, among dead ones; and which of them stands where."""
    alive = draw(st.lists(documents, min_size=1, max_size=8))
    placed: list[list[tuple[int, Document]]] = [[] for _ in range(draw(st.integers(1, 4)))]
    for number in draw(st.permutations(range(len(alive)))):
        placed[draw(st.integers(0, len(placed) - 1))].append((number, alive[number]))
    parts: list[Part] = []
    owners: list[int] = []
    for held in placed:
        for dead in draw(st.lists(documents, max_size=3)):
            held.insert(draw(st.integers(0, len(held))), (-1, dead))
        numbers = np.array([number for number, _ in held], np.int32)
        segment = Segment.build([document for _, document in held])
        parts.append(Part(segment, None if (numbers >= 0).all() else numbers >= 0, position=numbers))
        owners += numbers.tolist()
    return alive, parts, owners


@settings(quietly, max_examples=150)
@given(queries, divided())
def test_how_documents_are_divided_does_not_matter(
    query: str, division: tuple[list[Document], list[Part], list[int]]
) -> None:
    alive, parts, owners = division
    whole, pieced = rank_parts(query, [part(alive)]), rank_parts(query, parts)
    renamed = pieced._replace(scores=tuple(replaced(score, owners[score.index]) for score in pieced.scores))
    assert whole.certain == pieced.certain
    assert whole.matched == pieced.matched
    assert_same(whole, renamed)


def replaced(score: lexical.Score, index: int) -> lexical.Score:
    return lexical.Score(index, score.score, score.matched, score.words)


@quietly
@given(queries, stores, st.integers(0, 12))
def test_a_limit_cuts_and_changes_nothing_else(query: str, store: list[Document], limit: int) -> None:
    everything, some = rank_documents(query, store), rank_documents(query, store, limit=limit)
    assert some.scores == everything.scores[:limit]
    assert some.evidence == everything.evidence[:limit]
    assert (some.matched, some.certain) == (everything.matched, everything.certain)
    scores = [score.score for score in everything.scores]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 < score <= 1.0 for score in scores)


def test_a_limit_beyond_what_is_ranked_again_still_cuts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "RANKED_AGAIN", 3)
    store = [Document("", f"{'token ' * (number % 4)} server deployed with {number} passwords") for number in range(12)]
    everything = rank_documents("login tokens of the deployment", store).scores
    assert [score.score for score in everything] == sorted((score.score for score in everything), reverse=True)
    for limit in range(13):
        assert rank_documents("login tokens of the deployment", store, limit=limit).scores == everything[:limit]


@quietly
@given(queries, stores, st.integers(1, 5), st.integers(1, 4))
def test_whose_meaning_cannot_matter_is_not_looked_at_and_nothing_else(
    query: str, store: list[Document], limit: int, first: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "RANKED_AGAIN", 2)
        everything = rank_documents(query, store, limit=limit)
        patch.setattr(fusion, "JUDGED_FIRST", first)
        assert rank_documents(query, store, limit=limit) == everything


def test_equal_documents_come_in_the_order_of_their_positions() -> None:
    store = [Document("", "deploy the server")] * 5
    assert indices(rank_documents("deployed server containers", store)) == [0, 1, 2, 3, 4]
    order = np.array([3, 1, 4, 0, 2], np.int32)
    for limit in (2, None):
        ranking = rank_parts("deployed server containers", [Part(Segment.build(store), position=order)], limit=limit)
        assert indices(ranking) == [3, 1, 4, 0, 2][:limit] or indices(ranking) == np.argsort(order).tolist()[:limit]


def test_weights_count_before_the_best_are_chosen() -> None:
    store = [Document("", "deploy the server")] * 3
    weights = np.array([0.5, 1.0, 0.75], np.float32)
    for query in ("deployed server containers", "server deploy"):
        plain = rank_documents(query, store).scores[0].score
        weighed = rank_parts(query, [Part(Segment.build(store), weight=weights)], limit=2)
        assert indices(weighed) == [1, 2]
        assert [score.score for score in weighed.scores] == pytest.approx([plain, plain * 0.75])


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("which hash do we use, sha256", "sha256 hash of files", "sha512 hash of files"),
        ("Node 18 runs in the pipeline", "Node 18 it is", "Node 20 it is"),
        ("what does HTTP 404 mean there", "HTTP 404 is absent", "HTTP 429 is absent"),
        ("is the v1 interface still served", "v1 of it", "v2 of it"),
        ("what about the auth-flow here now", "see auth-flow there", "see auth-token there"),
    ],
)
def test_numbers_and_names_are_not_nearly_others(query: str, right: str, wrong: str) -> None:
    ranking = rank_documents(query, [Document("", wrong), Document("", right), *STORE[1:]])
    best = ranking.scores[0]
    assert best.index == 1
    assert all(score.score < 0.8 * best.score for score in ranking.scores if score.index == 0)


@pytest.mark.parametrize("other", ["sha512", "v2", "20", "429", "决策", "здравствуй", "jjwp"])
def test_words_without_a_vector_have_nothing_near(other: str) -> None:
    asked = ["sha256", "v1", "18", "404", "决", "привет", "qzxk"]
    ranking = rank_documents(" ".join(asked), [Document("", other)])
    assert all(score.words for score in ranking.scores)


def test_a_near_word_counts_less_than_the_word_itself() -> None:
    store = [Document("", "disable it by hand"), Document("", "enable it by hand")]
    ranking = rank_documents("enable these flags somehow", store)
    assert indices(ranking) == [1, 0]
    exact, near = ranking.evidence
    assert exact.exact > 0.0 < near.near < 1.0
    assert near.exact == 0.0
    assert ranking.scores[1].score < 0.7 * ranking.scores[0].score


@pytest.mark.parametrize(
    ("query", "certain"),
    [
        ("auth flow", True),
        ("auth-flow", True),
        ("user-prefers-bun", True),
        ("the style", True),
        ('"tokens with refresh"', True),
        ("部署流程", True),
        ("refresh tokens", False),
        ("auth password", False),
        ("user prefers bun", False),
        ('"tokens of Fly.io"', False),
        ("zeppelin", False),
        ("", False),
    ],
)
def test_an_answer_by_words_alone_is_certain(query: str, *, certain: bool) -> None:
    ranking = rank_documents(query, STORE)
    assert ranking.certain is certain
    if certain:
        assert ranking.scores == tuple(lexical.rank(query, STORE))
        assert all(evidence.near == evidence.meaning == 0.0 for evidence in ranking.evidence)
        assert ranking.evidence[0].exact == ranking.evidence[0].coverage == 1.0


def test_only_quotations_names_and_few_words_may_be_certain() -> None:
    asked = ["a-b-c-d", "two words", '"any number of words between quotes"', "three plain words", "", "the"]
    assert [may_be_certain(query, tokens.analysed(query)) for query in asked] == [True, True, True, False, False, False]


def test_evidence_says_what_speaks_for_a_document() -> None:
    ranking = rank_documents("refresh the credentials of zeppelins", STORE)
    by_index = dict(zip(indices(ranking), ranking.evidence, strict=True))
    auth, login = by_index[0], by_index[5]
    assert auth.asked == login.asked == 3
    assert auth.exact == pytest.approx(1 / 3) == auth.known
    assert login.exact == 0.0
    assert 0.0 < login.near < 1 / 3
    assert login.coverage == pytest.approx(login.near)
    assert auth.coverage > 1 / 3
    assert all(-1.0 <= evidence.meaning <= 1.0 for evidence in ranking.evidence)


def test_what_the_floor_refuses_is_held_back_and_counted() -> None:
    query = "refresh the credentials of zeppelins"
    everything = rank_documents(query, STORE)
    judged: list[Evidence] = []

    def floor(evidence: Sequence[Evidence]) -> list[bool]:
        judged.extend(evidence)
        return [each.exact > 0 for each in evidence]

    ranking = rank_documents(query, STORE, floor=floor, limit=1)
    assert judged == list(everything.evidence)
    assert ranking.held_back == sum(evidence.exact == 0 for evidence in everything.evidence) > 0
    assert ranking.refused == {
        score.index
        for score, evidence in zip(everything.scores, everything.evidence, strict=True)
        if not evidence.exact
    }
    assert ranking.scores == everything.scores[:1]
    assert ranking.matched == everything.matched


def test_stops_when_nobody_waits() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    for query in ("how does auth work there", "auth flow"):
        with pytest.raises(Cancelled):
            rank_documents(query, STORE, cancellation=cancellation)
        with pytest.raises(Cancelled):
            rank_parts(query, [part(STORE)], cancellation=cancellation)


def test_a_page_as_the_question_is_a_question() -> None:
    page = " ".join(f"qx{number}zq" for number in range(2_000)) + " cookies"
    assert indices(rank_documents(page, STORE))[0] == 0


def test_a_certain_answer_loads_no_numpy() -> None:
    probe = (
        "import sys\n"
        "from memory_recall.ranking.hybrid import rank_documents\n"
        "from memory_recall.ranking.lexical import Document\n"
        "assert rank_documents('auth flow', [Document('auth-flow', 'JWT')]).certain\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", probe], check=True, timeout=30)


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("how to rolback a relase", "Rollback: redeploy the previous release."),
        ("frankfrut machines at night", "The second rack stands in Frankfurt."),
        ("cokie baner colours again", "The cookie banner is green."),
        ("how long does a sesion lats", "Sessions are lasting thirty days."),
    ],
)
def test_a_misspelt_word_finds_what_it_is_meant_for(query: str, right: str) -> None:
    documents = [*STORE, Document("", right)]
    ranking = rank_documents(query, documents)
    assert ranking.scores[0].index == len(STORE)
    assert ranking.evidence[0].near > 0.25


def test_a_word_that_some_memory_has_is_no_misspelling_of_another() -> None:
    documents = [Document("", "the relay restarts at night"), Document("", "the delay is two seconds")]
    assert [score.index for score in rank_documents("why does our relay restart so oddly", documents).scores][:1] == [0]


def test_a_question_of_many_unknown_words_is_not_guessed_at() -> None:
    right = ["zorbalin", "quimpera", "vostrilo", "plarnex", "dwimbole", "kraxtile", "brunolta", "smirgeth", "flopnard"]
    misspelt = [word[:-2] + word[-1] + word[-2] for word in right]
    documents = [Document("", " ".join(right))]
    few, many = (rank_documents(" ".join(misspelt[:count]), documents) for count in (8, 9))
    assert few.evidence[0].near > 0.5
    assert not many.scores or many.evidence[0].near < 0.5


def test_a_misspelt_stem_finds_the_word_with_its_ending() -> None:
    ranking = rank_documents("tokne", [Document("", "opaque tokens of two parts"), Document("", "indent with tabs")])
    assert [score.index for score in ranking.scores][:1] == [0]
    assert ranking.evidence[0].near == pytest.approx(0.8)


def test_of_what_ranks_too_far_behind_to_be_judged_only_what_has_a_word_counts_as_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hybrid, "_JUDGED", 2)
    store = [
        *([Document("", "refresh the credentials")] * 3),
        *([Document("", "the passwords of the gateway")] * 4),
        Document("", f"refresh {'this and that of something else entirely ' * 9}"),
    ]
    ranking = rank_documents(
        "refresh the credentials of zeppelins", store, floor=lambda all_: [True] * len(all_), limit=1
    )
    assert (len(ranking.scores), ranking.matched, ranking.refused) == (1, 8, frozenset())
    assert ranking.held_back == 4
