"""A large store, held as its bytes, says what the same store says that is parsed; and so does one that was changed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_recall.recall import nemp_edits
from memory_recall.recall.nemp_edits import EntryChange, rewrite_entries
from memory_recall.stores import nemp, nemp_changes, nemp_large
from memory_recall.stores.nemp import NempStore, as_memory, read_store, store_after_change, store_of_bytes
from memory_recall.stores.nemp_bytes import StoreBytes
from memory_recall.stores.nemp_shapes import StoreText
from memory_recall.stores.shelf import Shelf
from memory_recall.text import json_bytes
from nemp_documents import ITEMS, UNIQUE_MAPS, documents
from worlds import World

PATH = Path("/x/.nemp/memories.json")


@pytest.fixture(autouse=True)
def every_store_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing were too small for it, and for what is done a piece at a time."""
    monkeypatch.setattr(nemp, "LARGE", 0)
    monkeypatch.setattr(json_bytes, "_CHUNK", 2)
    monkeypatch.setattr(json_bytes, "_PIECE", 7)
    monkeypatch.setattr(nemp_changes, "_COMPARED", 5)


def parsed(data: bytes) -> NempStore:
    limit, nemp.LARGE = nemp.LARGE, len(data) + 1
    try:
        return store_of_bytes(PATH, "project", data, None)
    finally:
        nemp.LARGE = limit


def large(data: bytes) -> NempStore:
    return store_of_bytes(PATH, "project", data, None)


def observed(store: NempStore) -> dict[str, Any]:
    """All that can be asked of a store."""
    entries = list(store.entries)
    return {
        "shape": store.shape,
        "text": store.text,
        "problems": store.problems,
        "keys": list(store.keys),
        "spans": [(entry.start, entry.end, entry.key_offset) for entry in entries],
        "places": [store.place_of(entry) for entry in entries],
        "values": [(entry.value, entry.text, entry.tags, entry.plain, dict(entry.raw)) for entry in entries],
        "by key": {key: [entry.number for entry in store.by_key(key)] for key in (*store.keys, "nobody's")},
        "standings": [store.standings_of(entry) for entry in entries],
        "documents": store.documents,
        "digests": list(store.digests),
        "memories": [as_memory(store, entry) for entry in entries],
    }


