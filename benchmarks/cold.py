"""What a terminal waits for: commands started as processes of their own, beside the least that Python and Node can do.

Each round starts every command once, in turning order, so that whatever else the machine does hits all of them alike.
The stores are in the system's file cache, the interpreter's modules are compiled. A command that has used up its time
leaves the later rounds, but not before it ran a least number of times. Needs a POSIX system.
"""

from __future__ import annotations

import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.figures import Figure
from benchmarks.words import ABSENT, misspelt, queries
from benchmarks.worlds import SEED, World

SLOW = 1000.0
"""Milliseconds above which no run goes unmeasured."""
PYTHON, NODE, READ_ALL, STANDIN = "python -c pass", "node -e 0", "reading them all", "the stand-in alone"
FLOORS = {"python": PYTHON, "node": NODE, "read_all": READ_ALL, "standin": STANDIN}

# A process of nothing but this starts the command: its memory, not that of the benchmark, is what the kernel counts
# to the command between fork and exec.
_LAUNCHER = """
import os, sys, time
out, err, *command = sys.argv[1:]
flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, out, flags, 0o600),
           (os.POSIX_SPAWN_OPEN, 2, err, flags, 0o600)]
before = time.perf_counter_ns()
child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
_, status, used = os.wait4(child, 0)
print(time.perf_counter_ns() - before, os.waitstatus_to_exitcode(status), used.ru_maxrss)
"""

_READ_ALL = """
import json, os, sys
found = []
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            found.append(json.loads(file.read()))
print(len(found))
"""


class Bounds(NamedTuple):
    """How much is measured: `seconds` for one command, but `least` runs, in `rounds` and one for nothing."""

    seconds: float
    least: int
    rounds: int
    warm_up: bool


class Start(NamedTuple):
    """One run of a command: wall-clock milliseconds, the most resident memory in MB of 10^6 bytes, standard output."""

    milliseconds: float
    megabytes: float
    output: bytes


@dataclass
class Subject:
    """A command to start. `arguments` takes the number of the run. `must_print` proves that it did its work.

    `first` runs, unmeasured, before each start.
    """

    name: str
    arguments: Callable[[int], Sequence[str]]
    must_print: bytes = b""
    first: Callable[[], None] | None = None
    starts: list[Start] = field(default_factory=list)


def start(command: Sequence[str], world: World, variables: Mapping[str, str]) -> Start:
    """Start a command in the project of a world and wait for its end. Raises `SystemExit` where it fails."""
    out, err = world.root / "stdout", world.root / "stderr"
    launched = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(out), str(err), *command],
        cwd=world.project,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    nanoseconds, code, most = (int(word) for word in launched.stdout.split())
    if code:
        raise SystemExit(f"{' '.join(command[:4])} ended with {code}: {err.read_text(errors='replace').strip()}")
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
    return Start(nanoseconds / 1e6, most * unit / 1e6, out.read_bytes())


def measure(world: World, program: Sequence[str], variables: Mapping[str, str], bounds: Bounds) -> list[Figure]:
    """Every command on this world's store: milliseconds, and beside each of ours its memory as `NAME rss`."""
    floors = list(floor_subjects())
    groups = subjects_of(world, program)
    figures: dict[str, Figure] = {}
    for group in groups:
        subjects = [*(Subject(floor.name, floor.arguments) for floor in floors), *group]
        run_rounds(subjects, world, variables, bounds)
        for figure in summarised(subjects, world):
            figures.setdefault(figure.name, figure)  # the floors ran in every group
    return list(figures.values())


def run_rounds(subjects: Sequence[Subject], world: World, variables: Mapping[str, str], bounds: Bounds) -> None:
    """Run the subjects in turn: once unmeasured, for the file cache, then in rounds within their time.

    What takes seconds is not run for nothing: there the first run counts too.
    """
    spent = dict.fromkeys((subject.name for subject in subjects), 0.0)
    for number in range(-1 if bounds.warm_up else 0, bounds.rounds):
        turn = max(0, number) % len(subjects)
        for subject in (*subjects[turn:], *subjects[:turn]):
            if spent[subject.name] > bounds.seconds and len(subject.starts) >= bounds.least:
                continue
            if subject.first is not None:
                subject.first()
            done = start(subject.arguments(max(0, number)), world, variables)
            if subject.must_print not in done.output:
                raise SystemExit(f"{subject.name} did not print {subject.must_print!r}: {done.output[:300]!r}")
            spent[subject.name] += done.milliseconds / 1000
            if number >= 0 or done.milliseconds > SLOW:
                subject.starts.append(done)


