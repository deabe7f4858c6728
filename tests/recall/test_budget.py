"""A budget of tokens over any recall: what is promised of the answer, its order, its counts and its cuts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_recall.errors import UsageError
from memory_recall.faces.present import results
from memory_recall.faces.present.terminal import Terminal
from memory_recall.files.writing import NotWritten
from memory_recall.model import Problem
from memory_recall.recall import nemp_accounting
from memory_recall.recall.agent import AgentQuery
from memory_recall.recall.agent import recall as recall_agent
from memory_recall.recall.budget import Budget, Item, Share, Spent, Trimmed, fitted, settled, trimmed_to
from memory_recall.recall.everywhere import SearchQuery, search
from memory_recall.recall.nemp import NempMemory, NempQuery, NempResult
from memory_recall.recall.nemp import recall as recall_nemp
from memory_recall.stores.shelf import Shelf
from memory_recall.text.json_values import dumps
from memory_recall.text.sentences import ends
from memory_recall.text.token_estimate import estimated_tokens
from worlds import World


class Answer(NamedTuple):
    """The smallest thing that a budget can be about."""

    memories: tuple[tuple[str, str | int, Trimmed | None], ...]
    problems: tuple[str, ...] = ()
    budget: Spent | None = None

    def items(self) -> Sequence[Item]:
        return [
            Item(name, text if isinstance(text, str) else None, trimmed is not None)
            for name, text, trimmed in self.memories
        ]

    def within(self, share: Share) -> Answer:
        memories = []
        for portion in share.portions:
            name, text, earlier = self.memories[portion.number]
            trimmed = trimmed_to(str(text), portion, earlier)
            memories.append((name, text if portion.text is None else portion.text, trimmed))
        return Answer(tuple(memories), self.problems[: share.problems], share.spent)

    def as_json(self) -> dict[str, Any]:
        return {
            "memories": [
                {"key": name, "value": text, "trimmed": trimmed and trimmed.as_json()}
                for name, text, trimmed in self.memories
            ],
            "problems": list(self.problems),
            "budget": self.budget and self.budget.as_json(),
        }


def size(answer: Answer) -> int:
    return estimated_tokens(dumps(answer.as_json()))


def answer_of(*texts: str | int, problems: Sequence[str] = ()) -> Answer:
    return Answer(tuple((f"key-{number}", text, None) for number, text in enumerate(texts)), tuple(problems))


EMPTY = size(answer_of().within(Share((), 0, Spent(1_000, 1_000))))
"""What an answer without a memory takes, and with that a figure of four digits for the limit."""

SENTENCE = "The gateway retries three times. "
TEXTS = st.lists(
    st.sampled_from(
        [SENTENCE, "超时之后重试三次。", "Ja! ", "🔥🎉", "v1.2 of a.py ", "\n", "e.g. this ", "مرحبا. ", '"\\\t']
    )
    | st.text(max_size=30),
    max_size=12,
).map("".join)
ANSWERS = st.builds(
    lambda values, problems: answer_of(*values, problems=problems),
    st.lists(TEXTS | st.integers(), max_size=7),
    st.lists(st.text(max_size=60), max_size=4),
)


@given(ANSWERS, st.integers(20, 600))
def test_the_answer_is_never_larger_than_the_budget(whole: Answer, limit: int) -> None:
    answer = fitted(whole, Budget(limit))
    spent = answer.budget
    assert spent is not None
    frame = size(answer_of().within(Share((), 0, spent._replace(named=()))))
    assert size(answer) <= max(limit, frame)
    assert size(answer) <= spent.used <= max(limit, size(answer))


@given(ANSWERS, st.integers(20, 600))
def test_the_order_stays_the_counts_add_up_and_nothing_is_cut_in_silence(whole: Answer, limit: int) -> None:
    answer = fitted(whole, Budget(limit))
    spent = answer.budget
    assert spent is not None
    names = [name for name, _, _ in whole.memories]
    given_names = [name for name, _, _ in answer.memories]
    assert given_names == [name for name in names if name in given_names]
    assert len(given_names) + spent.omitted == len(names)
    left_out = [name for name in names if name not in given_names]
    assert list(spent.named) == left_out[: len(spent.named)]
    assert len(answer.problems) + spent.problems_omitted == len(whole.problems)
    assert answer.problems == whole.problems[: len(answer.problems)]
    texts = {name: text for name, text, _ in whole.memories}
    cut = [(name, text, trimmed) for name, text, trimmed in answer.memories if text != texts[name]]
    assert len(cut) == spent.trimmed <= 1
    for name, text, trimmed in cut:
        full = texts[name]
        assert isinstance(full, str)
        assert isinstance(text, str)
        assert full.startswith(text)
        assert len(text) in list(ends(full))
        assert trimmed == Trimmed(text, len(full))
        assert answer.memories[-1][0] == name


@given(ANSWERS)
def test_where_all_fits_all_is_given(whole: Answer) -> None:
    answer = fitted(whole, Budget(100_000))
    assert (answer.memories, answer.problems) == (whole.memories, whole.problems)
    assert answer.budget == Spent(100_000, size(answer))


@given(ANSWERS, st.integers(20, 600), st.lists(st.text(max_size=80), max_size=3))
def test_what_comes_up_afterwards_takes_its_room_and_costs_no_memory(
    whole: Answer, limit: int, problems: list[str]
) -> None:
    before = fitted(whole, Budget(limit))
    after = settled(before._replace(problems=(*before.problems, *problems)), Budget(limit))
    assert [name for name, _, _ in after.memories] == [name for name, _, _ in before.memories]
    assert after.budget is not None
    assert before.budget is not None
    assert after.budget.omitted == before.budget.omitted
    assert len(after.problems) + after.budget.problems_omitted == len(whole.problems) + len(problems)
    if size(before) <= limit:
        # What has no room at all then is the problems; a memory that is no text was counted with its own room.
        assert size(after) <= limit
    texts = {name: text for name, text, _ in whole.memories}
    for name, text, trimmed in after.memories:
        assert trimmed is None or trimmed.of == len(str(texts[name]))
        assert str(texts[name]).startswith(str(text))


def test_the_best_is_whole_the_next_ends_after_a_sentence_and_the_others_are_named() -> None:
    long = SENTENCE * 2 + "And it goes on " * 40 + "for ever."
    answer = fitted(answer_of(SENTENCE, long, "Short.", "Short."), Budget(EMPTY + 120))
    beginning = SENTENCE * 2
    assert answer.memories == (
        ("key-0", SENTENCE, None),
        ("key-1", beginning.strip(), Trimmed(beginning.strip(), len(long))),
    )
    assert answer.budget is not None
    assert (answer.budget.trimmed, answer.budget.omitted, answer.budget.named) == (1, 2, ("key-2", "key-3"))


def test_what_cannot_be_cut_is_left_out_and_the_next_one_is_tried() -> None:
    no_sentence = "word " * 200
    answer = fitted(answer_of(10**500, no_sentence, SENTENCE), Budget(EMPTY + 60))
    assert [name for name, _, _ in answer.memories] == ["key-2"]
    assert answer.budget is not None
    assert answer.budget.omitted == 2


def test_problems_do_not_crowd_out_the_memories() -> None:
    answer = fitted(answer_of(SENTENCE, problems=["This store is broken: see to it. " * 3] * 50), Budget(400))
    assert len(answer.memories) == 1
    assert 1 < len(answer.problems) < 50
    assert answer.budget is not None
    assert answer.budget.problems_omitted == 50 - len(answer.problems)


@pytest.mark.parametrize("limit", [0, 19, -5, 1_000_001, 2.0, True, "300"])
def test_a_budget_that_is_none_is_a_usage_error(world: World, limit: Any) -> None:
    budget = Budget(limit)
    for ask in (
        lambda: recall_nemp(NempQuery("x", budget=budget), world.place, world.env, Shelf()),
        lambda: recall_agent(AgentQuery("x", budget=budget), world.project, world.env, Shelf()),
        lambda: search(SearchQuery("x", budget=budget), world.place, world.env, Shelf()),
    ):
        with pytest.raises(UsageError, match="a whole number of tokens from 20 to 1,000,000"):
            ask()


# the real recalls


STORE = [
    {"key": "retry-policy", "value": SENTENCE * 12, "agent_id": "main", "created": "2026-01-20T14:22:00Z"},
    {"key": "retry-limit", "value": {"retries": 3, "per": "gateway"}},
    {
        "key": "retry-queue",
        "value": "Danach in die Warteschlange. Ada sieht nach.",
        "type": "rule",
    },
    {"key": "retry-超时", "value": "网关超时后重试三次。超过之后写入死信队列。" * 6},
]


def test_only_what_a_budget_leaves_counts_as_read(world: World) -> None:
    store = world.write("project/.nemp/memories.json", {"memories": STORE})
    budget = Budget(900)
    answer = recall_nemp(NempQuery("retry", budget=budget), world.place, world.env, Shelf())
    assert answer.budget is not None
    assert 0 < len(answer.memories) < len(STORE)
    assert estimated_tokens(dumps(answer.as_json())) == answer.budget.used <= 900
    read = {memory.key for memory in answer.memories}
    log = (store.parent / "access.log").read_text(encoding="utf-8")
    assert [f"key={entry['key']} " in log for entry in STORE] == [entry["key"] in read for entry in STORE]
    for entry in json.loads(store.read_text(encoding="utf-8"))["memories"]:
        assert ("vitality" in entry) == (entry["key"] in read)
        assert entry["value"] == next(other["value"] for other in STORE if other["key"] == entry["key"])


@pytest.mark.parametrize("limit", range(20, 1_600, 60))
def test_a_recall_is_sized_as_it_is_after_the_read(world: World, limit: int) -> None:
    """The figures that a first read adds are foreseen: nothing has to be cut when they are there."""
    world.write("project/.nemp/memories.json", {"memories": STORE})
    answer = recall_nemp(NempQuery("retry", budget=Budget(limit)), world.place, world.env, Shelf())
    assert answer.budget is not None
    assert answer.budget.used <= max(limit, 110)
    assert len(answer.memories) + answer.budget.omitted == len(STORE)
    for memory in answer.memories:
        assert memory.recorded
        assert memory.trimmed is None or memory.trimmed.text == memory.value == memory.text


def test_a_read_that_cannot_be_recorded_is_told_within_the_budget(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotWritten(Problem("read-only", "The disk is read-only; make it writable.", "/x"))

    monkeypatch.setattr(nemp_accounting, "rewrite_entries", refuse)
    world.write("project/.nemp/memories.json", {"memories": STORE})
    answer = recall_nemp(NempQuery("retry", budget=Budget(600)), world.place, world.env, Shelf())
    assert answer.budget is not None
    assert answer.memories
    assert not any(memory.recorded for memory in answer.memories)
    assert estimated_tokens(dumps(answer.as_json())) <= 600


def test_what_somebody_else_wrote_meanwhile_is_answered_within_the_budget(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = world.write("project/.nemp/memories.json", {"memories": STORE[:1]})
    changed = "Nobody retries any more. " * 90
    account = nemp_accounting.account

    def after_another_writer(*arguments: Any) -> Any:
        store.write_text(json.dumps({"memories": [{**STORE[0], "value": changed}]}), encoding="utf-8")
        return account(*arguments)

    monkeypatch.setattr(nemp_accounting, "account", after_another_writer)
    answer = recall_nemp(NempQuery("retry-policy", budget=Budget(600)), world.place, world.env, Shelf())
    (memory,) = answer.memories
    assert memory.recorded
    assert memory.trimmed == Trimmed(memory.value, len(changed))
    assert changed.startswith(memory.value)
    assert answer.budget is not None
    assert estimated_tokens(dumps(answer.as_json())) == answer.budget.used <= 600


def test_the_record_of_a_run_is_what_was_answered(world: World) -> None:
    for number in range(6):
        entry = {
            "schema_version": 1,
            "memory_id": f"MEM-{number}",
            "type": "semantic",
            "title": f"Gateway {number}",
            "content": SENTENCE * (number + 1),
            "confidence": 0.8,
            "created_at": "2026-08-02T00:00:00Z",
        }
        world.write(f"project/.agent/memory/semantic/MEM-{number}.json", entry)
    request = AgentQuery("gateway", limit=6, budget=Budget(900))
    answer = recall_agent(request, world.project, world.env, Shelf())
    assert answer.record is not None
    assert json.loads(answer.record.read_text(encoding="utf-8")) == answer.as_record()
    assert answer.budget is not None
    assert answer.counts.returned == len(answer.hits)
    assert answer.counts.matched == 6 == len(answer.hits) + answer.budget.omitted
    assert estimated_tokens(dumps(answer.as_json())) == answer.budget.used <= 900
    assert answer.message is not None
    told = answer.message.read_text(encoding="utf-8")
    assert [f"MEM-{n}:" in told for n in range(6)] == [
        any(hit.entry.memory_id == f"MEM-{n}" for hit in answer.hits) for n in range(6)
    ]


def test_a_search_names_what_it_leaves_out_with_its_system(world: World) -> None:
    world.write("project/.nemp/memories.json", {"memories": STORE})
    whole = search(SearchQuery("retry gateway"), world.place, world.env, Shelf())
    answer = search(SearchQuery("retry gateway", budget=Budget(700)), world.place, world.env, Shelf())
    assert answer.budget is not None
    assert estimated_tokens(dumps(answer.as_json())) == answer.budget.used <= 700
    assert answer.budget.omitted + len(answer.hits) == len(whole.hits)
    left_out = [f"nemp:{hit.memory.id}" for hit in whole.hits[len(answer.hits) :]]
    assert list(answer.budget.named) == left_out[: len(answer.budget.named)]
    for hit, full in zip(answer.hits, whole.hits, strict=False):
        shape = hit.as_json()
        assert full.memory.text.startswith(shape["text"])
        if hit.trimmed is not None:
            assert shape["truncated"]
            assert shape["trimmed"] == {"shown": len(shape["text"]), "of": len(full.memory.text)}


@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(20, 500))
def test_the_text_for_people_keeps_to_the_budget_as_well(texts: list[str], limit: int) -> None:
    terminal = Terminal(cwd=Path("/project"))

    def printed(shape: Any) -> str:
        return results.nemp(shape, terminal)

    memories = tuple(
        NempMemory(
            key=f"key {number}", value=text, text=text, source="project", path=Path("/project/.nemp/memories.json"),
            line=number, column=1, agent_id=None, created=None, updated=None, type=None, confidence=None, vitality=None,
            links=None, tags=(), score=0.5, recorded=False,
        )
        for number, text in enumerate(texts)
    )  # fmt: skip
    answer = fitted(NempResult("key", "partial", memories), Budget(limit, printed))
    text = printed(answer.as_json())
    assert estimated_tokens(text) <= max(limit, 40)
    assert answer.budget is not None
    assert answer.budget.omitted + len(answer.memories) == len(texts)
    assert ("left out" in text.rpartition("Within")[2]) == (answer.budget.omitted > 0)
