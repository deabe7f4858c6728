"""The pieces that several texts for people share: one line of a foreign text, a field, a problem, a preview.

Every foreign text passes `text.untrusted.for_terminal` here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_recall.faces.present.terminal import Terminal
from memory_recall.text.json_values import as_text
from memory_recall.text.untrusted import for_terminal

PREVIEW_LENGTH = 120
"""How many characters of a memory stand in a list."""

PROBLEMS_SHOWN = 5
"""How many problems stand beside an answer to something else."""

SEPARATORS = (" | ", " · ")
"""What stands between two fields of a line, in a terminal and in a hover."""

UNKNOWN = "unknown"


def line(value: Any) -> str:
    """A foreign value on one line; `unknown` where there is none, in quotes where it could pass for several fields."""
    return UNKNOWN if value is None or value == "" else one_field(for_terminal(as_text(value), single_line=True))


def one_field(text: str) -> str:
    """A foreign text beside fields of ours: quoted where it holds what separates those."""
    return f'"{text}"' if any(separator in text for separator in SEPARATORS) else text


def block(value: Any) -> str:
    """A foreign value with its own line ends."""
    return UNKNOWN if value is None else for_terminal(as_text(value)).rstrip("\n")


def preview(value: Any, length: int = PREVIEW_LENGTH) -> str:
    """The beginning of a foreign value on one line; `...` where it was cut."""
    text = " ".join(as_text(value).split()) if value is not None else UNKNOWN
    return for_terminal(text if len(text) <= length else text[:length].rstrip() + "...", single_line=True)


def indented(text: str, indent: str = "    ") -> str:
    """A block, moved right: further than any field beside it, so that no line of it can pass for one."""
    return "\n".join(indent + part if part else part for part in text.split("\n"))


def number(value: Any) -> str:
    """A figure as people write it: no trailing zeros; `unknown` where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return line(value)
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def counted(count: Any, singular: str, plural: str | None = None) -> str:
    """`1 memory`, `2 memories`."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


def joined(*parts: str | None) -> str:
    """The parts that exist, separated as in `Type: fact | Vitality: 18`."""
    return " | ".join(part for part in parts if part)


def member(shape: Any, name: str) -> Any:
    """A member of a foreign object; None where the value is no object or has no such member."""
    return shape.get(name) if isinstance(shape, Mapping) else None


def problems(shape: Mapping[str, Any], terminal: Terminal, limit: int | None = PROBLEMS_SHOWN) -> list[str]:
    """The problems of an answer, a line each, after an empty one; nothing where there are none.

    Beside an answer stand at most `limit` of them; the rest is counted.
    """
    found: Sequence[Any] = shape.get("problems") or ()
    shown = found if limit is None or len(found) <= limit + 1 else found[:limit]
    lines = [terminal.warning(f"⚠ {problem_line(problem, terminal)}") for problem in shown]
    if len(shown) < len(found):
        lines.append(terminal.warning(f"⚠ {len(found) - len(shown)} more problems; `memory-recall doctor` lists them."))
    return ["", *lines] if lines else []


def problem_line(problem: Mapping[str, Any], terminal: Terminal) -> str:
    """`path:line:column: message`; where the message itself begins with the path, that is shortened instead.

    Other paths in the message are written as short as that one.
    """
    path, message = problem.get("path"), str(problem.get("message"))
    if path is None:
        return line(terminal.shortened(message))
    if message.startswith(str(path)):
        return terminal.path(str(path)) + line(terminal.shortened(message[len(str(path)) :]))
    where = terminal.place(path, problem.get("line"), problem.get("column"))
    return f"{where}: {line(terminal.shortened(message))}"
