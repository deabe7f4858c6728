"""Ranking by words: what is found, in which order, and that the filters before it never lose a document."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.ranking import lexical
from memory_recall.ranking.lexical import Document, prefilter_keys, rank, rank_any
from memory_recall.text import tokens

STORE = [
    Document("auth-flow", "JWT access tokens with refresh tokens, in httpOnly cookies"),
    Document("db.primary", "PostgreSQL 16 via Prisma; migrations are never edited by hand", ("database", "orm")),
    Document("user-prefers-bun", "Use bun instead of npm for every script"),
    Document("deployTarget", "The deployment goes to Fly.io since May"),
    Document("部署流程", "先跑数据库迁移,再滚动发布"),
    Document("MEM-4", "Café staging doesn't work with e-mail; ＡＰＩ v2 does"),
]


def titles(query: str) -> list[str]:
    return [STORE[score.index].title for score in rank(query, STORE)]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("how does auth work", "auth-flow"),
        ("token", "auth-flow"),
        ("deploys", "deployTarget"),
        ("target", "deployTarget"),
        ("deploy_target", "deployTarget"),
        ("flyio", "deployTarget"),
        ("cafe", "MEM-4"),
        ("doesnt STAGING", "MEM-4"),
        ("email", "MEM-4"),
        ("api", "MEM-4"),
        ("数据库", "部署流程"),
        ("库", "部署流程"),
        ("部署", "部署流程"),
        ("orm", "db.primary"),
        ("postgresql", "db.primary"),
        ("postgres-QL", "db.primary"),
        ("user's preference: bun?", "user-prefers-bun"),
    ],
)
def test_finds(query: str, title: str) -> None:
    assert titles(query)[0] == title


@pytest.mark.parametrize("query", ["", "   ", "the of", "?!", "-", "'", "xyzzy plugh", "\x00", "how is it"])
def test_finds_nothing(query: str) -> None:
    assert rank(query, STORE) == []


def test_an_absent_word_does_not_empty_the_answer() -> None:
    assert titles("cookies zeppelin")[0] == "auth-flow"


def test_a_store_without_documents_answers_nothing() -> None:
    assert rank("auth", []) == []
    assert rank("auth", [Document("", "")]) == []


def test_title_and_tags_weigh_more_than_text() -> None:
    documents = [
        Document("x", "cache and more"),
        Document("cache", "x and more"),
        Document("x", "y and more", ("cache",)),
    ]
    assert [score.index for score in rank("cache", documents)] == [1, 2, 0]


def test_more_of_the_words_goes_before_more_of_one_word() -> None:
    documents = [Document("", "retry retry retry retry"), Document("", "retry with backoff")]
    assert [score.index for score in rank("retry backoff", documents)] == [1, 0]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    documents = [*[Document("", "gateway notes")] * 8, Document("", "rollback notes"), Document("", "gateway plan")]
    assert rank("gateway rollback", documents)[0].index == 8


def test_says_which_words_were_found() -> None:
    (score,) = rank("refresh cookies of zeppelins", STORE)
    assert (score.index, score.matched, score.words) == (0, 2, ("refresh", "cooki"))


def test_ties_keep_the_order_given() -> None:
    assert [score.index for score in rank("equal", [Document("", "equal text")] * 3)] == [0, 1, 2]


def test_any_word_stands_for_all() -> None:
    every, single = Document("", "npm yarn pnpm bun"), Document("", "only bun here")
    as_one = rank_any(("npm", "yarn", "pnpm", "bun", "cargo"), [single, every])
    assert [score.index for score in as_one] == [1, 0]
    each_on_its_own = {score.index: score.score for score in rank("npm yarn pnpm bun cargo", [single, every])}
    assert as_one[1].score > 2 * each_on_its_own[0]


def test_stops_when_nobody_waits() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        rank("auth", STORE, cancellation=cancellation)


def test_a_page_as_the_question_is_a_question() -> None:
    page = " ".join(f"qx{number}zq" for number in range(5_000)) + " cookies"
    assert [score.index for score in rank(page, STORE)] == [0]


# The words that the stemmer treats in its own way, by rule or as exceptions, and what people write.
ROOTS = """
    hop hope policy happy sky skies dying lying tying die tie use api able stable possib relat optimis organiz gener
    commun arsen news howe evening inning proceed succeed exceed skis idly gently ugly early only singly bias atlas
    cosmos andes past run fly try cry say buy dependency excellen configur token deploy migrat auth cach e-mail
