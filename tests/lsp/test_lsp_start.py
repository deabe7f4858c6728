"""What a server does until its first hover: what it loads, and what it reads before anybody asks."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores_of_a_world import write_stores
from wire import Wire

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Place
from memory_recall.errors import Cancelled
from memory_recall.faces.lsp.lookup import Lookup
from memory_recall.faces.lsp.session import Session
from memory_recall.faces.lsp.shelves import NeedsReading, SharedShelf, StandingShelf
from memory_recall.faces.lsp.work import Workers
from memory_recall.files import reading
from memory_recall.stores import agent, nemp
from worlds import World

# What only commands, or citations of other systems, have a use for.
NOT_YET = (
    "pydantic", "pydantic_core", "yaml", "rapidfuzz", "Stemmer", "numpy", "sqlite3", "filelock",
    "memory_recall.faces.command_options", "memory_recall.recall", "memory_recall.ranking",
    "memory_recall.stores.agent", "memory_recall.stores.coven", "memory_recall.files.writing",
)  # fmt: skip


@pytest.fixture
def settled_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores count as long unchanged, though the test has just written them."""
    monkeypatch.setattr(reading, "_CLOCK_TICK_NS", -(1 << 62))


def imported(wire: Wire) -> set[str]:
    """The modules that a server started with PYTHONPROFILEIMPORTTIME has imported, once it has ended."""
    return set(re.findall(r"^import time: +\d+ \| +\d+ \| +(\S+)$", wire.errors, re.MULTILINE))


def test_until_the_first_hover_nothing_is_loaded_that_only_commands_need(
    start: Callable[..., Wire], world: World
) -> None:
    write_stores(world)
    wire, note = start(PYTHONPROFILEIMPORTTIME="1"), (world.project / "a.md").as_uri()
    wire.initialize([world.project])
    wire.open(note, "see auth-flow here")
    assert "JWT" in wire.hover(note, 0, 6)["contents"]["value"]
    assert wire.quit() == 0
    loaded = imported(wire)
    assert "memory_recall.stores.nemp" in loaded
    assert sorted(loaded & set(NOT_YET)) == []


def a_session(world: World) -> Session:
    folder = {"uri": world.project.as_uri(), "name": "project"}
    return Session.of({"workspaceFolders": [folder], "capabilities": {}}, world.env, Workers())


@pytest.mark.usefixtures("settled_files")
def test_what_a_note_is_likely_to_cite_is_read_ahead(world: World) -> None:
    stores, session = write_stores(world), a_session(world)
    place, standing = session.place_of((world.project / "a.md").as_uri()), StandingShelf(session.shelf)
    with pytest.raises(NeedsReading):
        standing.nemp(stores.nemp, "project")
    session.lookup.prepare(place, Cancellation())
    assert standing.nemp(stores.nemp, "project").by_key("auth-flow")
    assert standing.nemp(stores.shared, "global").by_key("commit-style")
    assert not stores.log.exists()


def test_reading_ahead_stops_when_the_session_ends(world: World) -> None:
    stores, session = write_stores(world), a_session(world)
    cancelled = Cancellation()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        session.lookup.prepare(session.place_of((world.project / "a.md").as_uri()), cancelled)
    assert not session.shelf.holds("project", stores.nemp)


def test_reading_ahead_of_a_place_without_stores_is_nothing(world: World) -> None:
    session = a_session(world)
    session.lookup.prepare(session.place_of((world.project / "a.md").as_uri()), Cancellation())


def test_each_place_is_read_ahead_once(world: World) -> None:
    places = []

    class Watched(Lookup):
        def prepare(self, place: Place, cancellation: Cancellation) -> None:  # noqa: ARG002
            places.append(place)

    (world.project / "sub").mkdir()
    session = a_session(world)
    session = session._replace(lookup=Watched(world.env, session.shelf))
    for name in ("a.md", "b.md", "sub/c.md", "a.md"):
        session.prepare((world.project / name).as_uri())
    for pool in session.workers._pools.values():
        pool.shutdown()
    assert sorted(place.folder for place in places) == [world.project, world.project / "sub"]


@pytest.mark.usefixtures("settled_files")
def test_a_store_that_is_being_read_is_waited_for_and_not_read_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, shelf = write_stores(world), SharedShelf()
    begun, go_on, readings, found = threading.Event(), threading.Event(), [], []
    read = nemp.read_store

    def slowly(path: Path, *arguments: Any, **more: Any) -> Any:
        readings.append(path)
        begun.set()
        assert go_on.wait(20)
        return read(path, *arguments, **more)

    monkeypatch.setattr(nemp, "read_store", slowly)
    threads = [
        threading.Thread(target=lambda: found.append(shelf.nemp(stores.nemp, "project")), daemon=True) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(20)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert readings == [stores.nemp]
    assert len(found) == 3
    assert found[0] is found[1] is found[2]


def test_a_failed_reading_leaves_the_store_to_the_next(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stores, shelf, read = write_stores(world), SharedShelf(), nemp.read_store

    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(nemp, "read_store", fail)
    with pytest.raises(MemoryError):
        shelf.nemp(stores.nemp, "project")
    monkeypatch.setattr(nemp, "read_store", read)
    assert shelf.nemp(stores.nemp, "project").by_key("auth-flow")


def test_who_waits_for_a_reading_can_be_told_that_nobody_waits_for_him(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_stores(world)
    shelf, begun, go_on = SharedShelf(), threading.Event(), threading.Event()
    read = agent.read_store

    def slowly(*arguments: Any, **more: Any) -> Any:
        begun.set()
        assert go_on.wait(20)
        return read(*arguments, **more)

    monkeypatch.setattr(agent, "read_store", slowly)
    reader = threading.Thread(target=shelf.agent, args=(world.project,), daemon=True)
    reader.start()
    assert begun.wait(20)
    cancelled = Cancellation()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        shelf.agent(world.project, cancelled)
    go_on.set()
    reader.join(20)
    assert shelf.holds("agent", world.project)
