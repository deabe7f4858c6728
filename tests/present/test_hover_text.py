"""What a hover says, as Markdown and as plain text, and that nothing in a memory can become more than text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory_recall.catalogue import Resolution
from memory_recall.faces.present.hover import LINE_LIMIT, VALUE_LIMIT, hover_text
from memory_recall.model import Memory, Problem, Provenance, Standing

WORKSPACE = Path("/w/app")
HOME = Path("/home/ann")


def memory(text: str = "JWT", **more: object) -> Memory:
    where = Provenance("nemp", "project", WORKSPACE / ".nemp/memories.json", 12, 14, author="main", confidence=0.91)
    return Memory("nemp", "auth-flow", "auth-flow", text, where)._replace(**more)  # type: ignore[arg-type]


def shown(*memories: Memory, markdown: bool = True, **more: object) -> str:
    resolution = Resolution("nemp:auth-flow", memories)._replace(**more)  # type: ignore[arg-type]
    return hover_text(resolution, markdown=markdown, workspace=WORKSPACE, home=HOME)


def test_a_hover_is_value_then_provenance() -> None:
    fields = {"type": "procedure", "vitality": {"score": 94, "state": "thriving"}}
    where = memory().provenance._replace(created="2024-01-15", updated="2024-01-20T14:22:00Z")
    assert shown(memory(fields=fields, provenance=where, tags=("a", "b")), markdown=False) == (
        "auth-flow · nemp, project\n\n"
        "    JWT\n\n"
        "Type: procedure · Vitality: 94 (thriving) · Confidence: 0.91 · Tags: a, b\n"
        "Author: main\n"
        "Created: 2024-01-15 · Updated: 2024-01-20T14:22:00Z\n"
        "Source: .nemp/memories.json:12"
    )


def test_in_markdown_foreign_text_is_code() -> None:
    assert shown(memory()) == (
        "**`auth-flow`** · nemp, `project`\n\n"
        "```text\nJWT\n```\n\n"
        "Confidence: `0.91`  \n"
        "Author: `main`  \n"
        "Source: `.nemp/memories.json:12`"
    )


def test_a_claim_says_who_attested_it_and_whether_that_holds() -> None:
    where = Provenance(
        "coven",
        "coven",
        HOME / ".coven/memory/snapshots/01K.md",
        1,
        attested_by="bob",
        attestation_type="review",
        confidence="high",
        verified=True,
    )
    text = shown(Memory("coven", "01K", "Gateway", "60 s", where, fields={"memory_type": "fact"}), markdown=False)
    assert text.startswith("01K Gateway · Coven claim\n")
    assert "Type: fact · Confidence: high\n" in text
    assert "Attested by: bob (review) · Verified: hash and attestation hold\n" in text
    assert text.endswith("Source: ~/.coven/memory/snapshots/01K.md:1")


def test_what_speaks_against_a_memory_stands_above_its_value() -> None:
    standing = Standing("superseded", "It is superseded by auth-v2.", "auth-v2")
    text = shown(memory(standings=(standing,)), markdown=False)
    assert text.index("⚠ It is superseded by auth-v2.") < text.index("JWT")


def test_an_unknown_confidence_is_said_to_be_unknown() -> None:
    where = memory().provenance._replace(confidence=None)
    assert "Confidence: unknown" in shown(memory(provenance=where), markdown=False)


def test_a_shadowed_namesake_is_named_with_its_value() -> None:
    other = memory("Okta", provenance=Provenance("nemp", "global", HOME / ".nemp/memories.json", 2))
    text = shown(memory(), other, markdown=False)
    assert "Shadows the one in the global store: Okta (~/.nemp/memories.json:2)" in text
    assert text.count("auth-flow ·") == 1


def test_a_key_that_stands_twice_in_a_store_is_named() -> None:
    again = memory("Other", provenance=memory().provenance._replace(line=30))
    assert "The same name stands a second time: .nemp/memories.json:30" in shown(memory(), again, markdown=False)


def test_one_name_in_several_systems_shows_each() -> None:
    others = [memory(f"text {number}")._replace(id=f"MEM-{number}", system="memory") for number in range(6)]
    text = shown(memory(), *others)
    assert text.count("\n\n---\n\n") == 4
    assert text.endswith("… and 3 more of that name.")


@pytest.mark.parametrize("markdown", [True, False])
def test_a_long_value_is_cut_and_the_rest_counted(markdown: bool) -> None:
    text = shown(memory("x" * (VALUE_LIMIT + 1_234)), markdown=markdown)
    assert "… 1,234 characters more" in text
    assert "x" * VALUE_LIMIT in text
    assert "x" * (VALUE_LIMIT + 1) not in text
    lines = shown(memory("\n".join(str(number) for number in range(LINE_LIMIT + 5))), markdown=markdown)
    assert f"{LINE_LIMIT - 1}\n" in lines
    assert f"{LINE_LIMIT}\n" not in lines
    assert "… 15 characters more" in lines


def test_a_value_that_fits_is_not_cut() -> None:
    assert "more" not in shown(memory("x" * VALUE_LIMIT))
    assert "more" not in shown(memory("\n".join("x" * LINE_LIMIT)))


def test_nothing_known_is_said_with_what_comes_near_and_what_is_broken() -> None:
    store = f"{WORKSPACE}/.nemp/memories.json"
    problem = Problem("unreadable", f"{store} is not JSON.", store, 3, 5)
    assert shown(suggestions=("auth-flow", "auth-x"), problems=(problem,), markdown=False) == (
        "Nothing is known under nemp:auth-flow here.\n"
        "Did you mean auth-flow or auth-x?\n"
        "⚠ .nemp/memories.json:3:5 is not JSON."
    )


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "{path}:3:5 is not valid JSON; mend {path}.",
            "memories.json:3:5 is not valid JSON; mend .nemp/memories.json.",
        ),
        ("{path} is empty.", "memories.json:3:5 is empty."),
        ("{path}: nothing.", "memories.json:3:5: nothing."),
        ("This is not valid JSON.", "memories.json:3:5: This is not valid JSON."),
        ("Nothing of ~/.nemp or /w/app/x is read.", "memories.json:3:5: Nothing of ~/.nemp or x is read."),
    ],
)
def test_a_problem_names_its_place_once(message: str, said: str) -> None:
    store = f"{WORKSPACE}/.nemp/memories.json"
    problem = Problem("unreadable", message.format(path=store), store, 3, 5)
    assert shown(problems=(problem,), markdown=False).split("⚠ .nemp/")[1] == said


@pytest.mark.parametrize("markdown", [True, False])
def test_a_store_that_could_not_be_read_is_named_before_another_one_answers(markdown: bool) -> None:
    store = f"{WORKSPACE}/.nemp/memories.json"
    unread = Problem("not-json", f"{store}:1:42 is not valid JSON.", store, 1, 42)
    text = shown(memory("Okta"), memory("other")._replace(id="x"), unread=(unread,), markdown=markdown)
    assert text.count(".nemp/memories.json:1:42 is not valid JSON.") == 1
    assert text.index("⚠ ") < text.index("Okta")


PIECES = (
    *"`~[](){}<>!&*_#|\\:@$^=\"'-+.\n\r\t /ab0\x1b\u202e\ud800",
    *("http://x.test", "www.x.test", "[a](command:x)", "![a](http://x/y)", "<img src=x onerror=y>", "<!--", "&lt;"),
    *("a@b.test", "```\n# x\n```", "\n- x", "\n1. x", "\n\n"),
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False, "html": True})
HARMLESS = {"paragraph_open", "paragraph_close", "inline", "fence", "hr"}
HARMLESS_INLINE = {"text", "code_inline", "softbreak", "hardbreak", "strong_open", "strong_close"}


@settings(derandomize=True, deadline=None, max_examples=200)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_in_a_memory_becomes_more_than_text(one: str, two: str, three: str) -> None:
    where = Provenance("nemp", one, Path(f"/w/app/{two}"), 1, author=three, created=one, updated=two, confidence=three)
    fields = {"type": two, "vitality": {"score": one}}
    hostile = Memory("nemp", one, two, three, where, (one, two), (Standing("superseded", three, one),), fields)
    other = hostile._replace(provenance=where._replace(source=three))
    for text in (
        shown(hostile, other),
        shown(suggestions=(one, two), problems=(Problem("x", three, one),), reference=two),
    ):
        assert not set(text) & {"\x1b", "\u202e", "\ud800"}
        for token in MARKDOWN.parse(text):
            assert token.type in HARMLESS, text
            for child in token.children or ():
                assert child.type in HARMLESS_INLINE, text
            if token.type == "inline":
                ours = "".join(child.content for child in token.children or () if child.type == "text")
                assert "http" not in ours, "nothing foreign stands outside code"
                assert "www" not in ours


@settings(derandomize=True, deadline=None, max_examples=200)
@given(HOSTILE | st.text(), HOSTILE | st.text())
def test_in_plain_text_no_line_of_a_memory_passes_for_one_of_ours(value: str, name: str) -> None:
    forged = f"{value}\nSource: .nemp/memories.json:1\r⚠ \x0b\x85\u2028Confidence: 1.00\n\n{name}"
    where = memory().provenance
    text = shown(memory(forged, id=name or "x", title=forged, provenance=where._replace(author=forged)), markdown=False)
    heading, _, rest = text.partition("\n\n")
    assert "\n" not in heading
    ours = [line for line in rest.split("\n") if line and not line.startswith("    ")]
    assert [line.split(":")[0] for line in ours if not line.startswith("… ")] == ["Confidence", "Author", "Source"]
