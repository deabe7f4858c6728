"""The run of a memory recall: its name, its states, and its one record."""

from __future__ import annotations

import errno
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from memory_recall.errors import UsageError
from memory_recall.recall import agent_runs
from memory_recall.recall.agent_runs import NotAmended, NotRecorded, Run
from worlds import NOW, World


@pytest.fixture
def agent(world: World) -> Path:
    """The project's `.agent`, with memories."""
    path = world.project / ".agent"
    (path / "memory" / "semantic").mkdir(parents=True)
    return path


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_run_id_says_what_and_when(world: World) -> None:
    first, second = agent_runs.new_run_id(NOW), agent_runs.new_run_id(NOW)
    assert first.startswith("R-memory-recall-2026-11-30T16-37-19-123Z-")
    assert first != second
    agent_runs.check_run_id(first)


@pytest.mark.parametrize("run_id", ["R-1", "r", "7", "R-a.b_c-d", "R" * 128])
def test_a_plain_name_is_a_run_id(run_id: str) -> None:
    agent_runs.check_run_id(run_id)


@pytest.mark.parametrize(
    "run_id",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "/etc",
        "C:x",
        ".hidden",
        "-x",
        "x.",
        "R-1\n",
        "R 1",
        "R-é",
        "R-\0",
        "R" * 129,
    ],
)
def test_a_name_that_could_lead_elsewhere_is_no_run_id(run_id: str) -> None:
    with pytest.raises(UsageError):
        agent_runs.check_run_id(run_id)


def test_a_run_goes_from_pending_to_running_to_done() -> None:
    run = Run.pending("R-1", NOW).running(NOW + timedelta(seconds=1)).done("failed", NOW + timedelta(seconds=2))
    assert run.as_json() == {
        "run_id": "R-1",
        "workflow": "memory-recall",
        "status": "failed",
        "states": [
            {"state": "pending", "at": "2026-11-30T16:37:19.123Z"},
            {"state": "running", "at": "2026-11-30T16:37:20.123Z"},
            {"state": "done", "at": "2026-11-30T16:37:21.123Z", "status": "failed"},
        ],
    }


def test_a_run_takes_no_other_way() -> None:
    pending = Run.pending("R-1", NOW)
    with pytest.raises(ValueError, match="pending cannot become done"):
        pending.done("success", NOW)
    with pytest.raises(ValueError, match="done cannot become running"):
        pending.running(NOW).done("success", NOW).running(NOW)


def test_a_record_is_json_that_any_reader_takes(world: World, agent: Path) -> None:
    path = agent_runs.record(world.project, "R-1", "result.json", {"query": "决策 \ud800", "score": float("inf")})
    assert path == agent / "runs" / "R-1" / "result.json"
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "决策" in text
    assert json.loads(text) == {"query": "决策 \ufffd", "score": None}
    assert names(path.parent) == ["result.json"]


def test_a_folder_that_its_owner_made_is_used(world: World, agent: Path) -> None:
    plan = world.write("project/.agent/runs/R-1/plan.json", {"steps": []})
    path = agent_runs.record(world.project, "R-1", "result.json", {})
    assert path.parent == plan.parent


@pytest.mark.parametrize("first", ["result.json", "error.json"])
@pytest.mark.parametrize("second", ["result.json", "error.json"])
def test_a_run_never_has_two_records(world: World, agent: Path, first: str, second: str) -> None:
    kept = world.write(f"project/.agent/runs/R-1/{first}", {"first": True})
    before = kept.read_bytes()
    with pytest.raises(NotRecorded) as failure:
        agent_runs.record(world.project, "R-1", second, {"second": True})  # type: ignore[arg-type]
    assert failure.value.problem.code == "run-not-recorded"
    assert first in failure.value.problem.message
    assert names(kept.parent) == [first]
    assert kept.read_bytes() == before


