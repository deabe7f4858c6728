"""The reference at a position and what it says, on the event loop where that only costs a look at the disk.

An editor asks at every rest of the mouse. Where every store that is needed has been read and still stands, the answer
is made at once; where one must be read, or where looking alone was slow the last times, it is made in a thread.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory_recall.cancellation import Cancellation
from memory_recall.catalogue import Catalogue, Resolution
from memory_recall.environment import Environment, Place
from memory_recall.faces.lsp.documents import Spot
from memory_recall.faces.lsp.shelves import NeedsReading, StandingShelf
from memory_recall.references import Known, Reference, reference_at
from memory_recall.stores.shelf import Shelf

if TYPE_CHECKING:
    from memory_recall.stores.nemp import Source

_QUICK = 0.003
"""Seconds that an answer may keep the event loop."""

_LONG_LINE = 20_000
"""Characters of a line above which it is scanned in a thread."""

_PATIENCE = 3
"""Slow answers in a row after which a place is left to threads. One may have been the fault of a busy machine."""


class Citation(NamedTuple):
    """A reference in a note, with what it says there. Its `reference` counts columns of the spot's line."""

    place: Place
    spot: Spot
    reference: Reference
    resolution: Resolution


class Lookup:
    """Answers for positions. Remembers for each place how many of its last answers in a row were slow."""

    def __init__(self, environment: Environment, shelf: Shelf) -> None:
        self._environment = environment
        self._shelf = shelf
        self._slow: dict[Place, int] = {}

    def glance(self, place: Place, spot: Spot) -> Citation | None:
        """The citation at a spot, for the event loop. Raises `NeedsReading` where a thread should look."""
        if self._slow.get(place, _PATIENCE) >= _PATIENCE or len(spot.content) > _LONG_LINE:
            raise NeedsReading
        return self._timed(place, spot, StandingShelf(self._shelf), at_once=True)

    def prepare(self, place: Place, cancellation: Cancellation) -> None:
        """Read what a note there is likely to cite, so that the first hover need not wait for it. Not for the loop.

        That is what nemp has; the other systems are asked only where a note has one of their ids. The first memory is
        looked at as a hover would, for a store works out some things when first asked for one.
        """
        from memory_recall.stores.nemp import as_memory, find_stores

        places = find_stores(place, self._environment)
        sources: tuple[tuple[Path | None, Source], ...] = ((places.project, "project"), (places.global_, "global"))
        for path, source in sources:
            cancellation.check()
            if path is not None:
                store = self._shelf.nemp(path, source)
                if store.entries:
                    as_memory(store, store.entries[0])

    def look(self, place: Place, spot: Spot, cancellation: Cancellation) -> Citation | None:
        """The citation at a spot; reads stores, so not for the event loop."""
        cancellation.check()
        return self._timed(place, spot, self._shelf)

    def _timed(self, place: Place, spot: Spot, shelf: Shelf, *, at_once: bool = False) -> Citation | None:
        started = time.perf_counter()
        catalogue = Catalogue(place, self._environment, shelf)
        reference = reference_at(spot.content, spot.column, catalogue)
        if at_once and reference is not None and not _leads_somewhere(reference, catalogue):
            raise NeedsReading  # what was meant is sought among all names there are
        citation = None if reference is None else Citation(place, spot, reference, catalogue.resolve(reference))
        quick = time.perf_counter() - started < _QUICK
        self._slow[place] = 0 if quick else self._slow.get(place, 0) + 1
        return citation


def _leads_somewhere(reference: Reference, known: Known) -> bool:
    if reference.system == "nemp":
        return known.has_key(reference.target)
    if reference.system == "memory":
        return known.has_memory(reference.target)
    return reference.system is None or known.has_claim(reference.target)
