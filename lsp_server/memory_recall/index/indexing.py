"""What is said of indexes where stores are asked for; apart from the cache, so that who keeps none loads none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_recall.records import NamedTuple

if TYPE_CHECKING:
    from memory_recall.index.cache import Cache


class Indexing(NamedTuple):
    """How large stores are indexed: where the index is kept (None: nowhere), and whether changes are followed."""

    cache: Cache | None = None
    follow: bool = False
