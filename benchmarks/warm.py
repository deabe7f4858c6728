"""What an editor waits for: hovers and recalls through one language server, beside an empty pygls server.

The two servers run side by side and are asked in turn. Every figure is bounded by time; how many samples it has is part
of it. Where a store is changed, the answers are looked at: a stale one ends the benchmark.
"""

from __future__ import annotations

import itertools
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Unit
from benchmarks.wire import EMPTY, OURS, Session
from benchmarks.words import Text, queries
from benchmarks.worlds import CITED_AT, SEED, World, agent_entry, agent_path, nemp_entry, ulid_of, write_claim

QUERIES = 200
FIRST_RECALL = "first recall after spawn"
COMMANDS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "nemp": ("memoryRecall.nemp.recall", {"record": False}),
    "agent": ("memoryRecall.memory.recall", {"notify": "never"}),
    "coven": ("memoryRecall.coven.recall", {}),
}
SEARCH = "memoryRecall.search"


@dataclass(frozen=True)
class Bounds:
    """How much is measured: `seconds` for one figure, but `least` samples, and no more than the other numbers say."""

    seconds: float
    least: int
    spawns: int
    hovers: int
    recalls: int
    changes: int


@dataclass
class Measured:
    """Samples by the name of their figure."""

    world: World
    samples: dict[str, list[float]] = field(default_factory=dict)
    floors: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        """One sample more."""
        self.samples.setdefault(name, []).append(value)

    def timed(self, name: str, work: Callable[..., Any], *arguments: object) -> Any:
        """Do it, note the milliseconds, and return what it returned."""
        before = time.perf_counter_ns()
        result = work(*arguments)
        self.add(name, (time.perf_counter_ns() - before) / 1e6)
        return result

    def note_memory(self, name: str, session: Session) -> None:
        """Note the resident memory of a server, and the most it had."""
        found = session.megabytes()
        if found is not None:
            self.add(f"{name} rss", found[0])
            self.add(f"{name} peak rss", found[1])

    def figures(self) -> Iterator[Figure]:
        """All of it, with ratios to the empty server's hover of the same kind."""
        medians = {name: statistics.median(samples) for name, samples in self.samples.items()}
        for name, samples in self.samples.items():
            unit: Unit = "MB" if name.endswith(("rss", "cache on disk")) else "ms"
            peer = self.floors.get(name)
            floors = {"empty": medians[peer]} if peer in medians else {}
            yield Figure(name, self.world.facts.store, self.world.facts.memories, unit, samples, floors)


def measure(world: World, variables: Mapping[str, str], bounds: Bounds) -> list[Figure]:
    """Every figure of a language server on this world's store."""
    measured = Measured(world)
    measured.floors["first hover after spawn"] = "empty server, first hover after spawn"
    world.forget_cache()
    measure_spawns(measured, variables, bounds)
    with (
        started(measured, EMPTY, "empty server, ", variables) as empty,
        started(measured, OURS, "", variables) as ours,
    ):
        measure_hovers(measured, ours, empty, bounds)
        measured.note_memory("server after hovers,", ours)
        measured.note_memory("empty server,", empty)
        measure_recalls(measured, ours, bounds)
        measured.note_memory("server after recalls,", ours)
        measure_hovers_under_load(measured, ours, empty, bounds)
        measure_after_changes(measured, ours, bounds)
        measured.note_memory("server after changes,", ours)
    note_index(measured)
    return list(measured.figures())


@contextmanager
def started(measured: Measured, server: Sequence[str], name: str, variables: Mapping[str, str]) -> Iterator[Session]:
    """A new server that has answered its first hover, which is noted: milliseconds from the start of the process."""
    note = measured.world.note
    before = time.perf_counter_ns()
    with Session(server, measured.world.project, variables) as session:
        session.open(note)
        session.hover(note, 0, CITED_AT)
        measured.add(f"{name}first hover after spawn", (time.perf_counter_ns() - before) / 1e6)
        yield session


