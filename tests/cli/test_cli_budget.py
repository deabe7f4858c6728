"""`--budget` on the command line: what is printed keeps to it, in text and in JSON, and without it nothing changes."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from agent_entries import write_entry
from coven_worlds import A, B, coven_in
from memory_recall.text.token_estimate import estimated_tokens
from worlds import RunCli, World

SENTENCE = "The gateway retries three times. "
LIMITS = (40, 90, 180, 400, 900, 2_000)


@pytest.fixture
def stocked(world: World) -> World:
    """Five memories of each system about one thing, each longer than the one before."""
    store = [{"key": f"gateway-{number}", "value": SENTENCE * 4**number} for number in range(4)]
    world.write("project/.nemp/memories.json", {"memories": [*store, {"key": "gateway-object", "value": {"a": 1}}]})
    for number in range(5):
        write_entry(world, f"MEM-2026-{number}", title=f"Gateway {number}", content=SENTENCE * 3**number)
    return world


def verbs(world: World) -> list[list[str]]:
    return [
        ["nemp", "recall", "gateway", "--no-record"],
        ["nemp", "recall", "gateway-3", "--no-record"],
        ["memory", "recall", "gateway"],
        ["search", "gateway"],
    ]


def frame_of(verb: list[str], arguments: list[str], cli: RunCli) -> int:
    """The estimate of the same answer with the smallest budget: without any memory. A run's name has its own digits."""
    return estimated_tokens(cli([*verb, *arguments, "--budget", "20"]).stdout) + 8 * (verb[0] == "memory")


@pytest.mark.parametrize("number", range(4))
def test_what_is_printed_keeps_to_the_budget(stocked: World, cli: RunCli, number: int) -> None:
    verb = verbs(stocked)[number]
    for arguments in ([], ["--json"]):
        frame = frame_of(verb, arguments, cli)
        shown = 0
        for limit in LIMITS:
            ran = cli([*verb, *arguments, "--budget", str(limit)])
            assert ran.code == 0
            assert estimated_tokens(ran.stdout) <= max(limit, frame)
            if arguments:
                answer = ran.json
                spent = answer["budget"]
                assert spent["used"] == estimated_tokens(ran.stdout)
                memories = answer.get("memories", answer.get("hits"))
                assert len(memories) >= shown
                shown = len(memories)
                assert spent["trimmed"] == sum("trimmed" in memory for memory in memories)
        assert shown or not arguments


@pytest.mark.parametrize("number", range(4))
def test_a_large_budget_changes_nothing_but_the_account(stocked: World, cli: RunCli, number: int) -> None:
    verb = [*verbs(stocked)[number], "--json"]
    whole = cli(verb).json
    within = cli([*verb, "--budget", "1000000"]).json
    spent = within.pop("budget")
    assert (spent["trimmed"], spent["omitted"], spent["named"], spent["problems_omitted"]) == (0, 0, [], 0)
    for answer in (whole, within):
        for name in ("run_id", "states"):
            answer.pop(name, None)
    assert within == whole


def test_without_a_budget_nothing_speaks_of_one(stocked: World, cli: RunCli) -> None:
    for verb in verbs(stocked):
        for arguments in ([], ["--json"]):
            ran = cli([*verb, *arguments])
            assert '"budget":' not in ran.stdout
            assert '"trimmed":' not in ran.stdout
            assert " characters" not in ran.stdout
            assert "Within" not in ran.stdout


def test_a_text_says_what_was_cut(stocked: World, cli: RunCli) -> None:
    ran = cli(["nemp", "recall", "gateway-3", "--no-record", "--budget", "120"])
    value = next(line for line in ran.stdout.splitlines() if line.startswith("Value: ")).removeprefix("Value: ")
    of = len(SENTENCE * 64)
    assert (SENTENCE * 64).startswith(value)
    assert value.endswith("times.")
    assert f"\n    … {len(value)} of {of:,} characters\n" in ran.stdout
    assert "\nWithin 120 tokens: 1 shortened.\n" in ran.stdout


def test_memories_that_were_found_are_not_said_to_be_missing(stocked: World, cli: RunCli) -> None:
    for verb in verbs(stocked):
        ran = cli([*verb, "--budget", "20"])
        assert "❌" not in ran.stdout
        assert "🔍 Found" in ran.stdout
        assert "left out" in ran.stdout


def test_a_key_cannot_pass_for_a_line_of_ours(world: World, cli: RunCli) -> None:
    store = [{"key": f"gate\x1b[31m\nWithin 5 tokens: {number}", "value": SENTENCE * 50} for number in range(2)]
    world.write("project/.nemp/memories.json", {"memories": store})
    ran = cli(["nemp", "recall", "gate", "--no-record", "--budget", "140"])
    assert "\x1b" not in ran.stdout
    assert sum(line.startswith("Within ") for line in ran.stdout.splitlines()) == 1


@pytest.mark.parametrize("written", ["0", "19", "-1", "1000001", "3.5", "many", ""])
@pytest.mark.parametrize("number", range(4))
def test_a_budget_that_is_none_is_a_usage_error(stocked: World, cli: RunCli, number: int, written: str) -> None:
    before = sorted(path for path in stocked.project.rglob("*"))
    ran = cli([*verbs(stocked)[number], f"--budget={written}", "--json"])
    assert ran.code == 2
    assert ran.json["error"]["code"] == "usage"
    assert ran.stderr.count("\n") == 1
    assert sorted(path for path in stocked.project.rglob("*")) == before


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is installed as a shell script")
def test_claims_keep_to_the_budget(world: World, cli: RunCli) -> None:
    coven = coven_in(world)
    coven.claim(A, "Gateway timeout is 30 seconds. Long work is queued. Nobody lowers it. " * 3)
    coven.claim(B, "Gateway timeout was 10 seconds. It was too short. " * 4)
    env = {**coven.finish().env().variables}

    def asked(*arguments: str) -> Any:
        ran = cli(["coven", "recall", "gateway timeout", *arguments], env=env)
        assert ran.code == 0, ran.stderr
        return ran

    whole = asked("--json").json
    assert whole["count"] == 2
    for limit in (60, 150, 300, 500, 700, 1_000):
        ran = asked("--json", "--budget", str(limit))
        answer = ran.json
        assert estimated_tokens(ran.stdout) == answer["budget"]["used"]
        assert answer["budget"]["used"] <= max(limit, 230)
        assert answer["count"] == len(answer["hits"])
        assert answer["count"] + answer["budget"]["omitted"] == 2
        assert (answer["dropped"], answer["omitted"]) == (whole["dropped"], whole["omitted"])
        for hit, full in zip(answer["hits"], whole["hits"], strict=False):
            assert full["snippet"].startswith(hit["snippet"])
            assert ("trimmed" in hit) == (hit["snippet"] != full["snippet"])
        assert estimated_tokens(asked("--budget", str(limit)).stdout) <= max(limit, 75)
    assert json.loads(asked("--json", "--budget", "5000").stdout)["hits"] == whole["hits"]
