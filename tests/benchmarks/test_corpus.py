"""The corpus that ships with the benchmarks: sound, balanced, and honest about what its labels say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import corpora

FILES = corpora.corpus_files()
WORLDS: list[dict[str, Any]] = [json.loads(path.read_text(encoding="utf-8")) for path in FILES]
QUERIES = [query for world in WORLDS for query in world["queries"]]


@pytest.mark.parametrize("world", WORLDS, ids=[path.stem for path in FILES])
def test_a_world_is_sound(world: dict[str, Any]) -> None:
    assert not list(corpora.problems(world))
    assert 60 <= len(world["memories"]) <= 250


def test_there_are_worlds_enough_to_say_something() -> None:
    assert len(WORLDS) >= 10
    assert sum(len(world["memories"]) for world in WORLDS) >= 900
    assert sum(bool(query["relevant"]) for query in QUERIES) >= 700
    assert sum(not query["relevant"] for query in QUERIES) >= 250


def test_each_kind_stands_in_both_halves() -> None:
    found = Counter((query["kind"], query["split"]) for query in QUERIES)
    kinds = corpora.ANSWERABLE_KINDS + corpora.UNANSWERABLE_KINDS
    assert not [pair for pair in ((kind, split) for kind in kinds for split in corpora.SPLITS) if found[pair] < 5]


def test_the_halves_are_about_equal() -> None:
    dev = sum(query["split"] == "dev" for query in QUERIES) / len(QUERIES)
    assert 0.45 < dev < 0.55


def test_the_same_question_lies_in_one_half_in_every_world() -> None:
    halves = {(query["query"], query["split"]) for query in QUERIES}
    assert len(halves) == len({query["query"] for query in QUERIES})


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FILES) < 1_500_000


def test_superseded_questions_name_what_must_not_come_first() -> None:
    assert not [query["query"] for query in QUERIES if query["kind"] == "superseded" and not query["not"]]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "question", "relevant": []}, "has 0 answers"),
        ({"kind": "rumour"}, "unknown kind"),
        ({"relevant": ["nobody"]}, "does not exist"),
        ({"split": "somewhere"}, "wrong half"),
        ({"kind": "off-topic", "relevant": []}, "shares a word is True"),
    ],
)
def test_a_wrong_query_is_told(change: dict[str, Any], complaint: str) -> None:
    memory = {"id": "a", "key": "a", "text": "pnpm", "tags": [], "type": "fact", "scope": "project", "system": "nemp"}
    query = {"query": "pnpm", "kind": "question", "relevant": ["a"], "not": [], "split": corpora.split_of("pnpm")}
    sound = {"memories": [{**memory, "created": "2026-01-01"}], "queries": [query]}
    assert not list(corpora.problems(sound))
    assert complaint in " ".join(corpora.problems({**sound, "queries": [{**query, **change}]}))


def test_merged_stores_point_at_the_same_memories(tmp_path: Path) -> None:
    stores = [
        {"name": "one", "memories": ["a", "b"], "queries": [{"query": "b?", "relevant": [1], "category": 1}]},
        {"name": "two", "memories": ["c"], "queries": [{"query": "c?", "relevant": [0], "category": 5}]},
        {"name": "three", "memories": ["d"], "queries": [{"query": "d?", "relevant": [0], "category": 2}]},
    ]
    path = tmp_path / "stores.json"
    path.write_text(json.dumps(stores))
    (store,) = corpora.merged(corpora.read(path)).stores
    assert [document.text for document in store.documents] == ["a", "b", "c", "d"]
    answers = [(query.text, [store.documents[index].text for index in query.relevant]) for query in store.queries]
    assert answers == [("b?", ["b"]), ("d?", ["d"])], "and LoCoMo's unanswerable category is left out"


def test_one_half_keeps_questions_of_collections_without_halves() -> None:
    collection = corpora.read_corpus(FILES[:1])
    halves = [corpora.in_split(collection, split).stores[0].queries for split in ("dev", "held-out", "all")]
    assert len(halves[0]) + len(halves[1]) == len(halves[2])
    bare = collection.stores[0].queries[0]._replace(split="")
    store = collection.stores[0]._replace(queries=(bare,))
    assert corpora.in_split(corpora.Collection("x", (store,)), "dev").stores[0].queries == (bare,)
