"""Frontmatter keeps what its author wrote, and survives what an attacker writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text.frontmatter import read_frontmatter, read_record


def test_every_scalar_stays_text() -> None:
    read = read_frontmatter("---\na: 2026-04-01\nb: no\nc: 0123\nd: 1e3\ne: 'x: y'\nf: [1, true]\n---\nbody\n")
    assert read.fields == {"a": "2026-04-01", "b": "no", "c": "0123", "d": "1e3", "e": "x: y", "f": ["1", "true"]}
    assert read.body == "body\n"
    assert read.problem is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("closing", ["---", "...", "--- "])
def test_fences_are_found_at_any_line_end(end: str, closing: str) -> None:
    read = read_frontmatter(end.join(["\ufeff--- ", "title: x", closing, "body --- more", "---"]))
    assert read.fields == {"title": "x"}
    assert read.body == end.join(["body --- more", "---"])


@pytest.mark.parametrize("text", ["", "body", "\n---\na: b\n---\n", "----\na: b\n---\n", "--- x\na: b\n---\n"])
def test_a_text_without_frontmatter_is_all_body(text: str) -> None:
    read = read_frontmatter(text)
    assert (dict(read.fields), read.body) == ({}, text)


def test_an_unclosed_block_is_no_frontmatter_and_says_so() -> None:
    read = read_frontmatter("---\ntitle: x\n")
    assert not read.fields
    assert read.problem is not None


@pytest.mark.parametrize("block", ["", "# only a comment", "~"])
def test_an_empty_block_has_no_fields(block: str) -> None:
    read = read_frontmatter(f"---\n{block}\n---\n")
    assert not read.fields


def test_a_block_that_is_no_yaml_gives_its_plain_lines() -> None:
    read = read_frontmatter('---\ntitle: Fix: it\nulid: "X"\n  nested: no\nbroken: [1\n---\nbody')
    assert read.text("title") == "Fix: it"
    assert read.text("ulid") == "X"
    assert read.text("nested") is None
    assert read.problem is not None
    assert "line 2" in read.problem


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    "block",
    [
        BOMB,
        "a: &a [*a]",
        "a: " + "[" * 5_000,
        "a: " + "[" * 500 + "]" * 500,
        "x" * 70_000,
        "? [a]\n: b",
        "- a",
        "a\x00: b",
    ],
)
def test_hostile_yaml_ends_in_a_sentence(block: str) -> None:
    assert read_frontmatter(f"---\n{block}\n---\n").problem is not None


def test_an_alias_that_is_used_once_is_fine() -> None:
    assert read_frontmatter("---\na: &x [1]\nb: *x\n---\n").fields == {"a": ["1"], "b": ["1"]}


@pytest.mark.parametrize("written", ["", "null", "~", "[a]", "{a: b}", "' '"])
def test_what_is_no_text_is_none(written: str) -> None:
    assert read_frontmatter(f"---\na: {written}\n---\n").text("a") is None


@pytest.mark.parametrize("written", ["[a, 'b c']", "a, b c", '["a", b c, ""]', "\n- a\n- b c\n- {x: y}"])
def test_several_texts_are_a_list_or_have_commas(written: str) -> None:
    assert read_frontmatter(f"---\ntags: {written}\n---\n").texts("tags") == ("a", "b c")


def test_a_record_may_be_yaml_as_a_whole() -> None:
    assert read_record("\ufeffattester: sage\ncontext: x\n").text("attester") == "sage"
    assert read_record("---\nattester: sage\n---\nattester: nobody\n").text("attester") == "sage"


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("-.:\n\r ab[]{}&*'\"|>?#%@\u2028\x00é")), max_size=60))
def test_any_text_is_read_and_its_body_is_its_end(text: str) -> None:
    for candidate in (text, f"---\n{text}\n---\nrest"):
        assert candidate.endswith(read_frontmatter(candidate).body)
        read_record(candidate)
