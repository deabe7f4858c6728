"""What is said of indexes where stores are asked for; apart from the cache, so that who keeps none loads none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_recall.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_recall.index.cache import Cache

MANY = 10_000
"""Memories whose first indexing takes longer than anybody waits without a word: a second and more."""


class Indexing(NamedTuple):
    """How large stores are indexed: where the index is kept (None: nowhere), and whether changes are followed.

    `announce` is told how many memories are about to be indexed for the first time, where they are `MANY`.
    """

    cache: Cache | None = None
    follow: bool = False
    announce: Callable[[int], None] | None = None

    def begin(self, count: int) -> None:
        """So many memories are about to be indexed that never were."""
        if self.announce is not None and count >= MANY:
            self.announce(count)
