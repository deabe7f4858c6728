"""Inline code of Markdown, on one line: a run of backticks, and the next run of the very same length.

A backslash before an opening backtick makes it a letter; inside code nothing is escaped. A run without a partner is
text. Knows nothing of fenced blocks: their lines are lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TICKS = re.compile("`+")


class CodeSpan(NamedTuple):
    """`text[open:close]` with its ticks, `text[start:end]` the code: without the one space of padding on both sides."""

    open: int
    start: int
    end: int
    close: int


def code_spans(text: str, start: int, end: int) -> Iterator[CodeSpan]:
    """The code spans of one line, `text[start:end]`, in order. Linear: each run of ticks is looked at twice."""
    # Where the last run of each length begins: an opener behind it is known at once to have no partner.
    last = {match.end() - match.start(): match.start() for match in _TICKS.finditer(text, start, end)}
    position = start
    while opener := _TICKS.search(text, position, end):
        open_, position = opener.span()
        if _is_escaped(text, start, open_):
            open_ += 1
        length = position - open_
        if length and last.get(length, -1) >= position:
            closer = next(run for run in _TICKS.finditer(text, position, end) if run.end() - run.start() == length)
            inner_start, inner_end = _without_padding(text, position, closer.start())
            yield CodeSpan(open_, inner_start, inner_end, closer.end())
            position = closer.end()


def _is_escaped(text: str, start: int, offset: int) -> bool:
    backslashes = offset
    while backslashes > start and text[backslashes - 1] == "\\":
        backslashes -= 1
    return (offset - backslashes) % 2 == 1


def _without_padding(text: str, start: int, end: int) -> tuple[int, int]:
    padded = end - start > 2 and text[start] == " " == text[end - 1]
    return (start + 1, end - 1) if padded and text[start:end].strip(" ") else (start, end)