@settings(derandomize=True, deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(documents(), st.sampled_from([10, 30, 70, 1 << 16]))
def test_a_store_says_the_same_whether_it_is_parsed_or_not(data: bytes, head: int) -> None:
    nemp_large._HEAD = head  # more of a wrapper than its beginning is in no other test
    try:
        assert observed(large(data)) == observed(parsed(data))
    finally:
        nemp_large._HEAD = 1 << 16


@settings(derandomize=True, deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(documents(), st.data())
def test_a_changed_store_is_the_one_that_reading_it_anew_gives(data: bytes, draw: st.DataObject) -> None:
    start = draw.draw(st.integers(0, len(data)))
    end = draw.draw(st.integers(start, min(len(data), start + 30)))
    new = draw.draw(
        st.sampled_from([b"", b"1", b" ", b'"', b",", b"]", b"}", b"\xff", b'{"key": "n", "value": 2}, ', b'"n": 1, '])
        | st.binary(max_size=2)
    )
    other = data[:start] + new + data[end:]
    before = large(data)
    assert before.digests is not None
    after = store_after_change(before, other, None)
    assert observed(after) == observed(parsed(other))


FRAMES = st.sampled_from(["%s", '{"version": 1, "memories": %s}', '{"memories":%s,"metadata":{}}'])


@settings(derandomize=True, deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(st.tuples(ITEMS, ITEMS) | st.tuples(UNIQUE_MAPS, UNIQUE_MAPS), FRAMES)
def test_entries_come_go_and_change(contents: tuple[Any, Any], frame: str) -> None:
    first, second = contents
    if isinstance(first, dict):
        before, after = {**first, **second}, {**first, "kept": 1}
    else:
        before, after = first + second, [*first[1:], *second[1:]]
    old, new = ((frame % json.dumps(content, ensure_ascii=False)).encode() for content in (before, after))
    for one, other in ((old, new), (new, old)):
        assert observed(store_after_change(large(one), other, None)) == observed(parsed(other))


def usual(count: int) -> list[dict[str, Any]]:
    return [{"key": f"key-{number}", "value": f"välue {number}", "tags": ["t"]} for number in range(count)]


@pytest.mark.parametrize(
    "content",
    [
        usual(3),
        {"version": "1.0", "memories": usual(3), "metadata": {"n": 3}},
        {entry["key"]: entry for entry in usual(3)},
        {"memories": {entry["key"]: {"value": entry["value"]} for entry in usual(3)}},
        {"a": "plain", "b": {"no": "entry"}, "c": [1]},
        [*usual(3), {"key": "key-1", "value": "again"}, "loose", {"value": "no key"}, {"key": "no-value"}],
    ],
)
def test_the_common_shapes_are_held_as_bytes_and_stay_so_when_an_entry_changes(content: Any) -> None:
    data = json.dumps(content, indent=1).encode()
    store = large(data)
    assert isinstance(store.content, StoreBytes)
    other = data.replace(b'"key-2"', b'"key-two"').replace(b'"plain"', b'"plainer"')
    after = store_after_change(store, other, None)
    assert isinstance(after.content, StoreBytes)
    assert observed(after) == observed(parsed(other))


def test_a_change_far_from_an_entry_does_not_read_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = large(json.dumps(usual(500)).encode())
    read: list[int] = []
    decode = nemp_changes.decode
    monkeypatch.setattr(nemp_changes, "decode", lambda data, kind: (read.append(len(data)), decode(data, kind))[1])
    other = store.text.encode().replace(b'"key-250"', b'"renamed"')
    after = store_after_change(store, other, None)
    assert [entry.key for entry in after.by_key("renamed")] == ["renamed"]
    assert sum(read) < 200


@pytest.mark.parametrize(
    "spelt", ['"\\ud800"', '"\x01"', "NaN", "1e", '{"a": 1,}', "[" * 2000 + "]" * 2000, '"\\x"', "01"]
)
def test_what_the_quick_reading_does_not_vouch_for_is_parsed(spelt: str) -> None:
    for frame in ('[{"key": "a", "value": %s}, {"key": "b", "value": 1}]', '{"a": %s, "b": 1, "c": 2}'):
        data = (frame % spelt).encode()
        store = large(data)
        assert isinstance(store.content, StoreText)
        assert observed(store) == observed(parsed(data))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("wrapped", [True, False])
def test_an_edited_store_is_the_one_that_its_file_holds(world: World, mark: bytes, wrapped: bool) -> None:
    content: Any = {"memories": usual(9)} if wrapped else {entry["key"]: entry["value"] for entry in usual(9)}
    path = world.write("project/.nemp/memories.json", mark + json.dumps(content, ensure_ascii=False).encode())
    store = read_store(path, "project")
    assert store.digests is not None

    def plan(fresh: NempStore) -> list[EntryChange]:
        return [EntryChange(fresh.entries[number], [(("vitality",), {"reads": number})]) for number in (7, 2, 3)]

    edited = rewrite_entries(store, plan)
    assert [entry.vitality for entry in edited.entries] == [{"reads": 7}, {"reads": 2}, {"reads": 3}]
    assert edited.store is not None
    assert isinstance(edited.store.content, StoreBytes)
    on_disk = parsed(path.read_bytes())
    assert observed(edited.store) | {"memories": []} == observed(on_disk) | {"memories": []}
    assert list(edited.places) == [on_disk.place_of(on_disk.entries[number]) for number in (7, 2, 3)]
    assert edited.store.digests is store.digests  # nothing that ranking looks at has changed


def test_a_file_that_is_known_to_stand_is_not_read_again_to_be_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_recall.files import writing

    path = world.write("project/.nemp/memories.json", usual(3))
    store = read_store(path, "project")
    reads: list[Path] = []
    read_file = writing.read_file
    monkeypatch.setattr(writing, "read_file", lambda path: (reads.append(path), read_file(path))[1])
    change = [(("type",), "fact")]
    rewrite_entries(store, lambda fresh: [EntryChange(fresh.entries[0], change)])
    assert reads == []
    assert json.loads(path.read_bytes())[0]["type"] == "fact"
    rewrite_entries(store, lambda fresh: [EntryChange(fresh.entries[1], change)])  # it is another file by now
    assert reads == [path]
    assert [entry.get("type") for entry in json.loads(path.read_bytes())] == ["fact", "fact", None]


def test_what_was_written_is_kept_and_what_others_wrote_since_is_seen(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.write("project/.nemp/memories.json", usual(3))
    shelf = Shelf()
    store = shelf.nemp(path, "project")
    edited = rewrite_entries(store, lambda fresh: [EntryChange(fresh.entries[0], [(("type",), "fact")])])
    assert edited.store is not None
    shelf.put_nemp(edited.store)
    assert not nemp.is_current(edited.store)  # somebody may have written in the same moment
    assert shelf.nemp(path, "project") is edited.store
    assert nemp.is_current(edited.store)
    path.write_bytes(path.read_bytes().replace("välue 1".encode(), b"other 1"))
    monkeypatch.setattr(nemp, "store_of_bytes", None)  # the rest is not read again
    (entry,) = shelf.nemp(path, "project").by_key("key-1")
    assert entry.value == "other 1"


def test_an_edit_that_cannot_be_followed_is_read_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = world.write("project/.nemp/memories.json", [{"key": "no-value"}, *usual(2)])
    store = read_store(path, "project")
    edited = rewrite_entries(store, lambda fresh: [EntryChange(fresh.entries[0], [(("type",), "fact")])])
    assert edited.store is not None
    assert [(problem.code, problem.line) for problem in edited.store.problems] == [("no-value", 2)]
    assert nemp_edits.same_entry(store.entries[2], store, edited.store) is not None


def test_a_great_many_changes_are_read_whole_instead_of_followed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nemp_changes, "_FOLLOWED", 2)
    path = world.write("project/.nemp/memories.json", usual(5))
    store = read_store(path, "project")
    assert store.digests is not None
    edited = rewrite_entries(store, lambda fresh: [EntryChange(entry, [(("n",), 1)]) for entry in fresh.entries])
    assert edited.store is not None
    assert [entry.raw["n"] for entry in edited.store.entries] == [1] * 5
    written = path.read_bytes()
    before, other = large(written), written.replace(b'"n": 1', b'"n": 22')
    assert before.digests is not None
    assert observed(store_after_change(before, other, None)) == observed(parsed(other))


def test_threads_that_ask_at_once_for_places_get_the_right_ones() -> None:
    data = json.dumps(usual(2_000), indent=1, ensure_ascii=False).encode()
    slow = parsed(data)
    places = [slow.place_of(entry) for entry in slow.entries]
    for _ in range(3):
        store = large(data)
        with ThreadPoolExecutor(4) as threads:
            numbers = [*range(0, 2_000, 7), *range(1_999, 0, -11)]
            found = threads.map(lambda number, store=store: store.place_of(store.entries[number]), numbers)
            assert list(found) == [places[number] for number in numbers]
