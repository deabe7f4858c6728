"""Which nemp memories no longer hold, whichever end of a succession says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_recall.stores.nemp import NempStore, as_memory, read_store
from worlds import World


def read(world: World, content: str | object) -> NempStore:
    return read_store(world.write("project/.nemp/memories.json", content), "project")


def standings(store: NempStore) -> dict[str, list[str | None]]:
    return {entry.key: [standing.successor for standing in store.standings_of(entry)] for entry in store.entries}


@pytest.mark.parametrize("named", ["old", ["old"], ["other", "old"]])
@pytest.mark.parametrize("indent", [None, 2])
def test_what_a_newer_memory_says_that_it_supersedes_is_superseded(world: World, named: object, indent: Any) -> None:
    new = {"key": "new", "value": '"supersedes": "plain"', "links": {"supersedes": named}}
    entries = [{"key": "old", "value": 1}, new, {"key": "plain", "value": 2, "links": {"supersedes": None}}]
    for content in (entries, {"memories": entries}, {entry["key"]: entry for entry in entries}):
        store = read(world, json.dumps(content, indent=indent))
        assert standings(store) == {"old": ["new"], "new": [], "plain": []}
        (standing,) = as_memory(store, store.by_key("old")[0]).standings
        assert (standing.code, standing.message) == ("superseded", 'It is superseded by "new".')


def test_both_ends_of_a_succession_say_the_same_thing_once(world: World) -> None:
    store = read(
        world,
        {
            "a": {"value": 1, "links": {"superseded_by": "c", "supersedes": "a"}},
            "b": {"value": 2, "links": {"supersedes": ["a", 5, None]}},
            "c": {"value": 3, "links": {"supersedes": "a"}},
        },
    )
    assert standings(store) == {"a": ["c"], "b": [], "c": []}
    assert '"c", "b"' in store.standings_of(store.entries[0])[0].message


def test_a_word_is_no_link(world: World) -> None:
    content = {"supersedes": "a", "a": {"value": {"supersedes": "b"}}, "b": {"value": 1, "supersedes": "a"}}
    assert standings(read(world, content)) == {"supersedes": [], "a": [], "b": []}
