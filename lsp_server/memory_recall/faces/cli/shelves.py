"""The shelf of one command: whether its stores may be answered from the user's cache."""

from __future__ import annotations

import os
from collections.abc import Callable

from memory_recall.faces.cli.invocation import Invocation, Options
from memory_recall.stores.shelf import Shelf


def announcing(invocation: Invocation) -> Callable[[int], None] | None:
    """Who tells a person at a terminal why the first answer of a large store takes so long; nobody elsewhere."""
    stream = invocation.streams.stderr
    if stream is None or not stream.isatty():
        return None

    def announce(count: int) -> None:
        stream.write(f"Indexing {count:,} memories. The next questions only read what has changed by then.\n")
        stream.flush()

    return announce


def shelf_of(invocation: Invocation, options: Options) -> Shelf:
    """A shelf that reads and keeps indexes in the user's cache, unless `--no-cache` or the environment says not to."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of numpy's, a third of the time that its loading takes
    from memory_recall.index.cache import Cache
    from memory_recall.index.indexing import Indexing

    return Shelf(Indexing(None if options.no_cache else Cache.of(invocation.env), announce=announcing(invocation)))
