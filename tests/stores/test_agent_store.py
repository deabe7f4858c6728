"""Reading `.agent/memory`: leniently, in isolation, and again only where it changed."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_entries import LEFT_OUT, write_entry
from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.files import reading
from memory_recall.model import Problem
from memory_recall.stores import agent, agent_reading
from memory_recall.stores.agent_entry import NotAnEntry, entry_in
from memory_recall.stores.agent_files import Broken, parse_json
from worlds import NOW, World

MEMORY = "project/.agent/memory"


def read(world: World) -> agent.AgentStore:
    return agent.read_store(world.project)


def only_problem(world: World) -> Any:
    (problem,) = read(world).problems
    return problem


def test_an_entry_is_read_with_all_that_it_says(world: World) -> None:
    path = write_entry(
        world, "MEM-1", tags=["a", "b"], scope="user", pinned=True, expires_at="2027-01-01", extra={"x": 1}
    )
    store = read(world)
    (entry,) = store.entries
    assert store.problems == ()
    assert (entry.memory_id, entry.type, entry.title, entry.scope) == ("MEM-1", "semantic", "Title of MEM-1", "user")
    assert (entry.tags, entry.pinned, entry.confidence, entry.path) == (("a", "b"), True, 0.8, path)
    assert entry.expires == datetime(2027, 1, 1, tzinfo=UTC)
    assert entry.raw["extra"] == {"x": 1}
    assert store.by_id("MEM-1") == (entry,)
    assert store.by_id("MEM-2") == ()
    assert store.agent_exists
    assert store.memory_exists


def test_entries_come_in_the_order_of_types_and_then_of_names(world: World) -> None:
    for memory_id, type_ in (
        ("MEM-b", "semantic"),
        ("MEM-z", "episodic"),
        ("MEM-a", "procedural"),
        ("MEM-a.1", "semantic"),
        ("MEM-a", "semantic"),
    ):
        write_entry(world, memory_id, type_, title=memory_id)
    assert [(entry.type, entry.memory_id) for entry in read(world).entries] == [
        ("episodic", "MEM-z"),
        ("semantic", "MEM-a"),
        ("semantic", "MEM-a.1"),
        ("semantic", "MEM-b"),
        ("procedural", "MEM-a"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "sample.json",
        "memory.schema.json",
        "MEM-1.json.tmp-12-34",
        "MEM-1.tmp.json",
        ".MEM-1.json",
        "MEM-1.json~",
        "MEM-1.md",
    ],
)
def test_samples_schemas_and_temporary_files_are_no_memories(world: World, name: str) -> None:
    world.write(f"{MEMORY}/semantic/{name}", {"memory_id": "MEM-1", "content": "x"})
    store = read(world)
    assert (store.entries, store.problems) == ((), ())
    assert not agent.holds_memories(world.project)


def test_an_id_that_speaks_of_something_temporary_is_a_memory(world: World) -> None:
    write_entry(world, "MEM-tmp")
    write_entry(world, "MEM-temp-sensor")
    assert len(read(world).entries) == 2
    assert agent.holds_memories(world.project)


def test_files_beside_the_three_types_are_not_read(world: World) -> None:
    world.write(f"{MEMORY}/sample.json", {"memory_id": "MEM-s", "content": "x"})
    world.write(f"{MEMORY}/user/note.json", {"memory_id": "MEM-n", "content": "x"})
    world.write(f"{MEMORY}/semantic/deeper/MEM-d.json", {"memory_id": "MEM-d", "content": "x"})
    assert read(world).entries == ()


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b'{\n  "memory_id": "MEM-1",\n  "content": }', 3, 14),
        (b'{"content": "cut off', 1, 13),
        (b"", 1, 1),
        (b" \n ", 2, 2),
        (b'{"content": "a"}\r\n{}', 1, 17),
        (b'{"content": "NaN",\n "confidence": NaN}', 2, 16),
        (b'{"content": "a", "confidence": -Infinity}', 1, 32),
        (b"\0" * 40, 1, 1),
        (b"[" * 200_000, 1, 1),
    ],
)
def test_a_file_that_is_no_json_is_skipped_and_reported_with_its_place(
    world: World, data: bytes, line: int, column: int
) -> None:
    path = world.write(f"{MEMORY}/semantic/MEM-broken.json", data)
    write_entry(world, "MEM-whole")
    problem = only_problem(world)
    assert (problem.code, problem.path, problem.line, problem.column) == ("unreadable", str(path), line, column)
    assert [entry.memory_id for entry in read(world).entries] == ["MEM-whole"]


@pytest.mark.parametrize("value", [None, 5, True, "text", [], [{"content": "x"}], {}, {"content": "", "title": None}])
def test_json_that_is_no_memory_is_skipped_and_reported(world: World, value: object) -> None:
    world.write(f"{MEMORY}/semantic/MEM-1.json", json.dumps(value))
    assert read(world).entries == ()
    problem = only_problem(world)
    assert (problem.code, problem.line, problem.column) == ("schema", 1, 1)


def test_a_byte_order_mark_is_no_problem(world: World) -> None:
    world.write(f"{MEMORY}/semantic/MEM-1.json", b'\xef\xbb\xbf{"memory_id": "MEM-1", "content": "x"}')
    store = read(world)
    assert store.problems == ()
    assert store.entries[0].raw == {"memory_id": "MEM-1", "content": "x"}


def test_bytes_that_are_not_utf8_are_shown_as_damaged_and_reported(world: World) -> None:
    world.write(f"{MEMORY}/semantic/MEM-1.json", b'{"memory_id": "MEM-1",\n "content": "caf\xe9"}')
    store = read(world)
    assert store.entries[0].content == "caf\ufffd"
    assert [(problem.code, problem.line, problem.column) for problem in store.problems] == [("not-utf8", 2, 17)]


def test_a_file_in_two_byte_characters_is_reported_as_such(world: World) -> None:
    text = '{"memory_id": "MEM-1", "content": "x"}'
    world.write(f"{MEMORY}/semantic/MEM-1.json", text.encode("utf-16"))
    problem = only_problem(world)
    assert problem.code == "not-utf8"
    assert "UTF-16" in problem.message


def test_what_is_no_file_is_reported_and_never_waited_for(world: World) -> None:
    semantic = world.write(f"{MEMORY}/semantic/MEM-ok.json", {"memory_id": "MEM-ok", "content": "x"}).parent
    (semantic / "MEM-dir.json").mkdir()
    os.mkfifo(semantic / "MEM-pipe.json")
    (semantic / "MEM-loop.json").symlink_to("MEM-loop.json")
    (semantic / "MEM-gone.json").symlink_to("nowhere.json")
    (semantic / "MEM-huge.json").write_bytes(b" " * (1024 * 1024 + 1))
    store = read(world)
    assert [entry.memory_id for entry in store.entries] == ["MEM-ok"]
    assert [(Path(problem.path or "").name, problem.code) for problem in store.problems] == [
        ("MEM-dir.json", "is-a-directory"),
        ("MEM-gone.json", "missing"),
        ("MEM-huge.json", "too-large"),
        ("MEM-loop.json", "link-loop"),
        ("MEM-pipe.json", "not-a-file"),
    ]


def test_a_link_to_nothing_is_named_as_what_it_is(world: World) -> None:
    write_entry(world, "MEM-1").with_name("MEM-gone.json").symlink_to("nowhere.json")
    assert "is a symbolic link to nothing" in only_problem(world).message


def under(forbidden: Path, path: Any) -> bool:
    return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(f"{forbidden}{os.sep}")


def forbid(monkeypatch: pytest.MonkeyPatch, directory: Path, *, listing: bool, entering: bool) -> None:
    """Take from this user, who may be root, the right to list a directory, to enter it, or both."""

    def refusing(name: str, refuses: Any) -> None:
        real = getattr(os, name)

        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            if refuses(path):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real(path, *arguments, **options)

        monkeypatch.setattr(os, name, call)

    if entering:
        for name in ("stat", "lstat", "open", "scandir", "readlink"):
            refusing(name, lambda path: under(directory, path))
    if listing:
        refusing("scandir", lambda path: os.fspath(path) == str(directory))


@pytest.mark.parametrize("where", [".agent", ".agent/memory", ".agent/memory/semantic"])
@pytest.mark.parametrize(("listing", "entering"), [(True, True), (False, True)], ids=["000", "600"])
def test_a_directory_that_may_not_be_read_does_not_count_as_empty(
    world: World, monkeypatch: pytest.MonkeyPatch, where: str, *, listing: bool, entering: bool
) -> None:
    write_entry(world, "MEM-1")
    write_entry(world, "MEM-2", "episodic")
    with monkeypatch.context() as patch:
        forbid(patch, world.project / where, listing=listing, entering=entering)
        store = read(world)
        assert len(store.entries) == where.endswith("semantic")
        (problem,) = store.problems
        assert store.unread == (problem,)
        assert (problem.code, problem.path) == ("unreadable", str(world.project / where))
        assert "may not be read by this user" in problem.message
    if where != ".agent/memory/semantic":
        assert not agent.is_current(store), "what may be read again is read again"


def test_a_directory_that_cannot_be_listed_is_a_problem(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_entry(world, "MEM-1")
    forbid(monkeypatch, path.parent, listing=True, entering=False)
    assert only_problem(world).path == str(path.parent)


@pytest.mark.parametrize(
    ("where", "phrase"), [(".agent", "is not a directory"), (".agent/memory", "is not a directory")]
)
def test_a_file_in_place_of_a_directory_is_named_as_what_it_is(world: World, where: str, phrase: str) -> None:
    path = world.write(f"project/{where}", "a file")
    problem = only_problem(world)
    assert problem.path == str(path)
    assert phrase in problem.message


def test_many_broken_files_are_not_as_many_problems(world: World) -> None:
    for number in range(53):
        world.write(f"{MEMORY}/semantic/MEM-{number:02}.json", "{")
    world.write(f"{MEMORY}/episodic/MEM-null.json", "null")
    store = read(world)
    assert [problem.code for problem in store.problems] == ["schema", *["unreadable"] * 51]
    assert "3 more problems of this kind (unreadable)" in store.problems[-1].message
    assert [problem.code for problem in store.problems_of(["episodic"])] == ["schema"]


def test_a_type_that_is_a_file_is_a_problem_and_the_other_types_answer(world: World) -> None:
    write_entry(world, "MEM-1", "episodic")
    world.write(f"{MEMORY}/semantic", "not a directory")
    store = read(world)
    assert len(store.entries) == 1
    assert [problem.code for problem in store.problems] == ["unreadable"]


@pytest.mark.parametrize("written", [0, 1, 0.45, 1.0])
def test_a_confidence_is_a_number_from_zero_to_one(world: World, written: float) -> None:
    write_entry(world, "MEM-1", confidence=written)
    write_entry(world, "MEM-2", confidence=str(written))
    assert [entry.confidence for entry in read(world).entries] == [written, written]
    assert read(world).problems == ()


@pytest.mark.parametrize("written", [None, LEFT_OUT])
def test_a_missing_confidence_is_unknown(world: World, written: object) -> None:
    write_entry(world, "MEM-1", confidence=written)
    assert read(world).entries[0].confidence is None
    assert read(world).problems == ()


@pytest.mark.parametrize("written", ["high", "", "nan", "inf", True, -0.1, 1.5, 85, [], {"score": 1}, 10**400])
def test_a_confidence_that_says_nothing_is_unknown_and_reported(world: World, written: object) -> None:
    write_entry(world, "MEM-1", confidence=written)
    assert read(world).entries[0].confidence is None
    problem = only_problem(world)
    assert problem.code == "schema"
    assert "confidence" in problem.message
    assert problem.line == 14


def test_numbers_beyond_every_bound_are_no_fault(world: World) -> None:
    digits = "9" * 5000
    world.write(
        f"{MEMORY}/semantic/MEM-1.json", f'{{"memory_id":"MEM-1","content":"x","confidence":{digits},"n":1e400}}'
    )
    (entry,) = read(world).entries
    assert entry.confidence is None


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-11-30T18:00:00+02:00", datetime(2026, 11, 30, 16, tzinfo=UTC)),
        ("2026-11-30 16:00", datetime(2026, 11, 30, 16, tzinfo=UTC)),
    ],
)
def test_an_entry_expires_once_its_moment_has_passed(world: World, written: str, moment: datetime) -> None:
    write_entry(world, "MEM-1", expires_at=written)
    (entry,) = read(world).entries
    assert not entry.is_expired(moment)
    assert entry.is_expired(moment + timedelta(microseconds=1))


@pytest.mark.parametrize("written", ["soon", "2026-13-01", "2026-02-30", 1700000000, ["2020-01-01"], {}])
def test_an_unreadable_expiry_never_comes_and_is_reported(world: World, written: object) -> None:
    write_entry(world, "MEM-1", expires_at=written)
    assert not read(world).entries[0].is_expired(NOW)
    assert "expires_at" in only_problem(world).message


@pytest.mark.parametrize("written", [None, "", False, LEFT_OUT])
def test_no_expiry_is_no_problem(world: World, written: object) -> None:
    write_entry(world, "MEM-1", expires_at=written)
    assert read(world).entries[0].expires_at is None
    assert read(world).problems == ()


def test_only_true_pins(world: World) -> None:
    write_entry(world, "MEM-1", pinned=True, expires_at="2020-01-01")
    assert not read(world).entries[0].is_expired(NOW)


@pytest.mark.parametrize("written", ["true", "false", 1, [], "yes"])
def test_what_is_neither_true_nor_false_does_not_pin_and_is_reported(world: World, written: object) -> None:
    write_entry(world, "MEM-1", pinned=written, expires_at="2020-01-01")
    assert read(world).entries[0].is_expired(NOW)
    assert "pinned" in only_problem(world).message


def test_an_entry_that_says_little_is_still_a_memory(world: World) -> None:
    world.write(f"{MEMORY}/procedural/how-to.json", {"content": "Run it twice."})
    (entry,) = read(world).entries
    assert (entry.memory_id, entry.type, entry.title, entry.scope) == ("how-to", "procedural", None, "project")
    assert (entry.confidence, entry.created_at, entry.tags, entry.pinned) == (None, None, (), False)
    assert "memory_id" in only_problem(world).message


@pytest.mark.parametrize(
    ("member", "value", "sentence"),
    [
        ("content", LEFT_OUT, "no `content`"),
        ("content", None, "no `content`"),
        ("memory_id", 7, "its file name, MEM-1"),
        ("memory_id", " ", "its file name, MEM-1"),
        ("type", "episodic", "the directory counts"),
        ("scope", "team", "counts as project"),
        ("tags", "a, b", "no list"),
        ("schema_version", 2, "has `schema_version` 2, not the number 1; it was read as version 1"),
        ("schema_version", "1", 'has `schema_version` "1", not the number 1'),
        ("schema_version", True, "has `schema_version` true, not the number 1"),
    ],
)
def test_a_member_that_is_not_understood_is_reported_and_the_entry_kept(
    world: World, member: str, value: object, sentence: str
) -> None:
    write_entry(world, "MEM-1", **{member: value})
    store = read(world)
    (entry,) = store.entries
    assert (entry.memory_id, entry.type, entry.scope) == ("MEM-1", "semantic", "project")
    (problem,) = store.problems
    assert problem.code == "schema"
    assert sentence in problem.message


def test_a_problem_points_at_the_member_that_parsers_keep(world: World) -> None:
    world.write(
        f"{MEMORY}/semantic/MEM-1.json", '{"memory_id": "MEM-1", "content": "x",\n"scope": "user",\n  "scope": "team"}'
    )
    problem = only_problem(world)
    assert (problem.line, problem.column) == (3, 3)


def test_values_of_other_kinds_become_text(world: World) -> None:
    write_entry(world, "MEM-1", content={"limit": 5}, title=7, tags=["a", 1, None, True])
    (entry,) = read(world).entries
    assert (entry.content, entry.title, entry.tags) == ('{"limit": 5}', "7", ("a", "1", "true"))


def test_an_id_in_two_files_is_reported_for_both(world: World) -> None:
    first = write_entry(world, "MEM-1", "episodic")
    second = write_entry(world, "MEM-2", memory_id="MEM-1")
    store = read(world)
    assert [entry.path for entry in store.by_id("MEM-1")] == [first, second]
    assert [(problem.code, problem.path) for problem in store.problems] == [
        ("duplicate-id", str(first)),
        ("duplicate-id", str(second)),
    ]
    assert str(second) in store.problems[0].message
    assert str(first) in store.problems[1].message


def test_a_link_out_of_the_project_is_not_read(world: World) -> None:
    secret = world.write(
        "other/.agent/memory/semantic/MEM-x.json", {"memory_id": "MEM-x", "content": "of another project"}
    )
    write_entry(world, "MEM-1")
    (world.project / ".agent/memory/semantic/MEM-x.json").symlink_to(secret)
    (world.project / ".agent/memory/episodic").symlink_to(secret.parent)
    store = read(world)
    assert [entry.memory_id for entry in store.entries] == ["MEM-1"]
    assert [problem.code for problem in store.problems] == ["outside-project", "outside-project"]
    assert agent.named(world.project, "MEM-x") == ()


@pytest.mark.parametrize(
    ("link", "named"),
    [
        (".agent", ".agent"),
        (".agent/memory", ".agent/memory"),
        (".agent/memory/semantic", ".agent/memory/semantic"),
        (".agent/memory/semantic/MEM-x.json", ".agent/memory/semantic/MEM-x.json"),
    ],
)
def test_the_problem_names_the_link_that_leads_out(world: World, link: str, named: str) -> None:
    there = world.write(f"other/{link}/memory/semantic/MEM-x.json" if link == ".agent" else f"other/{link}", "{}")
    path = world.project / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(there.parents[2] if link == ".agent" else there)
    problem = only_problem(world)
    assert (problem.code, problem.path) == ("outside-project", str(world.project / named))
    assert problem.message.startswith(f"{world.project / named} is a symbolic link")


def test_one_file_under_two_names_is_one_memory(world: World) -> None:
    path = write_entry(world, "MEM-x")
    path.with_name("MEM-a.json").symlink_to("MEM-x.json")
    (world.project / ".agent/memory/episodic").mkdir()
    (world.project / ".agent/memory/episodic/MEM-x.json").symlink_to(path)
    store = read(world)
    assert [entry.path for entry in store.entries] == [path]
    assert store.problems == ()
    assert [entry.path for entry in agent.named(world.project, "MEM-x")] == [path]
    assert agent.is_current(store)


def test_of_two_equal_names_of_a_file_the_entry_s_own_counts(world: World) -> None:
    path = write_entry(world, "MEM-x")
    path.with_name("MEM-a.json").hardlink_to(path)
    assert [entry.path for entry in read(world).entries] == [path]


def test_where_all_files_have_one_number_they_are_still_different(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(world, "MEM-1")
    write_entry(world, "MEM-2")
    real = reading.Stamp.of_status
    monkeypatch.setattr(reading.Stamp, "of_status", lambda status: real(status)._replace(inode=0))
    assert len(read(world).entries) == 2


def test_a_link_inside_the_project_is_followed(world: World) -> None:
    kept = world.write("project/kept/MEM-k.json", {"memory_id": "MEM-k", "content": "x"})
    (world.project / ".agent/memory").mkdir(parents=True)
    (world.project / ".agent/memory/semantic").symlink_to(kept.parent)
    assert [entry.memory_id for entry in read(world).entries] == ["MEM-k"]
    assert len(agent.named(world.project, "MEM-k")) == 1


def test_a_project_that_is_reached_through_a_link_is_itself(world: World) -> None:
    write_entry(world, "MEM-1")
    alias = world.project.parent / "alias"
    alias.symlink_to(world.project)
    assert len(agent.read_store(alias).entries) == 1


def test_a_missing_tree_is_an_empty_store(world: World) -> None:
    store = read(world)
    assert (store.agent_exists, store.memory_exists, store.entries, store.problems) == (False, False, (), ())
    (world.project / ".agent").mkdir()
    assert not agent.is_current(store)
    assert read(world).agent_exists


def test_a_path_that_no_system_can_open_is_an_empty_store(world: World) -> None:
    store = agent.read_store(world.project / "nul\0byte")
    assert (store.entries, agent.is_current(store)) == ((), True)


def write_into(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(0)
        file.write(b" ")


def remove(path: Path) -> None:
    path.unlink()


def add_beside(path: Path) -> None:
    path.with_name("MEM-new.json").write_text('{"memory_id": "MEM-new", "content": "x"}', encoding="utf-8")


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def rename_type(path: Path) -> None:
    path.parent.rename(path.parent.with_name("procedural"))


@pytest.mark.parametrize("change", [write_into, remove, add_beside, replace, rename_type])
def test_every_change_is_noticed(world: World, change: Any) -> None:
    path = write_entry(world, "MEM-1")
    write_entry(world, "MEM-2")
    store = read(world)
    os.utime(path, ns=(1, 1))  # so that no change can hide in the same tick of the file system's clock
    store = agent.read_store(world.project, store)
    assert agent.is_current(store)
    change(path)
    assert not agent.is_current(store)


def test_a_broken_file_that_is_mended_is_noticed(world: World) -> None:
    path = world.write(f"{MEMORY}/semantic/MEM-1.json", "{")
    store = read(world)
    path.write_text('{"memory_id": "MEM-1", "content": "mended"}', encoding="utf-8")
    assert not agent.is_current(store)
    assert agent.read_store(world.project, store).entries[0].content == "mended"


def test_only_changed_files_are_read_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        write_entry(world, f"MEM-{number:02}")
    world.write(f"{MEMORY}/semantic/MEM-broken.json", "{")
    store = read(world)
    write_entry(world, "MEM-03", content="changed content")
    write_entry(world, "MEM-new")
    opened: list[str] = []

    def noted(path: Path | str, *, limit: int) -> reading.FileBytes:
        opened.append(Path(path).name)
        return reading.read_file(path, limit=limit)

    monkeypatch.setattr(agent_reading, "read_file", noted)
    again = agent.read_store(world.project, store)
    assert opened == ["MEM-03.json", "MEM-new.json"]
    assert again.by_id("MEM-03")[0].content == "changed content"
    assert again.by_id("MEM-05")[0] is store.by_id("MEM-05")[0]
    assert [problem.code for problem in again.problems] == ["unreadable"]


def test_what_was_read_of_one_project_is_not_taken_for_another(world: World) -> None:
    write_entry(world, "MEM-1")
    other = world.project.parent / "other"
    other.mkdir()
    assert agent.read_store(other, read(world)).entries == ()


def test_reading_stops_when_nobody_waits(world: World) -> None:
    write_entry(world, "MEM-1")
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        agent.read_store(world.project, None, cancellation)


def test_the_entries_of_an_id_are_found_by_their_file_names_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(world, "MEM-1", "procedural")
    write_entry(world, "MEM-1", "episodic")
    write_entry(world, "MEM-named-otherwise", memory_id="MEM-2")
    monkeypatch.setattr(os, "scandir", None)
    assert [entry.type for entry in agent.named(world.project, "MEM-1")] == ["episodic", "procedural"]
    assert agent.named(world.project, "MEM-2") == ()
    assert agent.named(world.project, "MEM-named-otherwise") == ()


@pytest.mark.parametrize("memory_id", ["", "../../secret", "a/b", "..", "MEM-\0", "C:MEM", "x" * 5000, "MEM-\ud800"])
def test_an_id_that_is_no_file_name_finds_nothing(world: World, memory_id: str) -> None:
    world.write("project/.agent/secret.json", json.dumps({"memory_id": memory_id, "content": "x"}))
    assert agent.named(world.project, memory_id) == ()


def test_a_memory_carries_its_provenance(world: World) -> None:
    path = write_entry(world, "MEM-1", scope="user", updated_at="2026-09-01T00:00:00Z")
    memory = agent.as_memory(read(world).entries[0], NOW)
    provenance = memory.provenance
    assert (memory.system, memory.id, memory.title, memory.standings) == ("memory", "MEM-1", "Title of MEM-1", ())
    assert (provenance.path, provenance.line, provenance.column, provenance.source) == (path, 1, 1, "user")
    assert (provenance.author, provenance.confidence) == ("R-distill-1", 0.8)
    assert (provenance.created, provenance.updated) == ("2026-08-02T00:00:00.000Z", "2026-09-01T00:00:00Z")
    assert memory.fields["source_run_id"] == "R-distill-1"


def test_a_memory_that_has_expired_says_so(world: World) -> None:
    write_entry(world, "MEM-1", title=LEFT_OUT, expires_at="2026-08-30")
    memory = agent.as_memory(read(world).entries[0], NOW)
    assert memory.title == "MEM-1"
    assert [(standing.code, "2026-08-30" in standing.message) for standing in memory.standings] == [("expired", True)]


def test_what_there_is_to_rank_stands_in_the_order_of_the_entries(world: World) -> None:
    write_entry(world, "MEM-1", title=None, content="one", tags=["t"])
    write_entry(world, "MEM-2", title="Two", content="two", tags=[])
    assert [tuple(document) for document in read(world).documents] == [("", "one", ("t",)), ("Two", "two", ())]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    [
        "memory_id",
        "type",
        "title",
        "content",
        "tags",
        "scope",
        "pinned",
        "expires_at",
        "confidence",
        "created_at",
        "schema_version",
    ]
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.dictionaries(MEMBERS, JSON, max_size=11))
def test_any_record_is_an_entry_or_a_problem(record: dict[str, Any]) -> None:
    document = parse_json(json.dumps(record).encode(), "MEM-x.json")
    if all(record.get(member) is None for member in ("title", "content", "tags")):
        with pytest.raises(NotAnEntry):
            entry_in(document, "MEM-x.json", "semantic")
        return
    try:
        entry, problems = entry_in(document, "MEM-x.json", "semantic")
    except NotAnEntry:
        return  # an empty content, tags that are no list
    assert entry.memory_id
    assert entry.raw == record
    assert all(problem.line == 1 and problem.column for problem in problems)
    assert agent.as_memory(entry, NOW).provenance.confidence == entry.confidence


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_a_problem_with_a_place(data: bytes) -> None:
    problems: tuple[Problem, ...]
    try:
        problems = parse_json(data, "MEM-x.json").problems
    except Broken as failure:
        problems = (failure.problem,)
    assert all(problem.line and problem.column for problem in problems)
