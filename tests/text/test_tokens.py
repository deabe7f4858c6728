"""How texts and questions are cut into words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text import tokens

# What people write into memories: several scripts, marks, humps, joiners, digits, and everything else now and then.
ALPHABET = "abcXYZ019 -_./'’ʼ‐éÅßﬁＡａİıςΣᾳ한국決策ログのहिन्दी\u0301\u200b\ud800\n\t—…😀"
texts = st.text(alphabet=st.one_of(st.sampled_from(ALPHABET), st.characters()), max_size=60)
quietly = settings(derandomize=True, deadline=None, max_examples=200)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("cafe\u0301", "café"),
        ("ＡＰＩ", "api"),
        ("Straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("İstanbul", "istanbul"),
        ("Łódź", "lodz"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_spellings_of_one_word_are_equal(one: str, other: str) -> None:
    assert tokens.normalise(one) == tokens.normalise(other)
    assert tokens.query_words(one) == tokens.query_words(other)


def test_letters_that_differ_by_a_voicing_mark_stay_different() -> None:
    assert tokens.normalise("が") != tokens.normalise("か")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user-session-handling", ["user", "session", "handling"]),
        ("session_4_reports", ["session", "4", "reports"]),
        ("db.primary", ["db", "primary"]),
        ("db/migrate", ["db", "migrate"]),
        ("authFlow", ["auth", "flow"]),
        ("HTTPServer", ["http", "server"]),
        ("sha256Hash", ["sha", "256", "hash"]),
        ("URLs", ["urls"]),
        ("OAuth", ["oauth"]),
        ("iOS", ["ios"]),
        ("k8s v2", ["k8s", "v2"]),
        ("15min", ["15", "min"]),
        ("don't", ["dont"]),
        ("don’t dont", ["dont", "dont"]),
        ("'quoted' users' `code`", ["quoted", "users", "code"]),
        ("-- - -x- __init__", ["x", "init"]),
        ("決策", ["決策"]),
        ("决策风格", ["决策", "策风", "风格"]),
        ("决", ["决"]),
        ("JWT認証", ["jwt", "認証"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("", []),
        ("?! — … 😀", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert tokens.words(text) == expected


def test_a_text_can_be_found_by_joined_names_and_single_characters() -> None:
    assert {"e", "mail", "email"} <= set(tokens.terms("e-mail"))
    assert {"node", "js", "nodejs"} <= set(tokens.terms("Node.js"))
    assert {"oauth", "2", "oauth2"} <= set(tokens.terms("OAuth2"))
    assert {"决策", "决", "策"} <= set(tokens.terms("决策"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how does auth work", ("auth", "work")),
        ("What's the database that we use?", ("databas",)),
        ("deploys deployment deployed", ("deploy",)),
        ("决策是什么", ("决策",)),
        ("决", ("决",)),
        ("to-do", ("todo",)),
        ("oauth2", ("oauth",)),
        ("the of", ()),
        ("how is it?", ()),
        ("?! -- '", ()),
        ("\x00\n\t", ()),
        ("", ()),
    ],
)
def test_the_words_of_a_question(query: str, expected: tuple[str, ...]) -> None:
    assert tokens.query_words(query) == expected


def test_a_pair_that_only_glues_is_asked_for_where_nothing_else_is() -> None:
    assert tokens.query_words("目的") == ("目的",)
    assert tokens.query_words("部署的流程") == ("部署", "流程")


def test_the_joined_name_of_a_question_belongs_to_its_parts() -> None:
    assert tokens.analysed("Node.js") == (
        tokens.QueryWord("node", ("nodej",)),
        tokens.QueryWord("js", ("nodej",)),
    )


def test_every_stop_word_is_a_word_as_words_come_out() -> None:
    strange = {word for word in tokens.STOP_WORDS if tokens.words(word) != [word] and len(word) <= 2}
    assert not strange


@quietly
@given(texts)
def test_normalising_twice_changes_nothing_that_is_compared(text: str) -> None:
    assert tokens.normalise(tokens.normalise(text)) == tokens.normalise(text)


@quietly
@given(texts)
def test_the_short_way_of_normalising_is_the_long_way(text: str) -> None:
    # An accent anywhere sends the whole text the long way.
    assert tokens.normalise(text + " é") == tokens.normalise(text) + " e"


@quietly
@given(texts)
def test_the_words_of_a_text_are_those_of_its_pieces(text: str) -> None:
    assert tokens.words(text) == [word for piece in text.split() for word in tokens.words(piece)]


@quietly
@given(texts)
def test_all_that_a_text_can_be_found_by_stands_in_its_squeezed_form(text: str) -> None:
    squeezed = tokens.squeeze(text)
    assert [term for term in tokens.terms(text) if term not in squeezed] == []


@quietly
@given(texts)
def test_squeezing_keeps_line_feeds(text: str) -> None:
    assert tokens.squeeze(text).count("\n") == text.count("\n")


@quietly
@given(texts)
def test_no_query_is_too_odd(text: str) -> None:
    asked = tokens.query_words(text)
    assert len(set(asked)) == len(asked)
    assert all(asked)


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "-" * 200_000, "a-" * 100_000, "aB" * 100_000, "決" * 100_000, "é’" * 100_000]
)
def test_long_text_takes_time_in_proportion_to_its_length(text: str) -> None:
    tokens.query_words(text)
    tokens.terms(text)
    tokens.squeeze(text)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("wie lange gilt eine Session", ("lang", "gilt", "session")),
        ("recette de la ratatouille", ("recett", "ratatouill")),
        ("quién pintó las paredes", ("pinto", "pared")),
        ("MIT licence or DES", ("mit", "licenc", "des")),
    ],
)
def test_function_words_of_neighbouring_languages_are_no_words_of_a_question(
    question: str, asked: tuple[str, ...]
) -> None:
    assert tokens.query_words(question) == asked