def summarised(subjects: Sequence[Subject], world: World) -> Iterable[Figure]:
    """The figures of one group of subjects, with ratios to the floors that ran in the same rounds."""
    medians = {subject.name: statistics.median(run.milliseconds for run in subject.starts) for subject in subjects}
    floors = {short: medians[name] for short, name in FLOORS.items() if name in medians}
    store, memories = world.facts.store, world.facts.memories
    for subject in subjects:
        yield Figure(subject.name, store, memories, "ms", [run.milliseconds for run in subject.starts], floors)
        yield Figure(f"{subject.name}, rss", store, memories, "MB", [run.megabytes for run in subject.starts], {})


# What is started


def floor_subjects() -> Iterable[Subject]:
    """A Python and a Node that do nothing."""
    yield Subject(PYTHON, lambda _: [sys.executable, "-c", "pass"])
    node = shutil.which("node")
    if node is not None:
        yield Subject(NODE, lambda _: [node, "-e", "0"])


def subjects_of(world: World, program: Sequence[str]) -> list[list[Subject]]:
    """The commands on this world's store, in groups: recalls that are recorded change the store for what comes next."""
    facts = world.facts
    asked = [query for query in queries(facts.memories, facts.topics, 100, SEED) if ABSENT not in query]
    name = facts.cited[len(facts.cited) // 2]

    def ours(*words: str) -> Callable[[int], list[str]]:
        return lambda _: [*program, *words]

    def asking(*words: str) -> Callable[[int], list[str]]:
        return lambda number: [*program, *words, "--", asked[number % len(asked)]]

    show = Subject("show", ours("show", name), must_print=name.encode())
    if facts.store == "coven":
        alone = standin_alone(world)
        return [
            [
                Subject(STANDIN, lambda number: [*alone, "--", asked[number % len(asked)]]),
                Subject("coven recall", asking("coven", "recall")),
                show,
            ]
        ]
    search = Subject("search", asking("search"))
    if facts.store == "agent":
        memory = str(world.project / ".agent" / "memory")
        recall = asking("memory", "recall", "--notify", "never")
        return [
            [
                Subject(READ_ALL, lambda _: [sys.executable, "-c", _READ_ALL, memory], str(facts.memories).encode()),
                Subject("memory recall, empty cache", recall, first=world.forget_cache),
                Subject("memory recall, second run", recall),
                search,
                show,
            ]
        ]
    typo, found = misspelt_key(name), name.encode()
    unrecorded = ("nemp", "recall", "--no-record")
    return [
        [
            Subject("nemp exact key, not recorded", ours(*unrecorded, "--", name), found),
            Subject("nemp words, not recorded, empty cache", asking(*unrecorded), first=world.forget_cache),
            Subject("nemp words, not recorded", asking(*unrecorded)),
            Subject("nemp typo, not recorded", ours(*unrecorded, "--", typo)),
            search,
            show,
        ],
        [
            Subject("nemp exact key", ours("nemp", "recall", "--", name), found),
            Subject("nemp words", asking("nemp", "recall")),
            Subject("nemp typo", ours("nemp", "recall", "--", typo)),
        ],
    ]


def standin_alone(world: World) -> list[str]:
    """The start of the stand-in's own command line, on a copy of the index, as the product gives it one."""
    store = world.home / ".coven" / "memory"
    for part in ("archival.sqlite3", "archival.tvim"):
        shutil.copyfile(store / part, world.root / part)
    index = ["--db", str(world.root / "archival.sqlite3"), "--index", str(world.root / "archival.tvim")]
    return [str(world.root / "coven-memory"), "search", *index, "--familiar", "coven", "-k", "5"]


def misspelt_key(key: str) -> str:
    """A key with a slip in its first word."""
    word, hyphen, rest = key.partition("-")
    return misspelt(word, random.Random(key)) + hyphen + rest
