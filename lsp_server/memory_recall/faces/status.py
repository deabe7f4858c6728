"""What can be seen from one place: the stores, how much is in them, what is wrong with them, and who says so."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import Any

from memory_recall import __version__
from memory_recall.environment import Environment, Place
from memory_recall.model import Problem
from memory_recall.stores.shelf import Shelf


def status(place: Place, environment: Environment, shelf: Shelf) -> dict[str, Any]:
    """`{v, versions, place, stores[{system, source, path, exists, readable, count}], problems, index}`.

    Records nothing. A store that is not `readable` may hold more than `count`: it, or a directory of it, could not be
    read. `index` is `{directory, bytes, age_seconds, problem, note}`: where the indexes of large stores are kept, how
    large those of this place are together and how long ago one was of use (null where there is none), and what keeps
    one from being used.
    """
    stores: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for found, wrong in (_nemp(place, environment, shelf), _memory(place, shelf), _coven(environment, shelf)):
        stores += found
        problems += wrong
    return {
        "v": 1,
        "versions": {"memory_recall": __version__, "python": platform.python_version()},
        "place": {"folder": str(place.folder), "workspace": str(place.boundary) if place.boundary else None},
        "stores": stores,
        "problems": [problem.as_json() for problem in problems],
        "index": _index(place, environment, shelf),
    }


def _index(place: Place, environment: Environment, shelf: Shelf) -> dict[str, Any]:
    from memory_recall.stores.nemp import find_stores

    cache = shelf.indexing.cache
    if cache is None:
        note = "Answers come from the stores themselves; no index is kept."
        return {"directory": None, "bytes": None, "age_seconds": None, "problem": None, "note": note}
    places = find_stores(place, environment)
    nemp = [str(path) for path in (places.project, places.global_) if path is not None]
    folders = [cache.folder("agent", str(place.project)), *(cache.folder("nemp-ranked", path) for path in nemp)]
    used = max((at for folder in folders if (at := folder.last_used()) is not None), default=None)
    return {
        "directory": str(cache.directory),
        "bytes": None if used is None else sum(folder.size() for folder in folders),
        "age_seconds": None if used is None else round(max(0.0, time.time() - used), 3),
        "problem": next((trouble for folder in folders if (trouble := folder.trouble()) is not None), None),
        "note": "Large stores have an index. Nothing in one is believed that the store does not say.",
    }


def _store(
    system: str, source: str, path: Path | None, count: int, *, exists: bool, readable: bool = True
) -> dict[str, Any]:
    return {
        "system": system,
        "source": source,
        "path": str(path) if path else None,
        "exists": exists,
        "readable": readable,
        "count": count,
    }


def _nemp(place: Place, environment: Environment, shelf: Shelf) -> tuple[list[dict[str, Any]], list[Problem]]:
    from memory_recall.stores.nemp import find_stores

    found = find_stores(place, environment)
    stores: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for source, path in (("project", found.project), ("global", found.global_)):
        if path is None:
            stores.append(_store("nemp", source, None, 0, exists=False))
            continue
        read = shelf.nemp(path, "project" if source == "project" else "global")
        readable = read.failure is None and read.shape != "broken"
        stores.append(_store("nemp", source, path, len(read.entries), exists=True, readable=readable))
        problems += read.problems
    return stores, problems


def _memory(place: Place, shelf: Shelf) -> tuple[list[dict[str, Any]], list[Problem]]:
    read = shelf.agent(place.project)
    directory = place.project / ".agent" / "memory"
    exists, readable = read.memory_exists or bool(read.unread), not read.unread
    store = _store("memory", "project", directory, read.count, exists=exists, readable=readable)
    return [store], list(read.problems)


def _coven(environment: Environment, shelf: Shelf) -> tuple[list[dict[str, Any]], list[Problem]]:
    if environment.home is None:
        return [_store("coven", "coven", None, 0, exists=False)], []
    read = shelf.coven(environment.home)
    readable = read.unreadable is None
    store = _store("coven", "coven", read.root, len(read.ulids), exists=read.exists, readable=readable)
    return [store], list(read.problems)
