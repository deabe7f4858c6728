"""The life of a session: what is answered before, during and after it, and how the process ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from wire import Wire

from worlds import World

Start = Callable[..., Wire]
FAULTY = Path(__file__).with_name("faulty_server.py")


def test_nothing_is_answered_before_initialize(start: Start, world: World) -> None:
    wire = start()
    wire.open("file:///w/a.md", "dropped")
    for method in ("textDocument/hover", "workspace/executeCommand", "shutdown"):
        assert wire.error(method)["code"] == -32002
    wire.initialize([world.project])
    assert wire.error("initialize")["code"] == -32600
    assert wire.quit() == 0


def test_nothing_but_exit_is_answered_after_shutdown(start: Start, world: World) -> None:
    wire = start()
    wire.initialize([world.project])
    assert wire.result("shutdown") is None
    assert wire.error("textDocument/hover", wire.at("file:///w/a.md", 0, 0))["code"] == -32600
    assert wire.error("shutdown")["code"] == -32600
    wire.notify("textDocument/didClose", {"textDocument": {"uri": "file:///w/a.md"}})
    wire.notify("exit")
    assert wire.wait() == 0


def test_shutdown_takes_no_parameters_at_all(start: Start, world: World) -> None:
    wire = start()
    wire.initialize([world.project])
    wire.send({"jsonrpc": "2.0", "id": "end", "method": "shutdown"})
    assert wire.answer("end") == {"jsonrpc": "2.0", "id": "end", "result": None}


def test_exit_without_shutdown_is_an_error_code(start: Start, world: World) -> None:
    wire = start()
    wire.initialize([world.project])
    wire.notify("exit")
    assert wire.wait() == 1


@pytest.mark.parametrize("initialized", [True, False])
def test_the_end_of_input_ends_the_process(start: Start, world: World, initialized: bool) -> None:
    wire = start()
    if initialized:
        wire.initialize([world.project])
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert wire.wait() == 0
    assert wire.errors == ""


def test_a_client_that_stops_listening_is_no_reason_to_complain(world: World, variables: dict[str, str]) -> None:
    reading, writing = os.pipe()
    command = [sys.executable, "-P", "-m", "memory_recall.faces.lsp.main"]
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": {}}
        for number, method in enumerate(("initialize", "textDocument/hover", "workspace/executeCommand"))
    ]
    bodies = [json.dumps(message).encode() for message in messages]
    with subprocess.Popen(
        command, env=variables, cwd=world.project, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE
    ) as server:
        os.close(writing)
        os.close(reading)
        _, errors = server.communicate(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(one), one) for one in bodies))
    assert (server.returncode, errors) == (0, b"")


def test_what_is_advertised_is_what_there_is(start: Start, world: World) -> None:
    capabilities = start().initialize([world.project])["capabilities"]
    assert capabilities == {
        "textDocumentSync": {"openClose": True, "change": 2},
        "hoverProvider": True,
        "definitionProvider": True,
        "executeCommandProvider": {
            "commands": [
                f"memoryRecall.{name}"
                for name in ("nemp.recall", "memory.recall", "coven.recall", "search", "show", "status")
            ]
        },
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    }


def test_bad_settings_are_told_in_the_log_and_not_by_a_pop_up(start: Start, world: World) -> None:
    wire = start()
    wire.initialize([world.project], options={"commandPrefix": 5})
    wire.result("shutdown")
    assert [note["method"] for note in wire.notes] == ["window/logMessage"]
    assert "'commandPrefix' must be a text" in wire.notes[0]["params"]["message"]


@pytest.mark.parametrize("module", [["memory_recall.faces.lsp.main"], ["memory_recall", "lsp"]])
def test_editors_add_flags_of_their_own(world: World, variables: dict[str, str], module: list[str]) -> None:
    wire = Wire(variables, world.project, ("-m", *module, "--stdio", "--clientProcessId=1"))
    try:
        wire.initialize([world.project])
        assert wire.quit() == 0
        assert wire.errors == ""
    finally:
        wire.close()


def test_the_version_is_printed(variables: dict[str, str], tmp_path: Path) -> None:
    for flag, beginning in (("--version", "memory-recall 0."), ("--help", "usage: memory-recall-lsp")):
        command = [sys.executable, "-P", "-m", "memory_recall.faces.lsp.main", flag]
        done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(beginning)


@pytest.mark.parametrize("closed", ["2>&-", "0<&-", "0<&- 1>&- 2>&-"])
def test_a_closed_standard_stream_confuses_nothing(world: World, variables: dict[str, str], closed: str) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "workspace/executeCommand", "params": {"command": "memoryRecall.status"}},
    ]
    bodies = [json.dumps(message).encode() for message in messages]
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -P "$1" print {closed}', sys.executable, str(FAULTY)],
        input=b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies),
        env=variables,
        cwd=world.project,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    if closed == "2>&-":
        assert b'"serverInfo"' in done.stdout
    assert b"written" not in done.stdout
