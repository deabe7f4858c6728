"""The texts for people: what they look like, and that nothing in a memory can act in a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.faces.present import records, results
from memory_recall.faces.present.pieces import counted, line, number, preview, problem_line, problems
from memory_recall.faces.present.popup import WIDTH, hovered, width_of
from memory_recall.faces.present.terminal import Terminal

HERE = Terminal(cwd=Path("/home/ada/harbour"), home=Path("/home/ada"))

HOSTILE = "\x1b[31mred\x1b]8;;http://x\x07 \u202egnirts\u202c \u200bhidden\r\nSource: project (forged:1)\n\x9b2J"


def nemp_memory(**changed: Any) -> dict[str, Any]:
    return {
        "key": "auth-flow",
        "value": "JWT access tokens (15min) with refresh tokens (7 days)",
        "source": "project",
        "path": "/home/ada/harbour/.nemp/memories.json",
        "line": 12,
        "agent_id": "main",
        "created": "2024-01-15T10:30:00Z",
        "updated": "2024-01-20T14:22:00Z",
        "type": "procedure",
        "confidence": {"score": 0.91, "source": "user-confirmed", "reason": "said so"},
        "vitality": {"score": 94, "state": "thriving"},
        "links": {"superseded_by": None},
        "tags": [],
        "score": 1.0,
        "recorded": True,
        **changed,
    }


def nemp_answer(*memories: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "v": 1,
        "query": "auth",
        "match": "exact",
        "count": len(memories),
        "memories": list(memories),
        "shadowed": [],
        "problems": [],
        "omitted": 0,
        **changed,
    }


def test_one_nemp_memory_looks_as_the_contract_says() -> None:
    assert results.nemp(nemp_answer(nemp_memory()), HERE) == (
        "🔍 Memory: auth-flow\n"
        "Value: JWT access tokens (15min) with refresh tokens (7 days)\n"
        "Type: procedure | Vitality: 94 (thriving) | Confidence: 0.91\n"
        "Agent: main\n"
        "Updated: 2024-01-20T14:22:00Z\n"
        "Source: project (.nemp/memories.json:12)"
    )


def test_several_nemp_memories_are_a_list() -> None:
    long = nemp_memory(key="long", value="word " * 100, agent_id=None)
    text = results.nemp(nemp_answer(nemp_memory(), long, query="auth flow", match="value"), HERE)
    lines = text.split("\n")
    assert lines[0] == '🔍 Found 2 memories matching "auth flow":'
    assert lines[1] == ""
    assert lines[2] == "[auth-flow] (by main) - JWT access tokens (15min) with refresh tokens (7 days)..."
    assert lines[3].startswith("[long] (by unknown) - word word")
    assert lines[3].endswith("word...")
    assert lines[4:] == ["", "Use /nemp:recall <exact-key> for full details."]


def test_a_listed_memory_of_the_global_store_says_so() -> None:
    text = results.nemp(nemp_answer(nemp_memory(), nemp_memory(source="global"), match="partial"), HERE)
    assert text.split("\n")[3].endswith("(global)")


SUPERSEDED = {"code": "superseded", "message": 'It is superseded by "auth-v2".', "successor": "auth-v2"}
CONFLICTING = {"code": "conflicting", "message": 'It conflicts with "sso".', "successor": None}


def test_a_memory_that_may_not_hold_any_more_is_marked_in_every_form() -> None:
    doubtful = nemp_memory(standings=[SUPERSEDED, CONFLICTING], source="global", value="JWT")
    listed = results.nemp(nemp_answer(doubtful, nemp_memory(), match="partial"), HERE).split("\n")
    assert listed[2] == "[auth-flow] (by main) - JWT... (global) ⚠ superseded by auth-v2 ⚠ conflicting"
    assert "⚠" not in listed[3]
    whole = results.nemp(nemp_answer(doubtful), HERE).split("\n")
    assert whole[-2:] == ['⚠ It is superseded by "auth-v2".', '⚠ It conflicts with "sso".']


def test_a_key_held_twice_is_answered_twice_in_full() -> None:
    text = results.nemp(nemp_answer(nemp_memory(value="one"), nemp_memory(value="two", line=20)), HERE)
    first, second = text.split("\n\n")
    assert first.startswith("🔍 Memory: auth-flow\nValue: one\n")
    assert second.startswith("🔍 Memory: auth-flow\nValue: two\n")
    assert second.endswith("memories.json:20)")


@pytest.mark.parametrize(
    ("value", "spelt", "shown"),
    [(1.5, "1.50", "1.50"), (None, "null", "null"), ("1e999", None, "1e999"), (None, "", "unknown"), ("", None, "")],
)
def test_a_value_is_shown_as_its_store_spells_it(value: Any, spelt: str | None, shown: str) -> None:
    memory = nemp_memory(value=value, text=spelt)
    assert f"\nValue: {shown}\n" in results.nemp(nemp_answer(memory), HERE)
    assert f"- {shown}..." in results.nemp(nemp_answer(memory, memory, match="partial"), HERE)


def test_no_store_at_all_is_not_for_want_of_other_words() -> None:
    problem = {"code": "no-store", "message": "There is no nemp store here.", "path": None}
    text = results.nemp(nemp_answer(problems=[problem]), HERE)
    assert text.startswith("❌ No memories found")
    assert "Try other words" not in text
    assert text.endswith("⚠ There is no nemp store here.")


def test_no_nemp_memory_says_what_to_try() -> None:
    text = results.nemp(nemp_answer(query="xyzzy"), HERE)
    assert text.startswith('❌ No memories found for "xyzzy"\n')
    assert "memory-recall search" in text


def test_a_query_as_long_as_a_file_is_not_repeated_whole() -> None:
    assert len(results.nemp(nemp_answer(query="q" * 100_000), HERE)) < 500


def test_what_was_cut_and_what_was_shadowed_is_told() -> None:
    shadowed = {"key": "auth-flow", "source": "global", "path": "/home/ada/.nemp/memories.json", "line": 2}
    text = results.nemp(nemp_answer(nemp_memory(), omitted=4, shadowed=[shadowed]), HERE)
    assert "4 more matched; --limit shows more" in text
    assert "Also in global (~/.nemp/memories.json:2), shadowed by the project's own." in text


@pytest.mark.parametrize(
    "changed",
    [
        {"vitality": None, "confidence": None, "links": None, "type": None, "agent_id": None},
        {"vitality": [], "confidence": "sure", "links": [], "tags": None, "created": 5, "updated": {"a": 1}},
        {"vitality": {"score": "high", "state": 3}, "confidence": {"score": True}},
        {"value": None},
        {"value": {"nested": [1, 2.5, None]}},
        {"value": ""},
    ],
)
def test_odd_fields_are_shown_and_never_a_crash(changed: dict[str, Any]) -> None:
    assert "🔍 Memory: auth-flow" in results.nemp(nemp_answer(nemp_memory(**changed)), HERE)


def memory_answer(**changed: Any) -> dict[str, Any]:
    return {
        "v": 1,
        "run_id": "R-1",
        "query": "webhook",
        "scanned": 8,
        "matched": 0,
        "returned": 0,
        "expired_skipped": 0,
        "low_confidence_skipped": 0,
        "scope_filtered_skipped": 0,
        "continuity": {"live_sessions": [], "open_waitpoints": []},
        "memories": [],
        "problems": [],
        **changed,
    }


def agent_entry(**changed: Any) -> dict[str, Any]:
    return {
        "memory_id": "MEM-1",
        "type": "semantic",
        "title": "A title",
        "content": "What is remembered.",
        "tags": ["a"],
        "confidence": None,
        "created_at": None,
        "path": "/home/ada/harbour/.agent/memory/semantic/MEM-1.json",
        "line": 1,
        **changed,
    }


def test_what_an_agent_recall_left_out_is_counted() -> None:
    text = results.memory(
        memory_answer(
            memories=[agent_entry()],
            matched=3,
            expired_skipped=1,
            low_confidence_skipped=2,
            scope_filtered_skipped=3,
            continuity={
                "live_sessions": [{"session_id": "S-1"}],
                "open_waitpoints": [{"waitpoint_id": f"WP-{number}"} for number in range(5)],
            },
        ),
        HERE,
    )
    assert '🔍 Found 1 memory for "webhook", 2 more matched:' in text
    assert "Confidence: unknown" in text
    assert "1 expired" in text
    assert "2 below the confidence asked for" in text
    assert "3 of another scope" in text
    assert "Meanwhile: 1 live session (S-1) | 5 open waitpoints (WP-0, WP-1, WP-2, 2 more)" in text
    assert "Source: .agent/memory/semantic/MEM-1.json:1" in text


def test_an_agent_recall_without_hits_says_how_much_was_looked_at() -> None:
    assert '❌ No memories found for "webhook" among 8 entries' in results.memory(memory_answer(), HERE)


def coven_answer(**changed: Any) -> dict[str, Any]:
    return {
        "v": 1,
        "hits": [],
        "count": 0,
        "queried_at": "2026-11-30T00:00:00Z",
        "manifest_hash": None,
        "dropped": 0,
        "dropped_reasons": {},
        "note": None,
        "problems": [],
        **changed,
    }


def test_a_claim_is_shown_with_who_attested_it_how_sure_and_when() -> None:
    hit = {
        "ulid": "01J4K9R81M6D92TX6D4E7R31VZ",
        "title": "A fact",
        "snippet": "What is claimed.",
        "attested_by": "sage",
        "attestation_type": "self",
        "confidence": "high",
        "promoted_at": "2026-04-01T10:00:00Z",
        "superseded_by": "01J9ZZ5Q3W8N4T7C2B6KXM0HPE",
        "source_context": "session://sage/2026-04-01/old",
        "path": "/home/ada/.coven/memory/snapshots/01J.md",
        "line": 1,
    }
    text = results.coven(coven_answer(hits=[hit], dropped=2, dropped_reasons={"attestation-missing": 2}), HERE)
    assert "Attested by sage (self) | Confidence: high | Promoted: 2026-04-01T10:00:00Z" in text
    assert "Superseded by 01J9ZZ5Q3W8N4T7C2B6KXM0HPE" in text
    assert "Claim: ~/.coven/memory/snapshots/01J.md:1" in text
    assert "Source: session://sage/2026-04-01/old" in text
    assert "index" not in text
    assert "Dropped: 2 (2 attestation missing)" in text


@pytest.mark.parametrize(("verified", "said"), [(True, "shown is the verified text"), (False, "nobody attested")])
def test_an_index_that_holds_another_text_is_told(verified: bool, said: str) -> None:
    hit = {"ulid": "01J", "title": "T", "snippet": "S", "verified": verified, "indexed_text_differs": True}
    text = results.coven(coven_answer(hits=[hit]), HERE)
    assert "⚠ The index holds another text" in text
    assert said in text


def test_a_source_of_a_claim_that_does_not_hold_is_shown_with_a_warning() -> None:
    standing = {"code": "unverified", "message": "Its snapshot was changed.", "successor": None}
    opened = {"reference": "x.md", "resolved": "/x.md", "text": "what was said", "note": None, "standings": [standing]}
    assert "⚠ Its snapshot was changed." in results.opened_source(opened, HERE)


def test_a_store_that_never_ran_is_told_honestly() -> None:
    text = results.coven(coven_answer(note="promotion layer has not run"), HERE)
    assert text.startswith(
        "❌ No claims found: promotion layer has not run\n\nThere is no ~/.coven/memory/manifest.jsonl"
    )
    blank = results.coven(coven_answer(note="promotion layer has not run", manifest_hash="ab"), HERE)
    assert blank.startswith("❌ No claims found: promotion layer has not run\n")
    assert "There is no" not in blank


def record(**changed: Any) -> dict[str, Any]:
    return {
        "system": "nemp",
        "id": "auth-flow",
        "title": "auth-flow",
        "text": "JWT",
        "tags": [],
        "standings": [],
        "provenance": {
            "system": "nemp",
            "source": "project",
            "path": "/home/ada/harbour/.nemp/memories.json",
            "line": 3,
            "column": 5,
            "author": "main",
            "confidence": 0.9,
            "verified": None,
        },
        "fields": {"key": "auth-flow", "value": "JWT"},
        **changed,
    }


def test_a_shown_record_has_its_provenance_and_every_field() -> None:
    standing = {"code": "superseded", "message": "auth-flow-v2 replaced it.", "successor": "auth-flow-v2"}
    text = records.show({"reference": "auth-flow", "records": [record(standings=[standing])]}, HERE)
    assert "[nemp:auth-flow]\n    JWT\n⚠ auth-flow-v2 replaced it.\n" in text
    assert "Source: project (.nemp/memories.json:3)" in text
    assert '"value": "JWT"' in text


def test_an_unknown_reference_names_what_comes_near() -> None:
    text = records.show({"reference": "auth-flw", "records": [], "suggestions": ["auth-flow", "auth"]}, HERE)
    assert 'called "auth-flw"' in text
    assert "Did you mean auth-flow or auth?" in text


def everything_with(text: str) -> list[str]:
    """Each presenter's text with the given one in every foreign place."""
    problem = {"path": f"/home/ada/{text}", "line": 1, "code": "x", "message": text}
    nemp = nemp_memory(
        key=text, value=text, agent_id=text, updated=text, type=text, confidence={"score": text},
        vitality={"score": text, "state": text}, links={"superseded_by": text}, path=f"/{text}", source=text,
        standings=[{"code": text, "message": text, "successor": text}],
    )  # fmt: skip
    entry = agent_entry(
        memory_id=text, title=text, content=text, tags=[text], type=text, confidence=text, created_at=text, path=text
    )
    claim_fields = "ulid title snippet attested_by attestation_type confidence promoted_at superseded_by source_context"
    claim = dict.fromkeys([*claim_fields.split(), "path"], text)
    provenance = dict.fromkeys(record()["provenance"], text)
    hit = {"system": "nemp", "id": text, "title": text + "t", "text": text, "score": 1, "provenance": provenance}
    also = [{"system": "nemp", "id": text, "provenance": provenance}]
    whole = record(id=text, title=text + "t", text=text, tags=[text], provenance=provenance, fields={text: text})
    change = {"key": text, "reads_7d": {"from": text, "to": 2}}
    left = {"key": text, "last_read": text, "reason": text}
    return [
        results.nemp(nemp_answer(nemp, query=text, problems=[problem]), HERE),
        results.nemp(nemp_answer(nemp, nemp, query=text, match="partial"), HERE),
        results.nemp(nemp_answer({**nemp, "value": 1, "text": text}), HERE),
        results.recount({"changes": [change], "checked": 1, "left": [left], "problems": [problem]}, HERE),
        results.memory(memory_answer(memories=[entry], query=text, run_id=text, problems=[problem]), HERE),
        results.coven(coven_answer(hits=[claim], manifest_hash=text, dropped=1, dropped_reasons={text: 1}), HERE),
        results.coven(coven_answer(note=text), HERE),
        results.search({"query": text, "hits": [{**hit, "also": also}], "problems": [problem]}, HERE),
        results.opened_source(
            {"reference": text, "resolved": text, "text": text, "note": text, "standings": [{"message": text}]}, HERE
        ),
        records.show({"reference": text, "records": [], "suggestions": [text]}, HERE),
        records.show({"reference": text, "records": [whole]}, HERE),
        hovered(text, 0, 3, text),
    ]


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def test_nothing_in_a_memory_reaches_a_terminal_as_control_characters() -> None:
    for text in everything_with(HOSTILE):
        assert CONTROL.search(text) is None


