"""One line while it is scanned: its text, what is known, and how much of a run of key characters is the name.

Everything that `_` and closing punctuation do to a name is decided here, so that all forms read it alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_recall.model import System
from memory_recall.references.nouns import Form, Known, Reference
from memory_recall.text.key_runs import SENTENCE_END, first_emphasis, last_emphasis

OPENER = re.compile(r"(nemp|memory|coven):")
"""What names a system."""

MEMORY_ID = re.compile(r"MEM-[A-Za-z0-9][A-Za-z0-9._-]*")
_ULID = re.compile(r"[0-9A-Z]{26}")

_SYSTEM_NAMED: dict[str, System] = {"nemp": "nemp", "memory": "memory", "coven": "coven"}


class Line:
    """`text[start:end]`, with what is worked out once for all references on it."""

    __slots__ = ("_emphasis", "end", "known", "start", "text")

    def __init__(self, text: str, start: int, end: int, known: Known) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.known = known
        self._emphasis: tuple[int, int] | None = None

    @property
    def emphasis(self) -> tuple[int, int]:
        """Where `_` first opens emphasis on the line, and where it last closes it."""
        if self._emphasis is None:
            bounds = self.text, self.start, self.end
            self._emphasis = first_emphasis(*bounds), last_emphasis(*bounds)
        return self._emphasis

    def before(self, offset: int) -> str:
        """The character before an offset; empty at the beginning of the line."""
        return self.text[offset - 1] if offset > self.start else ""

    def knows(self, system: System, name: str) -> bool:
        """Whether the system has a memory of that name."""
        if system == "nemp":
            return self.known.has_key(name)
        return self.known.has_memory(name) if system == "memory" else self.known.has_claim(name)

    def knows_id(self, name: str) -> bool:
        """Whether it is the id of a memory or a claim: names that no word of prose looks like."""
        if MEMORY_ID.fullmatch(name):
            return self.known.has_memory(name)
        return _ULID.fullmatch(name) is not None and self.known.has_claim(name)

    def reference(
        self, system: System | None, form: Form, target: tuple[int, int], whole: tuple[int, int]
    ) -> Reference:
        """A reference whose target and whole stand at these stretches of the text."""
        return Reference(system, self.text[slice(*target)], form, *whole, *target)

    def readings(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The stretches of a run that may be the name: as it is; without the punctuation that ends its sentence;
        without the `_` of Markdown's emphasis."""
        ends = self.ends(start, end)
        for last in ends:
            yield start, last
        first = start
        while first < ends[-1] and self.text[first] == "_":
            first += 1
        if first > start and self.emphasis[1] >= first:
            yield first, ends[-1]

    def ends(self, start: int, end: int) -> list[int]:
        """Where a name that begins at `start` may end, the longest first: the second half of `readings`."""
        found = [end]
        last = self._before_punctuation(start, end)
        inner = last
        while inner > start and self.text[inner - 1] == "_":
            inner -= 1
        if last < end:
            found.append(last)
        if inner < last and self.emphasis[0] < inner:
            found.append(self._before_punctuation(start, inner))
        return found

    def _before_punctuation(self, start: int, end: int) -> int:
        while end > start and self.text[end - 1] in SENTENCE_END:
            end -= 1
        return end


def system_of(opener: re.Match[str]) -> System:
    """The system that a match of `OPENER` names."""
    return _SYSTEM_NAMED[opener.group(1)]
