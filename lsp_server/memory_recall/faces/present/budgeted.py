"""What a text for people says of a budget: where a memory ends early, and what was left out. Knows no recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_recall.faces.present.pieces import counted, line, member
from memory_recall.faces.present.terminal import Terminal

Shape = Mapping[str, Any]


def left_out(answer: Shape) -> int:
    """How many memories that were found a budget had no room for."""
    return member(answer.get("budget"), "omitted") or 0


def rest_of(memory: Shape, terminal: Terminal) -> str:
    """`… 412 of 1,930 characters` for a memory that ends early, else nothing."""
    trimmed = memory.get("trimmed")
    if trimmed is None:
        return ""
    return terminal.faint(f"… {member(trimmed, 'shown'):,} of {member(trimmed, 'of'):,} characters")


def cut(answer: Shape, terminal: Terminal) -> list[str]:
    """One line on what a budget cut, after an empty one; nothing where nothing was."""
    spent = answer.get("budget")
    if spent is None:
        return []
    omitted, trimmed, untold = (spent[name] for name in ("omitted", "trimmed", "problems_omitted"))
    said = [
        f"{trimmed} shortened" if trimmed else None,
        f"{omitted} left out{_names(spent['named'], omitted)}" if omitted else None,
        f"{counted(untold, 'problem')} not told" if untold else None,
    ]
    parts = ", ".join(part for part in said if part)
    return ["", terminal.faint(f"Within {spent['limit']:,} tokens: {parts}.")] if parts else []


def _names(named: Sequence[str], omitted: int) -> str:
    if not named:
        return ""
    more = [f"{omitted - len(named)} more"] if omitted > len(named) else []
    return f" ({', '.join([*map(line, named), *more])})"
