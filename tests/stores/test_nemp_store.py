"""Finding and reading nemp stores: every shape that exists, every place a record can stand, everything broken."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.stores.nemp import (
    NempStore,
    as_memory,
    is_current,
    read_store,
    store_of_bytes,
)
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
    message = store.problems[0].message
    assert message.startswith(f"{path} is {path.stat().st_size} bytes large; no more than 50 bytes")
    assert message.endswith("Move what is no memory into other files.")
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


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('[{"key": "d", "value": 1}, {"key": "d", "value": 2}]', '2 memories have the key "d" (twice on line 1)'),
        ('{"d": 1, "d": 2, "d": 3}', "(3 times on line 1)"),
        ('{"d": 1, "d": 2,\n "d": 3}', "(lines 1 and 2)"),
        (json.dumps([{"key": "d"}] * 20, indent=1), "(lines 3, 6, 9, 12, 15, 18, 21, 24, 27, 30 and 10 more)"),
        (json.dumps([{"key": "d"}] * 20), "(10 times on line 1, and 10 more)"),
    ],
)
def test_the_lines_of_a_repeated_key_are_named_once_each(world: World, content: str, where: str) -> None:
    (problem,) = (problem for problem in read(world, content).problems if problem.code == "duplicate-key")
    assert where in problem.message


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


@pytest.mark.parametrize(
    "content", [{"version": "1.0", "metadata": {"totalMemories": 0}}, {"metadata": {"created": "x"}}, {"version": 2}]
)
def test_what_stands_around_memories_alone_is_a_wrapper_without_any(world: World, content: dict[str, Any]) -> None:
    store = read(world, content)
    assert (store.shape, list(store.entries), store.problems, store.writable) == ("wrapper", [], (), True)


@pytest.mark.parametrize(
    "content",
    [
        {"version": {"value": "1.0"}},
        {"version": "1.0", "metadata": "kept in the header"},
        {"metadata": {"value": "x"}, "version": 1},
        {"version": "1.0", "metadata": {}, "a": "b"},
        {"metadata": {"value": "x", "created": "2026"}},
    ],
)
def test_memories_called_version_or_metadata_are_memories(world: World, content: dict[str, Any]) -> None:
    store = read(world, content)
    assert store.shape == "map"
    assert [entry.key for entry in store.entries] == list(content)


def test_a_list_that_a_key_called_memories_overrules_is_a_value_of_the_map(world: World) -> None:
    store = read(world, '{"a": "b", "memories": [{"key": "x", "value": 1}], "memories": "of summer"}')
    assert [(entry.key, entry.value) for entry in store.entries] == [
        ("a", "b"),
        ("memories", [{"key": "x", "value": 1}]),
        ("memories", "of summer"),
    ]


def test_of_two_lists_the_one_counts_that_parsers_keep(world: World) -> None:
    store = read(world, '{"memories": [{"key": "a"}, 7],\n"memories": [{"key": "b", "value": 1}]}')
    assert [entry.key for entry in store.entries] == ["b"]
    assert only_problem(store) == ("duplicate-member", 1, 2)


def test_values_of_any_kind_are_kept_and_have_a_text(world: World) -> None:
    written = '{"a": {"value": 5}, "b": {"value": {"x":[1,\n2.50]}}, "c": {"value": null}, "d": {"value": ""}, "e": {}}'
    store = read(world, written.replace("{}", '{"created": "2026"}'))
    assert [entry.value for entry in store.entries] == [5, {"x": [1, 2.5]}, None, "", None]
    assert [entry.text for entry in store.entries] == ["5", '{"x": [1, 2.50]}', "null", "", ""]


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
