"""What a nemp recall leaves behind: one log line and the entry's counters, and not one other byte."""

from __future__ import annotations

import json
import os
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_recall.files import writing
from memory_recall.model import Problem
from memory_recall.recall.nemp import NempQuery, NempResult, recall
from memory_recall.recall.nemp_accounting import Goals, Reader, account
from memory_recall.recall.nemp_vitality import new_vitality
from memory_recall.stores.nemp import read_store
from memory_recall.stores.shelf import Shelf
from worlds import NOW, World

STAMP = "2026-11-30T16:37:19Z"
FIRST_READ = {
    **new_vitality(),
    "score": 18,
    "state": "dormant",
    "reads": 1,
    "last_read": STAMP,
    "reads_7d": 1,
    "reads_30d": 1,
}
CONFIDENCE = {"score": 0.65, "source": "agent-inferred", "reason": "Pre-cortex memory"}
LINKS = {"goals": [], "conflicts": [], "supersedes": None, "superseded_by": None, "causal": []}
DEFAULTS = {"type": "fact", "confidence": CONFIDENCE, "vitality": FIRST_READ, "links": LINKS}

THREE = [
    {"key": "pkg-manager", "value": "bun, never npm", "created": "2026-01-01T00:00:00Z", "agent_id": "main"},
    {"key": "api-base", "value": "/api/v2 — « été » 🚀", "created": "2026-01-02T00:00:00Z", "n": 1.50},
    {"key": "error-handling", "value": {"status": [500, None]}, "tags": [], "x": {}},
]
BY_KEY = {entry["key"]: {name: entry[name] for name in entry if name != "key"} for entry in THREE}
SHAPES: dict[str, Any] = {
    "wrapper": {"memories": THREE},
    "wrapper with siblings": {"version": "1.0", "memories": THREE, "metadata": {"n": 3}, "unknown": 1.0},
    "wrapped map": {"memories": BY_KEY},
    "map": BY_KEY,
    "map with keys inside": {entry["key"]: entry for entry in THREE},
    "map of plain values": {entry["key"]: entry["value"] for entry in THREE},
    "list": THREE,
}
STYLES: dict[str, dict[str, Any]] = {
    "two spaces": {"indent": 2},
    "four spaces, escaped": {"indent": 4, "ensure_ascii": True},
    "tabs": {"indent": "\t"},
    "one line": {"indent": None},
    "minified": {"indent": None, "separators": (",", ":")},
}

STORE, LOG = "project/.nemp/memories.json", "project/.nemp/access.log"


def ask(world: World, query: str, **options: Any) -> NempResult:
    return recall(NempQuery(query, **options), world.place, world.env, Shelf())


def log_lines(world: World, path: str = LOG) -> list[str]:
    log = world.home.parent / path
    return log.read_bytes().decode().split("\n")[:-1] if log.exists() else []


def codes(result: NempResult) -> list[str]:
    return [problem.code for problem in result.problems]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# byte order mark, line ends, what follows the JSON, the key to recall
