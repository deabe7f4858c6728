"""A recall of a project's `.agent` memory: what answers, in which order, and what the run leaves."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_entries import LEFT_OUT, tree_of, write_entry
from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled, RecallError, UsageError
from memory_recall.files import writing
from memory_recall.files.writing import NotWritten
from memory_recall.model import Problem
from memory_recall.recall import agent, agent_inbox, agent_runs
from memory_recall.recall.agent import AgentQuery, AgentResult
from memory_recall.stores import agent as stores
from memory_recall.stores.shelf import Shelf
from memory_recall.text.dates import utc_millis
from worlds import NOW, World


def recall(world: World, query: str = "webhooks", shelf: Shelf | None = None, **options: Any) -> AgentResult:
    return agent.recall(AgentQuery(query, **options), world.project, world.env, shelf or Shelf())


def ids(result: AgentResult) -> list[str]:
    return [hit.entry.memory_id for hit in result.hits]


def record_of(world: World, run_id: str, name: str = "result.json") -> Any:
    return json.loads((world.project / ".agent/runs" / run_id / name).read_text(encoding="utf-8"))


def messages_of(world: World) -> list[Any]:
    return [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((world.project / ".agent/inbox").glob("IM-*.json"))
    ]


# What answers


def test_only_entries_that_match_are_returned(world: World) -> None:
    write_entry(world, "MEM-1", title="Webhook retries")
    write_entry(world, "MEM-2", title="Sprint notes", content="Nothing of the kind.", tags=[])
    result = recall(world)
    assert ids(result) == ["MEM-1"]
    assert (result.counts.scanned, result.counts.matched, result.counts.returned) == (2, 1, 1)


def test_title_and_tags_weigh_more_than_content(world: World) -> None:
    filler = "The quick brown fox jumps over the lazy dog."
    write_entry(world, "MEM-content", title="Something", content=f"gateway. {filler}", tags=[])
    write_entry(world, "MEM-tag", title="Something", content=filler, tags=["gateway"])
    write_entry(world, "MEM-title", title="The gateway", content=filler, tags=[])
    assert ids(recall(world, "gateway"))[-1] == "MEM-content"


def test_confidence_and_then_recency_decide_between_equals(world: World) -> None:
    write_entry(world, "MEM-1", title="t", confidence=0.5)
    write_entry(world, "MEM-2", title="t", confidence=0.9)
    write_entry(world, "MEM-3", title="t", confidence=0.9, updated_at="2026-11-30T00:00:00Z")
    write_entry(world, "MEM-4", title="t", confidence=LEFT_OUT, created_at="never")
    assert ids(recall(world)) == ["MEM-3", "MEM-2", "MEM-1", "MEM-4"]


def test_relevance_decides_before_confidence_and_recency(world: World) -> None:
    write_entry(world, "MEM-old", title="Webhook gateway", confidence=0.3, created_at="2020-01-01")
    write_entry(world, "MEM-new", title="Other", content="A gateway.", confidence=1.0, created_at="2026-11-30")
    assert ids(recall(world, "webhook gateway")) == ["MEM-old", "MEM-new"]


def test_a_date_in_the_future_is_no_recommendation(world: World) -> None:
    write_entry(world, "MEM-1", created_at="2099-01-01")
    write_entry(world, "MEM-2", created_at="2026-11-01")
    assert ids(recall(world)) == ["MEM-2", "MEM-1"]


@pytest.mark.parametrize("query", ["", "   ", "?!", "the of and", "🚀"])
def test_a_query_without_words_ranks_by_confidence_and_recency(world: World, query: str) -> None:
    write_entry(world, "MEM-1", confidence=0.4)
    write_entry(world, "MEM-2", confidence=1.0)
    write_entry(world, "MEM-3", confidence=0.8)
    write_entry(world, "MEM-4", confidence=0.8, created_at="2026-11-29")  # new, which is worth half as much as sure
    write_entry(world, "MEM-5", confidence=LEFT_OUT)
    result = recall(world, query)
    assert ids(result) == ["MEM-4", "MEM-2", "MEM-3", "MEM-5", "MEM-1"]
    assert result.as_json()["ranked_by"] == "confidence"
    assert messages_of(world)[0]["subject"] == "memory-recall: 5 memories"
    assert result.counts.matched == 5


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("决策", "决策风格:具体推荐"),
        ("ログ", "本番のログ出力の方針"),
        ("테스트", "통합테스트는 매일"),
        ("cafe", "The café staging database"),
        ("café", "The cafe staging database"),
        ("API", "The ＡＰＩ gateway"),
    ],
)
def test_text_of_every_script_is_searchable_by_its_parts(world: World, query: str, content: str) -> None:
    write_entry(world, "MEM-1", content=content)
    write_entry(world, "MEM-2")
    assert ids(recall(world, query)) == ["MEM-1"]


def test_scores_go_down_and_stay_within_one(world: World) -> None:
    for number in range(8):
        write_entry(world, f"MEM-{number}", content="webhook " * (number + 1), confidence=number / 8)
    scores = [hit.score for hit in recall(world, min_confidence=0, limit=50).hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_equals_keep_the_order_of_types_and_names(world: World) -> None:
    for memory_id, type_ in (("MEM-b", "semantic"), ("MEM-a", "semantic"), ("MEM-c", "episodic")):
        write_entry(world, memory_id, type_, title="t")
    assert ids(recall(world)) == ["MEM-c", "MEM-a", "MEM-b"]


def test_the_limit_cuts_and_the_counts_tell(world: World) -> None:
    for number in range(7):
        write_entry(world, f"MEM-{number}")
    counts = recall(world, limit=3).counts
    assert (counts.scanned, counts.matched, counts.returned) == (7, 7, 3)
    assert recall(world).counts.returned == 5


# What is left out


def test_what_is_left_out_is_counted_under_the_first_filter_it_fails(world: World) -> None:
    write_entry(world, "MEM-ok")
    write_entry(world, "MEM-scope", scope="user", expires_at="2020-01-01", confidence=0.1)
    write_entry(world, "MEM-expired", expires_at="2020-01-01", confidence=0.1)
    write_entry(world, "MEM-unsure", confidence=0.1)
    write_entry(world, "MEM-unsure-of-another-topic", confidence=0.1, title="x", content="x", tags=[])
    result = recall(world, scope="project")
    assert ids(result) == ["MEM-ok"]
    assert result.counts.as_json() == {
        "scanned": 5,
        "matched": 1,
        "returned": 1,
        "held_back": 0,
        "expired_skipped": 1,
        "low_confidence_skipped": 2,
        "scope_filtered_skipped": 1,
    }


def test_expired_entries_are_shown_on_request_and_say_so(world: World) -> None:
    write_entry(world, "MEM-1", expires_at="2026-11-30")
    write_entry(world, "MEM-2", expires_at="2026-12-01")
    assert ids(recall(world)) == ["MEM-2"]
    result = recall(world, include_expired=True)
    assert {hit.entry.memory_id: hit.expired for hit in result.hits} == {"MEM-1": True, "MEM-2": False}
    assert result.counts.expired_skipped == 0


def test_pinned_entries_never_expire(world: World) -> None:
    write_entry(world, "MEM-1", expires_at="2020-01-01", pinned=True)
    write_entry(world, "MEM-2", expires_at="2020-01-01", pinned="false")
    assert ids(recall(world)) == ["MEM-1"]


def test_an_entry_of_unknown_confidence_is_kept_and_shown_as_unknown(world: World) -> None:
    write_entry(world, "MEM-1", confidence=LEFT_OUT)
    result = recall(world, min_confidence=1.0)
    assert result.as_json()["memories"][0]["confidence"] is None
    assert result.counts.low_confidence_skipped == 0


def test_the_least_confidence_is_enough(world: World) -> None:
    write_entry(world, "MEM-1", confidence=0.3)
    write_entry(world, "MEM-2", confidence="0.29")
    assert ids(recall(world)) == ["MEM-1"]
    assert len(ids(recall(world, min_confidence=0))) == 2


def test_a_type_is_a_directory_and_others_are_not_scanned(world: World) -> None:
    write_entry(world, "MEM-1", "episodic", type="semantic")
    write_entry(world, "MEM-2", "semantic")
    world.write("project/.agent/memory/semantic/MEM-broken.json", "{")
    result = recall(world, types=("episodic",))
    assert ids(result) == ["MEM-1"]
    assert result.counts.scanned == 1
    assert [problem.code for problem in result.problems] == ["schema"]
    assert result.as_json()["memories"][0]["type"] == "episodic"


def test_a_scope_that_is_missing_or_unknown_is_the_project(world: World) -> None:
    write_entry(world, "MEM-1", scope=LEFT_OUT)
    write_entry(world, "MEM-2", scope="team")
    write_entry(world, "MEM-3", scope="global")
    assert ids(recall(world, scope="project")) == ["MEM-1", "MEM-2"]
    assert len(ids(recall(world))) == 3


def test_a_broken_file_is_reported_and_the_rest_answers(world: World) -> None:
    write_entry(world, "MEM-1")
    broken = world.write("project/.agent/memory/episodic/MEM-x.json", '{\n "content": ')
    (problem,) = recall(world).as_json()["problems"]
    assert (problem["path"], problem["line"], problem["column"]) == (str(broken), 2, 13)


def test_no_other_project_is_read(world: World) -> None:
    world.write(".agent/memory/semantic/MEM-above.json", {"memory_id": "MEM-above", "content": "webhook"})
    world.write("other/.agent/memory/semantic/MEM-x.json", {"memory_id": "MEM-x", "content": "webhook"})
    write_entry(world, "MEM-1")
    assert ids(recall(world)) == ["MEM-1"]
    inner = world.project / "packages" / "inner"
    inner.mkdir(parents=True)
    with pytest.raises(RecallError) as failure:
        agent.recall(AgentQuery("webhook"), inner, world.env, Shelf())
    assert failure.value.code == "agent-missing"


def test_a_project_may_be_named_relative_to_the_working_directory(world: World) -> None:
    write_entry(world, "MEM-1")
    env = world.env._replace(cwd=world.project.parent)
    result = agent.recall(AgentQuery("webhook"), Path("project"), env, Shelf())
    assert result.record is not None
    assert result.record.is_relative_to(world.project)


def test_a_shelf_answers_with_what_is_on_disk_now(world: World) -> None:
    shelf = Shelf()
    write_entry(world, "MEM-1")
    assert ids(recall(world, shelf=shelf)) == ["MEM-1"]
    write_entry(world, "MEM-2")
    assert ids(recall(world, shelf=shelf)) == ["MEM-1", "MEM-2"]
    assert shelf.agent(world.project).by_id("MEM-2")


# What a run leaves


def test_a_run_leaves_the_answer_as_its_record(world: World) -> None:
    path = write_entry(world, "MEM-1", confidence=1, tags=["a"], pinned=True)
    world.write("project/.agent/waitpoints/WP-1.json", {"waitpoint_id": "WP-1", "status": "pending"})
    answer = recall(world, limit=7, types=("semantic", "episodic"), scope="project", min_confidence=0.5).as_json()
    record = record_of(world, answer["run_id"])
    assert answer == {"v": 1, **record}
    assert next(iter(answer)) == "v"
    assert record["run_id"].startswith("R-memory-recall-2026-11-30T16-37-19-123Z-")
    assert (record["workflow"], record["status"]) == ("memory-recall", "success")
    assert [state["state"] for state in record["states"]] == ["pending", "running", "done"]
    assert {
        name: record[name] for name in ("query", "limit", "types", "scope", "min_confidence", "include_expired")
    } == {
        "query": "webhooks",
        "limit": 7,
        "types": ["episodic", "semantic"],
        "scope": "project",
        "min_confidence": 0.5,
        "include_expired": False,
    }
    assert [waitpoint["waitpoint_id"] for waitpoint in record["continuity"]["open_waitpoints"]] == ["WP-1"]
    (memory,) = record["memories"]
    assert memory["score"] > 0
    del memory["score"]
    assert memory == {
        "memory_id": "MEM-1",
        "type": "semantic",
        "title": "Title of MEM-1",
        "content": "Payment webhooks are retried five times.",
        "tags": ["a"],
        "confidence": 1,
        "created_at": "2026-08-02T00:00:00.000Z",
        "path": str(path),
        "line": 1,
        "scope": "project",
        "pinned": True,
        "expires_at": None,
        "expired": False,
        "updated_at": None,
    }


def test_the_states_of_a_run_have_times(world: World) -> None:
    write_entry(world, "MEM-1")
    moments = iter(NOW + timedelta(seconds=second) for second in range(100))
    result = agent.recall(AgentQuery("x"), world.project, world.env._replace(clock=lambda: next(moments)), Shelf())
    times = [state["at"] for state in result.as_json()["states"]]
    assert times == sorted(set(times))
    assert result.run.run_id.startswith(f"R-memory-recall-{utc_millis(NOW)[:10]}")


def test_good_news_is_told_in_the_inbox(world: World) -> None:
    write_entry(world, "MEM-1")
    world.write("project/.agent/inbox/index.json", {"messages": []})
    result = recall(world)
    (message,) = messages_of(world)
    assert (message["type"], message["recipient_ids"], message["status"]) == ("information", ["coordinator"], "unread")
    assert message["subject"] == 'memory-recall: 1 memory for "webhooks"'
    assert "MEM-1" in message["body"]
    assert f".agent/runs/{result.run.run_id}/result.json" in message["body"]
    assert result.message is not None
    index = json.loads((world.project / ".agent/inbox/index.json").read_text(encoding="utf-8"))
    assert index["messages"][0]["path"] == f".agent/inbox/{result.message.name}"


@pytest.mark.parametrize(
    ("parent", "variables", "recipient"),
    [
        (None, {}, "coordinator"),
        (None, {"MEMORY_RECALL_PARENT": "planner"}, "planner"),
        (None, {"MEMORY_RECALL_PARENT": " "}, "coordinator"),
        ("A-7", {"MEMORY_RECALL_PARENT": "planner"}, "A-7"),
    ],
)
def test_who_is_told(world: World, parent: str | None, variables: dict[str, str], recipient: str) -> None:
    write_entry(world, "MEM-1")
    recall(world.at(NOW, **variables), parent=parent)
    assert [message["recipient_ids"] for message in messages_of(world)] == [[recipient]]


@pytest.mark.parametrize(("notify", "success", "failure"), [("always", 1, 1), ("failures", 0, 1), ("never", 0, 0)])
def test_when_somebody_is_told(world: World, notify: str, success: int, failure: int) -> None:
    write_entry(world, "MEM-1")
    recall(world, notify=notify)
    assert len(messages_of(world)) == success
    (world.project / ".agent/memory").rename(world.project / ".agent/elsewhere")
    with pytest.raises(RecallError):
        recall(world, notify=notify)
    assert len(messages_of(world)) == success + failure


def test_a_message_about_any_query_stays_in_its_bounds(world: World) -> None:
    write_entry(world, "MEM-1", title="x" * 9000 + "\n\x1b[31m")
    query = 'webhooks "\n\x00\ud800$(reboot) ' + "long " * 20_000
    result = recall(world, query)
    (message,) = messages_of(world)
    assert (len(message["subject"]), len(message["body"])) == (200, 4000)
    assert not {"\n", "\x00", "\x1b"} & set(message["subject"])
    assert "\x1b" not in message["body"]
    assert result.run.run_id in message["body"]
    assert record_of(world, result.run.run_id)["query"] == query.replace("\ud800", "\ufffd")


def test_a_run_id_of_the_caller_names_the_folder(world: World) -> None:
    write_entry(world, "MEM-1")
    assert recall(world, run_id="R-mine").record == world.project / ".agent/runs/R-mine/result.json"


@pytest.mark.parametrize("earlier", ["result.json", "error.json"])
def test_a_run_id_that_is_taken_is_refused_before_anything_is_written(world: World, earlier: str) -> None:
    write_entry(world, "MEM-1")
    world.write(f"project/.agent/runs/R-1/{earlier}", {"mine": True})
    before = tree_of(world.project)
    with pytest.raises(UsageError, match="R-1 is taken"):
        recall(world, run_id="R-1")
    assert tree_of(world.project) == before


def test_a_run_id_that_is_taken_meanwhile_costs_the_record_and_not_the_answer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(world, "MEM-1")
    recall(world, run_id="R-1")
    before = record_of(world, "R-1")
    monkeypatch.setattr(agent_runs, "check_unused", lambda *_: None)
    result = recall(world, "payment", run_id="R-1")
    assert ids(result) == ["MEM-1"]
    assert result.record is None
    assert [problem.code for problem in result.problems] == ["run-not-recorded"]
    assert record_of(world, "R-1") == before
    (world.project / ".agent/memory").rename(world.project / ".agent/elsewhere")
    with pytest.raises(RecallError, match="left no record"):
        recall(world, run_id="R-1")
    assert [path.name for path in (world.project / ".agent/runs/R-1").iterdir()] == ["result.json"]


SCHEMAS: tuple[Any, ...] = (
    {"type": "object", "properties": {"subject": {"maxLength": 200}}},
    {"properties": {"subject": {}}, "additionalProperties": False},
    {"properties": {"subject": {"maxLength": -5}, "relations": {"properties": 7, "additionalProperties": False}}},
    {"properties": {"subject": {"pattern": "("}, "body": {"pattern": "(a*)*b"}, "type": {"$ref": "#/properties/type"}}},
    {"$ref": "#"},
    {"allOf": [{"$ref": "#"}], "required": "all", "additionalProperties": False},
    [],
    "nonsense",
)


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_no_schema_whatever_costs_the_answer(world: World, schema: Any) -> None:
    world.write("project/.agent/inbox/inbox.schema.json", json.dumps(schema))
    with pytest.raises(RecallError) as failure:
        recall(world)
    assert failure.value.code == "memory-missing"
    write_entry(world, "MEM-1")
    result = recall(world)
    assert (ids(result), len(messages_of(world))) == (["MEM-1"], 2)
    assert result.message is not None


@pytest.mark.parametrize("broken", ["deliver", "record"])
def test_no_fault_of_ours_in_writing_costs_the_answer(
    world: World, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("message_id")

    write_entry(world, "MEM-1")
    monkeypatch.setattr(agent_inbox if broken == "deliver" else agent_runs, broken, fail)
    result = recall(world)
    assert ids(result) == ["MEM-1"]
    (problem,) = result.problems
    assert problem.code == ("inbox-not-written" if broken == "deliver" else "run-not-recorded")
    assert "internal fault (KeyError)" in problem.message
    (world.project / ".agent/memory").rename(world.project / ".agent/elsewhere")
    with pytest.raises(RecallError) as failure:
        recall(world)
    assert failure.value.code == "memory-missing"


def test_a_fault_after_the_message_was_written_loses_neither(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("message_id")

    write_entry(world, "MEM-1")
    monkeypatch.setattr(agent_inbox, "_name_in_index", fail)
    result = recall(world)
    assert result.message is not None
    assert result.message.exists()
    assert [problem.code for problem in result.problems] == ["internal"]


def test_a_record_that_is_there_is_not_said_to_be_missing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise NotWritten(Problem("disk-full", "the disk is full", None))

    write_entry(world, "MEM-1")
    world.write("project/.agent/inbox/index.json", "no index")
    monkeypatch.setattr(writing, "replace_file", full)
    result = recall(world)
    assert result.record is not None
    assert [problem.code for problem in result.problems] == ["inbox-index-not-written", "record-incomplete"]
    assert str(result.record) in result.problems[-1].message
    assert "no record" not in result.problems[-1].message
    assert record_of(world, result.run.run_id)["problems"] == []


def test_what_cannot_be_written_is_a_problem_and_the_answer_is_given(world: World) -> None:
    write_entry(world, "MEM-1")
    runs = world.write("project/.agent/runs", "mine")
    inbox = world.write("project/.agent/inbox", "mine as well")
    result = recall(world)
    assert ids(result) == ["MEM-1"]
    assert [problem.code for problem in result.problems] == ["run-not-recorded", "inbox-not-written"]
    assert (result.record, result.message) == (None, None)
    assert (runs.read_text(encoding="utf-8"), inbox.read_text(encoding="utf-8")) == ("mine", "mine as well")


def test_the_record_says_that_nobody_was_told(world: World) -> None:
    write_entry(world, "MEM-1")
    world.write("project/.agent/inbox", "mine")
    answer = recall(world).as_json()
    assert [problem["code"] for problem in answer["problems"]] == ["inbox-not-written"]
    assert answer == {"v": 1, **record_of(world, answer["run_id"])}


def test_links_lead_no_writing_out_of_the_agent_nor_to_the_memories(world: World) -> None:
    write_entry(world, "MEM-1")
    outside = world.project.parent / "outside"
    outside.mkdir()
    (world.project / ".agent/runs").symlink_to(outside)
    (world.project / ".agent/inbox").symlink_to(world.project / ".agent/memory/semantic")
    before = tree_of(world.project / ".agent/memory")
    result = recall(world)
    assert ids(result) == ["MEM-1"]
    assert [problem.code for problem in result.problems] == ["run-not-recorded", "inbox-not-written"]
    assert list(outside.iterdir()) == []
    assert tree_of(world.project / ".agent/memory") == before


_watched: list[Path] = []
_opened: list[tuple[str, Any]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched and event in (
        "open",
        "os.rename",
        "os.remove",
        "os.mkdir",
        "os.chmod",
        "os.utime",
        "os.link",
        "os.truncate",
    ):
        _opened.append((event, arguments))


sys.addaudithook(_audit)


@contextmanager
def watched(directory: Path) -> Iterator[None]:
    _watched.append(directory)
    _opened.clear()
    try:
        yield
    finally:
        _watched.clear()


def test_nothing_under_memory_is_opened_for_writing_or_touched(world: World) -> None:
    write_entry(world, "MEM-1")
    world.write("project/.agent/memory/semantic/MEM-broken.json", "{")
    memory = world.project / ".agent/memory"
    before = tree_of(memory)
    with watched(memory):
        recall(world)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    under = [(event, arguments) for event, arguments in _opened if str(memory) in str(arguments[0])]
    assert under
    assert all(event == "open" and not arguments[2] & writing for event, arguments in under)
    assert tree_of(memory) == before


# What fails


def test_without_an_agent_directory_nothing_is_created(world: World) -> None:
    before = tree_of(world.project)
    with pytest.raises(RecallError) as failure:
        recall(world, run_id="R-1")
    assert (failure.value.code, failure.value.recoverable) == ("agent-missing", True)
    assert "--project" in failure.value.message
    assert tree_of(world.project) == before


def test_an_agent_that_is_a_file_or_a_missing_project_is_a_clear_error(world: World) -> None:
    world.write("project/.agent", "a file")
    with pytest.raises(RecallError, match=r"/\.agent is not a directory") as failure:
        recall(world)
    assert failure.value.code == "agent-unreadable"
    with pytest.raises(RecallError, match=r"no \.agent directory"):
        agent.recall(AgentQuery("x"), world.project / "missing", world.env, Shelf())


def test_an_agent_of_another_project_is_refused(world: World) -> None:
    other = world.write("other/.agent/memory/semantic/MEM-x.json", {"memory_id": "MEM-x", "content": "webhook"})
    (world.project / ".agent").symlink_to(other.parents[2])
    before = tree_of(world.project.parent)
    with pytest.raises(RecallError) as failure:
        recall(world)
    assert failure.value.code == "agent-outside"
    assert tree_of(world.project.parent) == before


def test_without_memories_the_run_fails_and_says_so_in_the_project(world: World) -> None:
    (world.project / ".agent").mkdir()
    with pytest.raises(RecallError) as failure:
        recall(world, "决策", run_id="R-1", parent="planner")
    assert failure.value.code == "memory-missing"
    assert ".agent/runs/R-1/error.json" in failure.value.message
    record = record_of(world, "R-1", "error.json")
    assert (record["error_code"], record["recoverable"], record["query"]) == ("memory-missing", True, "决策")
    assert (record["run_id"], record["workflow"], record["status"]) == ("R-1", "memory-recall", "failed")
    assert record["states"][-1] == {"state": "done", "at": "2026-11-30T16:37:19.123Z", "status": "failed"}
    assert record["error_message"]
    assert [path.name for path in (world.project / ".agent/runs/R-1").iterdir()] == ["error.json"]
    (message,) = messages_of(world)
    assert (message["kind"], message["severity"], message["source"]) == ("alert", "warn", "memory-recall")
    assert (message["type"], message["recipient_ids"]) == ("alert", ["planner"])
    assert not (world.project / ".agent/memory").exists()


def test_memories_of_another_project_are_a_failure(world: World) -> None:
    other = world.write("other/memory/semantic/MEM-x.json", {"memory_id": "MEM-x", "content": "webhook"})
    (world.project / ".agent").mkdir()
    (world.project / ".agent/memory").symlink_to(other.parents[1])
    with pytest.raises(RecallError) as failure:
        recall(world, run_id="R-1")
    assert failure.value.code == "memory-outside"
    assert record_of(world, "R-1", "error.json")["error_code"] == "memory-outside"


def test_a_failure_that_cannot_be_recorded_says_that_too(world: World) -> None:
    world.write("project/.agent/runs", "mine")
    world.write("project/.agent/inbox", "mine")
    with pytest.raises(RecallError) as failure:
        recall(world)
    assert failure.value.code == "memory-missing"
    assert "left no record" in failure.value.message
    assert "nobody was told" in failure.value.message


@pytest.mark.parametrize("there", ["file", "dangling link", "loop"])
def test_memories_that_are_no_directory_are_a_failure_that_says_so(world: World, there: str) -> None:
    memory = world.project / ".agent/memory"
    memory.parent.mkdir()
    if there == "file":
        memory.write_text("a file", encoding="utf-8")
    else:
        memory.symlink_to("nowhere" if there == "dangling link" else "memory")
    with pytest.raises(RecallError) as failure:
        recall(world, run_id="R-1")
    assert failure.value.code == "memory-unreadable"
    assert str(memory) in failure.value.message
    assert "not there" not in failure.value.message
    assert record_of(world, "R-1", "error.json")["error_code"] == "memory-unreadable"


def test_the_record_of_a_failure_tells_what_else_went_on(world: World) -> None:
    world.write("project/.agent/waitpoints/WP-1.json", {"waitpoint_id": "WP-1", "status": "pending"})
    world.write("project/.agent/waitpoints/WP-2.json", "{")
    with pytest.raises(RecallError):
        recall(world, run_id="R-1")
    record = record_of(world, "R-1", "error.json")
    assert [waitpoint["waitpoint_id"] for waitpoint in record["continuity"]["open_waitpoints"]] == ["WP-1"]
    assert [problem["code"] for problem in record["problems"]] == ["unreadable"]


def test_an_internal_fault_ends_the_run_as_failed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(world, "MEM-1")

    def broken(*_: object) -> stores.AgentStore:
        raise KeyError("secret detail")

    monkeypatch.setattr(stores, "read_store", broken)
    with pytest.raises(RecallError) as failure:
        recall(world, run_id="R-1")
    assert failure.value.code == "internal"
    assert "KeyError" in failure.value.message
    assert "secret detail" not in failure.value.message
    assert record_of(world, "R-1", "error.json")["error_code"] == "internal"


def test_an_empty_memory_directory_is_an_honest_nothing(world: World) -> None:
    (world.project / ".agent/memory").mkdir(parents=True)
    result = recall(world)
    assert (result.hits, result.counts.scanned, result.run.as_json()["status"]) == ((), 0, "success")
    assert not result.continuity.anything_to_recall


def test_who_does_not_wait_gets_and_leaves_nothing(world: World) -> None:
    write_entry(world, "MEM-1")
    before = tree_of(world.project)
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        agent.recall(AgentQuery("x"), world.project, world.env, Shelf(), cancellation)
    assert tree_of(world.project) == before


@pytest.mark.parametrize("fails", [False, True])
def test_who_stops_waiting_before_the_run_is_recorded_is_left_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    write_entry(world, "MEM-1")
    before = tree_of(world.project)
    cancellation = Cancellation()
    real = agent.search

    def search(*arguments: Any) -> Any:
        found = real(*arguments)
        cancellation.cancel()
        if fails:
            raise RecallError("some-fault", "It failed.")
        return found

    monkeypatch.setattr(agent, "search", search)
    with pytest.raises(Cancelled):
        agent.recall(AgentQuery("x"), world.project, world.env, Shelf(), cancellation)
    assert tree_of(world.project) == before


def test_who_stops_waiting_while_the_run_is_recorded_gets_the_whole_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(world, "MEM-1")
    cancellation = Cancellation()
    real = agent_runs.record

    def record(*arguments: Any) -> Any:
        cancellation.cancel()
        return real(*arguments)

    monkeypatch.setattr(agent_runs, "record", record)
    result = agent.recall(AgentQuery("x"), world.project, world.env, Shelf(), cancellation)
    assert result.record is not None
    assert result.message is not None


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"limit": 51},
        {"limit": True},
        {"limit": 2.5},
        {"types": ()},
        {"types": ("semantic", "other")},
        {"min_confidence": -0.1},
        {"min_confidence": 1.1},
        {"min_confidence": float("nan")},
        {"min_confidence": True},
        {"scope": "team"},
        {"notify": "sometimes"},
        {"parent": " "},
        {"run_id": "../R-1"},
        {"run_id": ""},
    ],
)
def test_a_question_that_cannot_be_meant_is_no_run(world: World, options: dict[str, Any]) -> None:
    write_entry(world, "MEM-1")
    before = tree_of(world.project)
    with pytest.raises(UsageError):
        recall(world, **options)
    assert tree_of(world.project) == before


@pytest.mark.parametrize("query", ["-x", "--limit 5", "'\"", "a\nb", "$(id)", "\0", "%s %d {0}", "x" * 100_000])
def test_any_query_is_answered(world: World, query: str) -> None:
    write_entry(world, "MEM-1")
    assert recall(world, query).as_json()["query"] == query


def test_the_best_of_many_are_the_best_of_all(world: World) -> None:
    for number in range(30):
        write_entry(
            world,
            f"MEM-{number:02}",
            title="webhook " * (number % 4 + 1),
            content="gateway " * (number % 7),
            confidence=(number * 7 % 10) / 10,
            created_at=f"2026-{number % 11 + 1:02}-01",
        )
    everything = ids(recall(world, "webhook gateway", min_confidence=0, limit=50))
    assert len(everything) == 30
    for limit in (1, 2, 5, 11):
        assert ids(recall(world, "webhook gateway", min_confidence=0, limit=limit)) == everything[:limit]


def test_runs_at_once_lose_no_message_and_share_no_record(world: World) -> None:
    write_entry(world, "MEM-1")
    world.write("project/.agent/inbox/index.json", {"messages": [], "own": True})

    def attempt(_: int) -> AgentResult | None:
        try:
            return recall(world, run_id="R-shared")
        except UsageError:  # another one was done before this one began
            return None

    with ThreadPoolExecutor(8) as pool:
        results = [result for result in pool.map(attempt, range(8)) if result is not None]
    assert [ids(result) for result in results] == [["MEM-1"]] * len(results)
    assert sum(result.record is not None for result in results) == 1
    index = json.loads((world.project / ".agent/inbox/index.json").read_text(encoding="utf-8"))
    assert index["own"] is True
    assert {entry["message_id"] for entry in index["messages"]} == {m["message_id"] for m in messages_of(world)}
    assert len(index["messages"]) == len(results)
