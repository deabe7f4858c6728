"""An index never says anything that the files do not: whatever happens to them, and whatever happens to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from agent_entries import write_entry
from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.files import reading
from memory_recall.index.cache import Cache
from memory_recall.index.indexing import Indexing
from memory_recall.recall import agent_columns, agent_search
from memory_recall.recall.agent_query import AgentQuery
from memory_recall.stores import agent, agent_reading, agent_refresh
from memory_recall.stores.agent import AgentStore
from memory_recall.stores.agent_indexed import IndexedStore
from memory_recall.stores.shelf import Shelf
from worlds import NOW, World

TICK = 0.025


@pytest.fixture(autouse=True)
def indexed_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "INDEXED_FROM", 0)


def cache_of(world: World) -> Cache:
    cache = Cache.of(world.env)
    assert cache is not None
    return cache


def fresh(world: World) -> IndexedStore:
    """What another command would read."""
    store = Shelf(Indexing(cache_of(world))).agent(world.project)
    assert isinstance(store, IndexedStore)
    return store


def ids(store: agent.AnyStore) -> list[str]:
    return list(store.memory_ids)


def settled(world: World) -> None:
    """Give all files of a world an age at which their stamps are settled, as far as the reader's clock is concerned."""
    time.sleep(TICK)


@pytest.fixture
def quick_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system's clock stands still for less than this; waiting for 50 ms each time would take minutes."""
    monkeypatch.setattr(reading, "_CLOCK_TICK_NS", int(TICK * 0.8e9))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were read since it was last cleared."""
    names: list[str] = []

    def noted(path: Path | str, *, limit: int) -> reading.FileBytes:
        names.append(Path(path).name)
        return reading.read_file(path, limit=limit)

    monkeypatch.setattr(agent_reading, "read_file", noted)
    return names


def answer(store: agent.AnyStore, request: AgentQuery) -> Any:
    """Everything that a recall says of a store, but where it looked."""
    if isinstance(store, AgentStore):
        counts, hits = agent_search.search(request, store, NOW, None)
    else:
        counts, hits = agent_columns.search(request, store, NOW, None)
    shown = [(hit.entry.file, hit.score, hit.expired, hit.as_json()) for hit in hits]
    return counts, shown, store.problems_of(request.asked_types), store.unread


NAMES = ["MEM-a.json", "MEM-b.json", "MEM-é.json", "sample.json"]
ONE_THAT_IS = st.integers(0, 20)
PLACES = st.tuples(st.sampled_from(["episodic", "semantic"]), st.sampled_from(NAMES))
WORDS = ["gateway", "webhook", "retries", "docker", "postgres"]
REQUESTS = [
    AgentQuery("", limit=50, min_confidence=0.0),
    AgentQuery("", limit=2, scope="project"),
    AgentQuery("webhook docker retries", limit=50, min_confidence=0.0, include_expired=True),
    AgentQuery("gateway", limit=3, types=("semantic",)),
]


class Files(RuleBasedStateMachine):
    """Anything happens to the files, in any order; after each step all ways of reading them say the same."""

    @initialize()
    def make(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        home, project = self.root / "home", self.root / "project"
        home.mkdir()
        for type_ in ("episodic", "semantic"):
            (project / ".agent/memory" / type_).mkdir(parents=True)
        self.project, self.memory = project, project / ".agent/memory"
        self.cache = Cache(home / "cache/memory-recall/index")
        self.server = Shelf(Indexing(self.cache, follow=True))
        self.scanning = Shelf(Indexing(None))

    def teardown(self) -> None:
        if hasattr(self, "root"):
            subprocess.run(["chmod", "-R", "u+rwX", str(self.root)], check=False)
            shutil.rmtree(self.root)

        for number, place in enumerate(
            [("episodic", "MEM-a.json"), ("semantic", "MEM-b.json"), ("semantic", "MEM-c.json")]
        ):
            Files.write(self, place, WORDS[number], WORDS[number + 1], number)

    def path(self, place: tuple[str, str]) -> Path:
        return self.memory.joinpath(*place)

    def one(self, number: int) -> Path:
        """One of the names that there are; a name that leads nowhere where there are none."""
        found = sorted(path for type_ in self.memory.iterdir() for path in type_.iterdir() if not path.is_dir())
        return found[number % len(found)] if found else self.memory / "nothing"

    @rule(place=PLACES, word=st.sampled_from(WORDS), other=st.sampled_from(WORDS), number=st.integers(0, 9))
    def write(self, place: tuple[str, str], word: str, other: str, number: int) -> None:
        record = {
            "memory_id": f"MEM-{number}" if number > 6 else place[1].removesuffix(".json"),
            "content": f"{word} and {other}",
            "confidence": number / 10,
            "scope": "user" if number == 5 else "project",
            "expires_at": "2020-01-01" if number == 4 else None,
            "created_at": f"2026-0{number + 1}-01" if number < 9 else "soon",
            "tags": "none" if number == 3 else [other],
        }
        if self.path(place).parent.is_dir() and not self.path(place).is_dir():
            self.path(place).unlink(missing_ok=True) if self.path(place).is_symlink() else None
            self.path(place).write_text(json.dumps(record))

    @rule(number=ONE_THAT_IS)
    def rewrite_the_same_length(self, number: int) -> None:
        path = self.one(number)
        if path.is_file():
            old = path.stat()
            data = path.read_bytes()
            path.write_bytes(data.swapcase() if b"webhook" not in data else data.replace(b"webhook", b"gateway"))
            os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))

    @rule(number=ONE_THAT_IS)
    def write_within(self, number: int) -> None:
        path = self.one(number)
        if path.is_file():
            with path.open("r+b") as file:
                file.write(b" ")

    @rule(number=ONE_THAT_IS)
    def remove(self, number: int) -> None:
        self.one(number).unlink(missing_ok=True)

    @rule(number=ONE_THAT_IS, data=st.sampled_from([b"{", b"null", b'{"content": 5, "scope": "team"}', b""]))
    def break_it(self, number: int, data: bytes) -> None:
        if self.one(number).is_file():
            self.one(number).write_bytes(data)

    @rule(number=ONE_THAT_IS, other=PLACES)
    def rename(self, number: int, other: tuple[str, str]) -> None:
        if self.one(number).is_file() and self.path(other).parent.is_dir():
            self.one(number).replace(self.path(other))

    @rule(number=ONE_THAT_IS, other=PLACES)
    def link(self, number: int, other: tuple[str, str]) -> None:
        if self.one(number).is_file() and self.path(other).parent.is_dir() and not os.path.lexists(self.path(other)):
            self.path(other).hardlink_to(self.one(number))

    @rule(number=ONE_THAT_IS)
    def write_by_another_name(self, number: int) -> None:
        """A hard link outside of the directories: no event tells of what is written there."""
        if self.one(number).is_file():
            other = self.root / "other name"
            other.unlink(missing_ok=True)
            other.hardlink_to(self.one(number).resolve())
            other.write_bytes(other.read_bytes().replace(b"docker", b"gateway"))

    @rule(
        place=PLACES, leads=st.sampled_from(["MEM-a.json", "nowhere.json", "../semantic/MEM-b.json", "/etc/hostname"])
    )
    def link_symbolically(self, place: tuple[str, str], leads: str) -> None:
        if self.path(place).parent.is_dir() and not os.path.lexists(self.path(place)):
            self.path(place).symlink_to(leads)

    @rule(number=ONE_THAT_IS, moment=st.sampled_from([1, 10**18, 4 * 10**18]))
    def touch(self, number: int, moment: int) -> None:
        if self.one(number).is_file():
            os.utime(self.one(number), ns=(moment, moment))

    @rule(number=ONE_THAT_IS, mode=st.sampled_from([0o000, 0o644]))
    def change_mode(self, number: int, mode: int) -> None:
        if self.one(number).is_file():
            self.one(number).chmod(mode)

    @rule(type_=st.sampled_from(["episodic", "procedural"]))
    def move_a_type(self, type_: str) -> None:
        other = {"episodic": "procedural", "procedural": "episodic"}[type_]
        if (self.memory / type_).is_dir() and not os.path.lexists(self.memory / other):
            (self.memory / type_).rename(self.memory / other)

    @rule()
    def put_a_link_in_place_of_a_type(self) -> None:
        type_, elsewhere = self.memory / "episodic", self.project / "elsewhere"
        if type_.is_symlink():
            type_.unlink()
            elsewhere.rename(type_)
        elif type_.is_dir():
            type_.rename(elsewhere)
            type_.symlink_to(elsewhere)

    @rule()
    def let_time_pass(self) -> None:
        time.sleep(TICK)

    @invariant()
    def all_say_the_same(self) -> None:
        if not hasattr(self, "root"):
            return
        held = agent.read_store(self.project)
        terminal = Shelf(Indexing(self.cache)).agent(self.project)
        without = Shelf(Indexing(None)).agent(self.project)
        followed, scanned = self.server.agent(self.project), self.scanning.agent(self.project)
        for request in REQUESTS:
            right = answer(without, request)
            assert answer(terminal, request) == right
            assert answer(followed, request) == right
            assert answer(scanned, request) == right
            if not request.query:
                assert answer(held, request) == right
        for store in (terminal, followed, scanned, without):
            assert ids(store) == ids(held)
            assert store.count == len(held.entries)
            assert list(store.entries) == list(held.entries)
            assert store.by_id("MEM-7") == held.by_id("MEM-7")


@pytest.mark.usefixtures("quick_clock")
def test_whatever_happens_to_the_files_every_way_of_reading_says_the_same() -> None:
    run_state_machine_as_test(
        Files,
        settings=settings(
            max_examples=20,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


# What the cache may be


def grown(world: World, count: int = 5) -> None:
    for number in range(count):
        write_entry(world, f"MEM-{number}", content=f"gateway {number}")


def files_of(world: World) -> list[Path]:
    return sorted(path for path in cache_of(world).directory.rglob("*") if path.is_file() and path.name != "origin")


@pytest.mark.usefixtures("quick_clock")
def test_what_is_unchanged_is_not_read_again(world: World, opened: list[str]) -> None:
    grown(world, 10)
    world.write("project/.agent/memory/semantic/MEM-broken.json", "{")
    settled(world)
    first = fresh(world)
    assert sorted(opened) == [*(f"MEM-{number}.json" for number in range(10)), "MEM-broken.json"]
    opened.clear()
    again = fresh(world)
    assert opened == []
    assert again.problems == first.problems != ()
    assert ids(again) == ids(first)
    write_entry(world, "MEM-1", content="changed")
    (world.project / ".agent/memory/semantic/MEM-2.json").unlink()
    settled(world)
    assert ids(fresh(world)) == [f"MEM-{number}" for number in range(10) if number != 2]
    assert opened == ["MEM-1.json"]


def test_what_was_written_just_now_is_read_again(
    world: World, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes twice in one tick of the file system's clock leaves the same stamp twice."""
    monkeypatch.setattr(reading, "_CLOCK_TICK_NS", 10**12)
    grown(world, 2)
    fresh(world)
    opened.clear()
    fresh(world)
    assert opened == ["MEM-0.json", "MEM-1.json"]


