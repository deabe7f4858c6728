"""A large nemp store is searched by an index and answers as one that is scanned, whatever happened to it before."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.index import blocks
from memory_recall.index.cache import Cache
from memory_recall.index.indexing import Indexing
from memory_recall.ranking.segment import Segment
from memory_recall.recall.everywhere import SearchQuery, search
from memory_recall.recall.nemp import NempQuery, recall
from memory_recall.stores import nemp
from memory_recall.stores.shelf import Shelf
from worlds import World

STORE, GLOBAL = "project/.nemp/memories.json", "home/.nemp/memories.json"
WORDS = [
    *("auth-flow", "authFlow", "token", "tokens", "deploy", "deployment", "database", "PostgreSQL", "Café", "cafe"),
    *("bun", "npm", "cache", "webhook", "webhooks", "retried", "v1", "v2", "sha256", "数据库", "部署", "the", "login"),
]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
entries = st.fixed_dictionaries(
    {"key": st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map("-".join), "value": texts},
    optional={
        "tags": st.lists(st.sampled_from(WORDS), max_size=2),
        "links": st.fixed_dictionaries(
            {},
            optional={name: st.lists(st.sampled_from(WORDS), max_size=2) for name in ("supersedes", "superseded_by")},
        ),
    },
)
stores = st.lists(entries, max_size=8)
queries = st.lists(st.sampled_from([*WORDS, "tokne", "databse", "passwords", "o", "-"]), min_size=1, max_size=3).map(
    " ".join
)


def every_store_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing were too small for it."""
    monkeypatch.setattr(nemp, "LARGE", 0)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every store is large, and stands in several blocks."""
    every_store_is_large(monkeypatch)
    monkeypatch.setattr("memory_recall.stores.nemp_ranked.BLOCK_SIZE", 3)
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 3)


def cache_of(world: World) -> Cache:
    cache = Cache.of(world.env)
    assert cache is not None
    return cache


def answer(world: World, query: str, shelf: Shelf, limit: int = 10) -> dict[str, Any]:
    request = NempQuery(query, limit, record=False)
    return recall(request, world.place, world.env, shelf).as_json()


@pytest.mark.usefixtures("small_blocks")
@settings(
    derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(stores, stores | st.none(), queries, st.integers(1, 5)), min_size=1, max_size=4), st.booleans()
)
def test_an_indexed_store_answers_as_a_scanned_one(
    world: World, steps: list[tuple[list[Any], list[Any] | None, str, int]], reads: bool
) -> None:
    lasting, scanning = Shelf(Indexing(None, follow=True)), Shelf()
    try:
        for written, elsewhere, query, limit in steps:
            world.write(STORE, {"memories": written})
            if elsewhere is not None:
                world.write(GLOBAL, elsewhere)
            expected = answer(world, query, scanning, limit)
            assert answer(world, query, lasting, limit) == expected
            assert answer(world, query, Shelf(Indexing(cache_of(world))), limit) == expected
            if reads:
                recall(NempQuery(query, limit), world.place, world.env, lasting)
                assert answer(world, query, lasting, limit) == answer(world, query, Shelf(), limit)
    finally:
        (world.home.parent / GLOBAL).unlink(missing_ok=True)
        shutil.rmtree(world.home / ".cache", ignore_errors=True)


@pytest.mark.usefixtures("small_blocks")
@settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(stores, queries), min_size=1, max_size=3))
def test_an_indexed_store_is_searched_as_a_held_one(world: World, steps: list[tuple[list[Any], str]]) -> None:
    lasting = Shelf(Indexing(None, follow=True))
    for written, query in steps:
        world.write(STORE, {"memories": written})
        held = search(SearchQuery(query, include_weak=True), world.place, world.env, Shelf()).as_json()
        indexed = search(SearchQuery(query, include_weak=True), world.place, world.env, lasting).as_json()
        ids = [(hit["id"], hit["provenance"]["line"]) for hit in held["hits"]]
        assert [(hit["id"], hit["provenance"]["line"]) for hit in indexed["hits"]] == ids
        scores = [hit["score"] for hit in held["hits"]]
        assert [hit["score"] for hit in indexed["hits"]] == pytest.approx(scores, abs=2e-4)
        assert indexed["omitted"] == held["omitted"]


def many(count: int = 10) -> list[dict[str, Any]]:
    return [{"key": f"note-{number}", "value": f"webhook number {number} of the gateway"} for number in range(count)]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many memories were cut into terms, each time."""
    counts: list[int] = []
    real = Segment.build

    def build(documents: Any, **options: Any) -> Segment:
        counts.append(len(documents))
        return real(documents, **options)

    monkeypatch.setattr(Segment, "build", build)
    every_store_is_large(monkeypatch)
    return counts


def test_only_what_says_something_else_is_cut_again(world: World, cut: list[int]) -> None:
    world.write(STORE, many())
    shelf = Shelf(Indexing(None, follow=True))
    answer(world, "gateway", shelf)
    recall(NempQuery("webhook"), world.place, world.env, shelf)  # counts its reads
    answer(world, "gateway", shelf)
    assert cut == [10]
    world.write(STORE, [{"key": "new", "value": "gateway of another kind"}, *many()])
    assert answer(world, "another kind", shelf)["memories"][0]["key"] == "new"
    assert cut == [10, 1]


def test_the_next_command_cuts_nothing_again(world: World, cut: list[int]) -> None:
    world.write(STORE, many())
    for _ in range(2):
        assert answer(world, "gateway", Shelf(Indexing(cache_of(world))))["count"] == 10
    assert answer(world, "gateway", Shelf(remembering=world.env))["count"] == 10
    assert cut == [10]
    assert {path.stat().st_mode & 0o777 for path in kept(world)} == {0o600}


