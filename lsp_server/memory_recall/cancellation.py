"""How a long piece of work learns that nobody waits for it any more."""

from __future__ import annotations

from memory_recall.errors import Cancelled


class Cancellation:
    """Set from one thread, checked in the loops of another. Nobody sleeps until it is set, so a plain flag will do."""

    def __init__(self) -> None:
        self._cancelled = False

    def cancel(self) -> None:
        """Ask the work to stop at its next check."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def check(self) -> None:
        """Raise `Cancelled` if the work should stop. Cheap enough for every 1,000th round of a loop."""
        if self._cancelled:
            raise Cancelled