def test_an_amended_record_replaces_its_own(world: World, agent: Path) -> None:
    path = agent_runs.record(world.project, "R-1", "result.json", {"n": 1})
    agent_runs.amend(path, {"n": 2})
    assert json.loads(path.read_text(encoding="utf-8")) == {"n": 2}
    assert names(path.parent) == ["result.json"]


def test_a_record_that_could_not_be_amended_is_not_said_to_be_missing(
    world: World, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = agent_runs.record(world.project, "R-1", "result.json", {"n": 1})
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(NotAmended) as failure:
        agent_runs.amend(path, {"n": 2})
    assert "could not be amended: the disk is full" in failure.value.problem.message
    assert "not written" not in failure.value.problem.message
    assert json.loads(path.read_text(encoding="utf-8")) == {"n": 1}


def refused(world: World, run_id: str = "R-1") -> str:
    with pytest.raises(NotRecorded) as failure:
        agent_runs.record(world.project, run_id, "result.json", {})
    return failure.value.problem.message


def test_runs_that_are_a_file_are_left_alone(world: World, agent: Path) -> None:
    runs = world.write("project/.agent/runs", "mine")
    assert "not a directory" in refused(world)
    assert runs.read_text(encoding="utf-8") == "mine"


def test_a_run_journal_of_the_same_name_is_left_alone(world: World, agent: Path) -> None:
    journal = world.write("project/.agent/runs/R-1.json", {"run_id": "R-1"})
    assert "not a directory" in refused(world, "R-1.json")
    assert json.loads(journal.read_text(encoding="utf-8")) == {"run_id": "R-1"}


@pytest.mark.parametrize("place", ["runs", "runs/R-1"])
@pytest.mark.parametrize("target", ["../../outside", "memory", "memory/semantic", "."])
def test_a_link_leads_no_record_astray(world: World, agent: Path, place: str, target: str) -> None:
    outside = world.project.parent / "outside"
    outside.mkdir()
    link = agent / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside if target.startswith("..") else agent / target)
    run_id = "memory" if place == "runs" and target == "." else "R-1"
    assert "nothing was written there" in refused(world, run_id)
    assert names(outside) == []
    assert names(agent / "memory") == ["semantic"]
    assert names(agent / "memory" / "semantic") == []


@pytest.mark.parametrize(("place", "named"), [("runs", "runs"), ("runs/R-1", "runs/R-1")])
def test_the_message_names_the_link_itself(world: World, agent: Path, place: str, named: str) -> None:
    outside = world.project.parent / "r"
    outside.mkdir()
    link = agent / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    assert f"{agent / named} is a symbolic link" in refused(world)


def test_an_id_is_free_until_a_run_of_it_has_left_a_record(world: World, agent: Path) -> None:
    world.write("project/.agent/runs/R-1/plan.json", {})
    agent_runs.check_unused(world.project, "R-1")
    agent_runs.record(world.project, "R-1", "error.json", {})
    with pytest.raises(UsageError, match=r"R-1 is taken \(\.agent/runs/R-1/error\.json is there\)"):
        agent_runs.check_unused(world.project, "R-1")


def test_a_record_that_could_not_be_written_leaves_no_folder(
    world: World, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    assert "disk is full" in refused(world)
    assert names(agent) == ["memory"]


def test_a_run_folder_that_is_a_link_beside_the_runs_is_refused(world: World, agent: Path) -> None:
    (agent / "runs").mkdir()
    (agent / "other").mkdir()
    (agent / "runs" / "R-1").symlink_to(agent / "other")
    assert "leads out of" in refused(world)
    assert names(agent / "other") == []


def test_a_link_to_nowhere_is_refused(world: World, agent: Path) -> None:
    (agent / "runs").symlink_to(agent / "nowhere")
    assert "not a directory" in refused(world)


def test_a_place_that_may_not_be_written_to_is_a_problem(world: World, agent: Path) -> None:
    runs = agent / "runs"
    (runs / "R-1").mkdir(parents=True)
    (runs / "R-1").chmod(0o555)
    try:
        assert "check the permissions" in refused(world)
    finally:
        (runs / "R-1").chmod(0o755)
