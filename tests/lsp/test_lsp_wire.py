"""What a client may get wrong on the wire, and what it is answered. No pop-up, no silence, no end of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from wire import Wire

from worlds import World

Start = Callable[..., Wire]
FAULTY = Path(__file__).with_name("faulty_server.py")
NOTE = "file:///nowhere/note.md"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One session for all the tests that must leave it unharmed."""
    home = tmp_path_factory.mktemp("home")
    wire = Wire({"HOME": str(home)}, home)
    wire.initialize([home])
    yield wire
    try:
        assert wire.quit() == 0
        assert wire.errors == ""
        assert wire.stray == []
    finally:
        wire.close()


@pytest.fixture
def wire(session: Wire) -> Iterator[Wire]:
    """The session, which every test must leave alive and without a pop-up."""
    yield session
    assert session.hover(NOTE, 0, 0) is None
    assert session.notes == []


def codes(wire: Wire, messages: int) -> list[int]:
    return [wire.answer(None)["error"]["code"] for _ in range(messages)]


def test_what_is_no_json_is_a_parse_error(wire: Wire) -> None:
    for body in (b"", b"{", b"\xff\xff", b"[" * 100_000):
        wire.send_body(body)
        assert codes(wire, 1) == [-32700]


def test_a_wrong_length_costs_one_message_and_not_the_session(wire: Wire) -> None:
    wire.send_bytes(b'Content-Length: 7\r\n\r\n{"jsonrpc": "2.0", "method": "x"}')
    assert codes(wire, 1) == [-32700]


@pytest.mark.parametrize(
    "message",
    [
        5,
        None,
        [{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}],
        {"id": None, "method": "shutdown"},
        {"jsonrpc": "1.0", "method": "shutdown"},
        {"jsonrpc": "2.0", "method": 5},
        {"jsonrpc": "2.0", "id": [1], "method": "shutdown"},
        {"jsonrpc": "2.0", "id": True, "method": "shutdown"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "shutdown"},
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(wire: Wire, message: object) -> None:
    wire.send(message)
    assert codes(wire, 1) == [-32600]


def test_a_message_without_version_is_answered_under_its_id(wire: Wire) -> None:
    wire.send({"jsonrpc": "2.0", "id": 77, "method": 5})
    assert wire.answer(77)["error"]["code"] == -32600
    wire.send({"id": "mine", "method": "shutdown"})
    assert wire.answer("mine")["error"]["code"] == -32600


def test_an_unknown_request_is_refused_and_an_unknown_notification_ignored(wire: Wire) -> None:
    wire.notify("$/somethingNew", {"jsonrpc": "2.0"})
    wire.notify("workspace/didRenameFiles", {"files": []})
    error = wire.error("textDocument/rename\n", {})
    assert error == {"code": -32601, "message": "This server does not handle textDocument/rename\\n."}


@pytest.mark.parametrize("params", [{}, [], "text", {"textDocument": {"uri": NOTE}, "position": {"line": "secret"}}])
def test_parameters_of_the_wrong_shape_are_named_without_their_values(wire: Wire, params: object) -> None:
    error = wire.error("textDocument/hover", params)
    assert error["code"] == -32602
    assert error["message"].startswith("The parameters of textDocument/hover cannot be read: ")
    assert "secret" not in error["message"]
    assert "data" not in error


def test_notifications_of_the_wrong_shape_are_ignored(start: Start, world: World) -> None:
    wire = start()
    wire.initialize([world.project])
    wire.notify("textDocument/didOpen", {"textDocument": {"text": "a secret"}})
    wire.notify("textDocument/didChange", [])
    assert wire.hover(NOTE, 0, 0) is None
    assert wire.notes == []
    wire.quit()
    assert "a secret" not in wire.errors


def test_changes_of_an_unopened_note_are_harmless(wire: Wire) -> None:
    for uri in ("untitled:Untitled-1", NOTE):
        change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "x"}]}
        wire.notify("textDocument/didChange", change)
        wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_answers_to_what_nobody_asked_are_ignored(wire: Wire) -> None:
    wire.send({"jsonrpc": "2.0", "id": "no-such", "result": {"jsonrpc": "2.0"}})
    wire.send({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}})
    wire.send({"jsonrpc": "2.0", "id": None, "result": None})