@given(st.text(st.characters(), max_size=40))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_no_text_whatever_reaches_a_terminal_as_control_characters(text: str) -> None:
    for shown in everything_with(text):
        assert CONTROL.search(shown) is None


def test_a_line_of_a_memory_cannot_pass_for_a_field() -> None:
    forged = "harmless\nSource: project (forged:1)\nAgent: root"
    text = results.nemp(nemp_answer(nemp_memory(value=forged)), HERE)
    assert [part for part in text.split("\n") if part.startswith("Source: ")] == [
        "Source: project (.nemp/memories.json:12)"
    ]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/ada/harbour/.nemp/memories.json", ".nemp/memories.json"),
        ("/home/ada/.nemp/memories.json", "~/.nemp/memories.json"),
        ("/home/ada2/x", "/home/ada2/x"),
        ("/home/ada/harbour2/x", "~/harbour2/x"),
        ("/srv/x", "/srv/x"),
    ],
)
def test_a_path_is_as_short_as_it_can_be_opened_here(path: str, shown: str) -> None:
    assert HERE.path(path) == shown


def test_a_problem_does_not_say_its_path_twice() -> None:
    assert (
        problem_line(
            {"path": "/home/ada/.nemp/memories.json", "message": "/home/ada/.nemp/memories.json is a directory."}, HERE
        )
        == "~/.nemp/memories.json is a directory."
    )
    assert (
        problem_line({"path": "/home/ada/x", "line": 4, "column": 3, "message": "Not valid."}, HERE)
        == "~/x:4:3: Not valid."
    )
    assert problem_line({"path": None, "message": "Not recorded."}, HERE) == "Not recorded."


