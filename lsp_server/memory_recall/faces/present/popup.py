"""A line of a note with a mark under a reference, and a framed pop-up below it: how an editor shows a hover."""

from __future__ import annotations

from memory_recall.faces.present.terminal import width_of
from memory_recall.text.untrusted import for_terminal

WIDTH = 76
"""Columns inside the frame."""


def hovered(source: str, start: int, end: int, text: str) -> str:
    """The note's line, carets under its characters from `start` to `end`, and the text in a frame."""
    shown = for_terminal(source, single_line=True)
    before, marked = width_of(source[:start]), width_of(source[start:end])
    body = [part for line in for_terminal(text).strip("\n").split("\n") for part in _wrapped(line)]
    top, bottom = f"╭{'─' * (WIDTH + 2)}╮", f"╰{'─' * (WIDTH + 2)}╯"
    framed = [f"│ {line}{' ' * (WIDTH - width_of(line))} │" for line in body]
    return "\n".join([shown, " " * before + "^" * marked, top, *framed, bottom])


def _wrapped(line: str) -> list[str]:
    """A line cut into parts that fit the frame, at a space where there is one."""
    parts: list[str] = []
    line = line.expandtabs(4)
    while width_of(line) > WIDTH:
        fitting = 0
        while width_of(line[: fitting + 1]) <= WIDTH:
            fitting += 1
        cut = line.rfind(" ", WIDTH // 2, fitting + 1)
        cut = fitting if cut < 0 else cut
        parts.append(line[:cut])
        line = line[cut:].lstrip(" ")
    return [*parts, line]