def lines_of(world: World) -> Iterator[int]:
    """The lines of the note that hold a citation, round and round."""
    return itertools.cycle(range(len(world.facts.cited)))


def measure_spawns(measured: Measured, variables: Mapping[str, str], bounds: Bounds) -> None:
    """Servers that are started, hovered, asked for one recall and ended: all of the spawns but the last."""
    asked = asked_of(measured.world)
    until = time.monotonic() + 2 * bounds.seconds
    for _ in range(bounds.spawns - 1):
        with started(measured, EMPTY, "empty server, ", variables):
            pass
        with started(measured, OURS, "", variables) as ours:
            measure_first_recall(measured, ours, next(asked))
        if time.monotonic() > until:
            break


def measure_first_recall(measured: Measured, ours: Session, query: str) -> None:
    """The first recall of a server: the very first one finds no cache, later ones what it left."""
    command, options = COMMANDS[measured.world.facts.store]
    without = f"{FIRST_RECALL}, empty cache"
    name = FIRST_RECALL if without in measured.samples else without
    measured.timed(name, ours.execute, command, {"query": query, **options})


def note_index(measured: Measured) -> None:
    """What the cache takes on disk, and what building it took: the first recall without one less those with one."""
    measured.add("cache on disk", measured.world.cached_bytes() / 1e6)
    if FIRST_RECALL in measured.samples:
        with_cache = statistics.median(measured.samples[FIRST_RECALL])
        measured.add("index build", measured.samples[f"{FIRST_RECALL}, empty cache"][0] - with_cache)


def asked_of(world: World) -> Iterator[str]:
    """Varied queries for this store, round and round."""
    return itertools.cycle(queries(world.facts.memories, world.facts.topics, QUERIES, SEED + 1))


def measure_hovers(measured: Measured, ours: Session, empty: Session, bounds: Bounds) -> None:
    """Round trips of hovers, both servers in turn, after ten that count for nothing."""
    note, lines = measured.world.note, lines_of(measured.world)
    measured.floors["hover"] = "empty server, hover"
    for _ in range(10):
        ours.hover(note, next(lines), CITED_AT)
        empty.hover(note, 0, CITED_AT)
    for _ in within(bounds, bounds.hovers):
        line = next(lines)
        measured.timed("hover", ours.hover, note, line, CITED_AT)
        measured.timed("empty server, hover", empty.hover, note, line, CITED_AT)


def measure_recalls(measured: Measured, ours: Session, bounds: Bounds) -> None:
    """Recalls and searches over varied queries, one at a time, once the store is in memory."""
    store = measured.world.facts.store
    kinds = {"warm recall": COMMANDS[store]}
    if store != "coven":
        kinds["warm search"] = (SEARCH, {})
    measure_first_recall(measured, ours, next(asked_of(measured.world)))
    for name, (command, options) in kinds.items():
        asked = asked_of(measured.world)
        ours.execute(command, {"query": next(asked), **options})
        for _ in within(bounds, bounds.recalls):
            query = {"query": next(asked), **options}
            measured.timed(name, ours.execute, command, query)


def measure_hovers_under_load(measured: Measured, ours: Session, empty: Session, bounds: Bounds) -> None:
    """Hovers that are asked while a recall is under way: as one is answered, the next is sent, and a hover after it.

    A hover during which an older recall was answered may have had the server to itself, and is not counted.
    """
    note, lines, asked = measured.world.note, lines_of(measured.world), asked_of(measured.world)
    command, options = COMMANDS[measured.world.facts.store]
    measured.floors["hover while recalls run"] = "empty server, hover while recalls run"
    under_way: int | None = None
    for _ in within(bounds, bounds.hovers):
        just_begun = under_way is None
        if under_way is None:
            under_way = ours.begin_command(command, {"query": next(asked), **options})
        line = next(lines)
        before = time.perf_counter_ns()
        ours.hover(note, line, CITED_AT)
        taken = (time.perf_counter_ns() - before) / 1e6
        answered = ours.has(under_way)
        if just_begun or not answered:
            measured.add("hover while recalls run", taken)
        if answered:
            ours.wait(under_way)
            under_way = None
        measured.timed("empty server, hover while recalls run", empty.hover, note, line, CITED_AT)
    if under_way is not None:
        ours.wait(under_way)


