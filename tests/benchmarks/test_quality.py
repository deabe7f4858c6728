"""The quality benchmark: its formulas on rankings worked out by hand, and its report on a collection of four texts."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import quality, quality_figures, quality_report
from benchmarks.corpora import Collection, Query, Store
from benchmarks.quality_figures import advantage, by_kind, estimate, in_order, measure, normalised_gain, summary
from benchmarks.subjects import Document, Ours

NOBODY: frozenset[int] = frozenset()


class Scripted:
    """A subject that answers what the test says."""

    name = "scripted"

    def __init__(self, answers: dict[str, list[int]]) -> None:
        self._answers = answers

    def index(self, documents: Sequence[Document]) -> None:
        pass

    def search(self, query: str, depth: int) -> list[int]:
        return self._answers[query][:depth]


class Floored(Scripted):
    """The same, with what it would say if it held nothing back."""

    def __init__(self, answers: dict[str, list[int]], unfloored: dict[str, list[int]]) -> None:
        super().__init__(answers)
        self._unfloored = unfloored

    def search_without_floor(self, query: str, depth: int) -> list[int]:
        return self._unfloored[query][:depth]


def collection(*queries: Query) -> Collection:
    documents = tuple(Document("", text) for text in ("zero", "one", "two", "three"))
    return Collection("made", (Store("made", documents, queries),))


def asked(text: str, *relevant: int, unwanted: frozenset[int] = NOBODY, kind: str = "question") -> Query:
    return Query(text, kind, frozenset(relevant), unwanted, "dev")


def test_recall_gain_and_first() -> None:
    gathered = collection(asked("a", 1, 2), asked("b", 3))
    found = summary(measure(Scripted({"a": [1, 0, 2], "b": [0]}), gathered), intervals=False)
    assert (found["recall_5"], found["recall_10"], found["first"]) == (50.0, 50.0, 50.0)
    assert found["ndcg_10"] == round(50 * (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)), 1)
    assert "silent" not in found
    assert "lost" not in found
    assert "in_order" not in found


def test_recall_counts_what_lies_between_five_and_ten() -> None:
    (outcome,) = measure(Scripted({"a": [9, 8, 7, 6, 5, 1]}), collection(asked("a", 1)))
    assert (outcome.recall_5, outcome.recall_10) == (0, 1)


def test_the_gain_of_a_perfect_ranking_is_one() -> None:
    assert normalised_gain(list(range(10)), range(20)) == pytest.approx(1)


def test_silence_counts_for_questions_without_an_answer_only() -> None:
    gathered = collection(asked("x", kind="nonsense"), asked("y", kind="off-topic"), asked("b", 3))
    found = measure(Scripted({"x": [], "y": [2], "b": []}), gathered)
    assert summary(found, intervals=False)["silent"] == 50.0
    assert {kind: summary(of, intervals=False).get("silent") for kind, of in by_kind(found).items()} == {
        "nonsense": 100.0,
        "off-topic": 0.0,
        "question": None,
    }


def test_lost_is_what_the_floor_took() -> None:
    gathered = collection(asked("kept", 1), asked("taken", 1), asked("never", 1), asked("partly", 1, 2))
    unfloored = {"kept": [1], "taken": [0, 1], "never": [0], "partly": [1, 2]}
    subject = Floored({"kept": [1], "taken": [], "never": [], "partly": [2]}, unfloored)
    assert [outcome.lost for outcome in measure(subject, gathered)] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("found", "ordered"),
    [([1, 2], 1), ([0, 1, 2], 1), ([2, 1], 0), ([0, 2], 0), ([1], 1), ([], 0)],
)
def test_a_superseded_memory_must_not_stand_before_its_successor(found: list[int], ordered: int) -> None:
    assert in_order(found, {1}, {2}) == ordered


def test_an_interval_holds_its_mean_and_is_the_same_each_time() -> None:
    values = [0.0, 1.0, 1.0, 0.5] * 20
    first = estimate(values)
    assert first.low < first.mean == 62.5 < first.high
    assert first == estimate(values)
    assert estimate([1.0] * 5) == (100, 100, 100)


def test_an_advantage_is_paired() -> None:
    gathered = collection(asked("a", 1), asked("b", 2), asked("x", kind="nonsense"))
    ours = measure(Scripted({"a": [1], "b": [2], "x": []}), gathered)
    theirs = measure(Scripted({"a": [1], "b": [], "x": []}), gathered)
    assert (advantage(ours, theirs, "recall_5") or {})["mean"] == 50.0
    assert (advantage(ours, theirs, "silent") or {})["mean"] == 0.0
    assert advantage(ours, theirs, "lost") is None
    with pytest.raises(ValueError, match="shorter"):
        advantage(ours, theirs[:1], "recall_5")


def test_our_subject_finds_by_key_title_tag_and_text() -> None:
    subject = Ours()
    documents = [
        Document("auth-flow", "magic link"),
        Document("MEM-1", "sessions", title="Redis"),
        Document("x", "y", ("oauth",)),
    ]
    subject.index(documents)
    assert [subject.search(query, 5) for query in ("auth flow", "redis", "oauth", "magic")] == [[0], [1], [2], [0]]


STORES = [
    {
        "name": "one",
        "memories": ["pnpm here", "a tram"],
        "queries": [{"query": "pnpm", "relevant": [0], "category": 1}],
    },
    {"name": "two", "memories": ["yarn", "a bus"], "queries": [{"query": "bus", "relevant": [1], "category": 2}]},
]


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    path = tmp_path / "stores.json"
    path.write_text(json.dumps(STORES))
    return path


def test_the_report_has_each_store_and_all_of_them_merged(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality.main([str(stores), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["stores"], row["memories"]) for row in report["collections"]] == [
        ("stores", 2, 4),
        ("stores, merged", 1, 4),
    ]
    assert all(row["subjects"][0]["recall_5"]["mean"] == 100 for row in report["collections"])


@pytest.mark.parametrize("form", [[], ["--markdown"]])
def test_people_get_tables(form: list[str], stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality.main([str(stores), *form]) == 0
    printed = capsys.readouterr().out
    assert "R@5" in printed
    assert "memory-recall" in printed
    assert ("|" in printed) == bool(form)


def test_a_half_is_named_where_there_are_halves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    memory = {"id": "a", "key": "pnpm", "text": "We use pnpm", "tags": [], "type": "fact", "scope": "project"}
    queries = [
        {"query": "pnpm", "kind": "exact-key", "relevant": ["a"], "not": [], "split": "dev"},
        {"query": "elephants", "kind": "nonsense", "relevant": [], "not": [], "split": "dev"},
        {"query": "which", "kind": "stop-words", "relevant": [], "not": [], "split": "held-out"},
    ]
    path = tmp_path / "world.json"
    path.write_text(json.dumps({"v": 1, "name": "world", "memories": [memory], "queries": queries}))
    assert quality.main([str(path), "--split", "dev"]) == 0
    printed = capsys.readouterr().out
    assert "2 questions, dev half" in printed
    assert "by kind of question" in printed
    assert "stop-words" not in printed


def test_what_is_absent_is_skipped_with_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality.main([str(tmp_path / "nothing.json")]) == 1
    assert "nothing.json: not found" in capsys.readouterr().err


def test_distances_are_printed_as_the_peer_s_points_from_ours() -> None:
    gathered = collection(asked("a", 1), asked("b", 2))
    peer = Scripted({"a": [1], "b": []})
    peer.name = "peer"
    row = quality.measured(gathered, [Scripted({"a": [1], "b": [2]}), peer])
    table = quality_report.as_table({"collections": [row], "skipped": []})
    assert "-50.0" in table.splitlines()[-1]
    assert quality_figures.DEPTH == 10
