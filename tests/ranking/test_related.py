"""Which words of the same matter are looked for."""

from __future__ import annotations

import pytest

from memory_recall.ranking import related
from memory_recall.ranking.related import related_stems, related_terms
from memory_recall.text import tokens


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("package manager", {"npm", "bun", "yarn", "pnpm"}),
        ("Which package-manager do we use?", {"npm", "bun"}),
        ("npm", {"bun", "yarn"}),
        ("authentication", {"auth", "jwt", "login"}),
        ("how do I log in", {"auth", "session"}),
        ("OAuth2", {"jwt", "sso"}),
        ("k8s", {"kubernetes"}),
        ("e-mail", {"smtp"}),
        ("continuous integration", {"ci", "pipeline"}),
        ("end-to-end", {"test", "playwright"}),
    ],
)
def test_opens_a_subject(query: str, expected: set[str]) -> None:
    assert expected <= set(related_terms(query))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "the of",
        "purple monkey dishwasher",
        "xyzzy",
        "knitting yarn patterns",
        "the end to which",
        "决策",
        "what is the weather",
    ],
)
def test_opens_none(query: str) -> None:
    assert related_terms(query) == ()


def test_never_gives_back_what_was_asked() -> None:
    assert not {"npm", "npms", "yarn"} & set(related_terms("npm yarn"))


def test_the_table_is_what_it_claims_to_be() -> None:
    for subject in related.subjects():
        assert subject.words or subject.phrases
        stems = [stem for stem, _ in subject.members]
        assert len(stems) == len(set(stems))
        assert not {word for _, word in subject.members} & tokens.STOP_WORDS


def test_says_which_words_of_a_query_open_what() -> None:
    assert {"npm", "bun", "yarn"} <= set(related_stems("our package manager")["packag"])
    assert related_stems("our package manager").keys() == {"packag", "manag"}
    assert {"auth", "jwt"} <= set(related_stems("how do I log in")["log"])
    assert related_stems("knitting yarn patterns") == {}