@pytest.mark.usefixtures("quick_clock")
def test_a_stamp_of_the_future_is_never_believed(world: World, opened: list[str]) -> None:
    grown(world, 2)
    later = 4 * 10**18
    os.utime(world.project / ".agent/memory/semantic/MEM-1.json", ns=(later, later))
    settled(world)
    for _ in range(3):
        opened.clear()
        fresh(world)
    assert opened == ["MEM-1.json"]


@pytest.mark.usefixtures("quick_clock")
def test_a_file_that_could_not_be_read_is_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may read it can change without a trace in the file."""
    grown(world, 2)
    settled(world)

    def refused(path: Path | str, *, limit: int) -> reading.FileBytes:
        raise reading.Unreadable(reading._problem(path, "not-permitted", "may not be read."))

    with monkeypatch.context() as patch:
        patch.setattr(agent_reading, "read_file", refused)
        assert [problem.code for problem in fresh(world).problems] == ["not-permitted"] * 2
    assert ids(fresh(world)) == ["MEM-0", "MEM-1"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def garble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def lose(path: Path) -> None:
    path.unlink()


def open_to_others(path: Path) -> None:
    path.chmod(0o666)


def another_block(path: Path) -> None:
    (other,) = (other for other in path.parent.glob("*.block") if other != path)
    path.write_bytes(other.read_bytes())


def a_link(path: Path) -> None:
    moved = path.rename(path.parent.parent.parent / "moved")
    path.symlink_to(moved)


@pytest.mark.usefixtures("quick_clock")
@pytest.mark.parametrize("which", ["table", "block"])
@pytest.mark.parametrize("harm", [cut, garble, empty, lose, open_to_others, a_link])
def test_a_damaged_cache_costs_time_and_no_answer(
    world: World, opened: list[str], which: str, harm: Callable[[Path], None]
) -> None:
    grown(world)
    settled(world)
    right = answer(fresh(world), REQUESTS[2])
    (path,) = (path for path in files_of(world) if which in path.name)
    harm(path)
    opened.clear()
    store = fresh(world)
    assert len(opened) == 5
    assert answer(store, REQUESTS[2]) == right
    opened.clear()
    fresh(world)
    assert opened == [], "what was wrong with it was mended"


@pytest.mark.usefixtures("quick_clock")
def test_blocks_that_were_exchanged_are_noticed(world: World) -> None:
    grown(world, 9)
    settled(world)
    fresh(world)
    write_entry(world, "MEM-new", content="webhook")
    settled(world)
    right = answer(fresh(world), REQUESTS[2])
    smallest = min((path for path in files_of(world) if path.suffix == ".block"), key=lambda path: path.stat().st_size)
    another_block(smallest)
    assert answer(fresh(world), REQUESTS[2]) == right


@pytest.mark.usefixtures("quick_clock")
def test_a_cache_of_another_version_is_not_read(
    world: World, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(world)
    settled(world)
    fresh(world)
    opened.clear()
    monkeypatch.setattr(agent_refresh, "VERSION", "another")
    assert len(ids(fresh(world))) == 5
    assert len(opened) == 5


def test_without_a_cache_nothing_is_kept(world: World) -> None:
    grown(world)
    store = Shelf(Indexing(None)).agent(world.project)
    assert len(ids(store)) == 5
    assert not (world.home / ".cache").exists()


def test_a_disk_that_is_full_costs_no_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    grown(world)
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full")))
    assert len(ids(fresh(world))) == 5


@pytest.mark.usefixtures("quick_clock")
def test_commands_at_once_leave_a_cache_that_holds(world: World, opened: list[str]) -> None:
    grown(world, 8)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ids(fresh(world)), range(12)))
    assert all(one == found[0] for one in found)
    settled(world)
    fresh(world)
    opened.clear()
    fresh(world)
    assert opened == []


@pytest.mark.usefixtures("quick_clock")
def test_a_cache_that_is_replaced_while_it_is_read_is_read_again(
    world: World, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(world)
    settled(world)
    fresh(world)
    real, done = agent_refresh.loaded, []

    def loaded(name: str, *arguments: Any, **options: Any) -> Any:
        if not done:  # another command, which replaces the table and removes the block that it named
            done.append(name)
            for path in files_of(world):
                path.unlink()
            fresh(world)
            opened.clear()
        return real(name, *arguments, **options)

    monkeypatch.setattr(agent_refresh, "loaded", loaded)
    assert len(ids(fresh(world))) == 5
    assert opened == []


def test_reading_for_nobody_stops_and_leaves_nothing(world: World) -> None:
    grown(world)
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        Shelf(Indexing(cache_of(world))).agent(world.project, cancellation)
    assert not (world.home / ".cache").exists()


@pytest.mark.usefixtures("quick_clock")
def test_many_changes_leave_few_blocks(world: World) -> None:
    grown(world, 20)
    shelf = Shelf(Indexing(None))
    shelf.agent(world.project)
    for number in range(60):
        write_entry(world, f"MEM-{number % 30}", content=f"webhook {number}")
        store = shelf.agent(world.project)
    assert isinstance(store, IndexedStore)
    assert len(store.state.blocks) < 8
    assert sum(block.size for block in store.state.blocks) < 2 * store.count


def test_no_question_is_in_the_cache(world: World) -> None:
    grown(world)
    answer(fresh(world), AgentQuery("platypus gateway"))
    fresh(world)
    assert files_of(world)
    assert not any(b"platypus" in path.read_bytes() for path in files_of(world))


def test_names_that_are_no_text_are_names(world: World) -> None:
    grown(world, 1)
    name = os.fsdecode(b"MEM-\xff.json")
    path = world.write(f"project/.agent/memory/semantic/{name}", '{"content": "x"}')
    assert [entry.path for entry in fresh(world).entries][-1] == path
    assert len(fresh(world).entries) == 2


# What an answer is when files change under it


def test_an_answer_is_asked_again_when_its_file_changed_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_recall.recall.agent import recall

    grown(world, 3)
    real, changes = agent_columns.search, iter(["user"])

    def search(*arguments: Any) -> Any:
        for scope in changes:  # written after the store was read, and before its entries are
            write_entry(world, "MEM-1", content="gateway gateway", scope=scope)
            break
        return real(*arguments)

    monkeypatch.setattr(agent_columns, "search", search)
    result = recall(AgentQuery("gateway", scope="project"), world.project, world.env, Shelf())
    assert sorted(hit.entry.memory_id for hit in result.hits) == ["MEM-0", "MEM-2"]
    assert result.counts.scope_filtered_skipped == 1


@pytest.mark.parametrize("by", ["recall", "search"])
def test_a_store_that_never_rests_is_held_to_be_answered(
    world: World, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    from memory_recall.recall.agent import recall
    from memory_recall.recall.everywhere import SearchQuery, search

    def changed(*_: Any) -> Any:
        raise agent_reading.EntryChanged

    grown(world, 3)
    monkeypatch.setattr(IndexedStore, "entry", changed)
    if by == "recall":
        assert len(recall(AgentQuery("gateway"), world.project, world.env, Shelf()).hits) == 3
    else:
        assert len(search(SearchQuery("gateway"), world.place, world.env, Shelf()).hits) == 3


def test_a_search_over_all_stores_finds_what_is_indexed(world: World) -> None:
    from memory_recall.recall.everywhere import SearchQuery, search

    grown(world, 3)
    world.write("project/.nemp/memories.json", {"gateway-port": {"value": "The gateway listens on 8080"}})
    found = search(SearchQuery("gateway"), world.place, world.env, Shelf())
    assert sorted(hit.memory.id for hit in found.hits) == ["MEM-0", "MEM-1", "MEM-2", "gateway-port"]
    named = search(SearchQuery("mem-1"), world.place, world.env, Shelf())
    assert (named.match, named.hits[0].memory.id) == ("named", "MEM-1")
