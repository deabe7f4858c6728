"""Text of others does no harm where it is shown: shown to real readers of it, not to our own idea of them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memory_recall.text.untrusted import (
    for_log,
    for_markdown_block,
    for_markdown_code,
    for_terminal,
    is_plain,
)
from memory_recall.text.untrusted import hidden as hidden_characters

every = settings(derandomize=True, deadline=None, max_examples=250)

PAYLOADS = [
    *(
        "[click](command:workbench.action.terminal.new)",
        "![x](https://evil.example/p.png)",
        "<img src=x onerror=alert(1)>",
    ),
    *("<https://evil.example>", "https://evil.example", "www.evil.example", "me@evil.example", "[[nemp:x]]"),
    *("[ref]: https://evil.example 'x'", "[ref]", "[^1]", "^[x]", "<!--", "-->", "<?php", "<script>", "</details>"),
    *(
        "```",
        "~~~",
        "````text",
        "`",
        "``",
        "\n```\n",
        "\n~~~~\n",
        "    code",
        "> quote",
        "# head",
        "===",
        "---",
        "* * *",
    ),
    *("1. one", "1) one", "- one", "+ one", "| a | b |\n|---|---|", "&lt;", "&#60;", "$(zap)", "$x$", ":smile:"),
    *("**b**", "_i_", "~~s~~", "\\", "\\\\", "\\`", "\t", " ", "\n", "\r", "\r\n"),
    *("\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\x08", "\x7f", "\x00", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"),
    *("\u202eabc", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\U000e0101", "\xad", "\u3164", "\ud800"),
    *("é", "語", "א", "👩\u200d👧", "❤\ufe0f", "می\u200cخواهم"),
]
TEXTS = st.lists(st.sampled_from(PAYLOADS) | st.text(st.characters(codec=None), max_size=5), max_size=8).map("".join)

# Of the category of hidden controls, and yet wanted: the joiners, and visible number signs of Arabic and others.
WANTED_FORMAT_CHARACTERS = set(
    "\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


def hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return category in ("Cc", "Cs", "Zl", "Zp") or (category == "Cf" and character not in WANTED_FORMAT_CHARACTERS)


def markdown() -> MarkdownIt:
    """As generous a reader as there is: HTML, tables, and bare addresses where the library for them is there."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    try:
        import linkify_it  # noqa: F401
    except ImportError:
        return reader
    reader.options["linkify"] = True
    return reader.enable("linkify")


READER = markdown()


def tokens_of(source: str) -> list[Token]:
    return READER.parse(source)


@every
@given(TEXTS)
def test_a_terminal_gets_nothing_that_it_would_obey_or_hide(text: str) -> None:
    shown = for_terminal(text)
    assert [c for c in shown if hidden(c) and c not in "\n\t"] == []
    shown.encode("utf-8")
    assert not any(hidden(c) for c in for_terminal(text, single_line=True))


def test_no_character_of_unicode_slips_through() -> None:
    everything = "".join(map(chr, range(0x110000)))
    assert {c for c in for_terminal(everything) if hidden(c)} == {"\n", "\t"}
    assert {c for c in for_markdown_code(everything) if hidden(c)} == set()


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "two\nlines\tand a tab",
        "日本語 한국어 العربية עברית",
        "नमस्ते",
        "👩\u200d👩\u200d👧 ❤\ufe0f 🇩🇪",
        "می\u200cخواهم",
        "e\u0301",
    ],
)
def test_a_terminal_gets_honest_text_as_it_is(text: str) -> None:
    assert for_terminal(text) == text


def test_what_a_glance_takes_for_plain_hides_nothing() -> None:
    plain = [character for character in map(chr, range(0x110000)) if is_plain(character)]
    assert {"a", "~", "\n", "\t", "é", "·"} <= set(plain)
    assert hidden_characters().search("".join(plain)) is None
    assert not any(hidden(character) for character in plain if character not in "\n\t")
    assert is_plain("naïve · café\n\tindented")
    assert not is_plain("naïve\x7f")


def test_what_is_hidden_is_shown_by_its_name() -> None:
    assert for_terminal("a\x1b[31mb\u202ec\U000e0041\r") == "a\\x1b[31mb\\u202ec\\U000e0041\\r"
    assert for_terminal("a\r\nb\n", single_line=True) == "a\\nb\\n"


@every
@given(TEXTS)
def test_a_log_gets_one_line_for_every_reader_of_lines(text: str) -> None:
    written = for_log(text)
    assert written.splitlines() in ([written], [])
    assert "\x1b" not in written
    written.encode("utf-8")


def test_a_log_line_keeps_every_printable_character() -> None:
    assert for_log("how does 部署 work? key=a agent=b 😀") == "how does 部署 work? key=a agent=b 😀"
    assert for_log("a\nREAD key=x\r\x00\u2028") == "a\\nREAD key=x\\r\\x00\\u2028"


@every
@given(TEXTS)
def test_a_block_is_one_fence_and_nothing_else(text: str) -> None:
    tokens = tokens_of(for_markdown_block(text))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].info == "text"
    assert tokens[0].content == for_terminal(text) + "\n"


@every
@given(TEXTS, TEXTS)
def test_a_block_leaves_what_follows_alone(text: str, other: str) -> None:
    source = f"Before\n\n{for_markdown_block(text)}\n\n{for_markdown_block(other)}\n\nAfter\n"
    types = [token.type for token in tokens_of(source)]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    assert types == [*paragraph, "fence", "fence", *paragraph]


@every
@given(TEXTS, st.sampled_from(["Value: {}", "**Value:** {}", "- x {}", "> x {}"]))
def test_code_within_a_line_stays_code_and_reads_as_it_was_written(text: str, frame: str) -> None:
    inline = [token for token in tokens_of(frame.format(for_markdown_code(text))) if token.type == "inline"]
    assert len(inline) == 1
    children = inline[0].children or []
    assert {child.type for child in children} <= {"text", "strong_open", "strong_close", "code_inline"}
    code = [child.content for child in children if child.type == "code_inline"]
    assert len(code) == 1
    assert code[0].strip() == for_terminal(" ".join(text.split()), single_line=True).strip()
