"""What a reference is, and what must be known to see one. Plain values; no grammar."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from memory_recall.model import System

Form = Literal["bracket", "prefix", "command", "code", "bare"]

NAME_LIMIT = 512
"""The longest name, in code points, that is taken for a reference where the text does not say where it ends."""

ENCLOSED_LIMIT = 4_096
"""The longest name in brackets or in a code span."""


class Known(Protocol):
    """What can be cited from where the text stands. Asked often: each answer should be a look into a set."""

    def has_key(self, key: str) -> bool:
        """Whether a nemp store in view has that very key."""

    def has_memory(self, memory_id: str) -> bool:
        """Whether `.agent/memory` in view has an entry of that id."""

    def has_claim(self, ulid: str) -> bool:
        """Whether the Coven store has a claim of that ULID."""


class Reference(NamedTuple):
    """A place in a text that cites a memory. Offsets are code points into that text.

    `text[start:end]` is what an editor marks: with its brackets or its `nemp:`, without the ticks of a code span and
    without the command before an argument. `text[target_start:target_end]` is `target`, the name cited. `system` is
    None where the text does not say it.
    """

    system: System | None
    target: str
    form: Form
    start: int
    end: int
    target_start: int
    target_end: int

    @property
    def explicit(self) -> bool:
        """Whether the text says outright that this is a memory: then a name that leads nowhere is a mistake."""
        return self.system is not None
