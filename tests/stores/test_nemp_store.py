"""Finding and reading nemp stores: every shape that exists, every place a record can stand, everything broken."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.environment import Place
from memory_recall.stores.nemp import NempStore, as_memory, find_stores, is_current, read_store, store_of_bytes
from memory_recall.stores.nemp_shapes import parse_store
from worlds import World

THREE = [
    {"key": "pkg-manager", "value": "bun, never npm", "created": "2026-01-01T00:00:00Z", "agent_id": "main"},
    {"key": "api-base", "value": "/api/v2", "created": "2026-01-02T00:00:00Z", "agent_id": "main"},
    {"key": "error-handling", "value": "no bare 500s — été 🚀", "created": "2026-01-03T00:00:00Z", "agent_id": "main"},
]
KEYS = [entry["key"] for entry in THREE]
WITHOUT_KEY = {entry["key"]: {name: entry[name] for name in entry if name != "key"} for entry in THREE}

SHAPES: dict[str, Any] = {
    "wrapper": {"memories": THREE},
    "wrapper with siblings": {"version": "1.0", "memories": THREE, "metadata": {"totalMemories": 3, "created": "x"}},
    "wrapped map": {"version": 2, "memories": WITHOUT_KEY},
    "map": WITHOUT_KEY,
    "map with keys inside": {entry["key"]: entry for entry in THREE},
    "map of plain values": {entry["key"]: entry["value"] for entry in THREE},
    "list": THREE,
}


def read(world: World, content: str | bytes | object, source: Any = "project") -> NempStore:
    return read_store(world.write("project/.nemp/memories.json", content), source)


def only_problem(store: NempStore) -> tuple[str, int | None, int | None]:
    (problem,) = store.problems
    assert problem.path == str(store.path)
    return problem.code, problem.line, problem.column


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_every_shape_is_read_with_the_place_of_each_key(world: World, shape: str, indent: Any) -> None:
    text = json.dumps(SHAPES[shape], indent=indent, ensure_ascii=False)
    store = read(world, text)
    assert [(entry.key, entry.value) for entry in store.entries] == [(entry["key"], entry["value"]) for entry in THREE]
    assert store.problems == ()
    assert store.writable
    lines = text.split("\n")
    for entry in store.entries:
        line, column = store.place_of(entry)
        assert lines[line - 1][column - 1 :].startswith(f'"{entry.key}"')
        assert json.loads(text[entry.start : entry.end]) == (entry.value if entry.plain else dict(entry.raw))


def test_a_map_key_is_where_a_map_entry_stands_even_if_the_entry_repeats_it(world: World) -> None:
    store = read(world, '{\n "a": {\n  "value": 1,\n  "key": "a"\n }\n}')
    assert store.place_of(store.entries[0]) == (2, 2)


def test_in_a_list_the_value_of_the_key_member_is_the_place(world: World) -> None:
    store = read(world, '[\n {"value": 1,\n  "key": "a"}\n]')
    assert store.place_of(store.entries[0]) == (3, 10)


def test_the_key_inside_an_entry_wins_over_the_map_key(world: World) -> None:
    store = read(world, {"old-name": {"key": "new-name", "value": "x"}})
    assert [entry.key for entry in store.entries] == ["new-name"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_and_columns_are_those_of_an_editor(world: World, line_end: str, mark: str) -> None:
    text = (mark + json.dumps(THREE, indent=2, ensure_ascii=False)).replace("\n", line_end)
    store = read(world, text)
    assert [store.place_of(entry) for entry in store.entries] == [(3, 12), (9, 12), (15, 12)]
    flat = read(world, mark + json.dumps(THREE))
    assert flat.place_of(flat.entries[0]) == (1, 10)


def test_line_separators_inside_a_value_end_no_line(world: World) -> None:
    store = read(world, '[{"value": "a\u2028b\x85c",\n"key": "k"}]')
    assert store.place_of(store.entries[0]) == (2, 8)


@pytest.mark.parametrize(
    "content", ["", "\n  \n", "\ufeff", "{}", "[]", '{"memories": []}', '{"memories": {}}', " { } "]
)
def test_a_store_without_memories_is_no_problem(world: World, content: str) -> None:
    store = read(world, content)
    assert not store.entries
    assert store.problems == ()
    assert store.writable


def test_a_file_that_is_not_there_is_no_problem(tmp_path: Path) -> None:
    store = read_store(tmp_path / ".nemp" / "memories.json", "global")
    assert (store.shape, store.problems, store.writable) == ("absent", (), False)


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        ('{\n  "memories": [\n    {"key": "a", "value": "b"},\n  ]\n}\n', 4, 3),
        ('{\n  "memories": [\n    {"key": "a", "val', 3, 18),
        ('{"a": 1} x', 1, 10),
        ("{'a': 1}", 1, 2),
        ('{"a": NaN}', 1, 7),
        ("nonsense", 1, 1),
        ('{"memories": [] ', 1, 17),
        ('{"memories": [], ', 1, 18),
        ('{"memories" []}', 1, 13),
        ('{"a": 1,}', 1, 9),
        ("[" * 100_000, 1, None),
        ('{"memories":' + "[" * 100_000, 1, None),
    ],
)
def test_what_does_not_parse_is_reported_with_its_place(
    world: World, content: str, line: int, column: int | None
) -> None:
    store = read(world, content)
    code, at_line, at_column = only_problem(store)
    assert (code, at_line) == ("not-json", line)
    assert column is None or at_column in (column, column - 1)
    assert not store.writable
    assert not store.entries


@pytest.mark.parametrize("content", ['"just a string"\n', "7", "null", "true"])
def test_json_that_is_no_store_is_reported_and_not_writable(world: World, content: str) -> None:
    store = read(world, "\n" + content)
    assert only_problem(store) == ("not-a-store", 2, 1)
    assert not store.writable


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b'{\n "a": "caf\xe9"}', 2, 11),
        (b'{"a": "\xed\xa0\x80"}', 1, 8),
        ("{}".encode("utf-16"), 1, 1),
        ('{"a": "b"}'.encode("utf-16-le"), 1, 1),
        ('{"a": "b"}'.encode("utf-16-be"), 1, 1),
    ],
)
def test_other_encodings_are_reported_and_not_writable(world: World, content: bytes, line: int, column: int) -> None:
    store = read(world, content)
    assert only_problem(store) == ("not-utf-8", line, column)
    assert not store.writable


def test_what_is_no_file_is_reported_and_never_waited_for(tmp_path: Path) -> None:
    directory, pipe, loop, dangling = (tmp_path / name for name in ("directory", "pipe", "loop", "dangling"))
    directory.mkdir()
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    dangling.symlink_to(tmp_path / "nowhere")
    codes = [only_problem(read_store(path, "project"))[0] for path in (directory, pipe, loop, dangling)]
    assert codes == ["is-a-directory", "not-a-file", "link-loop", "dangling-link"]


def test_a_file_over_the_limit_is_reported(world: World) -> None:
    path = world.write("project/.nemp/memories.json", {"a": "b" * 100})
    store = read_store(path, "project", limit=50)
    assert only_problem(store)[0] == "too-large"
    assert not store.writable


def test_odd_entries_are_reported_with_their_place_and_the_others_answer(world: World) -> None:
    entries = [{"key": "a", "value": 1}, "loose", None, {"value": "no key"}, {"key": ""}, {"key": 7}, {"key": "bare"}]
    store = read(world, json.dumps({"memories": entries}, indent=1))
    assert [entry.key for entry in store.entries] == ["a", "bare"]
    assert [(problem.code, problem.line, problem.column) for problem in store.problems] == [
        ("not-an-entry", 7, 3),
        ("not-an-entry", 8, 3),
        ("no-key", 9, 3),
        ("no-key", 12, 3),
        ("no-key", 15, 3),
        ("no-value", 18, 3),
    ]


def test_thousands_of_odd_entries_are_one_report_not_thousands(world: World) -> None:
    store = read(world, json.dumps(["loose"] * 3000))
    assert len(store.problems) == 51
    assert "2,950 more" in store.problems[-1].message


def test_repeated_keys_are_all_found_and_reported_with_their_lines(world: World) -> None:
    store = read(world, '[\n{"key": "dup", "value": 1},\n{"key": "x", "value": 0},\n{"key": "dup", "value": 2}\n]')
    assert [entry.value for entry in store.by_key("dup")] == [1, 2]
    (problem,) = store.problems
    assert (problem.code, problem.line) == ("duplicate-key", 4)
    assert "lines 2 and 4" in problem.message


def test_a_map_may_repeat_a_key_too(world: World) -> None:
    store = read(world, '{"dup": "one",\n "dup": {"value": "two"}}')
    assert [entry.value for entry in store.by_key("dup")] == ["one", "two"]


def test_a_key_repeated_very_often_costs_no_quadratic_time(world: World) -> None:
    store = read(world, json.dumps([{"key": "k", "value": n} for n in range(30_000)]))
    assert len(store.by_key("k")) == 30_000
    assert "30000 memories" in store.problems[0].message


def test_an_object_without_fields_of_an_entry_is_itself_the_value(world: World) -> None:
    store = read(world, {"flags": {"dark-mode": True}, "when": {"created": "2026-01-01"}, "n": None, "list": [1, 2.5]})
    assert [(entry.key, entry.plain, entry.value) for entry in store.entries] == [
        ("flags", True, {"dark-mode": True}),
        ("when", False, None),
        ("n", True, None),
        ("list", True, [1, 2.5]),
    ]


@pytest.mark.parametrize(
    "entry", [{"value": "x", "created": "2026"}, {"created": "2026", "agent_id": "a"}, "x", 5, True]
)
def test_a_map_may_have_a_key_that_is_called_memories(world: World, entry: object) -> None:
    store = read(world, {"a": "b", "memories": entry})
    assert store.shape == "map"
    assert [found.key for found in store.entries] == ["a", "memories"]


def test_entries_beside_a_wrapper_are_reported(world: World) -> None:
    store = read(world, '{"memories": [],\n "stray": {"value": "x"}, "metadata": {"created": "x"}}')
    assert only_problem(store) == ("stray-entry", 2, 2)


def test_of_two_lists_the_one_counts_that_parsers_keep(world: World) -> None:
    store = read(world, '{"memories": [{"key": "a"}, 7],\n"memories": [{"key": "b", "value": 1}]}')
    assert [entry.key for entry in store.entries] == ["b"]
    assert only_problem(store) == ("duplicate-member", 1, 2)


def test_values_of_any_kind_are_kept_and_have_a_text(world: World) -> None:
    store = read(
        world, '{"a": {"value": 5}, "b": {"value": {"x": [1, 2.50]}}, "c": {"value": null}, "d": {"value": ""}}'
    )
    assert [entry.value for entry in store.entries] == [5, {"x": [1, 2.5]}, None, ""]
    assert [entry.text for entry in store.entries] == ["5", '{"x": [1, 2.5]}', "null", ""]


def test_a_value_nested_too_deeply_to_print_is_shown_as_it_is_written(world: World) -> None:
    deep = "[" * 400 + "]" * 400
    store = read(world, f'{{"a": {{"value": {deep}, "extra": {deep}}}, "b": {deep}}}')
    assert [entry.value for entry in store.entries] == [deep, deep]
    assert store.entries[0].raw["extra"] == deep


def test_numbers_beyond_every_reader_do_no_harm(world: World) -> None:
    store = read(world, f'[{{"key": "a", "value": {"9" * 5000}}}, {{"key": "b", "value": 1e400}}]')
    assert [entry.text for entry in store.entries] == ["null", "null"]


def test_a_timestamp_stands_in_for_both_dates(world: World) -> None:
    store = read(world, [{"key": "a", "value": "x", "timestamp": "2026-01-02"}, {"key": "b", "value": "y"}])
    first, second = store.entries
    assert (first.created, first.updated) == ("2026-01-02", "2026-01-02")
    assert (second.created, second.updated, second.agent_id) == (None, None, None)


def test_tags_are_whatever_strings_there_are(world: World) -> None:
    store = read(world, [{"key": "a", "tags": ["x", 1, None]}, {"key": "b", "tags": "one"}, {"key": "c", "tags": {}}])
    assert [entry.tags for entry in store.entries] == [("x",), ("one",), ()]


def test_a_memory_carries_its_provenance_and_what_its_links_say(world: World) -> None:
    entry = {
        "key": "a",
        "value": {"x": 1},
        "agent_id": "backend",
        "created": "2026-01-01",
        "tags": ["t"],
        "confidence": {"score": 0.9},
        "vitality": {"state": "extinct"},
        "links": {"superseded_by": "b", "conflicts": ["c", 5]},
        "other-tool": [1],
    }
    store = read(world, [entry])
    memory = as_memory(store, store.entries[0])
    assert (memory.id, memory.text, memory.tags) == ("a", '{"x": 1}', ("t",))
    assert memory.fields == entry
    provenance = memory.provenance
    assert (provenance.system, provenance.source, provenance.path) == ("nemp", "project", store.path)
    assert (provenance.line, provenance.column) == (3, 12)
    assert (provenance.author, provenance.created, provenance.confidence) == ("backend", "2026-01-01", 0.9)
    assert [(standing.code, standing.successor) for standing in memory.standings] == [
        ("superseded", "b"),
        ("conflicting", None),
        ("extinct", None),
    ]


@pytest.mark.parametrize(
    "odd", [{"links": []}, {"links": "x", "vitality": 5}, {"confidence": True}, {"confidence": {"score": []}}]
)
def test_odd_fields_make_no_standing_and_no_confidence(world: World, odd: dict[str, Any]) -> None:
    store = read(world, [{"key": "a", "value": "x", "created": 5, "agent_id": {}, **odd}])
    memory = as_memory(store, store.entries[0])
    assert (memory.standings, memory.provenance.confidence) == ((), None)
    assert (memory.provenance.created, memory.provenance.author) == ("5", None)


def test_a_store_is_current_until_its_file_changes(world: World) -> None:
    store = read(world, {"a": "b"})
    assert store.stamp is not None
    store.stamp = store.stamp._replace(settled=True)  # as if the file were older than a moment
    assert is_current(store)
    store.path.write_text('{"a": "c"}')
    assert not is_current(store)
    gone = read_store(world.project / "nothing", "global")
    assert is_current(gone)
    (world.project / "nothing").write_text("{}")
    assert not is_current(gone)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:aken\\u0 \n', max_size=60).map(str.encode))
def test_no_bytes_make_reading_fail(data: bytes) -> None:
    store = store_of_bytes(Path("/x/.nemp/memories.json"), "project", data, None)
    assert store.writable or store.problems
    for entry in store.entries:
        as_memory(store, entry)
    if store.writable and store.shape != "empty":
        assert json.loads(data.decode("utf-8-sig")) is not None


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(["key", "value", "memories", "x"]), below)
    ),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(JSON_VALUES, st.sampled_from([None, 1, "\t"]))
def test_any_json_is_read_with_exact_spans(value: Any, indent: Any) -> None:
    text = json.dumps(value, indent=indent)
    store = parse_store(text)
    assert (store.shape == "broken") == (not isinstance(value, dict | list))
    for entry in store.entries:
        written = json.loads(text[entry.start : entry.end])
        assert (written if entry.plain else written.get("value")) == entry.value
        assert text[entry.key_offset] == '"'
    assert sum(map(len, store.by_key.values())) == len(store.entries)


# Where stores are found


@pytest.fixture
def bare(tmp_path: Path, world: World) -> World:
    """A world whose project is no repository."""
    (world.project / ".git").rmdir()
    return world


def found(world: World, place: Place | None = None) -> tuple[str | None, str | None, str | None]:
    places = find_stores(place or world.place, world.env)
    root = world.home.parent
    return tuple(  # type: ignore[return-value]
        path.relative_to(root).as_posix() if path is not None else None
        for path in (places.project, places.global_, places.log)
    )


PROJECT_STORE, GLOBAL_STORE = "project/.nemp/memories.json", "home/.nemp/memories.json"
PROJECT_LOG, GLOBAL_LOG = "project/.nemp/access.log", "home/.nemp/access.log"


def test_the_nearest_store_above_is_the_projects(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    bare.write(GLOBAL_STORE, "{}")
    (bare.project / "a" / "b").mkdir(parents=True)
    assert found(bare, Place(bare.project / "a" / "b")) == (PROJECT_STORE, GLOBAL_STORE, PROJECT_LOG)
    bare.write("project/a/.nemp/memories.json", "{}")
    assert found(bare, Place(bare.project / "a" / "b"))[0] == "project/a/.nemp/memories.json"


def test_without_any_store_only_the_log_of_the_home_is_named(world: World) -> None:
    assert found(world) == (None, None, GLOBAL_LOG)


def test_without_a_project_store_reads_are_logged_in_the_home(world: World) -> None:
    world.write(GLOBAL_STORE, "{}")
    (world.project / ".nemp").mkdir()
    assert found(world) == (None, GLOBAL_STORE, GLOBAL_LOG)


@pytest.mark.parametrize("mark", [".git", ".hg", ".jj"])
@pytest.mark.parametrize("is_file", [True, False])
def test_a_repository_root_ends_the_search_and_takes_part_in_it(bare: World, mark: str, is_file: bool) -> None:
    bare.write(PROJECT_STORE, "{}")
    inner = bare.project / "inner"
    (inner / "deep").mkdir(parents=True)
    (inner / mark).write_text("gitdir: elsewhere") if is_file else (inner / mark).mkdir()
    assert found(bare, Place(inner / "deep"))[0] is None
    bare.write("project/inner/.nemp/memories.json", "{}")
    assert found(bare, Place(inner / "deep"))[0] == "project/inner/.nemp/memories.json"


def test_a_workspace_folder_ends_the_search_and_takes_part_in_it(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    (bare.project / "w" / "notes").mkdir(parents=True)
    place = Place(bare.project / "w" / "notes", bare.project / "w")
    assert found(bare, place)[0] is None
    assert found(bare, Place(place.folder, bare.project))[0] == PROJECT_STORE


def test_a_note_outside_its_workspace_asks_the_workspace_alone(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    bare.write("elsewhere/.nemp/memories.json", "{}")
    place = Place(bare.home.parent / "elsewhere" / "notes", bare.project)
    assert found(bare, place)[0] == PROJECT_STORE


def test_a_folder_that_does_not_exist_is_searched_like_any_other(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    assert found(bare, Place(bare.project / "new" / "note"))[0] == PROJECT_STORE


def test_the_home_is_never_a_project_nor_what_lies_above_it(world: World) -> None:
    world.write(GLOBAL_STORE, "{}")
    world.write(".nemp/memories.json", "{}")
    (world.home / "code" / "x").mkdir(parents=True)
    for folder in (world.home, world.home / "code" / "x", world.home / ".nemp"):
        assert found(world, Place(folder)) == (None, GLOBAL_STORE, GLOBAL_LOG)


def test_a_project_folder_that_is_the_homes_by_a_link_is_the_global_store(world: World) -> None:
    world.write(GLOBAL_STORE, "{}")
    (world.project / ".nemp").symlink_to(world.home / ".nemp")
    assert found(world) == (None, GLOBAL_STORE, GLOBAL_LOG)


@pytest.mark.parametrize("hard", [True, False])
def test_a_project_file_that_is_the_global_one_is_one_store(world: World, hard: bool) -> None:
    store = world.write(GLOBAL_STORE, "{}")
    (world.project / ".nemp").mkdir()
    linked = world.project / ".nemp" / "memories.json"
    linked.hardlink_to(store) if hard else linked.symlink_to(store)
    assert found(world) == (PROJECT_STORE, None, PROJECT_LOG)


def test_a_broken_store_is_still_the_projects(bare: World) -> None:
    bare.write(".nemp/memories.json", "{}")
    (bare.project / ".nemp").mkdir()
    (bare.project / ".nemp" / "memories.json").symlink_to("nowhere")
    assert found(bare)[0] == PROJECT_STORE


def test_without_a_home_there_is_no_global_store(world: World) -> None:
    homeless = replace(world, env=world.env._replace(home=None))
    assert found(homeless) == (None, None, None)
    world.write(PROJECT_STORE, "{}")
    assert found(homeless) == (PROJECT_STORE, None, PROJECT_LOG)