FRAMES = {
    "unix": ("", "\n", "\n", "pkg-manager"),
    "marked, no last line end": ("\ufeff", "\r\n", "", "error-handling"),
    "windows": ("", "\r\n", "\r\n\r\n", "api-base"),
    "blanks at the end": ("", "\n", " \n\t", "error-handling"),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("shape", SHAPES)
def test_only_the_bytes_of_the_entry_change(world: World, shape: str, style: str, frame: str) -> None:
    mark, line_end, tail, key = FRAMES[frame]
    text = json.dumps(SHAPES[shape], **{"ensure_ascii": False, **STYLES[style]}).replace("\n", line_end) + tail
    path = world.write(STORE, mark + text)
    before = read_store(path, "project")
    (old,) = before.by_key(key)

    (memory,) = ask(world, key).memories

    new_text = path.read_bytes().decode()
    assert new_text.startswith(mark + text[: old.start])
    assert new_text.endswith(text[old.end :])
    new = new_text[len(mark) + old.start : len(new_text) - len(text[old.end :])]
    record = {"value": old.value} if old.plain else json.loads(text[old.start : old.end])
    assert json.loads(new) == {**record, **DEFAULTS}
    assert list(json.loads(new)) == [*record, *DEFAULTS]
    if not old.plain:
        assert new.startswith(text[old.start : old.end].rstrip("} \t\r\n"))
    if "escaped" in style:
        assert new.isascii()
    if style == "minified":
        assert "\n" not in new
        assert ": " not in new.replace("2026", "")
    if style in ("two spaces", "tabs") and line_end == "\r\n":
        assert new.count("\n") == new.count("\r\n") > 20
    assert memory.vitality == FIRST_READ
    assert new_text[len(mark) :].split("\n")[memory.line - 1][memory.column - 1 :].startswith(f'"{key}"')


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=4), below, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["type", "confidence", "vitality", "links", "created", "tags", "value", "other", "é\n"])
VITALITY = st.dictionaries(st.sampled_from(sorted(new_vitality())), JSON_VALUES, max_size=5)


