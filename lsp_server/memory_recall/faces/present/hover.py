"""What an editor shows of a citation: the value, then where it comes from and whether it still holds.

As Markdown or as plain text, whichever the client prefers. In Markdown all that is ours is prose and all that somebody
else wrote is code: the value in a fence, everything else in a code span. So nothing in a memory becomes a link, an
image or HTML, and a client that shows Markdown as it is shows no escapes. In plain text the value is indented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memory_recall.catalogue import Resolution
from memory_recall.faces.present.pieces import indented, one_field
from memory_recall.faces.present.terminal import Terminal
from memory_recall.model import Memory, Problem
from memory_recall.text.json_values import as_text
from memory_recall.text.untrusted import for_markdown_block, for_markdown_code, for_terminal

VALUE_LIMIT = 2_000
"""How many characters of a value are shown."""

LINE_LIMIT = 40
"""How many lines of a value are shown."""

_MEMORIES = 4
_PROBLEMS = 3
_INLINE = 200

_SYSTEMS = {"nemp": "nemp", "memory": "agent memory", "coven": "Coven claim"}


class _Style(NamedTuple):
    """How one kind of hover writes a foreign text within a line, a name, a block, and the end of a line."""

    inline: Callable[[str], str]
    block: Callable[[str], str]
    strong: str
    line_end: str
    separator: str


_MARKDOWN = _Style(for_markdown_code, for_markdown_block, "**", "  \n", "\n\n---\n\n")
# In plain text what somebody else wrote is indented, and so cannot pass for a line of ours.
_PLAIN = _Style(
    lambda text: one_field(for_terminal(" ".join(text.split()), single_line=True)),
    lambda text: indented(for_terminal(text)),
    "",
    "\n",
    "\n\n",
)


def hover_text(resolution: Resolution, *, markdown: bool, workspace: Path | None, home: Path | None) -> str:
    """The whole text of a hover. Paths are written from the workspace folder, or from `~`."""
    page = _Page(_MARKDOWN if markdown else _PLAIN, workspace, home)
    if not resolution.memories:
        return page.nothing(resolution)
    shown = _distinct(resolution.memories)
    parts = [
        page.memory(memory, _namesakes(memory, resolution.memories), resolution.unread if number == 0 else ())
        for number, memory in enumerate(shown[:_MEMORIES])
    ]
    if len(shown) > _MEMORIES:
        parts.append(f"… and {len(shown) - _MEMORIES} more of that name.")
    return page.style.separator.join(parts)


def _distinct(memories: Sequence[Memory]) -> list[Memory]:
    """The memories without those that an earlier one of the same name stands for."""
    seen: set[tuple[str, str]] = set()
    return [
        memory
        for memory in memories
        if (memory.system, memory.id) not in seen and not seen.add((memory.system, memory.id))  # type: ignore[func-returns-value]
    ]


def _namesakes(memory: Memory, memories: Sequence[Memory]) -> list[Memory]:
    return [
        other for other in memories if other is not memory and (other.system, other.id) == (memory.system, memory.id)
    ]


class _Page:
    def __init__(self, style: _Style, workspace: Path | None, home: Path | None) -> None:
        self.style = style
        self._paths = Terminal(cwd=workspace or Path("/"), home=home)

    def memory(self, memory: Memory, namesakes: Sequence[Memory], unread: Sequence[Problem]) -> str:
        value, cut = _shortened(memory.text.strip("\n"))
        parts = [
            self._heading(memory),
            *(f"⚠ {self._problem(problem)}" for problem in unread[:_PROBLEMS]),
            *(f"⚠ {self._inline(standing.message)}" for standing in memory.standings),
            self.style.block(value) if value else "(no text)",
        ]
        if cut:
            parts.append(f"… {cut} more")
        parts.append(self.style.line_end.join([*self._provenance(memory), *self._shadowed(memory, namesakes)]))
        return "\n\n".join(parts)

    def nothing(self, resolution: Resolution) -> str:
        lines = [f"Nothing is known under {self._strong(resolution.reference)} here."]
        if resolution.suggestions:
            lines.append(f"Did you mean {' or '.join(map(self._strong, resolution.suggestions))}?")
        lines += [f"⚠ {self._problem(problem)}" for problem in resolution.problems[:_PROBLEMS]]
        return self.style.line_end.join(lines)

    def _heading(self, memory: Memory) -> str:
        source = memory.provenance.source
        kind = (
            _SYSTEMS[memory.system]
            if memory.system == "coven"
            else f"{_SYSTEMS[memory.system]}, {self._inline(source)}"
        )
        title = "" if memory.title in ("", memory.id) else f" {self._inline(memory.title)}"
        return f"{self._strong(memory.id)}{title} · {kind}"

    def _provenance(self, memory: Memory) -> Iterator[str]:
        where = memory.provenance
        fields = memory.fields
        yield _joined(
            self._labelled("Type", fields.get("memory_type") or fields.get("type")),
            self._labelled("Vitality", _vitality(fields.get("vitality"))),
            f"Confidence: {self._inline(_number(where.confidence))}",
            self._labelled("Tags", ", ".join(memory.tags)),
        )
        attested = where.attested_by and where.attestation_type and f"{where.attested_by} ({where.attestation_type})"
        yield from filter(
            None,
            [
                _joined(
                    self._labelled("Author", where.author),
                    self._labelled("Attested by", attested or where.attested_by),
                    "Verified: hash and attestation hold" if where.verified else None,
                ),
                _joined(
                    self._labelled("Created", where.created),
                    self._labelled("Updated", where.updated),
                    self._labelled("Expires", fields.get("expires_at")) if memory.system == "memory" else None,
                ),
            ],
        )
        yield f"Source: {self._place(memory)}"

    def _shadowed(self, memory: Memory, namesakes: Sequence[Memory]) -> Iterator[str]:
        for other in namesakes:
            if other.provenance.source == memory.provenance.source:
                yield f"The same name stands a second time: {self._place(other)}"
            else:
                preview, cut = _shortened(" ".join(other.text.split()), _INLINE)
                ellipsis = "…" if cut else ""
                yield (
                    f"Shadows the one in the {self._inline(other.provenance.source)} store: "
                    f"{self._inline(preview)}{ellipsis} ({self._place(other)})"
                )

    def _place(self, memory: Memory) -> str:
        return self._inline(self._paths.place(memory.provenance.path, memory.provenance.line))

    def _problem(self, problem: Problem) -> str:
        if problem.path is None:
            return self._inline(problem.message)
        where = self._paths.place(problem.path, problem.line, problem.column)
        rest = problem.message.removeprefix(problem.path)
        if rest == problem.message:
            return self._inline(f"{where}: {self._paths.shortened(rest)}")
        for number in filter(None, (problem.line, problem.column)):  # as far as the message names its place itself
            rest = rest.removeprefix(f":{number}")
        return self._inline(f"{where}{self._paths.shortened(rest)}")

    def _labelled(self, label: str, value: Any) -> str | None:
        return None if value is None or value == "" else f"{label}: {self._inline(as_text(value))}"

    def _strong(self, text: str) -> str:
        return f"{self.style.strong}{self._inline(text)}{self.style.strong}"

    def _inline(self, text: str) -> str:
        shown, cut = _shortened(text, _INLINE)
        return self.style.inline(f"{shown}…" if cut else shown)


def _joined(*parts: str | None) -> str:
    return " · ".join(part for part in parts if part)


def _shortened(text: str, limit: int = VALUE_LIMIT) -> tuple[str, str]:
    """The beginning of a text, and how much of it was cut off: `1,234 characters`; empty where nothing was."""
    end = min(len(text), limit)
    line_ends = 0
    position = text.find("\n", 0, end)
    while position >= 0:
        line_ends += 1
        if line_ends == LINE_LIMIT:
            end = position
            break
        position = text.find("\n", position + 1, end)
    return text[:end], f"{len(text) - end:,} characters" if end < len(text) else ""


def _vitality(vitality: Any) -> str | None:
    if not isinstance(vitality, Mapping) or vitality.get("score") is None:
        return None
    state = vitality.get("state")
    return f"{as_text(vitality['score'])} ({as_text(state)})" if state else as_text(vitality["score"])


def _number(confidence: float | str | None) -> str:
    if confidence is None:
        return "unknown"
    return f"{confidence:.2f}" if isinstance(confidence, float) else str(confidence)
