"""The life of a session: what is answered before, during and after it, and how the process ends."""

from __future__ import annotations

import json
import os
import re
import signal
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


def test_the_end_of_the_editor_ends_the_server(start: Start, world: World) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as editor:
        wire = start()
        wire.initialize([world.project], processId=editor.pid)
        assert wire.execute("memoryRecall.status")["result"]["v"] == 1
        editor.communicate(b"\n")
    assert wire.wait() == 1
    assert wire.errors == ""


@pytest.mark.parametrize("process", [None, 0, -1, True, "7", 1.5, 2**70, 2**31 - 1])
def test_an_editor_that_is_not_of_this_machine_is_not_waited_for(start: Start, world: World, process: object) -> None:
    wire = start()
    wire.initialize([world.project], processId=process)
    assert wire.execute("memoryRecall.status")["result"]["v"] == 1
    assert wire.quit() == 0


def test_an_output_that_nobody_reads_ends_the_server(world: World, variables: dict[str, str]) -> None:
    command = [sys.executable, "-P", "-m", "memory_recall.faces.lsp.main"]
    with subprocess.Popen(
        command, env=variables, cwd=world.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        server.stdout.close()
        assert server.wait(20) == 0, "its input is still open"
        assert server.stderr is not None
        assert server.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_like_an_exit(start: Start, world: World, number: signal.Signals) -> None:
    wire = start()
    wire.initialize([world.project])
    wire.process.send_signal(number)
    assert wire.wait() == 128 + number
    assert wire.errors == ""


def test_a_hang_up_that_is_to_be_ignored_is_ignored(world: World, variables: dict[str, str]) -> None:
    command = f"trap '' HUP; exec {sys.executable} -P -m memory_recall.faces.lsp.main"
    wire = Wire(variables, world.project, ("-c", f"import os; os.execv('/bin/sh', ['sh', '-c', {command!r}])"))
    try:
        wire.initialize([world.project])
        wire.process.send_signal(signal.SIGHUP)
        assert wire.quit() == 0
    finally:
        wire.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--log-level", "zork"], "--log-level must be one of error, warning, info, debug."),
        (["--log-level"], "--log-level must be one of error, warning, info, debug."),
        (["--log-level="], "--log-level must be one of error, warning, info, debug."),
        (["--socket=8080"], "'--socket=8080' means nothing here"),
        (["--nosuch"], "'--nosuch' means nothing here"),
        (["word\n"], "means nothing here"),
    ],
)
def test_unknown_arguments_are_a_sentence(
    variables: dict[str, str], tmp_path: Path, arguments: list[str], said: str
) -> None:
    command = [sys.executable, "-P", "-m", "memory_recall.faces.lsp.main", *arguments]
    done = subprocess.run(
        command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_log_of_debugging_has_times_and_no_text(world: World, variables: dict[str, str]) -> None:
    world.write("project/.nemp/memories.json", {"the-key": "a value"})
    uri = (world.project / "a.md").as_uri()
    wire = Wire(variables, world.project, ("-m", "memory_recall.faces.lsp.main", "--log-level", "DEBUG"))
    try:
        wire.initialize([world.project])
        wire.open(uri, "a note on the-key")
        assert wire.hover(uri, 0, 11) is not None
        assert "result" in wire.execute("memoryRecall.nemp.recall", "the-key")
        assert "error" in wire.request("no/such")
        assert wire.quit() == 0
    finally:
        wire.close()
    for line in (
        r"initialize 1: \d+\.\d ms",
        r"textDocument/didOpen: \d+\.\d ms",
        r"textDocument/hover 2: \d+\.\d ms",
        r"workspace/executeCommand 3: \d+\.\d ms",
        r"no/such 4: \d+\.\d ms",
        r"serving 1 folders, columns in utf-16",
    ):
        assert re.search(line, wire.errors), line
    for text in ("the-key", "a value", "a note"):
        assert text not in wire.errors


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