@st.composite
def entries_in_text(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """The fields of an entry with the key `k`, and a store that holds it."""
    fields = draw(st.dictionaries(FIELDS, JSON_VALUES | VITALITY, max_size=6))
    entry = {"value": None, **fields}
    content = draw(st.sampled_from([[{"key": "k", **entry}], {"k": entry, "z": 1}]))
    indent = draw(st.sampled_from([None, 0, 1, 2, "\t"]))
    text = json.dumps(content, indent=indent, ensure_ascii=draw(st.booleans()))
    return entry, text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@settings(
    derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(entries_in_text())
def test_any_entry_keeps_what_it_has_and_gains_only_what_it_lacks(
    world: World, entry_in_text: tuple[dict[str, Any], str]
) -> None:
    entry, text = entry_in_text
    path = world.write(STORE, text)
    (memory,) = ask(world, "k").memories
    assert memory.recorded
    after = json.loads(path.read_bytes())
    new = after[0] if isinstance(after, list) else after["k"]
    assert new["vitality"]["reads"] >= 1
    assert 0 <= new["vitality"]["score"] <= 100
    for name, value in entry.items():
        if name == "vitality" and isinstance(value, dict):
            kept = set(value) - {"reads", "reads_7d", "reads_30d", "last_read", "score", "state"}
            assert {member: new["vitality"][member] for member in kept} == {member: value[member] for member in kept}
        elif name == "links" and isinstance(value, dict):
            assert new["links"] == {**LINKS, **value}
        elif value is not None and name != "vitality":
            assert new[name] == value


def test_a_read_is_one_line_in_the_projects_log(world: World) -> None:
    world.write(STORE, THREE)
    ask(world, "api-base")
    ask(world, "never npm")
    assert log_lines(world) == [
        f"[{STAMP}] READ key=api-base agent=main query=api-base",
        f"[{STAMP}] READ key=pkg-manager agent=main query=never npm",
    ]


def test_the_agent_is_the_one_given_then_the_variable_then_main(world: World) -> None:
    world.write(STORE, THREE)
    named = world.at(NOW, CLAUDE_AGENT_NAME="backend")
    ask(named, "api-base")
    ask(named, "api-base", agent="editor")
    ask(world.at(NOW, CLAUDE_AGENT_NAME=""), "api-base")
    assert [line.split(" agent=")[1].split(" ")[0] for line in log_lines(world)] == ["backend", "editor", "main"]


@pytest.mark.parametrize("evil", ["\n[x] READ key=z", "\r", "\u2028", "\x85", "\x1b[2J", "\0", "\ud800"])
def test_nothing_makes_one_read_two_lines(world: World, evil: str) -> None:
    world.write(STORE, json.dumps({f"k{evil}": "token"}))
    assert [memory.recorded for memory in ask(world, f"token{evil}", agent=f"a{evil}").memories] == [True]
    log = (world.home.parent / LOG).read_bytes().decode()
    assert len(log.splitlines()) == 1
    assert log.count("\\") >= 3


def test_a_global_hit_is_counted_in_the_global_store_and_logged_in_the_project(world: World) -> None:
    world.write(STORE, "{}")
    path = world.write("home/.nemp/memories.json", {"editor": "Neovim"})
    (memory,) = ask(world, "editor").memories
    assert (memory.source, memory.recorded) == ("global", True)
    assert json.loads(path.read_text())["editor"] == {"value": "Neovim", **DEFAULTS}
    assert log_lines(world) == [f"[{STAMP}] READ key=editor agent=main query=editor"]
    assert not (world.home / ".nemp" / "access.log").exists()


def test_without_a_project_store_the_global_log_is_used(world: World) -> None:
    world.write("home/.nemp/memories.json", {"editor": "Neovim"})
    ask(world, "editor")
    assert len(log_lines(world, "home/.nemp/access.log")) == 1
    assert not (world.project / ".nemp").exists()


def test_of_a_key_in_both_stores_only_the_projects_is_counted(world: World) -> None:
    world.write(STORE, {"a": "p"})
    path = world.write("home/.nemp/memories.json", {"a": "g"})
    before = path.read_bytes()
    ask(world, "a")
    assert path.read_bytes() == before


def test_several_hits_of_one_store_are_one_rewrite(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = world.write(STORE, {"user-a": "x", "user-b": {"value": "y"}, "other": "z"})
    world.write("home/.nemp/memories.json", {"user-c": "x"})
    replaced: list[str] = []
    replace = writing._replace
    monkeypatch.setattr(writing, "_replace", lambda new, old: (replaced.append(str(old)), replace(new, old)))
    result = ask(world, "user")
    assert [memory.recorded for memory in result.memories] == [True] * 3
    assert replaced == [str(path), str(world.home / ".nemp" / "memories.json")]
    content = json.loads(path.read_text())
    assert (content["user-a"]["vitality"], content["user-b"]["vitality"]) == (FIRST_READ, FIRST_READ)
    assert content["other"] == "z"
    assert len(log_lines(world)) == 3
    lines = path.read_text().split("\n")
    for memory in result.memories[:2]:
        assert lines[memory.line - 1][memory.column - 1 :].startswith(f'"{memory.key}"')


def test_only_what_is_returned_counts_as_read(world: World) -> None:
    path = world.write(STORE, {f"key-{n}": "v" for n in range(5)})
    result = ask(world, "key", limit=2)
    assert (len(result.memories), result.omitted, len(log_lines(world))) == (2, 3, 2)
    assert sum(isinstance(value, dict) for value in json.loads(path.read_text()).values()) == 2


@pytest.mark.parametrize("query", ["pkg-manager", "npm", "pkg"])
def test_without_record_nothing_is_written(world: World, query: str) -> None:
    world.write(STORE, {entry["key"]: entry["value"] for entry in THREE})
    before = snapshot(world.home.parent)
    (memory,) = ask(world, query, record=False).memories
    assert (memory.recorded, memory.type, memory.vitality) == (False, None, None)
    assert snapshot(world.home.parent) == before


def test_nothing_found_leaves_nothing(world: World) -> None:
    world.write(STORE, THREE)
    before = snapshot(world.home.parent)
    assert ask(world, "zebra").match == "none"
    assert snapshot(world.home.parent) == before


@pytest.mark.parametrize(
    "content",
    [
        '{"memories": [{"key": "a", "value": 1},]}',
        '{"memories": [{"key": "a"',
        '"a"',
        "",
        "\n \n",
        "{}",
        b"\xff\xfe{\0",
    ],
)
def test_a_store_that_does_not_parse_or_is_empty_is_never_written(world: World, content: str | bytes) -> None:
    path = world.write(STORE, content)
    world.write("home/.nemp/memories.json", {"a": "g"})
    before = path.read_bytes()
    assert [memory.recorded for memory in ask(world, "a").memories] == [True]
    assert path.read_bytes() == before


def test_figures_of_a_memory_with_a_past(world: World) -> None:
    vitality = {
        "score": 62, "trend": "rising", "state": "active", "reads": 4, "last_read": "2026-02-26T12:30:00Z",
        "reads_7d": 1, "reads_30d": 2, "foresight_loads": 3, "foresight_skips": 1, "agent_references": 2,
        "update_count": 1,
        "correction_events": 0, "decay_rate": 0.02, "mine": 1.50,
    }  # fmt: skip
    created = (NOW - timedelta(days=100)).isoformat()
    links = {**LINKS, "goals": ["old", "fix-login"]}
    entry = {
        "value": "v",
        "created": created,
        "type": "rule",
        "confidence": "sure",
        "vitality": vitality,
        "links": links,
    }
    path = world.write(STORE, {"a": entry})
    goals = [{"goal_id": "old", "status": "completed"}, {"goal_id": "fix-login", "status": "active"}]
    world.write("project/.nemp/cortex.json", {"goals": goals})
    (memory,) = ask(world, "a").memories
    # 2·15 + 3·3 + 20·3/4 + 25·2/5 + 10·1/100 + 15
    assert memory.vitality["score"] == 79
    assert json.loads(path.read_text())["a"] == {
        **entry,
        "vitality": {
            **vitality, "score": 79, "state": "active", "reads": 5, "reads_7d": 2, "reads_30d": 3, "last_read": STAMP,
        },
    }  # fmt: skip
    assert '"mine": 1.5\n' in path.read_text()


def test_odd_counters_count_as_nothing_and_numbers_stay_whole(world: World) -> None:
    vitality = '{"score": "high", "reads": null, "reads_7d": "3", "reads_30d": -4, "update_count": NaN}'.replace(
        "NaN", "1e400"
    )
    path = world.write(
        STORE, f'[{{"key": "a", "value": "x", "created": "not a date", "vitality": {vitality}, "links": []}}]'
    )
    (memory,) = ask(world, "a").memories
    text = path.read_text()
    assert '"reads": 1, "reads_7d": 4, "reads_30d": 1, "update_count": 1e400' in text
    assert memory.vitality["score"] == 63
    assert '"links": []' in text


def test_a_vitality_that_is_no_object_gives_way_and_null_fields_are_filled(world: World) -> None:
    path = world.write(STORE, {"a": {"value": 1, "type": None, "confidence": None, "vitality": "good", "links": None}})
    ask(world, "a")
    assert json.loads(path.read_text())["a"] == {"value": 1, **DEFAULTS}


def test_true_is_no_count(world: World) -> None:
    path = world.write(STORE, {"a": {"value": 1, "vitality": {"reads": True, "reads_7d": False}}})
    ask(world, "a")
    assert '"reads": 1' in path.read_text()


@pytest.mark.parametrize(
    "goals",
    [
        None, "", "{}", "[]", '"x"', "{", "\0", '{"goals": null}', '{"goals": [null, 5, {"status": "active"}]}',
        '{"goals": [{"goal_id": ["g"], "status": "active"}]}', '{"goals": [{"goal_id": "g", "status": "done"}]}',
        '{"goals": [{"goal_id": "other", "status": "active"}]}', "[" * 99_999,
    ],
)  # fmt: skip
def test_a_goal_that_is_not_known_to_be_active_adds_nothing(world: World, goals: str | None) -> None:
    world.write(STORE, {"a": {"value": "v", "links": {"goals": ["g", 5, None]}}})
    if goals is not None:
        world.write("project/.nemp/cortex.json", goals)
    result = ask(world, "a")
    assert result.memories[0].vitality["score"] == 18
    broken = goals in ("{", "\0") or (goals or "").startswith("[[")
    assert codes(result) == (["not-json"] if broken else [])
    if broken:
        assert result.problems[0].line == 1
        assert "cortex.json" not in result.problems[0].message
        assert str(result.problems[0].path).endswith("cortex.json")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_active_goal_adds_fifteen_also_for_a_global_memory(world: World, mark: str) -> None:
    world.write(STORE, "{}")
    world.write("project/.nemp/cortex.json", mark + '{"goals": [{"goal_id": "g", "status": "active"}]}')
    world.write("home/.nemp/memories.json", {"a": {"value": "v", "links": {"goals": ["g"]}}})
    assert ask(world, "a").memories[0].vitality["score"] == 33


def test_a_broken_cortex_file_is_nobodys_business_without_goals(world: World) -> None:
    world.write(STORE, {"a": "v"})
    world.write("project/.nemp/cortex.json", "{")
    assert codes(ask(world, "a")) == []


def test_two_memories_of_one_key_are_both_counted(world: World) -> None:
    path = world.write(STORE, [{"key": "dup", "value": 1}, {"key": "dup", "value": 2}])
    result = ask(world, "dup")
    assert [entry["vitality"]["reads"] for entry in json.loads(path.read_text())] == [1, 1]
    assert len(log_lines(world)) == 2
    lines = path.read_text().split("\n")
    places = [number for number, line in enumerate(lines, start=1) if '"key": "dup"' in line]
    assert [memory.line for memory in result.memories] == places
    assert f"lines {places[0]} and {places[1]}" in result.problems[0].message


def test_a_repeated_key_in_a_map_is_counted_where_it_was_read(world: World) -> None:
    path = world.write(STORE, '{"dup": "one", "dup": {"value": "two"}}')
    ask(world, "dup")
    text = path.read_text()
    assert text.startswith('{"dup": {"value": "one", ')
    assert text.count('"reads": 1') == 2


# Where a read cannot be recorded


@pytest.mark.parametrize("what", [".nemp", ".nemp/memories.json", ".nemp/access.log"])
def test_what_may_not_be_written_costs_the_record_and_not_the_answer(world: World, what: str) -> None:
    world.write(STORE, {"a": "v"})
    world.write(LOG, "[x] READ key=z\n")
    target = world.project / what
    before = snapshot(world.project)
    target.chmod(0o555 if target.is_dir() else 0o444)
    try:
        result = ask(world, "a")
    finally:
        target.chmod(0o755)
    (memory,) = result.memories
    assert (memory.value, memory.recorded, memory.vitality) == ("v", False, None)
    (problem,) = result.problems
    assert problem.code == "not-recorded"
    # It begins with the path and says it once: whoever shows both, shows one.
    assert problem.message.startswith(f"{problem.path} was not written: ")
    assert problem.message.count(str(world.project)) == 1
    assert problem.message.endswith(" This read was not recorded.")
    assert snapshot(world.project) == before


@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "loop"])
def test_a_log_that_is_no_file_costs_the_record_and_not_the_answer(world: World, kind: str) -> None:
    path = world.write(STORE, {"a": "v"})
    log = path.with_name("access.log")
    match kind:
        case "directory":
            log.mkdir()
        case "pipe":
            os.mkfifo(log)
        case "link":
            log.symlink_to(world.home / "elsewhere")
        case "loop":
            log.symlink_to(log)
    before = path.read_bytes()
    result = ask(world, "a")
    assert [(memory.value, memory.recorded) for memory in result.memories] == [("v", False)]
    assert codes(result) == ["not-recorded"]
    assert path.read_bytes() == before
    assert not (world.home / "elsewhere").exists()


def test_a_full_disk_takes_the_log_line_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write(STORE, {"user-a": "v", "user-b": "v"})
    world.write(LOG, "[x] READ key=z\n")
    before = snapshot(world.project)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "_replace", full)
    result = ask(world, "user")
    assert [memory.recorded for memory in result.memories] == [False, False]
    assert codes(result) == ["not-recorded"]
    assert "full" in result.problems[0].message
    assert snapshot(world.project) == before


