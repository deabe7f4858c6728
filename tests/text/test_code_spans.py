"""Inline code stands where a Markdown reader sees it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory_recall.text.code_spans import code_spans

READER = MarkdownIt("zero").enable(["backticks", "escape"])
LINES = st.lists(st.sampled_from(["`", "``", "```", "\\", " ", "a", "b c", "語", "\t"]), max_size=24).map("".join)


def code_in(line: str) -> list[str]:
    return [line[span.start : span.end] for span in code_spans(line, 0, len(line))]


@settings(derandomize=True, deadline=None, max_examples=600)
@given(LINES)
def test_the_code_of_a_line_is_what_a_markdown_reader_finds(line: str) -> None:
    read = READER.parseInline(line)[0].children or []
    expected = [token.content for token in read if token.type == "code_inline"]
    found = code_in(line)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == theirs or not ours.strip(" "), "of blanks alone, CommonMark keeps all and this reader does not"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("`a` b `c`", ["a", "c"]),
        ("`` a`b ``", ["a`b"]),
        ("` a `", ["a"]),
        ("`  a  `", [" a "]),
        ("` a`", [" a"]),
        ("`   `", ["   "]),
        ("`a", []),
        ("``a`", []),
        (r"\`a`", []),
        (r"\\`a`", ["a"]),
        (r"`a\`", ["a\\"]),
        (r"\``a`", ["a"]),
        ("", []),
    ],
)
def test_runs_of_ticks_pair_by_length(line: str, code: list[str]) -> None:
    assert code_in(line) == code


def test_only_the_given_line_is_looked_at() -> None:
    text = "`a\n`b`\nc`"
    (span,) = code_spans(text, 3, 6)
    assert text[span.open : span.close] == "`b`"


def test_a_backslash_on_another_line_escapes_nothing() -> None:
    assert len(list(code_spans("\\`a`", 1, 4))) == 1
