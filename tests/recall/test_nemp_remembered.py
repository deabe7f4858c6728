"""A recall that goes by what was remembered answers, writes and logs what one does that reads everything."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_recall.files import reading
from memory_recall.recall.nemp import NempQuery, recall
from memory_recall.stores import nemp, nemp_outline, nemp_remembered
from memory_recall.stores.shelf import Shelf
from memory_recall.text import json_excerpt
from nemp_documents import KEYS, documents
from worlds import RunCli, World

STORE, LOG, GLOBAL = "project/.nemp/memories.json", "project/.nemp/access.log", "home/.nemp/memories.json"


@pytest.fixture(autouse=True)
def every_store_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing were too small for it."""
    monkeypatch.setattr(nemp, "OUTLINED", 1)
    monkeypatch.setattr(nemp_outline, "_GROUP", 2)
    monkeypatch.setattr(json_excerpt, "HEAD", 200)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The stores that were read whole, in order."""
    read: list[Path] = []
    original = nemp_remembered.store_of_bytes

    def noting(path: Path, *rest: Any) -> Any:
        read.append(path)
        return original(path, *rest)

    monkeypatch.setattr(nemp_remembered, "store_of_bytes", noting)
    return read


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as long unchanged when it is read."""
    monkeypatch.setattr(reading, "_CLOCK_TICK_NS", -(1 << 62))


def asked(world: World, query: str, *, remembering: bool = True, **options: Any) -> dict[str, Any]:
    """The answer to one command, without the names of the world's directories."""
    shelf = Shelf(remembering=world.env if remembering else None)
    answer = recall(NempQuery(query, **options), world.place, world.env, shelf).as_json()
    shelf.remember()
    shape: dict[str, Any] = json.loads(json.dumps(answer).replace(str(world.home.parent), ""))
    return shape


def twin(world: World, name: str) -> World:
    """The same world elsewhere."""
    home, project = (world.home.parent / name / part for part in ("home", "project"))
    home.mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    return dataclasses.replace(world, home=home, project=project, env=world.env._replace(cwd=project, home=home))


def files(world: World) -> dict[str, bytes]:
    return {name: path.read_bytes() for name in (STORE, LOG, GLOBAL) if (path := world.home.parent / name).is_file()}


QUERIES = st.sampled_from([*KEYS, "memories are made", "nobody's", " a "]).filter(str.strip)
STEPS = st.lists(
    st.tuples(QUERIES, st.booleans(), st.sampled_from(["", "", "", "space", "touch", "other", "byte", "global"])),
    min_size=1,
    max_size=5,
)


