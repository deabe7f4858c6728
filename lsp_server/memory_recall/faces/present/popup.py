"""A line of a note with a mark under a reference, and a framed pop-up below it: how an editor shows a hover."""

from __future__ import annotations

import unicodedata

from memory_recall.text.untrusted import for_terminal

WIDTH = 76
"""Columns inside the frame."""


def hovered(source: str, start: int, end: int, text: str) -> str:
    """The note's line, carets under its characters from `start` to `end`, and the text in a frame."""
    before, marked, after = (
        for_terminal(part, single_line=True) for part in (source[:start], source[start:end], source[end:])
    )
    body = [part for line in for_terminal(text).strip("\n").split("\n") for part in _wrapped(line)]
    top, bottom = f"╭{'─' * (WIDTH + 2)}╮", f"╰{'─' * (WIDTH + 2)}╯"
    framed = [f"│ {line}{' ' * (WIDTH - width_of(line))} │" for line in body]
    return "\n".join([before + marked + after, " " * width_of(before) + "^" * width_of(marked), top, *framed, bottom])


def _wrapped(line: str) -> list[str]:
    """A line cut into parts that fit the frame, at a space where there is one, each as far right as the first."""
    parts: list[str] = []
    line = line.expandtabs(4)
    indent = " " * min(len(line) - len(line.lstrip(" ")), WIDTH // 4)
    while width_of(line) > WIDTH:
        fitting = 0
        while width_of(line[: fitting + 1]) <= WIDTH:
            fitting += 1
        cut = line.rfind(" ", WIDTH // 2, fitting + 1)
        cut = fitting if cut < 0 else cut
        parts.append(line[:cut])
        line = indent + line[cut:].lstrip(" ")
    return [*parts, line]


def width_of(text: str) -> int:
    """How many columns a terminal gives a line of text: two for wide characters, none for combining ones."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
