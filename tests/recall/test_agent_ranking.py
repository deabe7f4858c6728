"""How a project's memories are ranked: alike with an index and without, by words, by meaning, and not at all."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from agent_entries import LEFT_OUT, write_entry
from memory_recall.recall.agent import AgentResult, recall
from memory_recall.recall.agent_query import AgentQuery
from memory_recall.stores import agent
from memory_recall.stores.shelf import Shelf
from worlds import World

MEMORIES: list[tuple[str, str, dict[str, Any]]] = [
    ("auth-flow", "JWT access tokens with refresh tokens, in httpOnly cookies", {}),
    ("database", "PostgreSQL 16 via Prisma; migrations are never edited by hand", {"confidence": 0.4}),
    ("package manager", "Use bun instead of npm for every script", {"updated_at": "2026-11-29T00:00:00Z"}),
    ("deployment", "The deployment goes to Fly.io since May", {"confidence": LEFT_OUT}),
    ("deployment", "The deployment went to Vercel until May", {"expires_at": "2026-06-01"}),
    ("login page", "Users sign in with their password and username", {"confidence": 0.2}),
    ("style", "Indent with tabs, never with spaces", {"scope": "user"}),
    ("backups", "Nightly dumps are kept for thirty days in a bucket", {"confidence": 1.0}),
    ("backups", "Nightly dumps are kept for thirty days in a bucket", {"confidence": 0.9}),
    ("部署流程", "先跑数据库迁移,再滚动发布", {}),
    ("gateway", "The gateway retries payments five times", {"created_at": "not a date"}),
]
QUERIES = [
    "deployment",
    "package manager",
    '"dumps are kept"',
    "where do we deploy the app to",
    "how long are nightly backups kept around",
    "which database do migrations run against",
    "数据库 迁移",
    "bakcups of the databse",
    "do users log in with passwords",
    "purple monkey dishwasher",
    "recipe for chocolate cake without eggs",
    "the of",
]


@pytest.fixture
def remembered(world: World) -> World:
    """A project with all of these memories."""
    for number, (title, content, members) in enumerate(MEMORIES):
        kind = ("semantic", "episodic", "procedural")[number % 3]
        write_entry(world, f"MEM-{number:02}", kind, title=title, content=content, tags=[], **members)
    return world


def ask(world: World, query: str, **options: Any) -> AgentResult:
    return recall(AgentQuery(query, notify="never", **options), world.project, world.env, Shelf())


def ids(result: AgentResult) -> list[str]:
    return [hit.entry.memory_id for hit in result.hits]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 2},
        {"limit": 50, "min_confidence": 0.0, "include_expired": True},
        {"scope": "project", "types": ("semantic", "episodic")},
        {"include_weak": True, "limit": 50},
    ],
)
def test_an_indexed_tree_ranks_as_one_that_is_held(
    remembered: World, monkeypatch: pytest.MonkeyPatch, query: str, options: dict[str, Any]
) -> None:
    held = ask(remembered, query, **options)
    monkeypatch.setattr(agent, "INDEXED_FROM", 0)
    indexed = ask(remembered, query, **options)
    assert ids(indexed) == ids(held)
    assert indexed.counts == held.counts
    assert [hit.score for hit in indexed.hits] == pytest.approx([hit.score for hit in held.hits], abs=2e-4)


def test_what_is_filtered_out_does_not_speak_for_what_remains(remembered: World) -> None:
    assert ids(ask(remembered, "where do users sign in", min_confidence=0.5)) == []
    assert ids(ask(remembered, "where do users sign in", min_confidence=0.0))[0] == "MEM-05"


def test_a_question_about_nothing_here_is_answered_with_nothing_and_says_what_was_held_back(remembered: World) -> None:
    query = "recipe for chocolate cake without eggs"
    result = ask(remembered, query)
    assert (ids(result), result.counts.returned) == ([], 0)
    assert result.counts.held_back == result.counts.matched > 0
    assert result.as_json()["held_back"] == result.counts.held_back
    everything = ask(remembered, query, include_weak=True, limit=50)
    assert len(everything.hits) == result.counts.matched
    assert everything.counts.held_back == 0


def test_a_list_ends_where_relevance_ends(remembered: World) -> None:
    result = ask(remembered, "how long are nightly dumps kept", limit=50)
    assert ids(result)[:2] == ["MEM-07", "MEM-08"]
    assert result.counts.returned + result.counts.held_back == result.counts.matched


def test_what_has_the_word_is_never_held_back(world: World) -> None:
    for number in range(30):
        write_entry(world, f"MEM-{number}", content=f"{'word ' * 90} gateway {number}", title="x", tags=[])
    result = ask(world, "gateway", limit=50)
    assert (result.counts.returned, result.counts.held_back) == (30, 0)


def test_a_certain_answer_of_a_small_tree_loads_no_numpy(remembered: World) -> None:
    probe = (
        "import sys\n"
        "from pathlib import Path\n"
        "from memory_recall.faces.cli.main import main\n"
        "code = main(['memory', 'recall', *sys.argv[1:]])\n"
        "assert code == 0, code\n"
        "assert 'numpy' not in sys.modules, 'numpy was loaded'\n"
    )
    arguments = ["package", "manager", "--project", str(remembered.project), "--notify", "never"]
    done = subprocess.run(
        [sys.executable, "-c", probe, *arguments],
        check=False,
        timeout=60,
        capture_output=True,
        text=True,
        env={"HOME": str(remembered.home)},
    )
    assert done.returncode == 0, done.stderr
    assert "MEM-02" in done.stdout