def test_a_key_named_jsonrpc_is_data_at_any_depth(wire: Wire) -> None:
    answer = wire.execute("memoryRecall.show", {"reference": "x", "jsonrpc": "2.0"})
    assert answer["error"]["code"] == -32602
    assert "no option `jsonrpc`" in answer["error"]["message"]
    answer = wire.execute("memoryRecall.show", {"reference": {"deep": [{"jsonrpc": "2.0", "method": "exit"}]}})
    assert answer["error"]["code"] == -32602


def test_cancelling_what_is_over_or_never_was_is_harmless(wire: Wire) -> None:
    done = wire.begin("textDocument/hover", wire.at(NOTE, 0, 0))
    wire.answer(done)
    for identity in (done, "never", None, [1]):
        wire.notify("$/cancelRequest", {"id": identity})


def test_a_request_that_was_cancelled_in_the_queue_is_not_begun(wire: Wire) -> None:
    identities = [wire.begin("workspace/executeCommand", {"command": "memoryRecall.status"}) for _ in range(30)]
    for identity in identities:
        wire.notify("$/cancelRequest", {"id": identity})
    answers = [wire.answer(identity) for identity in identities]
    assert all("result" in answer or answer["error"]["code"] == -32800 for answer in answers)
    assert answers[-1].get("error", {}).get("code") == -32800


def test_the_log_is_silent_about_what_notes_and_queries_say(start: Start, world: World) -> None:
    wire = Wire({"HOME": str(world.home)}, world.project, ("-m", "memory_recall.faces.lsp.main", "--log-level=debug"))
    try:
        wire.initialize([world.project], options={"unknown": "secret"})
        wire.open(NOTE, "a secret note with nemp:secret-key")
        wire.hover(NOTE, 0, 20)
        for command in ("nemp.recall", "memory.recall", "search", "show", "coven.recall"):
            wire.execute(f"memoryRecall.{command}", "secret words")
        wire.execute("memoryRecall.nemp.recall", {"query": "secret words", "limit": "secret"})
        wire.quit()
        assert "secret" not in wire.errors
        assert "no setting 'unknown'" in wire.errors
    finally:
        wire.close()


def faulty(world: World, variables: dict[str, str], fault: str) -> Wire:
    wire = Wire(variables, world.project, (str(FAULTY), fault))
    wire.initialize([world.project])
    return wire


def test_printing_never_reaches_the_protocol(world: World, variables: dict[str, str]) -> None:
    wire = faulty(world, variables, "print")
    try:
        assert wire.execute("memoryRecall.status")["result"] == {"v": 1, "versions": {}}
        assert wire.quit() == 0
        assert wire.stray == []
        assert sorted(wire.errors.split()) == ["echoed", "printed", "written"]
    finally:
        wire.close()


def test_a_fault_inside_is_answered_in_a_sentence_without_its_words(world: World, variables: dict[str, str]) -> None:
    wire = faulty(world, variables, "raise")
    try:
        error = wire.execute("memoryRecall.status")["error"]
        assert error["code"] == -32603
        assert "data" not in error
        assert "secret" not in error["message"]
        assert "/" not in error["message"]
        assert wire.quit() == 0
        assert wire.notes == []
        assert "workspace/executeCommand failed" in wire.errors
        assert "secret-memory-text" not in wire.errors
    finally:
        wire.close()


def test_work_that_never_ends_does_not_hold_up_the_exit(world: World, variables: dict[str, str]) -> None:
    wire = faulty(world, variables, "hang")
    try:
        stuck = wire.begin("workspace/executeCommand", {"command": "memoryRecall.status"})
        assert wire.hover(NOTE, 0, 0) is None
        wire.notify("$/cancelRequest", {"id": stuck})
        assert wire.answer(stuck)["error"]["code"] == -32800
        assert wire.quit() == 0
    finally:
        wire.close()
