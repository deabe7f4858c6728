"""Successors stand before what they replaced; rows in the order of their ids are no ranking."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.recall.coven_order import by_words, is_row_order, successors_first
from memory_recall.recall.coven_output import PrintedHit


@pytest.mark.parametrize("order", list(permutations("ABC")))
def test_a_chain_comes_newest_first_in_any_order(order: tuple[str, ...]) -> None:
    assert successors_first(order, {"A": ["B"], "B": ["C"]}) == ["C", "B", "A"]


def test_a_successor_further_up_the_chain_stands_first_even_without_the_link_between() -> None:
    assert successors_first(["A", "X", "C"], {"A": ["B"], "B": ["C"]}) == ["C", "A", "X"]


def test_unrelated_claims_keep_their_order() -> None:
    assert successors_first(["X", "A", "Y", "B", "Z"], {"A": ["B"]}) == ["X", "B", "A", "Y", "Z"]


def test_all_of_several_successors_stand_first() -> None:
    ordered = successors_first(["A", "B", "C"], {"A": ["B", "C"]})
    assert ordered.index("A") == 2


def test_circles_end() -> None:
    assert sorted(successors_first(["A", "B", "C"], {"A": ["B"], "B": ["A"], "C": ["C"]})) == ["A", "B", "C"]


def test_a_very_long_chain_ends() -> None:
    length = 50_000
    names = [str(number) for number in range(length)]
    superseders = {names[at]: [names[at + 1]] for at in range(length - 1)}
    assert successors_first(["0", names[-1]], superseders) == [names[-1], "0"]


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from("ABCDEF"), unique=True),
    st.dictionaries(st.sampled_from("ABCDEF"), st.lists(st.sampled_from("ABCDEF"), max_size=3)),
)
def test_nothing_is_lost_or_doubled(ulids: list[str], superseders: dict[str, list[str]]) -> None:
    assert sorted(successors_first(ulids, superseders)) == sorted(ulids)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "copy.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE docs (id INTEGER PRIMARY KEY, path TEXT, familiar TEXT, chunk TEXT)")
        connection.executemany(
            "INSERT INTO docs (path, familiar, chunk) VALUES (?, ?, ?)",
            [("/home/u/a.md", "coven", f"chunk\n{number}" + "x" * 300) for number in range(4)],
        )
        connection.commit()
    return path


def hit(number: int) -> PrintedHit:
    return PrintedHit("~/a.md", 0.5, f"chunk {number}" + "x" * 273 + "…")


@pytest.mark.parametrize(("numbers", "expected"), [((0, 1, 2), True), ((0, 2, 3), True), ((0, 2, 1), False)])
def test_row_order_is_recognised(database: Path, numbers: tuple[int, ...], expected: bool) -> None:
    hits = [hit(number) for number in numbers]
    assert is_row_order(hits, database, Path("/home/u"), "coven") is expected


def test_row_order_is_recognised_however_the_path_is_printed(database: Path) -> None:
    hits = [hit(0), PrintedHit("/home/u/a.md", 0.5, hit(1).chunk), hit(2)]
    assert is_row_order(hits, database, Path("/home/u"), "coven")
    assert is_row_order([hits[1], PrintedHit("/home/u/a.md", 0.5, hit(3).chunk)], database, None, "coven")


def test_what_cannot_be_told_is_believed(database: Path, tmp_path: Path) -> None:
    assert not is_row_order([hit(0)], database, Path("/home/u"), "coven")
    assert not is_row_order([hit(0), hit(1), hit(2)], database, Path("/home/u"), "sage")
    assert not is_row_order([hit(0), hit(1), hit(9)], database, Path("/home/u"), "coven")
    other = tmp_path / "other"
    other.write_bytes(b"no database at all" * 100)
    assert not is_row_order([hit(0), hit(1), hit(2)], other, Path("/home/u"), "coven")
    surrogate = PrintedHit("~/\udcff.md", 0.5, "x")
    assert not is_row_order([surrogate, hit(1), hit(2)], database, Path("/home/u"), "coven")


def test_words_put_the_nearest_first_and_lose_nothing() -> None:
    texts = [("Backups", "nightly"), ("Other", "nothing"), ("Gateway timeout", "60 seconds"), ("Gateway", "reviewers")]
    assert by_words("gateway timeout", texts) == [2, 3, 0, 1]
