"""The option `budget` of the editor's commands: which have it, what it may be, and that the result keeps to it."""

from __future__ import annotations

import os
from typing import Any

import pytest

from agent_entries import write_entry
from coven_worlds import A, coven_in
from memory_recall.cancellation import Cancellation
from memory_recall.errors import UsageError
from memory_recall.faces.commands import COMMANDS, Surroundings, find, options_of
from memory_recall.stores.shelf import Shelf
from memory_recall.text.json_values import dumps
from memory_recall.text.token_estimate import estimated_tokens
from worlds import World

RECALLS = ("nemp.recall", "memory.recall", "coven.recall", "search")


def run(world: World, verb: str, **options: Any) -> dict[str, Any]:
    command = find(f"memoryRecall.{verb}")
    assert command is not None
    surroundings = Surroundings(world.place, world.env, Shelf(), Cancellation())
    return command.execute(command.parse([options]), surroundings)


def test_every_recall_has_the_option_and_nothing_else_has() -> None:
    assert tuple(command.verb for command in COMMANDS if "budget" in options_of(command)) == RECALLS


@pytest.mark.parametrize("verb", RECALLS)
@pytest.mark.parametrize("budget", [0, 19, 1_000_001, 1.5, True, "300", [300]])
def test_a_budget_that_is_none_is_refused_with_a_sentence(verb: str, budget: Any) -> None:
    command = find(f"memoryRecall.{verb}")
    assert command is not None
    with pytest.raises(UsageError, match=r"`budget` of .* must be a whole number of tokens from 20 to 1,000,000\."):
        command.parse([{"query": "x", "budget": budget}])


@pytest.mark.parametrize("verb", [verb for verb in RECALLS if verb != "coven.recall"])
@pytest.mark.parametrize("budget", [1_000, 1_000.0, 1_500, None])
def test_the_result_keeps_to_the_budget(world: World, verb: str, budget: Any) -> None:
    texts = [" ".join(f"The gateway number {number}{part} retries." for part in range(30)) for number in range(8)]
    entries = [{"key": f"gateway-{number}", "value": text} for number, text in enumerate(texts[:4])]
    world.write("project/.nemp/memories.json", {"memories": entries})
    for number, text in enumerate(texts[4:]):
        write_entry(world, f"MEM-2026-{number}", title=f"Gateway {number}", content=text)
    result = run(world, verb, query="gateway", budget=budget)
    if budget is None:
        assert "budget" not in result
        return
    assert estimated_tokens(dumps(result)) == result["budget"]["used"] <= budget
    memories = result.get("memories", result.get("hits"))
    assert memories
    assert result["budget"]["omitted"] + len(memories) >= 4
    assert result["budget"]["omitted"] > 0
    assert result["budget"]["trimmed"] == sum("trimmed" in memory for memory in memories)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is installed as a shell script")
def test_claims_within_a_budget(world: World) -> None:
    command = find("memoryRecall.coven.recall")
    assert command is not None
    coven = coven_in(world)
    coven.claim(A, "Gateway timeout is 30 seconds. " * 6)
    surroundings = Surroundings(world.place, coven.finish().env(), Shelf(), Cancellation())
    result = command.execute(command.parse([{"query": "gateway timeout", "budget": 600}]), surroundings)
    assert estimated_tokens(dumps(result)) == result["budget"]["used"] <= 600
    assert result["count"] + result["budget"]["omitted"] == 1
