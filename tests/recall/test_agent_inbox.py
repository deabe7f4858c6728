"""The message of a recall: in the shape that the project's schema asks for, and in its index, byte by byte."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_entries import tree_of, write_entry
from memory_recall.recall import agent_inbox
from memory_recall.recall.agent_inbox import NotDelivered, Notice
from memory_recall.recall.agent_inbox_index import NotAnIndex, with_message
from memory_recall.text.json_spans import elements, members
from worlds import NOW, World

ALERT = Notice("alert", "memory-recall failed: memory-missing", "It is not there.", "R-1", ".agent/runs/R-1/error.json")
NEWS = Notice("information", "memory-recall: 2 memories", "- MEM-1", "R-1", ".agent/runs/R-1/result.json")

TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
COMMON: dict[str, Any] = {
    "schema_version": {"const": 1},
    "message_id": {"type": "string", "pattern": "^IM-[A-Za-z0-9][A-Za-z0-9._-]*$"},
    "type": {"enum": ["information", "request", "decision", "alert"]},
    "status": {"enum": ["unread", "read", "archived"]},
    "sender_id": {"type": "string", "minLength": 1},
    "recipient_ids": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
    "subject": {"type": "string", "minLength": 1, "maxLength": 200},
    "body": {"type": "string", "minLength": 1, "maxLength": 4000},
    "created_at": {"type": "string", "format": "date-time"},
    "updated_at": {"type": "string", "format": "date-time"},
}
RELATED = ("task_ids", "mission_ids", "run_ids", "queue_ids", "session_ids", "artifact_refs", "worktree_paths")
RELATIONS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": list(RELATED),
    "properties": {
        name: {"type": "array", "items": {"type": "string", "pattern": "^R-"}} if name == "run_ids" else TEXTS
        for name in RELATED
    },
}


def closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


WITHOUT_RELATIONS = closed({**COMMON, "task_id": {"type": "string"}, "read_at": {"type": "string"}}, list(COMMON))
WITH_RELATIONS = closed(
    {**COMMON, "artifact_refs": TEXTS, "relations": RELATIONS}, [*COMMON, "artifact_refs", "relations"]
)


def deliver(world: World, notice: Notice = ALERT, recipient: str = "coordinator") -> dict[str, Any]:
    delivery = agent_inbox.deliver(world.project, notice, recipient, NOW)
    assert delivery.problems == ()
    message: dict[str, Any] = json.loads(delivery.path.read_text(encoding="utf-8"))
    assert delivery.path == world.project / ".agent" / "inbox" / f"{message['message_id']}.json"
    return message


def test_without_a_schema_an_alert_has_the_plain_members(world: World) -> None:
    message = deliver(world)
    assert message["message_id"].startswith("IM-memory-recall-2026-11-30T16-37-19-123Z-")
    del message["message_id"]
    assert message == {
        "schema_version": 1,
        "type": "alert",
        "status": "unread",
        "sender_id": "memory-recall",
        "recipient_ids": ["coordinator"],
        "subject": "memory-recall failed: memory-missing",
        "body": "It is not there.",
        "created_at": "2026-11-30T16:37:19.123Z",
        "updated_at": "2026-11-30T16:37:19.123Z",
        "kind": "alert",
        "severity": "warn",
        "source": "memory-recall",
        "run_id": "R-1",
    }


def test_without_a_schema_good_news_is_information(world: World) -> None:
    message = deliver(world, NEWS, "planner")
    assert (message["type"], message["kind"], message["severity"]) == ("information", "information", "info")
    assert message["recipient_ids"] == ["planner"]


@pytest.mark.parametrize("folder", ["inbox", "schemas", "."])
@pytest.mark.parametrize("notice", [ALERT, NEWS])
@pytest.mark.parametrize(
    ("name", "schema"),
    [("inbox.schema.json", WITHOUT_RELATIONS), ("inbox-message.schema.json", WITH_RELATIONS)],
)
def test_the_schema_that_the_project_carries_is_satisfied(
    world: World, folder: str, notice: Notice, name: str, schema: dict[str, Any]
) -> None:
    world.write(f"project/.agent/{folder}/{name}", schema)
    message = deliver(world, notice)
    jsonschema.validate(message, schema, jsonschema.Draft7Validator)
    assert message["type"] == notice.type
    assert message["subject"] == f"[{notice.severity}] {notice.subject}"


def test_a_run_is_related_with_its_record(world: World) -> None:
    world.write("project/.agent/inbox/inbox-message.schema.json", WITH_RELATIONS)
    message = deliver(world)
    assert message["artifact_refs"] == message["relations"]["artifact_refs"] == [".agent/runs/R-1/error.json"]
    assert message["relations"]["run_ids"] == ["R-1"]


def test_a_run_without_a_record_or_of_another_name_still_fits(world: World) -> None:
    world.write("project/.agent/inbox/inbox-message.schema.json", WITH_RELATIONS)
    message = deliver(world, Notice("alert", "failed", "x", "nightly", None))
    jsonschema.validate(message, WITH_RELATIONS)
    assert (message["artifact_refs"], message["relations"]["run_ids"]) == ([], [])


def test_what_a_schema_holds_counts_more_than_its_name(world: World) -> None:
    world.write("project/.agent/inbox/inbox.schema.json", WITH_RELATIONS)
    jsonschema.validate(deliver(world), WITH_RELATIONS)


def test_the_schema_nearest_to_the_inbox_counts(world: World) -> None:
    world.write("project/.agent/inbox.schema.json", WITHOUT_RELATIONS)
    world.write("project/.agent/inbox/inbox-message.schema.json", WITH_RELATIONS)
    jsonschema.validate(deliver(world), WITH_RELATIONS)


def test_a_schema_with_the_plain_members_gets_them(world: World) -> None:
    plain = {name: {"type": "string"} for name in ("kind", "severity", "source")}
    schema = closed({**COMMON, **plain}, [*COMMON, *plain])
    world.write("project/.agent/inbox/inbox.schema.json", schema)
    jsonschema.validate(deliver(world), schema)


@pytest.mark.parametrize("content", ["{", "null", "[]", '{"properties": 1}', '{"allOf": []}', b"\xff\xfe"])
@pytest.mark.parametrize(
    ("name", "schema"),
    [("inbox.schema.json", WITHOUT_RELATIONS), ("inbox-message.schema.json", WITH_RELATIONS)],
)
def test_a_schema_that_says_nothing_counts_by_its_name_and_one_that_is_none_is_a_problem(
    world: World, content: str | bytes, name: str, schema: dict[str, Any]
) -> None:
    path = world.write(f"project/.agent/inbox/{name}", content)
    delivery = agent_inbox.deliver(world.project, ALERT, "coordinator", NOW)
    jsonschema.validate(json.loads(delivery.path.read_text(encoding="utf-8")), schema)
    is_schema = content in ('{"properties": 1}', '{"allOf": []}')
    assert [(problem.code, problem.path) for problem in delivery.problems] == (
        [] if is_schema else [("inbox-schema", str(path))]
    )


# What a project makes of its schema


def against(world: World, schema: object, notice: Notice = NEWS) -> tuple[dict[str, Any], list[str]]:
    """The message that is left in a project with that schema, and what is said to be wrong with it."""
    world.write("project/.agent/inbox/inbox.schema.json", schema)
    delivery = agent_inbox.deliver(world.project, notice, "coordinator", NOW)
    assert delivery.path.stem.startswith("IM-memory-recall-")
    return json.loads(delivery.path.read_text(encoding="utf-8")), [problem.message for problem in delivery.problems]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"subject": {"maxLength": 200}}},
        {"type": "object", "properties": {"subject": {}}, "additionalProperties": True},
        {
            "type": "object",
            "properties": {"subject": {}},
            "additionalProperties": {"type": ["string", "array", "number"]},
        },
        {"properties": {name: rules for name, rules in COMMON.items() if name != "message_id"}},
    ],
)
def test_an_open_schema_takes_nothing_away(world: World, schema: dict[str, Any]) -> None:
    message, wrong = against(world, schema)
    assert set(message) == set(COMMON)
    assert wrong == []
    jsonschema.validate(message, schema)


def test_an_open_schema_that_asks_for_more_gets_what_there_is(world: World) -> None:
    message, wrong = against(world, {"properties": {"subject": {}, "relations": {}}, "required": ["severity"]})
    assert set(message) == {*COMMON, "relations", "severity"}
    assert wrong == []


def test_a_closed_schema_may_leave_a_message_without_its_id(world: World) -> None:
    world.write("project/.agent/inbox/index.json", {"messages": []})
    schema = closed({"subject": {"type": "string"}, "body": {"type": "string"}}, ["subject"])
    message, wrong = against(world, schema)
    assert set(message) == {"subject", "body"}
    assert wrong == []
    assert index_of(world)["messages"][0]["message_id"].startswith("IM-memory-recall-")


def test_shorter_texts_and_fewer_relations_are_complied_with(world: World) -> None:
    relations = {
        **RELATIONS,
        "required": [],
        "properties": {"run_ids": TEXTS, "artifact_refs": {"items": {"maxLength": 5}}},
    }
    changed = {**COMMON, "subject": {"maxLength": 20}, "body": {"$ref": "#/definitions/short"}, "relations": relations}
    schema = {**closed(changed, [*COMMON, "relations"]), "definitions": {"short": {"type": "string", "maxLength": 4}}}
    message, wrong = against(world, schema, Notice("alert", "x" * 99, "y" * 99, "nightly", ".agent/runs/x/error.json"))
    jsonschema.validate(message, schema, jsonschema.Draft7Validator)
    assert wrong == []
    assert (message["subject"], message["body"]) == ("[warn] xxxxxxxxxxxx…", "yyy…")
    assert message["relations"] == {"run_ids": ["nightly"], "artifact_refs": []}


@pytest.mark.parametrize(
    ("changes", "required", "phrase"),
    [
        ({"type": {"enum": ["request", "decision"]}}, [], "`type` has a value that is not allowed"),
        ({"priority": {"type": "string"}}, ["priority"], "`priority` is required"),
        ({"message_id": {"pattern": "^MSG-[0-9]+$"}}, [], "`message_id` does not match its pattern"),
        ({"recipient_ids": {"minItems": 2}}, [], "`recipient_ids` has too few items"),
        ({"subject": {"minLength": 500}}, [], "`subject` is too short"),
    ],
)
def test_what_cannot_be_complied_with_is_said(
    world: World, changes: dict[str, Any], required: list[str], phrase: str
) -> None:
    schema = closed({**COMMON, **changes}, [*COMMON, *required])
    message, wrong = against(world, schema)
    assert not jsonschema.Draft7Validator(schema).is_valid(message)
    assert len(wrong) == 1
    assert phrase in wrong[0]
    assert str(world.project / ".agent/inbox/inbox.schema.json") in wrong[0]


def test_long_texts_are_cut_to_what_the_schemas_allow(world: World) -> None:
    world.write("project/.agent/inbox/inbox.schema.json", WITHOUT_RELATIONS)
    message = deliver(world, Notice("alert", "决" * 500, "策" * 9000, "R-1", None))
    jsonschema.validate(message, WITHOUT_RELATIONS)
    assert (len(message["subject"]), len(message["body"])) == (200, 4000)
    assert message["subject"].endswith("…")


def index_of(world: World) -> Any:
    return json.loads((world.project / ".agent/inbox/index.json").read_text(encoding="utf-8"))


def test_an_inbox_without_an_index_gets_none(world: World) -> None:
    deliver(world)
    assert not (world.project / ".agent/inbox/index.json").exists()


def test_the_index_names_the_newest_first(world: World) -> None:
    world.write("project/.agent/inbox/index.json", {"messages": []})
    first, second = deliver(world, ALERT), deliver(world, NEWS)
    assert index_of(world)["messages"] == [
        {
            "message_id": message["message_id"],
            "path": f".agent/inbox/{message['message_id']}.json",
            "type": message["type"],
            "status": "unread",
            "subject": message["subject"],
            "updated_at": "2026-11-30T16:37:19.123Z",
        }
        for message in (second, first)
    ]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '"x"',
        '{"messages": {}}',
        '{"messages": 5}',
        b'{"messages": ["\xff"]}',
        '{"messages": []} tail',
        "{" * 9999,
    ],
)
def test_an_index_that_is_none_is_left_alone_and_the_message_stands(world: World, content: str | bytes) -> None:
    index = world.write("project/.agent/inbox/index.json", content)
    before = index.read_bytes()
    delivery = agent_inbox.deliver(world.project, ALERT, "coordinator", NOW)
    assert delivery.path.exists()
    (problem,) = delivery.problems
    assert problem.code == "inbox-index-not-written"
    assert str(delivery.path) in problem.message
    assert index.read_bytes() == before


def test_an_index_behind_a_link_out_of_the_project_is_left_alone(world: World) -> None:
    outside = world.write("outside/index.json", {"messages": []})
    (world.project / ".agent/inbox").mkdir(parents=True)
    (world.project / ".agent/inbox/index.json").symlink_to(outside)
    before = outside.read_bytes()
    assert agent_inbox.deliver(world.project, ALERT, "coordinator", NOW).problems
    assert outside.read_bytes() == before


def test_an_index_that_is_a_memory_is_left_alone(world: World) -> None:
    memory = write_entry(world, "MEM-1")
    (world.project / ".agent/inbox").mkdir(parents=True)
    (world.project / ".agent/inbox/index.json").symlink_to(memory)
    before = tree_of(world.project / ".agent/memory")
    assert agent_inbox.deliver(world.project, ALERT, "coordinator", NOW).problems
    assert tree_of(world.project / ".agent/memory") == before


@pytest.mark.parametrize(
    "target", ["file", "outside", ".agent/memory", ".agent/memory/semantic", ".agent", ".agent/nowhere"]
)
def test_an_inbox_that_is_none_gets_no_message(world: World, target: str) -> None:
    write_entry(world, "MEM-1")
    inbox = world.project / ".agent/inbox"
    if target == "file":
        inbox.write_text("mine", encoding="utf-8")
    else:
        (world.project.parent / "outside").mkdir()
        inbox.symlink_to(world.project.parent / "outside" if target == "outside" else world.project / target)
    before = tree_of(world.project.parent)
    with pytest.raises(NotDelivered) as failure:
        agent_inbox.deliver(world.project, ALERT, "coordinator", NOW)
    assert failure.value.problem.code == "inbox-not-written"
    assert tree_of(world.project.parent) == before


def test_an_inbox_that_may_not_be_written_to_is_a_problem(world: World) -> None:
    inbox = world.project / ".agent/inbox"
    inbox.mkdir(parents=True)
    inbox.chmod(0o555)
    try:
        with pytest.raises(NotDelivered) as failure:
            agent_inbox.deliver(world.project, ALERT, "coordinator", NOW)
    finally:
        inbox.chmod(0o755)
    assert "permissions" in failure.value.problem.message


ENTRY = {"message_id": "IM-new", "subject": "决策 \U0001f600", "n": 1}


def added(text: str) -> str:
    return with_message(text.encode(), ENTRY).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{\n  "messages": [\n    {\n      "message_id": "IM-1",\n      "x": 2.50\n    }\n  ],\n  "own": 1e3\n}\n',
            '{\n  "messages": [\n    {\n      "message_id": "IM-new",\n'
            '      "subject": "决策 😀",\n      "n": 1\n    },\n'
            '    {\n      "message_id": "IM-1",\n      "x": 2.50\n    }\n  ],\n  "own": 1e3\n}\n',
        ),
        (
            '{\n\t"messages": []\n}',
            '{\n\t"messages": [\n\t\t{\n\t\t\t"message_id": "IM-new",\n'
            '\t\t\t"subject": "决策 😀",\n\t\t\t"n": 1\n\t\t}\n\t]\n}',
        ),
        ('{"messages":[{"a":1}]}', '{"messages":[{"message_id":"IM-new","subject":"决策 😀","n":1},{"a":1}]}'),
        (
            '{"messages": [{"a": 1.0}, 5]}',
            '{"messages": [{"message_id": "IM-new", "subject": "决策 😀", "n": 1}, {"a": 1.0}, 5]}',
        ),
        (
            '{"messages": [{"a": 1}]}',
            '{"messages": [{"message_id": "IM-new", "subject": "决策 😀", "n": 1}, {"a": 1}]}',
        ),
    ],
)
def test_the_index_is_written_the_way_it_is_written(before: str, after: str) -> None:
    assert added(before) == after


@pytest.mark.parametrize("before", ["{}", '{"messages": null}', '{"messages": [1], "messages": []}', "\ufeff{}"])
def test_an_index_without_messages_gets_its_first(before: str) -> None:
    assert json.loads(added(before).removeprefix("\ufeff"))["messages"] == [ENTRY]
    assert added(before).startswith("\ufeff") == before.startswith("\ufeff")


def test_carriage_returns_stay() -> None:
    after = added('{\r\n  "messages": [\r\n    {\r\n      "a": 1\r\n    }\r\n  ]\r\n}\r\n')
    assert after.count("\n") == after.count("\r\n")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.dictionaries(st.text(max_size=6), JSON, max_size=3),
    st.lists(JSON, max_size=4),
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_every_other_message_keeps_its_bytes(
    others: dict[str, Any], messages: list[Any], indent: int | str | None, line_end: str, ascii_only: bool
) -> None:
    document = {**others, "messages": messages, "own": 1}
    before = json.dumps(document, indent=indent, ensure_ascii=ascii_only).replace("\n", line_end)
    if any("\ud800" <= character <= "\udfff" for character in before):
        return
    after = added(before)
    assert json.loads(after) == {**document, "messages": [ENTRY, *messages]}
    held = [member for member in members(before, 0) if member.key == "messages"]
    for first in islice(elements(before, held[0].value_start), 1):
        assert after.startswith(before[: held[0].value_start + 1])
        assert after.endswith(before[first.start :])


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_an_index_or_are_refused(data: bytes) -> None:
    try:
        after = with_message(data, ENTRY)
    except NotAnIndex as failure:
        text = str(failure)
        assert text.startswith(("is not", "has"))
    else:
        assert json.loads(after.decode().removeprefix("\ufeff"))["messages"][0] == ENTRY


def test_messages_have_names_of_their_own(world: World) -> None:
    assert len({deliver(world)["message_id"] for _ in range(20)}) == 20
    assert all(path.suffix == ".json" for path in Path(world.project / ".agent/inbox").iterdir())
