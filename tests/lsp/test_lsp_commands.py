"""`workspace/executeCommand` through a real process: every command, every form of arguments, every kind of refusal."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stores_of_a_world import CLAIM, MEMORY_ID, Stores, write_stores
from wire import Wire

from memory_recall.environment import Environment
from memory_recall.faces.commands import COMMANDS
from memory_recall.files.locking import locked
from worlds import NOW, World

Start = Callable[..., Wire]


@pytest.fixture
def stores(world: World) -> Stores:
    return write_stores(world)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, World, Stores]]:
    """One session over one world, for tests that record nothing that others look at."""
    root = tmp_path_factory.mktemp("commands")
    home, project = root / "home", root / "project"
    home.mkdir()
    (project / ".git").mkdir(parents=True)
    world = World(home, project, Environment(project, home, {}, lambda: NOW))
    stores = write_stores(world)
    wire = Wire({"HOME": str(home)}, project)
    wire.initialize([project])
    yield wire, world, stores
    try:
        assert wire.quit() == 0
        assert wire.errors == ""
        assert wire.notes == []
    finally:
        wire.close()


def result(wire: Wire, command: str, *arguments: object) -> dict[str, Any]:
    answer = wire.execute(f"memoryRecall.{command}", *arguments)
    assert "error" not in answer, answer
    found: dict[str, Any] = answer["result"]
    assert next(iter(found)) == "v"
    assert found["v"] == 1
    return found


def refusal(wire: Wire, command: str, *arguments: object) -> dict[str, Any]:
    answer = wire.execute(command, *arguments)
    assert "result" not in answer, answer
    error: dict[str, Any] = answer["error"]
    assert "\n" not in error["message"]
    assert "Traceback" not in json.dumps(error)
    return error


def test_every_command_answers_with_a_version(shared: tuple[Wire, World, Stores]) -> None:
    wire, _, stores = shared
    assert result(wire, "nemp.recall", {"query": "auth-flow", "record": False})["memories"][0]["path"] == str(
        stores.nemp
    )
    found = result(wire, "memory.recall", {"query": "webhook", "includeExpired": True, "notify": "never"})
    assert found["memories"][0]["memory_id"] == MEMORY_ID
    assert result(wire, "search", "gateway webhook")["count"] >= 1
    assert result(wire, "show", CLAIM)["records"][0]["system"] == "coven"
    assert result(wire, "show", {"reference": "[[nemp:部署流程]]"})["records"][0]["id"] == "部署流程"
    status = result(wire, "status")
    assert {(store["system"], store["source"], store["count"]) for store in status["stores"]} == {
        ("nemp", "project", 8),
        ("nemp", "global", 2),
        ("memory", "project", 1),
        ("coven", "coven", 2),
    }
    assert set(status) >= {"versions", "place", "problems", "index"}


def test_browsing_and_unrecorded_reads_leave_no_line(shared: tuple[Wire, World, Stores]) -> None:
    wire, _, stores = shared
    before = stores.nemp.read_bytes()
    for record in (False, 0, "false"):
        result(wire, "nemp.recall", {"query": "auth-flow", "record": record})
    result(wire, "search", "auth")
    result(wire, "show", "auth-flow")
    assert stores.nemp.read_bytes() == before
    assert not stores.log.exists()


def test_a_recorded_read_names_the_agent_of_the_editor(start: Start, world: World, stores: Stores) -> None:
    wire = start(CLAUDE_AGENT_NAME="from-environment")
    wire.initialize([world.project], options={"agentName": "neovim"})
    found = result(wire, "nemp.recall", "auth-flow")
    assert found["memories"][0]["recorded"] is True
    assert [line.split("] ")[1] for line in stores.log.read_text().splitlines()] == [
        "READ key=auth-flow agent=neovim query=auth-flow"
    ]


@pytest.mark.parametrize("options", [None, {"agentName": ""}])
def test_without_a_setting_the_agent_is_the_environments(
    start: Start, world: World, stores: Stores, options: object
) -> None:
    wire = start(CLAUDE_AGENT_NAME="from-environment")
    wire.initialize([world.project], options=options)
    result(wire, "nemp.recall", "auth-flow")
    assert "agent=from-environment " in stores.log.read_text()


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("memoryRecall.nemp.recall", [], "needs `query`: a text"),
        ("memoryRecall.nemp.recall", [None], "needs `query`: a text"),
        ("memoryRecall.nemp.recall", [{"query": None}], "needs `query`: a text"),
        ("memoryRecall.nemp.recall", [5], "one object of options, or a bare text as its query"),
        ("memoryRecall.nemp.recall", ["a", "b"], "one object of options"),
        ("memoryRecall.nemp.recall", [["a"]], "one object of options"),
        ("memoryRecall.nemp.recall", [{"query": ["a"]}], "`query` of memoryRecall.nemp.recall must be a text"),
        ("memoryRecall.nemp.recall", [{"query": "  "}], ""),
        ("memoryRecall.nemp.recall", [{"query": "a", "limit": "5"}], "must be a whole number from 1 to 50"),
        ("memoryRecall.nemp.recall", [{"query": "a", "limit": 0}], "must be a whole number from 1 to 50"),
        ("memoryRecall.nemp.recall", [{"query": "a", "limit": 1.5}], "must be a whole number from 1 to 50"),
        ("memoryRecall.nemp.recall", [{"query": "a", "limit": True}], "must be a whole number from 1 to 50"),
        ("memoryRecall.nemp.recall", [{"query": "a", "record": "yes"}], "must be true or false"),
        ("memoryRecall.nemp.recall", [{"query": "a", "record": 2}], "must be true or false"),
        ("memoryRecall.nemp.recall", [{"query": "a", "Limit": 5}], "no option `Limit`; it knows query, limit, record"),
        (
            "memoryRecall.memory.recall",
            [{"query": "a", "type": "episodic,nosuch"}],
            "episodic, semantic and procedural",
        ),
        ("memoryRecall.memory.recall", [{"query": "a", "minConfidence": 2}], "must be a number from 0 to 1"),
        ("memoryRecall.memory.recall", [{"query": "a", "scope": "all"}], "must be one of user, project"),
        ("memoryRecall.memory.recall", [{"query": "a", "notify": True}], "must be one of always"),
        ("memoryRecall.coven.recall", [{"query": "a", "k": 21}], "must be a whole number from 1 to 20"),
        ("memoryRecall.coven.recall", [{"query": "a", "familiar": "../x"}], ""),
        ("memoryRecall.coven.recall", [{"query": "a", "since": "yesterday"}], ""),
        ("memoryRecall.search", [{"query": "a", "withCoven": "maybe"}], "must be true or false"),
        ("memoryRecall.show", [""], "reference is empty"),
        ("memoryRecall.status", ["a"], "takes one object of options."),
        ("memoryRecall.status", [{"nosuch": None}], "no option `nosuch`"),
        ("memoryRecall.show", [{"reference": "a", "uri": "/no/uri"}], "must be a URI such as"),
        (
            "memoryRecall.show",
            [{"reference": "a", "workspace": "nosuch"}],
            "must be the URI, path or name of an open",
        ),
        ("memoryRecall.check", [], "is not a command of this server; it knows memoryRecall.nemp.recall"),
        ("recall", [], "is not a command of this server"),
    ],
)
def test_what_cannot_be_understood_is_invalid_params_with_a_sentence(
    shared: tuple[Wire, World, Stores], command: str, arguments: list[object], said: str
) -> None:
    error = refusal(shared[0], command, *arguments)
    assert error["code"] == -32602
    assert said in error["message"]
    assert error["message"].endswith(".")


@pytest.mark.parametrize("params", [{}, [], {"command": 5}, {"command": "memoryRecall.status", "arguments": {}}])
def test_requests_without_command_or_list_of_arguments_are_invalid(
    shared: tuple[Wire, World, Stores], params: object
) -> None:
    error = shared[0].error("workspace/executeCommand", params)
    assert error["code"] == -32602


@pytest.mark.parametrize(
    "params", [{"command": "memoryRecall.status"}, {"command": "memoryRecall.status", "arguments": None}]
)
def test_a_command_without_options_needs_no_arguments(shared: tuple[Wire, World, Stores], params: object) -> None:
    assert shared[0].result("workspace/executeCommand", params)["v"] == 1


@pytest.mark.parametrize(
    "options",
    [
        {"type": ["semantic"], "limit": 5.0, "includeExpired": 1, "minConfidence": 0, "scope": None},
        {"type": " semantic , procedural", "includeExpired": "TRUE", "minConfidence": 0.3},
    ],
)
def test_clients_that_cannot_say_better_are_understood(
    shared: tuple[Wire, World, Stores], options: dict[str, object]
) -> None:
    found = result(shared[0], "memory.recall", {"query": "webhook", "notify": "never", **options})
    assert [memory["memory_id"] for memory in found["memories"]] == [MEMORY_ID]


def test_a_recall_that_fails_is_told_with_its_code(start: Start, world: World) -> None:
    wire = start(PATH="/nonexistent")
    wire.initialize([world.project])
    error = refusal(wire, "memoryRecall.memory.recall", "anything")
    assert error["code"] == -32803
    assert set(error["data"]) == {"code", "recoverable"}
    assert error["data"]["recoverable"] is True


def test_uri_and_workspace_pick_the_project(start: Start, world: World, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        world.write(f"{name}/.nemp/memories.json", {"the-key": f"value of {name}"})
    wire = start()
    wire.initialize([tmp_path / "one", tmp_path / "two"])
    note = (tmp_path / "two" / "deep" / "a.md").as_uri()
    for choice, name in (
        ({}, "one"),
        ({"uri": note}, "two"),
        ({"uri": (tmp_path / "two").as_uri()}, "two"),
        ({"uri": "untitled:x"}, "one"),
        ({"workspace": "two"}, "two"),
        ({"workspace": str(tmp_path / "two")}, "two"),
        ({"workspace": (tmp_path / "two").as_uri()}, "two"),
        ({"workspace": "two", "uri": (tmp_path / "one").as_uri()}, "two"),
    ):
        assert result(wire, "show", {"reference": "the-key", **choice})["records"][0]["text"] == f"value of {name}"


def test_a_project_that_is_not_open_is_neither_read_nor_written(start: Start, world: World, tmp_path: Path) -> None:
    for name in ("one", "two", "other"):
        world.write(f"{name}/.nemp/memories.json", {"the-key": f"value of {name}"})
    wire = start()
    wire.initialize([tmp_path / "one", tmp_path / "two"])
    for uri in (tmp_path / "other" / "a.md", tmp_path / "other", tmp_path, tmp_path / "one-more" / "a.md"):
        for verb, options in (("nemp.recall", {"query": "the-key"}), ("status", {})):
            error = refusal(wire, f"memoryRecall.{verb}", {"uri": uri.as_uri(), **options})
            assert error["code"] == -32602
            assert error["message"] == f"`uri` of memoryRecall.{verb} must be in an open folder (one, two)."
    assert not list(tmp_path.glob("*/.nemp/access.log"))


def test_without_a_folder_a_file_stands_where_it_is(start: Start, world: World, tmp_path: Path) -> None:
    world.write("other/.nemp/memories.json", {"the-key": "value"})
    wire = start()
    wire.initialize(None)
    uri = (tmp_path / "other" / "a.md").as_uri()
    assert result(wire, "show", {"reference": "the-key", "uri": uri})["records"][0]["text"] == "value"


def test_without_a_folder_the_working_directory_is_meant(start: Start, world: World, stores: Stores) -> None:
    wire = start()
    wire.initialize(None)
    assert result(wire, "show", "deploy_v2")["records"][0]["text"] == "Fly.io"
    assert result(wire, "show", {"reference": "deploy_v2", "uri": "untitled:x"})["records"][0]["text"] == "Fly.io"
    wire.open("untitled:x", "see deploy_v2")
    assert "Fly.io" in wire.hover("untitled:x", 0, 5)["contents"]["value"]


@pytest.mark.parametrize(
    "uri",
    [
        "file:///" + "x" * 300 + "/a.md",
        "file:///" + "x/" * 3_000 + "a.md",
        "file:///a\ud800/b.md",
        "file:///%ED%A0%80/b",
    ],
    ids=["long name", "long path", "half a character", "half a character in bytes"],
)
def test_a_path_that_no_file_can_have_is_no_mistake_of_the_server(start: Start, world: World, uri: str) -> None:
    for folders in ([world.project], [uri]):
        wire = start()
        wire.initialize(folders, rootPath="/a\ud800")
        wire.open(uri, "see auth-flow and [[nemp:auth-flow]]")
        assert wire.hover(uri, 0, 5) is None
        assert wire.result("textDocument/definition", wire.at(uri, 0, 25)) is None
        wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        assert wire.hover(uri, 0, 5) is None
        for verb in ("nemp.recall", "memory.recall", "search", "show", "status"):
            for named in ({"uri": uri}, {"workspace": uri}, {"workspace": "/a\ud800\0"}):
                options = {"status": {}, "show": {"reference": "a"}}.get(verb, {"query": "a"})
                answer = wire.execute(f"memoryRecall.{verb}", {**options, **named})
                assert answer.get("error", {}).get("code") != -32603, answer
        assert wire.quit() == 0
        assert "failed" not in wire.errors


def test_a_prefix_stands_before_every_id_and_is_needed(start: Start, world: World) -> None:
    wire = start()
    provider = wire.initialize([world.project], options={"commandPrefix": "left"})["capabilities"][
        "executeCommandProvider"
    ]
    assert provider["commands"] == [f"left.{command.id}" for command in COMMANDS]
    assert wire.execute("left.memoryRecall.status")["result"]["v"] == 1
    assert "it knows left.memoryRecall." in refusal(wire, "memoryRecall.status")["message"]


def test_commands_that_are_not_advertised_are_handled(start: Start, world: World) -> None:
    wire = start()
    found = wire.initialize([world.project], options={"advertiseCommands": False})["capabilities"]
    assert found["executeCommandProvider"] == {"commands": []}
    assert result(wire, "status")["v"] == 1


@pytest.fixture
def hanging_binary(world: World, tmp_path: Path) -> Path:
    """A PATH entry with a `coven-memory` that waits for ever, and leaves its process id."""
    write_stores(world)
    for name in ("archival.tvim", "archival.sqlite3"):
        world.write(f"home/.coven/memory/{name}", b"")
    directory = tmp_path / "bin"
    directory.mkdir()
    script = directory / "coven-memory"
    script.write_text(
        f"#!{sys.executable}\nimport os, sys, time\n"
        f"pid, own = {str(tmp_path / 'pid')!r}, {str(tmp_path / 'pid')!r} + str(os.getpid())\n"
        "open(own, 'w').write(str(os.getpid()))\n"
        "os.replace(own, pid)\n"
        "time.sleep(600)\n"
    )
    script.chmod(0o755)
    return directory


def test_slow_commands_keep_nobody_else_waiting(
    start: Start, world: World, stores: Stores, hanging_binary: Path, tmp_path: Path
) -> None:
    wire = start(PATH=f"{hanging_binary}:{os.environ['PATH']}")
    wire.initialize([world.project])
    asked = [
        wire.begin("workspace/executeCommand", {"command": f"memoryRecall.{verb}", "arguments": [options]})
        for verb, options in (
            [("coven.recall", {"query": "gateway"})] * 10 + [("search", {"query": "gateway", "withCoven": True})] * 10
        )
    ]
    started(tmp_path / "pid")
    uri = (world.project / "a.md").as_uri()
    (world.project / "a.md").write_text("see auth-flow")
    assert "JWT" in wire.hover(uri, 0, 5)["contents"]["value"]
    assert result(wire, "nemp.recall", "auth-flow")["count"] == 1
    for identity in reversed(asked):  # those that wait in the queue first
        wire.notify("$/cancelRequest", {"id": identity})
        answer = wire.answer(identity)
        assert answer.get("error", {}).get("code") == -32800, answer
    assert wire.quit() == 0


def test_recalls_that_wait_for_another_writer_keep_no_other_command_waiting(
    start: Start, world: World, stores: Stores
) -> None:
    wire = start()
    wire.initialize([world.project])
    result(wire, "show", "auth-flow")
    command = {"command": "memoryRecall.nemp.recall", "arguments": ["auth-flow"]}
    with locked(stores.nemp.parent):
        waiting = [wire.begin("workspace/executeCommand", command) for _ in range(12)]
        assert result(wire, "status")["v"] == 1
        assert not stores.log.exists()
        for identity in waiting:  # an answer by now would be one that gave up waiting, so that status came after it
            wire.notify("$/cancelRequest", {"id": identity})
            assert wire.answer(identity)["error"]["code"] == -32800
    assert not stores.log.exists()
    assert wire.quit() == 0


def test_a_command_that_waits_for_another_writer_can_be_cancelled(start: Start, world: World, stores: Stores) -> None:
    before = stores.nemp.read_bytes()
    wire = start()
    wire.initialize([world.project])
    result(wire, "show", "auth-flow")
    command = {"command": "memoryRecall.nemp.recall", "arguments": ["auth-flow"]}
    with locked(stores.nemp.parent):
        identity = wire.begin("workspace/executeCommand", command)
        result(wire, "status")
        wire.notify("$/cancelRequest", {"id": identity})
        assert wire.answer(identity)["error"]["code"] == -32800
    assert stores.nemp.read_bytes() == before
    assert not stores.log.exists()
    assert wire.quit() == 0


def test_what_a_cancelled_command_answers_is_what_it_did(start: Start, world: World, stores: Stores) -> None:
    wire = start()
    wire.initialize([world.project])
    answers = []
    for _ in range(30):
        command = {"command": "memoryRecall.nemp.recall", "arguments": ["auth-flow"]}
        identity = wire.begin("workspace/executeCommand", command)
        wire.notify("$/cancelRequest", {"id": identity})
        answers.append(wire.answer(identity))
        if len(answers) % 2:
            result(wire, "nemp.recall", {"query": "auth-flow", "record": False})
    recorded = stores.log.read_text().count(" READ ") if stores.log.exists() else 0
    assert recorded == sum("result" in answer for answer in answers)
    assert all("result" in answer or answer["error"]["code"] == -32800 for answer in answers)
    assert wire.quit() == 0


def started(pid_file: Path) -> int:
    until = time.monotonic() + 20
    while not pid_file.exists():
        assert time.monotonic() < until, "the binary was not started"
        time.sleep(0.01)
    return int(pid_file.read_text())


def assert_ended(process: int) -> None:
    until = time.monotonic() + 20
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < until, "the binary still runs"
        time.sleep(0.01)


@pytest.mark.parametrize("end", ["cancel", "shutdown", "end of input", "signal"])
def test_a_binary_under_way_is_killed_when_nobody_waits_any_more(
    start: Start, world: World, hanging_binary: Path, tmp_path: Path, end: str
) -> None:
    wire = start(PATH=f"{hanging_binary}:{os.environ['PATH']}")
    wire.initialize([world.project])
    command = {"command": "memoryRecall.coven.recall", "arguments": ["gateway"]}
    identity = wire.begin("workspace/executeCommand", command)
    process = started(tmp_path / "pid")
    assert wire.hover("file:///w/a.md", 0, 0) is None, "others are answered meanwhile"
    if end == "cancel":
        wire.notify("$/cancelRequest", {"id": identity})
        assert wire.answer(identity)["error"]["code"] == -32800
        assert_ended(process)
        assert wire.quit() == 0
    elif end == "shutdown":
        assert wire.quit() == 0
        assert wire.answer(identity)["error"]["code"] == -32800
    elif end == "end of input":
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert wire.wait() == 0
    else:
        wire.process.terminate()
        assert wire.wait() == 128 + signal.SIGTERM
    assert_ended(process)
    assert "gateway" not in wire.errors
