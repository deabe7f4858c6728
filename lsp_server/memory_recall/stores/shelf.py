"""Stores already read, kept while they are current. A terminal has one shelf a command, a server one for its life.

The shelf owns no freshness rule: each store module says whether what was read still stands on disk. So an answer is
never stale, with or without a client that watches files. Modules are imported when their system is asked for, because
a terminal's first answer needs one of the three.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from memory_recall.index.indexing import Indexing

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.environment import Environment
    from memory_recall.files.reading import FileBytes
    from memory_recall.ranking.held import HeldDocuments
    from memory_recall.stores.agent import AgentStore, AnyStore
    from memory_recall.stores.coven import CovenStore
    from memory_recall.stores.nemp import NempPlaces, NempStore
    from memory_recall.stores.nemp_ranked import RankedStore
    from memory_recall.stores.nemp_remembered import Outlines

_Store = TypeVar("_Store")

_KEPT = 64
"""How many stores stay in memory: more than the folders anybody opens at once."""


IN_MEMORY = Indexing()


class Shelf:
    """Reads a store at most once while it stays unchanged.

    Safe to use from several threads: an entry is replaced whole, and the worst that a race costs is a second reading.
    `indexing` says how large stores are indexed: in memory alone, if nothing else is said. `remembering` is for who
    asks for one nemp memory and then ends: what is remembered of the stores is in the cache of those surroundings.
    """

    def __init__(self, indexing: Indexing = IN_MEMORY, *, remembering: Environment | None = None) -> None:
        self.indexing = indexing
        self._remembering = remembering
        self._outlines: Outlines | None = None
        self._kept: OrderedDict[tuple[str, Path], Any] = OrderedDict()

    def nemp(self, path: Path, source: Literal["project", "global"]) -> NempStore:
        """The nemp store in that file, as it is on disk now."""
        from memory_recall.stores import nemp

        kept: NempStore | None = self._kept.get((source, path))
        if kept is not None and nemp.is_current(kept):
            return kept
        outlined = None if self._remembering is None else self._outlined
        return self._keep((source, path), nemp.read_store(path, source, earlier=kept, outlined=outlined))

    def _outlined(self, path: Path, source: Literal["project", "global"], file: FileBytes) -> NempStore:
        from memory_recall.stores.nemp import store_of_bytes
        from memory_recall.stores.nemp_remembered import Outlines

        if self._outlines is None and self._remembering is not None:
            self._outlines = Outlines.of(self._remembering)
        if self._outlines is None:
            return store_of_bytes(path, source, file.data, file.stamp)
        return self._outlines.store_of(path, source, file)

    def remember(self) -> None:
        """Have the next command find what this one knows of nemp stores. For after the answer; never raises."""
        if self._outlines is not None:
            for (system, _), store in self._kept.items():
                if system in ("project", "global"):
                    self._outlines.keep(store)

    def put_nemp(self, store: NempStore) -> None:
        """Keep a store as it was just written, so that it need not be read."""
        self._keep((store.source, store.path), store)

    def nemp_stores(self, places: NempPlaces) -> list[NempStore]:
        """The nemp stores that a place sees, the project's first."""
        stores = []
        if places.project is not None:
            stores.append(self.nemp(places.project, "project"))
        if places.global_ is not None:
            stores.append(self.nemp(places.global_, "global"))
        return stores

    def held(self, store: NempStore) -> HeldDocuments:
        """What a search makes of a small nemp store, as long as its memories say the same."""
        from memory_recall.ranking.held import HeldDocuments

        kept: HeldDocuments | None = self._kept.get(("held", store.path))
        if kept is not None and (kept.documents is store.documents or kept.documents == store.documents):
            return kept
        return self._keep(("held", store.path), HeldDocuments(store.documents))

    def ranked(self, store: NempStore, cancellation: Cancellation | None = None) -> RankedStore | None:
        """What a search makes of a large nemp store, as long as its memories say the same. Raises `Cancelled`.

        None for a small one, and where nothing is kept for a later question: then a scan is the faster way.
        """
        indexing = self._indexing_of_nemp()
        if not store.is_large or (indexing.cache is None and not indexing.follow):
            return None
        from memory_recall.stores.nemp_kept import keep, kept, settled
        from memory_recall.stores.nemp_ranked import ranked

        before: RankedStore | None = self._kept.get(("ranked", store.path))
        if before is not None and before.holds(store):
            return before
        blocks = kept(store.path, indexing) if before is None else before.blocks
        if not blocks:
            indexing.begin(len(store.keys))
        made = ranked(store, before, blocks, partial(settled, store.path, indexing), cancellation)
        return self._keep(("ranked", store.path), keep(made, blocks, store.path, indexing))

    def _indexing_of_nemp(self) -> Indexing:
        if self._remembering is None:
            return self.indexing
        from memory_recall.index.cache import Cache

        return self.indexing._replace(cache=Cache.of(self._remembering))

    def agent(self, project: Path, cancellation: Cancellation | None = None) -> AnyStore:
        """The `.agent/memory` tree of that very project, as it is on disk now; unchanged entries are not read again."""
        from memory_recall.stores import agent

        kept: AnyStore | None = self._kept.get(("agent", project))
        if kept is not None and agent.is_current(kept):
            return kept
        return self._keep(("agent", project), agent.open_store(project, kept, cancellation, self.indexing))

    def held_agent(self, project: Path, cancellation: Cancellation | None = None) -> AgentStore:
        """The same with all its entries in memory, however many there are. It is not kept."""
        from memory_recall.stores import agent

        return agent.read_store(project, None, cancellation)

    def coven(self, home: Path) -> CovenStore:
        """The Coven store under that home, as it is on disk now."""
        from memory_recall.stores import coven

        kept: CovenStore | None = self._kept.get(("coven", home))
        if kept is not None and coven.is_current(kept):
            return kept
        return self._keep(("coven", home), coven.read_store(home))

    def holds(self, system: str, path: Path) -> bool:
        """Whether a store was read before, so that asking again costs a look at the disk and no reading."""
        return (system, path) in self._kept

    def _keep(self, name: tuple[str, Path], store: _Store) -> _Store:
        self._kept[name] = store
        self._kept.move_to_end(name)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return store