def test_a_log_that_fills_up_between_two_lines_loses_both(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_recall.recall import nemp_accounting

    world.write(STORE, {"user-a": "v", "user-b": "v"})
    world.write(LOG, "before\n")
    before = snapshot(world.project)
    append = writing.append_line

    def second_fails(path: Path, line: str) -> Any:
        if "user-b" in line:
            raise writing.NotWritten(Problem("disk-full", "The disk is full.", str(path)))
        return append(path, line)

    monkeypatch.setattr(nemp_accounting, "append_line", second_fails)
    assert codes(ask(world, "user")) == ["not-recorded"]
    assert snapshot(world.project) == before


# Others who write meanwhile


def reader(world: World, query: str = "q") -> Reader:
    return Reader.of(world.env, query, None, world.project / ".nemp" / "access.log")


def test_a_store_changed_since_it_was_read_is_counted_as_it_is_by_now(world: World) -> None:
    path = world.write(STORE, {"a": {"value": "old", "vitality": {"reads": 1}}})
    store = read_store(path, "project")
    world.write(STORE, {"new": 1, "a": {"value": "newer", "vitality": {"reads": 7}}})
    accounted = account(store, store.by_key("a"), reader(world), Goals(None))
    (entry,) = accounted.entries
    assert entry is not None
    assert (entry.value, entry.vitality["reads"], accounted.places) == ("newer", 8, ((3, 3),))
    assert json.loads(path.read_text())["new"] == 1


def test_a_memory_removed_since_it_was_read_is_not_recorded(world: World) -> None:
    path = world.write(STORE, {"a": "v", "b": "v"})
    store = read_store(path, "project")
    world.write(STORE, {"b": "v"})
    accounted = account(store, store.entries, reader(world), Goals(None))
    assert [entry and entry.key for entry in accounted.entries] == [None, "b"]
    assert [problem.code for problem in accounted.problems] == ["not-recorded"]
    assert len(log_lines(world)) == 1


@pytest.mark.parametrize("content", ["{", "", b"\xff"])
def test_a_store_broken_since_it_was_read_is_left_alone(world: World, content: str | bytes) -> None:
    path = world.write(STORE, {"a": "v"})
    store = read_store(path, "project")
    world.write(STORE, content)
    before = path.read_bytes()
    accounted = account(store, store.entries, reader(world), Goals(None))
    assert accounted.entries == (None,)
    assert [problem.code for problem in accounted.problems] == ["not-recorded"]
    assert path.read_bytes() == before
    assert log_lines(world) == []


def test_readers_at_once_are_all_counted(world: World) -> None:
    path = world.write(STORE, {"a": "v", "b": "v"})
    failures: list[object] = []

    def read_often() -> None:
        for _ in range(10):
            failures.extend(memory for memory in ask(world, "a").memories if not memory.recorded)

    threads = [threading.Thread(target=read_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert json.loads(path.read_text())["a"]["vitality"]["reads"] == 40
    assert len(log_lines(world)) == 40
    assert sorted(left.name for left in path.parent.iterdir()) == ["access.log", "memories.json"]


# Links between stores


def test_a_linked_store_stays_a_link_and_its_mode_stays(world: World) -> None:
    real = world.write("elsewhere/memories.json", {"a": "v"})
    real.chmod(0o640)
    path = world.project / ".nemp" / "memories.json"
    path.parent.mkdir()
    path.symlink_to(real)
    (memory,) = ask(world, "a").memories
    assert (memory.recorded, memory.path) == (True, path)
    assert path.is_symlink()
    assert json.loads(real.read_text())["a"]["vitality"]["reads"] == 1
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("hard", [True, False])
def test_one_file_under_both_names_is_read_and_counted_once(world: World, hard: bool) -> None:
    shared = world.write("home/.nemp/memories.json", {"a": "v"})
    path = world.project / ".nemp" / "memories.json"
    path.parent.mkdir()
    path.hardlink_to(shared) if hard else path.symlink_to(shared)
    result = ask(world, "a")
    assert (len(result.memories), result.shadowed) == (1, ())
    assert len(log_lines(world)) == 1
    assert json.loads(path.read_text())["a"]["vitality"]["reads"] == 1
