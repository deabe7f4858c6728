"""The look at sessions and waitpoints before a recall: what is live and open, and that it never gets in the way."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest

from agent_entries import tree_of, write_entry
from memory_recall.recall.agent_continuity import look
from memory_recall.text.dates import utc_seconds
from worlds import NOW, World


def session(world: World, name: str, **members: Any) -> None:
    world.write(f"project/.agent/sessions/{name}.json", {"session_id": name, **members})


def waitpoint(world: World, name: str, **members: Any) -> None:
    world.write(f"project/.agent/waitpoints/{name}.json", {"waitpoint_id": name, **members})


def ago(**time: float) -> str:
    return utc_seconds(NOW - timedelta(**time))


def live(world: World) -> list[str]:
    return [str(found["session_id"]) for found in look(world.project, NOW).live_sessions]


@pytest.mark.parametrize("status", ["running", "paused"])
def test_a_session_that_beats_is_live(world: World, status: str) -> None:
    session(world, "S-1", status=status, last_heartbeat_at=ago(minutes=4))
    (found,) = look(world.project, NOW).live_sessions
    assert found == {"session_id": "S-1", "status": status, "last_heartbeat_at": ago(minutes=4), "started_at": None}


@pytest.mark.parametrize(
    "members",
    [
        {"status": "running", "last_heartbeat_at": ago(minutes=5)},
        {"status": "running", "last_heartbeat_at": ago(minutes=-10)},
        {"status": "running", "last_heartbeat_at": "just now"},
        {"status": "running"},
        {"status": "closed", "last_heartbeat_at": ago(minutes=1)},
        {"status": ["running"], "last_heartbeat_at": ago(minutes=1)},
        {"last_heartbeat_at": ago(minutes=1)},
    ],
)
def test_any_other_session_is_not(world: World, members: dict[str, Any]) -> None:
    session(world, "S-1", **members)
    assert live(world) == []


def test_a_session_that_never_beat_is_live_since_its_start(world: World) -> None:
    session(world, "S-1", status="running", started_at=ago(minutes=2))
    (found,) = look(world.project, NOW).live_sessions
    assert (found["last_heartbeat_at"], found["started_at"]) == (None, ago(minutes=2))


def test_many_broken_files_are_not_as_many_problems(world: World) -> None:
    for number in range(60):
        world.write(f"project/.agent/sessions/S-{number}.json", "{")
    problems = look(world.project, NOW).problems
    assert len(problems) == 51
    assert "10 more problems of this kind (unreadable)" in problems[-1].message


def test_the_clock_of_another_machine_may_go_ahead(world: World) -> None:
    session(world, "S-1", status="running", last_heartbeat_at=ago(minutes=-1))
    assert live(world) == ["S-1"]


def test_pending_and_blocked_waitpoints_are_open(world: World) -> None:
    waitpoint(world, "WP-1", status="pending", owner_workflow="/ship")
    waitpoint(world, "WP-2", status="blocked")
    waitpoint(world, "WP-3", status="released")
    waitpoint(world, "WP-4")
    assert [found["waitpoint_id"] for found in look(world.project, NOW).open_waitpoints] == ["WP-1", "WP-2"]
    assert look(world.project, NOW).open_waitpoints[0]["owner_workflow"] == "/ship"


def test_samples_indexes_and_schemas_are_not_looked_at(world: World) -> None:
    for name in ("sample", "index", "S-session.schema", "session"):
        session(world, name, status="running", last_heartbeat_at=ago(minutes=1))
    assert live(world) == []


def test_whether_there_is_anything_to_recall(world: World) -> None:
    (world.project / ".agent").mkdir()
    assert not look(world.project, NOW).anything_to_recall
    write_entry(world, "MEM-1")
    assert look(world.project, NOW).anything_to_recall


def test_what_cannot_be_read_is_a_problem_and_the_rest_is_told(world: World) -> None:
    session(world, "S-2", status="running", last_heartbeat_at=ago(minutes=1))
    sessions = world.project / ".agent" / "sessions"
    world.write("project/.agent/sessions/S-1.json", '{"status": ')
    world.write("project/.agent/sessions/S-3.json", "[]")
    os.mkfifo(sessions / "S-4.json")
    secret = world.write("outside/S-5.json", {"session_id": "S-5", "status": "running", "last_heartbeat_at": ago()})
    (sessions / "S-5.json").symlink_to(secret)
    (world.project / ".agent" / "waitpoints").symlink_to(secret.parent)
    continuity = look(world.project, NOW)
    assert [found["session_id"] for found in continuity.live_sessions] == ["S-2"]
    assert [problem.code for problem in continuity.problems] == [
        "unreadable",
        "schema",
        "not-a-file",
        "outside-project",
        "outside-project",
    ]


def test_a_folder_that_is_a_file_is_a_problem(world: World) -> None:
    world.write("project/.agent/sessions", "not a directory")
    assert [problem.code for problem in look(world.project, NOW).problems] == ["unreadable"]


def test_nothing_is_written(world: World) -> None:
    session(world, "S-1", status="running", last_heartbeat_at=ago(days=40))
    waitpoint(world, "WP-1", status="pending", expires_at=ago(days=1))
    before = tree_of(world.project)
    look(world.project, NOW)
    assert tree_of(world.project) == before