def kept(world: World) -> list[Path]:
    return [path for path in world.home.glob(".cache/memory-recall/index/nemp-ranked-*/*") if path.name != "origin"]


@pytest.mark.parametrize("damage", [b"", b"\0" * 4_000, None])
def test_a_damaged_index_costs_time_and_no_answer(world: World, cut: list[int], damage: bytes | None) -> None:
    world.write(STORE, many())
    expected = answer(world, "gateway", Shelf(Indexing(cache_of(world))))
    for path in kept(world):
        if damage is None:
            path.unlink()
        else:
            path.write_bytes(damage)
        assert answer(world, "gateway", Shelf(Indexing(cache_of(world)))) == expected
    assert len(cut) > 1


def test_the_index_of_another_store_hides_nothing(world: World, cut: list[int]) -> None:
    world.write(STORE, many())
    answer(world, "gateway", Shelf(Indexing(cache_of(world))))
    world.write(STORE, [{"key": "other", "value": "gateway"}])
    assert [memory["key"] for memory in answer(world, "gateway", Shelf(Indexing(cache_of(world))))["memories"]] == [
        "other"
    ]
    assert cut == [10, 1]


def test_who_keeps_nothing_scans(world: World, cut: list[int]) -> None:
    world.write(STORE, many())
    assert answer(world, "gateway", Shelf())["count"] == 10
    assert cut == []


def test_cutting_stops_when_nobody_waits(world: World, cut: list[int]) -> None:
    world.write(STORE, many())
    shelf = Shelf(Indexing(None, follow=True))
    store = shelf.nemp(world.home.parent / STORE, "project")
    nobody = Cancellation()
    nobody.cancel()
    with pytest.raises(Cancelled):
        shelf.ranked(store, nobody)
    assert answer(world, "gateway", shelf)["count"] == 10


def test_memories_that_are_alike_are_each_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    every_store_is_large(monkeypatch)
    world.write(STORE, [{"key": "twin", "value": "gateway"}] * 3)
    shelf = Shelf(Indexing(None, follow=True))
    assert answer(world, "gateway", shelf)["count"] == 3
    world.write(STORE, [{"key": "twin", "value": "gateway"}] * 2)
    assert [memory["line"] for memory in answer(world, "gateway", shelf)["memories"]] == [3, 7]


large_and_small = pytest.mark.parametrize("large", [True, False])


@large_and_small
def test_what_was_superseded_stands_behind_what_replaced_it(
    world: World, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    if large:
        every_store_is_large(monkeypatch)
    old = {"key": "sessions", "value": "sessions live in cookies, cookies, cookies"}
    new = {"key": "tokens", "value": "tokens in place of cookies", "links": {"supersedes": ["sessions"]}}
    third = {"key": "third", "value": "cookies, cookies, cookies, cookies again, and cookies"}
    world.write(STORE, [old, new, third])
    found = answer(world, "cookies", Shelf(Indexing(None, follow=True)))
    assert [memory["key"] for memory in found["memories"]] == ["third", "tokens", "sessions"]
    scores = [memory["score"] for memory in found["memories"]]
    assert scores == sorted(scores, reverse=True)


@large_and_small
def test_a_successor_far_behind_takes_the_place_of_what_it_replaced(
    world: World, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    """Through one that is no hit itself, and however many stand between."""
    if large:
        every_store_is_large(monkeypatch)
    first = {"key": "a", "value": "cookie", "links": {"superseded_by": ["b"]}}
    between = {"key": "b", "value": "nothing of it", "links": {"superseded_by": ["c"]}}
    last = {"key": "c", "value": f"a cookie {'and much else ' * 40}"}
    others = [{"key": f"n{number}", "value": f"cookie {number}"} for number in range(30)]
    world.write(STORE, [first, between, *others, last])
    found = answer(world, "cookie", Shelf(Indexing(None, follow=True)), limit=2)
    assert [memory["key"] for memory in found["memories"]] == ["c", "a"]
    assert found["memories"][0]["score"] == found["memories"][1]["score"]
    assert found["omitted"] == 30


@large_and_small
def test_memories_that_supersede_one_another_are_all_answered(
    world: World, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    if large:
        every_store_is_large(monkeypatch)
    circle = [
        {"key": f"m{number}", "value": "cookie", "links": {"supersedes": [f"m{(number + 1) % 3}"]}}
        for number in range(3)
    ]
    world.write(STORE, circle)
    found = answer(world, "cookie", Shelf(Indexing(None, follow=True)))
    assert sorted(memory["key"] for memory in found["memories"]) == ["m0", "m1", "m2"]


def test_what_is_gone_from_a_block_is_not_found_and_what_is_new_stands_in_the_order_of_the_file(
    world: World, cut: list[int]
) -> None:
    world.write(STORE, [{"key": f"k{number}", "value": f"gateway {'abcdefghij'[number]}x"} for number in range(10)])
    shelf = Shelf(Indexing(None, follow=True))
    answer(world, "gateway", shelf)
    after = [{"key": f"k{number}", "value": f"gateway {'zbcdefghij'[number]}x"} for number in range(10)]
    world.write(STORE, after)
    expected = answer(world, "gateway", Shelf())
    assert answer(world, "gateway", shelf) == expected
    assert [memory["key"] for memory in expected["memories"]] == [f"k{number}" for number in range(10)]
    assert answer(world, "ax", shelf)["match"] == answer(world, "ax", Shelf())["match"] == "none"
    assert cut[:2] == [10, 1]
