"""Where a text may end early: what is an end, what only looks like one, and that hostile texts cost no time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_recall.text.sentences import ends


def beginnings(text: str) -> list[str]:
    return [text[:end] for end in ends(text)]


@pytest.mark.parametrize(
    ("text", "last_words"),
    [
        ("Retry thrice. Then stop! Really? Yes", ["thrice.", "stop!", "Really?"]),
        ('He said "stop." Then (not now.) But soon', ['"stop."', "now.)"]),
        ("今天下雨。「晴天。」后天！好", ["今天下雨。", "今天下雨。「晴天。」", "今天下雨。「晴天。」后天！"]),
        ("Wait... What", ["Wait..."]),
        ("one\ntwo\r\nthree", ["one", "two"]),
        ("List\n- first\n- second. Third\n2. fourth", ["List", "first", "second.", "Third"]),
    ],
)
def test_sentences_lines_and_items_end(text: str, last_words: list[str]) -> None:
    assert [beginning.endswith(word) for beginning, word in zip(beginnings(text), last_words, strict=True)] == [
        True
    ] * len(last_words)


@pytest.mark.parametrize(
    "text",
    [
        "Version 1.2 of src/app.py",
        "Open https://example.org/a.b/c?d=1.5 now",
        "Use a queue, e.g. Redis or NATS, approx. Ten of them",
        "Dr. Smith and J. Doe of the U.S. Army",
        "It lives in foo. and bar",  # whatever this is, it goes on in lower case
        "Run `git add . && git commit. Then` now",
        "1. First",
        "- 12. Twelfth",
        "no end at all",
        "Only one sentence.",
        "Only one sentence.   \n\n",
        "# Heading\nText",
        "Never do this:\nlower the timeout",
        "A first line that is so long that it must have been broken by an\neditor in the middle of its sentence",
        "",
        "   \n \n",
    ],
)
def test_what_only_looks_like_an_end_is_none(text: str) -> None:
    assert beginnings(text) == []


def test_a_code_block_is_given_whole_or_not_at_all() -> None:
    text = "Do this.\n```py\na = 1\n\nb = 2. C\n```\nDone. End\n~~~\nopen. Forever\nx\n"
    assert beginnings(text) == [
        "Do this.",
        "Do this.\n```py\na = 1\n\nb = 2. C\n```",
        "Do this.\n```py\na = 1\n\nb = 2. C\n```\nDone.",
        "Do this.\n```py\na = 1\n\nb = 2. C\n```\nDone. End",
    ]


def test_no_more_is_looked_at_than_asked() -> None:
    text = "Aa be. Cc de. Ee fe. G"
    assert [text[:end] for end in ends(text, 15)] == ["Aa be.", "Aa be. Cc de."]


@given(st.text(alphabet="ab A.!?。`~-#\n\r \t1\"')…") | st.text())
def test_ends_rise_and_leave_something_out(text: str) -> None:
    found = list(ends(text))
    assert found == sorted(set(found))
    for end in found:
        assert text[:end].strip()
        assert text[end:].strip()
        assert not text[end - 1].isspace()


@pytest.mark.parametrize(
    "text", ["a. ", "`", ". A`", "`a. B` ", "x\n", "\n", "```\n", ".", " ", "- 1. ", ")", ".)", "。"]
)
@pytest.mark.timeout(20)
def test_hostile_repetition_takes_no_time(text: str) -> None:
    assert sum(1 for _ in ends(text * 60_000 + "x")) >= 0
