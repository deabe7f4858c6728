"""The one line of a long text that shows why it was found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text import snippets, tokens
from memory_recall.text.snippets import ELLIPSIS, shortened, snippet

LONG = (
    "JWT access tokens live fifteen minutes. " * 10 + "Webhooks are retried with backoff. " + "More follows here. " * 30
)
quietly = settings(derandomize=True, deadline=None, max_examples=200)


def test_a_text_that_fits_is_one_line_of_itself() -> None:
    assert snippet("two\n  lines\tand\u00a0more ", ("line",)) == "two lines and more"


def test_a_long_text_is_shown_where_the_words_are() -> None:
    shown = snippet(LONG, ("webhook", "backoff"), 80)
    assert "Webhooks are retried with backoff." in shown
    assert shown.startswith(ELLIPSIS)
    assert shown.endswith(ELLIPSIS)
    assert len(shown) <= 80


def test_the_place_with_most_different_words_wins() -> None:
    text = "retry " * 50 + "x " * 100 + "retry after backoff " + "x " * 100
    assert "backoff" in snippet(text, ("retri", "backoff"), 40)


def test_without_the_words_it_begins_at_the_beginning() -> None:
    assert snippet(LONG, (), 40) == "JWT access tokens live fifteen minutes." + ELLIPSIS
    assert snippet(LONG, ("absent",), 40).startswith("JWT access")


def test_words_are_not_cut_in_two() -> None:
    inner = snippet(LONG, ("webhook",), 60).strip(ELLIPSIS)
    assert set(inner.split()) <= set(LONG.split())


def test_a_text_without_spaces_is_cut_near_the_words() -> None:
    text = "决策风格具体推荐" * 50 + "数据库迁移" + "决策风格具体推荐" * 50
    shown = snippet(text, ("数据", "迁移"), 40)
    assert "数据库迁移" in shown
    assert len(shown) <= 40


def test_a_huge_text_costs_no_more_than_a_large_one() -> None:
    assert len(snippet("retry backoff " * 500_000, ("retri", "backoff"), 100)) <= 100
    assert len(snippet("x" * 3_000_000, ("y",), 100)) <= 100


def test_shortening_keeps_lines_and_ends_at_a_word() -> None:
    assert shortened("one\ntwo three", 20) == "one\ntwo three"
    assert shortened("one\ntwo three", 10) == "one\ntwo" + ELLIPSIS


@pytest.mark.parametrize("width", [1, 2, 3, 10])
def test_narrow_widths_are_kept(width: int) -> None:
    assert len(snippet(LONG, ("webhook",), width)) <= width
    assert len(shortened(LONG, width)) <= width


@quietly
@given(st.text(max_size=400), st.lists(st.sampled_from(["retri", "a", "决策", "0"]), max_size=3), st.integers(3, 120))
def test_always_one_line_of_at_most_the_width(text: str, words: list[str], width: int) -> None:
    shown = snippet(text, words, width)
    assert len(shown) <= width
    assert "\n" not in shown
    assert len(shortened(text, width)) <= width


pieces = st.text(alphabet="aAbBdDeEiIyYgGnN019.,'-_()", min_size=1, max_size=8)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.lists(pieces, min_size=1, max_size=6), st.lists(pieces, min_size=1, max_size=3))
def test_looking_at_first_letters_misses_no_word(text: list[str], asked: list[str]) -> None:
    words = frozenset(tokens.stems(term for piece in asked for term in tokens.terms(piece)))
    initials = {word[0] for word in words}
    for piece in [*text, *asked, "Dying", "skies", "(hoping)"]:
        expected = words.intersection(tokens.stems(tokens.terms(piece)))
        assert snippets._found_in(piece, words, initials) == expected
