"""The worlds of the speed benchmark: the product reads every memory in them, and the same seed makes the same one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks import words, worlds
from benchmarks.warm import CHANGES
from memory_recall.stores import agent, coven, nemp


def built(store: worlds.Store, root: Path) -> worlds.World:
    worlds.build(store, 30, root)
    world = worlds.standing(root, store, 30)
    assert world is not None
    return world


def test_the_nemp_store_holds_as_many_memories_as_asked_for(tmp_path: Path) -> None:
    world = built("nemp", tmp_path)
    store = nemp.read_store(world.project / ".nemp" / "memories.json", "project")
    assert not store.problems
    assert len({entry.key for entry in store.entries}) == 30
    assert all(store.by_key(name) for name in world.facts.cited)


def test_the_agent_tree_holds_as_many_memories_as_asked_for(tmp_path: Path) -> None:
    world = built("agent", tmp_path)
    store = agent.read_store(world.project)
    assert not store.problems
    assert len(store.entries) == 30
    assert all(store.by_id(name) for name in world.facts.cited)


def test_the_coven_store_holds_claims_that_verify(tmp_path: Path) -> None:
    world = built("coven", tmp_path)
    store = coven.read_store(world.home)
    assert not store.problems
    assert len(store.ulids) == 30
    for name in world.facts.cited:
        claim = store.claim(name)
        assert claim is not None
        assert claim.verified


@pytest.mark.parametrize("store", worlds.STORES)
def test_a_change_adds_no_problem(store: worlds.Store, tmp_path: Path) -> None:
    world = built(store, tmp_path)
    CHANGES[store](world, 0, "freshly")
    read = {
        "nemp": lambda: nemp.read_store(world.project / ".nemp" / "memories.json", "project").problems,
        "agent": lambda: agent.read_store(world.project).problems,
        "coven": lambda: coven.read_store(world.home).problems,
    }
    assert not read[store]()


def test_half_a_world_or_another_one_is_not_used_again(tmp_path: Path) -> None:
    built("nemp", tmp_path)
    assert worlds.standing(tmp_path, "nemp", 31) is None
    assert worlds.standing(tmp_path, "agent", 30) is None
    (tmp_path / "world.json").write_text("{", encoding="utf-8")
    assert worlds.standing(tmp_path, "nemp", 30) is None


def test_a_process_in_a_world_sees_nothing_of_the_user(tmp_path: Path) -> None:
    variables = built("nemp", tmp_path).variables()
    assert set(variables) == {"HOME", "USERPROFILE", "XDG_CACHE_HOME", "PATH", "COVEN_MEMORY_BIN"}
    assert Path(variables["XDG_CACHE_HOME"]).is_relative_to(tmp_path)


def test_texts_follow_from_the_seed() -> None:
    assert list(words.texts(20, 1)) == list(words.texts(20, 1))
    assert list(words.texts(20, 1)) != list(words.texts(20, 2))


def test_texts_are_as_long_as_they_say_and_frequent_words_are_frequent() -> None:
    bodies = [text.body for text in words.texts(400, 3)]
    assert 500 < sum(map(len, bodies)) / len(bodies) < 700
    running = " ".join(bodies).lower().split()
    assert running.count("the") > 20 * running.count("changelog")


def test_a_vocabulary_has_no_word_twice_and_grows_more_slowly_than_its_texts() -> None:
    small, large = (words.Vocabulary(memories).words for memories in (100, 10_000))
    assert len(set(large)) == len(large)
    assert large[: len(small)] == small
    assert 9 < len(large) / len(small) < 11


def test_queries_are_varied_and_some_find_nothing() -> None:
    samples = [text.topics for text in words.texts(100, 3)]
    asked = words.queries(100, samples, 200, 3)
    assert len(set(asked)) > 180
    assert all(2 <= len(query.split()) <= 5 for query in asked)
    assert 15 < sum(all(word.startswith(words.ABSENT) for word in query.split()) for query in asked) < 25


@pytest.mark.parametrize("word", ["deploy", "aa", "aaaa", "x", "token-cache"])
def test_a_slip_changes_the_word_by_little(word: str) -> None:
    slipped = words.misspelt(word, random.Random(1))
    assert slipped != word
    assert sorted(slipped) == sorted(word) or slipped == word + word[-1]