""".split()  # noqa: SIM905
SUFFIXES = """
    s es ed ing er ers ly ies ied y ness ment able ability ational ization izer ize iveness fulness ousness ically logy
    logist enci ency ance ancy al ality ive ivity ful fully less e ying i bl ble blies
""".split()  # noqa: SIM905
words = st.builds(
    lambda root, suffix, other: root + suffix + other,
    st.one_of(st.sampled_from(ROOTS), st.text("abehilnostvyz", min_size=1, max_size=4)),
    st.sampled_from(["", *SUFFIXES]),
    st.sampled_from(["", "", "s", "ed", "ing", "ly"]),
)
others = ["café", "ＡＰＩ", "决策风格", "决", "—", "…", "don't", "v2", "sha256"]
pieces = st.one_of(
    words,
    words.map(str.title),
    words.map(lambda word: f"get{word.title()}Id"),
    st.builds("{}-{}".format, words, words),
    st.builds("{}’s".format, words),
    st.sampled_from(others),
)
documents = st.lists(
    st.builds(
        lambda title, text, tags: Document(title, " ".join(text), tuple(tags)),
        pieces,
        st.lists(pieces, max_size=8),
        st.lists(pieces, max_size=2),
    ),
    max_size=6,
)
quietly = settings(derandomize=True, deadline=None, max_examples=200)


def fully_tokenised(query: str, store: list[Document]) -> set[tuple[int, tuple[str, ...]]]:
    """Which documents match which words, without any filter: the rule that `rank` must keep."""
    found = set()
    for index, document in enumerate(store):
        stems = set(tokens.stems(tokens.terms("\n".join((document.title, document.text, *document.tags)))))
        asked = tokens.analysed(query)
        matched = tuple(word.stem for word in asked if word.stem in stems or not stems.isdisjoint(word.joined))
        if matched:
            found.add((index, matched))
    return found


@quietly
@given(st.lists(pieces, min_size=1, max_size=4).map(" ".join), documents)
def test_the_filters_lose_no_document_and_no_word(query: str, store: list[Document]) -> None:
    ranked = rank(query, store)
    assert {(score.index, score.words) for score in ranked} == fully_tokenised(query, store)
    assert all(0.0 < score.score <= 1.0 and score.matched == len(score.words) for score in ranked)
    assert [score.score for score in ranked] == sorted((score.score for score in ranked), reverse=True)


@quietly
@given(st.lists(pieces, min_size=1, max_size=4).map(" ".join), documents)
def test_a_long_question_is_ranked_without_filters_to_the_same_end(query: str, store: list[Document]) -> None:
    filler = " ".join(f"qx{number}zq" for number in range(lexical._PREFILTER_WORDS))
    found = {(score.index, score.words) for score in rank(f"{query} {filler}", store)}
    assert found == {(score.index, score.words) for score in rank(query, store)}


@settings(derandomize=True, deadline=None, max_examples=1_000)
@given(words)
def test_every_word_contains_a_key_of_its_stem(word: str) -> None:
    for part in tokens.words(word):
        assert any(key in part for key in prefilter_keys(tokens.stems([part])[0]))


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("item777", "item5 x", False),
        ("item777", "see item-777", True),
        ("sha512", "sha256 of the file", False),
        ("sha512", "SHA-512 it is", True),
        ("port8081", "port: listens on 8080", False),
        ("oauth2", "OAuth for everything", True),
        ("release-0731", "MEM-release-0731 was rolled back", True),
    ],
)
def test_a_numbered_name_is_one_word(query: str, text: str, *, found: bool) -> None:
    assert bool(rank(query, [Document("a", text)])) is found
