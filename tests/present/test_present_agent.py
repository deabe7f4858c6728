"""A recall of `.agent` memories as text: what no longer holds is marked, and an empty answer says what to try."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_recall.faces.present import pieces, results
from memory_recall.faces.present.terminal import Terminal

HERE = Terminal(cwd=Path("/home/ada/harbour"), home=Path("/home/ada"))


def answer(*memories: dict[str, Any], **changed: Any) -> dict[str, Any]:
    counts = ("expired_skipped", "low_confidence_skipped", "scope_filtered_skipped")
    found = len(memories)
    return {
        "run_id": "R-1",
        "query": "webhook",
        "ranked_by": "relevance",
        "scanned": 8,
        "matched": found,
        "returned": found,
        **dict.fromkeys(counts, 0),
        "memories": list(memories),
        "problems": [],
        **changed,
    }


def entry(**changed: Any) -> dict[str, Any]:
    return {"memory_id": "MEM-1", "title": "A title", "content": "Remembered.", "path": "/x/MEM-1.json", **changed}


def shown(*memories: dict[str, Any], **changed: Any) -> str:
    return results.memory(answer(*memories, **changed), HERE)


def test_an_expired_entry_is_marked_and_no_other() -> None:
    expired = entry(memory_id="MEM-2", expired=True, expires_at="2026-08-30\x1b[0m")
    text = shown(entry(expired=False, expires_at="2027-01-01"), expired)
    assert text.count("⚠") == 1
    assert "[MEM-2] A title\n    Remembered.\n  ⚠ It expired at 2026-08-30\\x1b[0m.\n" in text


@pytest.mark.parametrize(
    ("query", "memories", "matched", "heading"),
    [
        ("the", 2, 4, '🔍 No words to search by in "the"; 2 of 4 memories, ranked by confidence and recency:'),
        ("🚀", 1, 1, '🔍 No words to search by in "🚀"; 1 memory, ranked by confidence and recency:'),
        (" ", 2, 2, "🔍 No words to search by; 2 memories, ranked by confidence and recency:"),
        ("the", 0, 0, '❌ No words to search by in "the"; no memories found'),
    ],
)
def test_without_words_nothing_is_said_to_be_found_for_them(
    query: str, memories: int, matched: int, heading: str
) -> None:
    text = shown(*[entry()] * memories, query=query, matched=matched, ranked_by="confidence")
    assert text.split("\n")[0] == heading


def test_an_empty_answer_says_what_to_try() -> None:
    text = shown()
    assert "\nTry other words; `memory-recall search` looks in all stores, `memory-recall show MEM-…` shows one" in text
    assert "Try" not in shown(entry())
    text = shown(expired_skipped=2, low_confidence_skipped=1)
    assert "Left out: 2 expired (--include-expired shows them), 1 below the confidence asked for" in text
    assert "\nTry these, or other words;" in text


def test_a_run_that_left_no_record_is_not_named() -> None:
    assert "\nRun: R-1" in shown()
    assert "Run:" not in shown(problems=[{"code": "run-not-recorded", "message": "This run left no record."}])


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("/home/ada/harbour/a.json repeats /home/ada/harbour/b.json", "a.json repeats b.json"),
        ("/home/ada/harbour/a.json leads to /home/ada/other/b", "a.json leads to ~/other/b"),
        ("/home/ada/harbour/a.json: see /mnt/home/ada/harbour/b", "a.json: see /mnt/home/ada/harbour/b"),
        ("/home/ada/harbour/a.json: see /home/ada/harbours/b", "a.json: see ~/harbours/b"),
    ],
)
def test_every_path_of_a_problem_is_as_short_as_it_can_be_opened_here(message: str, written: str) -> None:
    assert pieces.problem_line({"path": "/home/ada/harbour/a.json", "message": message}, HERE) == written


def test_from_the_root_every_path_stays_whole() -> None:
    problem = {"path": None, "message": "/a/b repeats /c/d"}
    assert pieces.problem_line(problem, Terminal(cwd=Path("/"), home=Path("/"))) == "/a/b repeats /c/d"