def measure_after_changes(measured: Measured, ours: Session, bounds: Bounds) -> None:
    """The first hover and the first recall after the store was changed: by a recorded recall, and by somebody else."""
    world = measured.world
    command, options = COMMANDS[world.facts.store]
    asked, lines = asked_of(world), lines_of(world)
    if world.facts.store == "nemp":
        for number in within(bounds, bounds.changes):
            name = world.facts.cited[number % len(world.facts.cited)]
            measured.timed("recorded recall", ours.execute, command, {"query": name, "record": True})
            line = next(lines)
            measured.timed("hover after a recorded recall", ours.hover, world.note, line, CITED_AT)
            query = {"query": next(asked), **options}
            measured.timed("recall after a recorded recall", ours.execute, command, query)
    for number in within(bounds, bounds.changes):
        word = f"freshly{random.Random(time.monotonic_ns()).randrange(10**9)}"
        CHANGES[world.facts.store](world, number, word)
        line = number % len(world.facts.cited)
        hovered = measured.timed("hover after a change", ours.hover, world.note, line, CITED_AT)
        found = measured.timed("recall after a change", ours.execute, command, {"query": word, **options})
        if world.facts.store == "agent" and word not in json.dumps(hovered):
            raise SystemExit(f"A hover at {world.facts.memories:,} memories does not show a change of its file.")
        if world.facts.store != "coven" and word not in json.dumps(found.get("memories", [])):
            raise SystemExit(f"A recall at {world.facts.memories:,} memories does not find what was just written.")


def within(bounds: Bounds, most: int) -> Iterator[int]:
    """Count from 0: at most so many, and no more once the time is over, but never fewer than the least."""
    until = time.monotonic() + bounds.seconds
    for number in range(most):
        if number >= bounds.least and time.monotonic() > until:
            return
        yield number


# What somebody else writes


def change_nemp(world: World, number: int, word: str) -> None:
    """A new entry at the head of the file."""
    path = world.project / ".nemp" / "memories.json"
    before, opening, after = path.read_bytes().partition(b'"memories": [\n')
    entry = nemp_entry(f"{word}-{number}", f"{word} was decided.", [word], current=True)
    replace(path, b"".join((before, opening, entry.encode(), b",\n", after)))


def change_agent(world: World, number: int, word: str) -> None:
    """A new text in the file of a memory that the note cites."""
    name = world.facts.cited[number % len(world.facts.cited)]
    text = Text(f"{word} decided", f"{word} was decided instead.", [word, "decided"])
    replace(agent_path(world.project, name), agent_entry(name, text).encode())


def change_coven(world: World, _: int, word: str) -> None:
    """A claim more, at the end of the manifest. The stand-in's index does not know it yet."""
    store = world.home / ".coven" / "memory"
    text = Text(f"{word} decided", f"{word} was decided.", [word])
    added = world.facts.memories + random.Random(time.monotonic_ns()).randrange(10**8)
    line, _ = write_claim(store, added, text)
    assert ulid_of(added) in line
    with (store / "manifest.jsonl").open("a", encoding="utf-8") as manifest:
        manifest.write(line)


CHANGES: Mapping[str, Callable[[World, int, str], None]] = {
    "nemp": change_nemp,
    "agent": change_agent,
    "coven": change_coven,
}


def replace(path: Path, data: bytes) -> None:
    """Put other bytes in the place of a file, as careful programs do."""
    other = path.with_name(f".{path.name}.new")
    other.write_bytes(data)
    other.replace(path)
