"""How a long piece of work learns that nobody waits for it any more."""

from __future__ import annotations

import threading

from memory_recall.errors import Cancelled


class Cancellation:
    """Set from one thread, checked in the loops of another."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop at its next check."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if the work should stop. Cheap enough for every 1,000th round of a loop."""
        if self._event.is_set():
            raise Cancelled