def test_small_pieces() -> None:
    assert [number(value) for value in (0.5, 1.0, 3, None, True, "high", 0.12345)] == [
        "0.5", "1", "3", "unknown", "true", "high", "0.1235",
    ]  # fmt: skip
    assert [counted(count, "memory", "memories") for count in (0, 1, 2)] == ["0 memories", "1 memory", "2 memories"]
    assert preview("a\n  b\tc") == "a b c"
    assert line("a\nb") == "a\\nb"


def test_a_popup_has_straight_edges_whatever_is_in_it() -> None:
    text = "短い\n" + "日本語の長い文章" * 20 + "\n😀 wide\n" + "word " * 40 + "\n\ttab\ne\u0301 combining"
    shown = hovered("see [[nemp:日本]] now", 4, 15, text).split("\n")
    assert shown[0] == "see [[nemp:日本]] now"
    assert shown[1] == "    " + "^" * 13
    assert {width_of(line) for line in shown[2:]} == {WIDTH + 4}


def test_what_is_indented_in_a_popup_stays_so_where_it_is_cut() -> None:
    shown = hovered("x", 0, 1, "    " + "word " * 40 + "\n" + " " * 200 + "日本" * 80).split("\n")
    assert all(line.startswith("│     ") for line in shown[3:-1])
    assert "".join(shown).count("日") == 80