@settings(derandomize=True, deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(st.tuples(documents(), documents(), documents()), STEPS, st.sampled_from([0, 1 << 20]))
def test_what_is_remembered_changes_no_answer_and_no_byte(
    world: World, stores: tuple[bytes, bytes, bytes], steps: list[tuple[str, bool, str]], large: int
) -> None:
    limit, nemp.LARGE = nemp.LARGE, large
    one, other = twin(world, "one"), twin(world, "other")
    try:
        for each in (one, other):
            each.write(STORE, stores[0])
            each.write(GLOBAL, stores[1])
        for query, record, meanwhile in steps:
            for each in (one, other):
                changed(each, meanwhile, stores[2])
            answers = [asked(each, query, record=record, remembering=each is one, limit=50) for each in (one, other)]
            assert answers[0] == json.loads(json.dumps(answers[1]).replace("/other/", "/one/"))
            assert files(one) == files(other)
    finally:
        nemp.LARGE = limit
        for each in (one, other):
            shutil.rmtree(each.home.parent)


def changed(world: World, how: str, other: bytes) -> None:
    """Let somebody else do something to the stores."""
    store = world.home.parent / STORE
    if how == "space":
        store.write_bytes(store.read_bytes() + b" ")
    elif how == "touch":
        os.utime(store, ns=(1, 1))
    elif how == "other":
        world.write(STORE, other)
    elif how == "byte":  # of the same length, and with the same times
        status = store.stat()
        store.write_bytes(store.read_bytes().replace(b"a", b"e"))
        os.utime(store, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif how == "global":
        world.write(GLOBAL, other)


def entries(count: int = 40) -> list[dict[str, Any]]:
    return [{"key": f"key-{number}", "value": f"value {number}"} for number in range(count)]


@pytest.fixture
def many(world: World) -> World:
    world.write(STORE, {"memories": entries()})
    return world


def outline_in(world: World) -> Path:
    (outline,) = world.home.glob(".cache/memory-recall/index/nemp-*/outline")
    return outline


@pytest.mark.parametrize("record", [True, False])
def test_from_the_second_command_on_nothing_else_is_read(many: World, readings: list[Path], *, record: bool) -> None:
    for number in range(4):
        (memory,) = asked(many, f"key-{number * 9}", record=record)["memories"]
        assert (memory["value"], memory["recorded"]) == (f"value {number * 9}", record)
    assert len(readings) == 1


@pytest.mark.usefixtures("settled")
def test_a_file_that_has_settled_is_known_by_its_stamp(
    many: World, readings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(many, "key-1", record=False)
    monkeypatch.setattr(nemp_outline.Outline, "fits", lambda *_: pytest.fail("the bytes were checksummed"))
    assert asked(many, "key-2", record=False)["match"] == "exact"
    assert len(readings) == 1


def test_a_key_that_the_global_store_does_not_have_is_not_read_for(many: World, readings: list[Path]) -> None:
    many.write(GLOBAL, [{"key": "elsewhere", "value": 1}, *entries(3)])
    assert asked(many, "key-9")["shadowed"] == []
    assert [memory["source"] for memory in asked(many, "key-2")["shadowed"]] == ["global"]
    assert asked(many, "elsewhere")["memories"][0]["source"] == "global"
    assert len(readings) == 2


def test_what_somebody_else_wrote_is_read_and_remembered_again(many: World, readings: list[Path]) -> None:
    asked(many, "key-1")
    store = many.home.parent / STORE
    store.write_bytes(store.read_bytes().replace(b"value 2", b"other 2"))
    assert asked(many, "key-2")["memories"][0]["value"] == "other 2"
    assert asked(many, "key-3")["memories"][0]["value"] == "value 3"
    assert len(readings) == 2


def test_a_memory_that_is_superseded_is_known_as_such(world: World, readings: list[Path]) -> None:
    newer = {"key": "newer", "value": 1, "links": {"supersedes": "key-3"}}
    world.write(STORE, [*entries(9), newer, *({**entry, "key": f"{entry['key']}b"} for entry in entries(9))])
    first, second = (asked(world, "key-3")["memories"][0] for _ in range(2))
    assert [standing["successor"] for standing in second["standings"]] == ["newer"]
    assert first["standings"] == second["standings"]
    assert len(readings) == 1


@pytest.mark.parametrize("content", ['[{"key": "a", "value": 1}, 5]', '{"a": 1, "a": 2}', "[{", "[]", "{}"])
def test_a_store_with_a_fault_or_without_memories_is_not_remembered(world: World, content: str) -> None:
    world.write(STORE, content)
    assert asked(world, "a") == asked(world, "a", remembering=False) or "a" in content
    assert not list(world.home.glob(".cache/memory-recall/index/nemp-*"))


def damaged() -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
    yield "empty", lambda _: b""
    yield "cut off", lambda data: data[:-9]
    yield "longer", lambda data: data + b"\0\0\0\0"
    yield "a bit", lambda data: data[:-20] + bytes([data[-20] ^ 1]) + data[-19:]
    yield "its head", lambda data: data.replace(b"wrapper", b"wRapper")
    yield "of nobody", lambda _: b"something else entirely"
    yield "zeros", lambda data: bytes(len(data))


@pytest.mark.parametrize("damage", [pytest.param(damage, id=name) for name, damage in damaged()])
def test_a_damaged_outline_costs_a_reading_and_nothing_else(
    many: World, readings: list[Path], damage: Callable[[bytes], bytes]
) -> None:
    asked(many, "key-1")
    outline = outline_in(many)
    outline.write_bytes(damage(outline.read_bytes()))
    assert asked(many, "key-2")["memories"][0]["value"] == "value 2"
    assert asked(many, "key-3")["memories"][0]["value"] == "value 3"
    assert len(readings) == 2


def test_an_outline_of_another_version_is_not_gone_by(
    many: World, readings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(many, "key-1")
    monkeypatch.setattr(nemp_remembered, "VERSION", "another")
    asked(many, "key-2")
    assert len(readings) == 2


def test_stores_of_one_name_in_the_cache_take_turns(
    many: World, readings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nemp_remembered.zlib, "crc32", lambda *_: 7)
    many.write(GLOBAL, entries(3))
    for _ in range(2):
        answer = asked(many, "key-2", record=False)
        assert [memory["source"] for memory in (*answer["memories"], *answer["shadowed"])] == ["project", "global"]
    assert len(readings) >= 3


def test_no_word_of_a_memory_is_kept(many: World) -> None:
    asked(many, "key-1")
    outline = outline_in(many)
    assert outline.stat().st_mode & 0o777 == 0o600
    assert b"key" not in outline.read_bytes()
    assert b"value" not in outline.read_bytes()


def test_a_cache_that_is_not_wanted_or_cannot_be_written_is_done_without(many: World, cli: RunCli) -> None:
    cache = many.home / ".cache"
    assert cli(["nemp", "recall", "--no-cache", "key-1"]).code == 0
    assert cli(["nemp", "recall", "key-1"], env={"MEMORY_RECALL_NO_CACHE": "1"}).code == 0
    assert not cache.exists()
    cache.write_text("in the way")
    assert "value 2" in cli(["nemp", "recall", "key-2"]).stdout
    cache.unlink()
    assert "value 3" in cli(["nemp", "recall", "key-3"]).stdout
    assert outline_in(many).is_file()


def test_who_writes_between_the_finding_and_the_recording_is_not_undone(
    many: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(many, "key-1")
    store = many.home.parent / STORE

    def meanwhile(*arguments: Any) -> Any:
        monkeypatch.undo()
        store.write_bytes(store.read_bytes().replace(b"value 5", b"other 5"))
        from memory_recall.recall import nemp_accounting

        return nemp_accounting.account(*arguments)

    monkeypatch.setattr("memory_recall.recall.nemp_accounting.account", meanwhile)
    (memory,) = asked(many, "key-2")["memories"]
    assert memory["recorded"]
    after = {entry["key"]: entry for entry in json.loads(store.read_bytes())["memories"]}
    assert after["key-5"]["value"] == "other 5"
    assert after["key-2"]["vitality"]["reads"] == 1
    assert asked(many, "key-5")["memories"][0]["value"] == "other 5"


def test_a_byte_order_mark_stays(many: World, readings: list[Path]) -> None:
    many.write(STORE, b"\xef\xbb\xbf" + json.dumps(entries(), indent=1).encode())
    asked(many, "key-1")
    asked(many, "key-2")
    data = (many.home.parent / STORE).read_bytes()
    assert [entry["vitality"]["reads"] for entry in json.loads(data.decode("utf-8-sig"))[1:3]] == [1, 1]
    assert data.startswith(b"\xef\xbb\xbf")
    assert len(readings) == 1
