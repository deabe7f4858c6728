"""`[[system:name]]`, `[[system:name|alias]]`, and `[[name]]` where the name is known."""

from __future__ import annotations

from collections.abc import Iterator

from memory_recall.references.line import OPENER, Line, system_of
from memory_recall.references.nouns import ENCLOSED_LIMIT, Reference


def bracket(line: Line, start: int, end: int, limit: int) -> Reference | None:
    """The reference in brackets at `text[start:end]`; None for a link to anything else.

    The expression that found the brackets ends at the first `]]`; a name may hold brackets of its own.
    """
    text = line.text
    for _ in range(text.count("[", start + 2, end - 2) - text.count("]", start + 2, end - 2)):  # `[[nemp:list[0]]]`
        if end < limit and text[end] == "]":
            end += 1
    name_start, name_end = _stripped(text, start + 2, end - 2)
    opener = OPENER.match(text, name_start, name_end)
    system = system_of(opener) if opener else None
    if opener:
        name_start, name_end = _stripped(text, opener.end(), name_end)
    readings = [(name_start, name_end), *_without_alias(text, name_start, name_end)]
    for reading in readings:
        if 0 < reading[1] - reading[0] <= ENCLOSED_LIMIT:
            name = text[slice(*reading)]
            if line.knows(system, name) if system else line.knows_id(name) or line.known.has_key(name):
                return line.reference(system, "bracket", reading, (start, end))
    first, last = readings[-1]
    is_unknown_name = system is not None and 0 < last - first <= ENCLOSED_LIMIT
    return line.reference(system, "bracket", (first, last), (start, end)) if is_unknown_name else None


def _without_alias(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands before the first bar. (The whole may be a key that has a bar in it.)"""
    bar = text.find("|", start, end)
    if bar >= 0:
        is_escaped = bar > start and text[bar - 1] == "\\"  # as it must be in a table
        yield _stripped(text, start, bar - is_escaped)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