def test_beside_an_answer_stand_a_few_problems_and_the_number_of_the_others() -> None:
    shape = {"problems": [{"path": None, "code": "x", "message": f"Problem {number}."} for number in range(20)]}
    lines = problems(shape, HERE)
    assert lines[0] == ""
    assert len(lines) == 7
    assert lines[-1] == "⚠ 15 more problems; `memory-recall doctor` lists them."
    assert len(problems(shape, HERE, limit=None)) == 21
    assert len(problems({"problems": shape["problems"][:6]}, HERE)) == 7


def test_from_the_root_paths_keep_their_first_separator() -> None:
    assert Terminal(cwd=Path("/")).path("/home/ada/.nemp/memories.json") == "/home/ada/.nemp/memories.json"
    assert Terminal(cwd=Path("/"), home=Path("/home/ada")).path("/home/ada/x") == "~/x"


@pytest.mark.parametrize("forged", ["fact | Vitality: 100 (thriving)", "sage · Verified: hash and attestation hold"])
def test_a_value_that_could_pass_for_several_fields_stands_in_quotes(forged: str) -> None:
    assert line(forged) == f'"{forged}"'
    text = results.nemp(nemp_answer(nemp_memory(type=forged, agent_id=forged)), HERE)
    assert f'Type: "{forged}" | Vitality: 94' in text
    assert f'Agent: "{forged}"' in text
