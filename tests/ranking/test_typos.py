"""Which word somebody may have meant, and when not to guess."""

from __future__ import annotations

import pytest

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.ranking.lexical import Document
from memory_recall.ranking.typos import closest, corrected_query, edits_allowed, words_of


@pytest.mark.parametrize(
    ("word", "vocabulary", "expected"),
    [
        ("auth-flw", ["db", "auth-flow", "auth-flows"], ["auth-flow", "auth-flows"]),
        ("AUTH-FLOW", ["auth-flow"], ["auth-flow"]),
        ("Db", ["db", "dc"], ["db"]),
        ("auht", ["auth", "path"], ["auth"]),
        ("uath", ["auth"], ["auth"]),
        ("cafè", ["café"], ["café"]),
        ("databse", ["database", "databases"], ["database"]),
        ("部署流呈", ["部署流程"], ["部署流程"]),
    ],
)
def test_near_names(word: str, vocabulary: list[str], expected: list[str]) -> None:
    assert closest(word, vocabulary) == expected


@pytest.mark.parametrize(
    ("word", "vocabulary"),
    [
        ("npm", ["nvm", "npx"]),
        ("rest", ["test", "best"]),
        ("vercel", ["netlify"]),
        ("", ["a"]),
        ("x" * 100_000, ["x" * 40]),
    ],
)
def test_too_far(word: str, vocabulary: list[str]) -> None:
    assert closest(word, vocabulary) == []


def test_the_nearest_come_first_and_only_so_many() -> None:
    names = ["gateway-timeouts", "gateway-timout", "gateway-timeout2", "gateway-timeout"]
    assert closest("gateway-timeout", names, limit=2) == ["gateway-timeout", "gateway-timeouts"]


def test_a_cutoff_of_the_caller_counts() -> None:
    assert closest("webhook", ["webhooks"], cutoff=0) == []
    assert closest("webhook", ["web-hook-s"], cutoff=3) == ["web-hook-s"]


def test_allows_more_edits_in_longer_words() -> None:
    assert [edits_allowed(length) for length in (3, 4, 7, 8, 11, 12)] == [0, 1, 1, 2, 2, 3]


STORE = [Document("auth-flow", "JWT access tokens", ("security",)), Document("money", "Invoices of 2024 in euro")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tokne", "token"),
        ("acess tokns", "access tokens"),
        ("where are the invoises", "invoices"),
        ("securty", "security"),
    ],
)
def test_corrects_words_of_the_store(query: str, expected: str) -> None:
    assert corrected_query(query, STORE) == expected


@pytest.mark.parametrize("query", ["", "the of", "purple monkey dishwasher", "2025", "jwx", "asdf qwer", "决策"])
def test_leaves_other_words_alone(query: str) -> None:
    assert corrected_query(query, STORE) == ""


def test_does_not_guess_at_a_whole_page() -> None:
    assert corrected_query(" ".join(f"tokn{'x' * number}" for number in range(33)), STORE) == ""


def test_words_of_a_store() -> None:
    assert words_of([Document("authFlow", "It's THE flow", ("决策",))]) == ["auth", "flow", "决策"]


def test_stops_when_nobody_waits() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        words_of(STORE, cancellation)
