"""Stores of any size to measure on: a nemp file, an `.agent` tree, a Coven store, each in a world of its own.

    python -m benchmarks.worlds STORE MEMORIES FOLDER

Made in a process of its own by `make`, so that the memory it takes is not counted to what is measured later. A world
that stands already is used again, if it says (in `world.json`) that it is the one asked for.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import memory_recall
from benchmarks.words import Text, texts

Store = Literal["nemp", "agent", "coven"]
STORES: tuple[Store, ...] = ("nemp", "agent", "coven")
VERSION = 1
SEED = 3
SAMPLES = 300
CITATIONS = 20
CITED_AT = 8
"""The column, from 0, that is inside the citation on each line of the note."""

_MOMENT = "2026-07-24T10:00:00Z"
_ATTESTATION = "01J8AT00000000000000000000"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_AGENT_TYPES = ("semantic", "episodic", "procedural")


@dataclass(frozen=True)
class Facts:
    """What is known of a world without reading its store: kept beside it as `world.json`.

    `cited` are the names of the memories in the note, one a line; `topics` are words of some memories, for queries;
    `bytes` is what the files of the store hold together.
    """

    version: int
    seed: int
    store: Store
    memories: int
    bytes: int
    cited: list[str]
    topics: list[list[str]]


@dataclass(frozen=True)
class World:
    """A home, a project and a cache, in a folder of their own."""

    root: Path
    facts: Facts

    @property
    def home(self) -> Path:
        """The home directory of every process."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """The project, which is a repository, so that no search leaves it."""
        return self.root / "project"

    @property
    def cache(self) -> Path:
        """The user's cache directory."""
        return self.root / "cache"

    @property
    def note(self) -> Path:
        """A note with a citation on each line."""
        return self.project / "note.md"

    def variables(self) -> dict[str, str]:
        """The whole environment of a process in this world: as `env -i`, nothing of the user's."""
        return {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "XDG_CACHE_HOME": str(self.cache),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "COVEN_MEMORY_BIN": str(self.root / "coven-memory"),
        }

    def forget_cache(self) -> None:
        """Take away what the product has cached."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir()

    def cached_bytes(self) -> int:
        """What lies in the cache."""
        return sum(path.stat().st_size for path in self.cache.rglob("*") if path.is_file())

    def forget_runs(self) -> None:
        """Take away the records of earlier recalls, which a world that is used again would pile up."""
        for leftover in ("runs", "inbox"):
            shutil.rmtree(self.project / ".agent" / leftover, ignore_errors=True)


def make(store: Store, memories: int, folder: Path) -> World:
    """The world of that store and size below a folder: the one that stands there, else a new one."""
    root = folder.resolve() / f"{store}-{memories}"
    world = standing(root, store, memories)
    if world is None:
        shutil.rmtree(root, ignore_errors=True)
        repository = Path(__file__).resolve().parents[1]
        command = [sys.executable, "-m", "benchmarks.worlds", store, str(memories), str(root)]
        subprocess.run(command, cwd=repository, check=True)
        world = standing(root, store, memories)
    if world is None:
        raise SystemExit(f"{root} was made and is not what was asked for.")
    world.forget_runs()
    world.forget_cache()
    return world


def standing(root: Path, store: Store, memories: int) -> World | None:
    """The world in a folder; None where there is none or another."""
    try:
        facts = Facts(**json.loads((root / "world.json").read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    same = (facts.version, facts.seed, facts.store, facts.memories) == (VERSION, SEED, store, memories)
    return World(root, facts) if same else None


def build(store: Store, memories: int, root: Path) -> None:
    """Write a whole world. `world.json` comes last, so that half a world is none."""
    project = root / "project"
    (project / ".git").mkdir(parents=True)
    (root / "home").mkdir()
    noted: list[Text] = []
    every = max(1, memories // SAMPLES)
    cited = evenly(memories, CITATIONS)
    names: list[str] = []

    def watched() -> Iterator[Text]:
        for number, text in enumerate(texts(memories, SEED)):
            if number % every == 0:
                noted.append(text)
            yield text

    size = 0
    for number, (name, written) in enumerate(WRITERS[store](root, watched())):
        size += written
        if number in cited:
            names.append(name)
    system = "memory" if store == "agent" else store
    (project / "note.md").write_text("".join(f"[[{system}:{name}]] it is.\n" for name in names), encoding="utf-8")
    facts = Facts(VERSION, SEED, store, memories, size, names, [list(text.topics) for text in noted])
    (root / "world.json").write_text(json.dumps(asdict(facts)), encoding="utf-8")


def evenly(memories: int, count: int) -> frozenset[int]:
    """So many numbers of memories, spread over all of them."""
    return frozenset(memories * step // min(memories, count) for step in range(min(memories, count)))


Written = Iterator[tuple[str, int]]
"""What a writer yields for each memory: its name, and the bytes it took."""


def write_nemp(root: Path, memories: Iterator[Text]) -> Written:
    """`memories.json` in its usual shape, indented; a third of the entries as nemp writes them today."""
    path = root / "project" / ".nemp" / "memories.json"
    path.parent.mkdir()
    taken: set[str] = set()
    with path.open("w", encoding="utf-8") as file:
        file.write('{\n  "version": "1.0",\n  "memories": [\n')
        for number, text in enumerate(memories):
            key = free_key(text.topics, taken)
            entry = nemp_entry(key, text.body, text.topics[:2], current=number % 3 == 0)
            file.write((",\n" if number else "") + entry)
            yield key, len(entry)
        file.write("\n  ]\n}\n")


def free_key(topics: Sequence[str], taken: set[str]) -> str:
    """Two words of the memory with a hyphen, more where that is taken, and at last a number."""
    for count in range(2, len(topics) + 1):
        key = "-".join(topics[:count])
        if key not in taken:
            break
    else:
        key = f"{key}-{len(taken)}"
    taken.add(key)
    return key


def nemp_entry(key: str, value: str, tags: Sequence[str], *, current: bool) -> str:
    """One entry in the text of the store, indented as nemp does."""
    members: dict[str, object] = {
        "key": key,
        "value": value,
        "created": _MOMENT,
        "updated": _MOMENT,
        "agent_id": "main",
    }
    if current:
        members |= {
            "tags": list(tags),
            "type": "fact",
            "confidence": {"score": 0.9, "source": "user-confirmed", "reason": "said so"},
            "vitality": {"score": 50, "state": "active", "reads": 0, "reads_7d": 0, "reads_30d": 0, "last_read": None},
        }
    lines = ",\n".join(f'      "{name}": {json.dumps(member)}' for name, member in members.items())
    return f"    {{\n{lines}\n    }}"


def write_agent(root: Path, memories: Iterator[Text]) -> Written:
    """One file an entry, in three directories."""
    memory = root / "project" / ".agent" / "memory"
    for type_ in _AGENT_TYPES:
        (memory / type_).mkdir(parents=True)
    for number, text in enumerate(memories):
        name = f"MEM-{number:06}"
        data = agent_entry(name, text).encode()
        agent_path(root / "project", name).write_bytes(data)
        yield name, len(data)


def agent_path(project: Path, name: str) -> Path:
    """Where the entry of that name lies."""
    return project / ".agent" / "memory" / _type_of(name) / f"{name}.json"


def _type_of(name: str) -> str:
    return _AGENT_TYPES[int(name.removeprefix("MEM-")) % len(_AGENT_TYPES)]


def agent_entry(name: str, text: Text) -> str:
    """The text of one entry's file."""
    entry = {
        "schema_version": 1,
        "memory_id": name,
        "type": _type_of(name),
        "title": text.title[:200],
        "content": text.body[:4000],
        "tags": list(text.topics[:2]),
        "source_run_id": "R-distill-1",
        "scope": "project",
        "expires_at": None,
        "pinned": False,
        "confidence": 0.8,
        "created_at": _MOMENT,
        "updated_at": None,
    }
    return json.dumps(entry)


def write_coven(root: Path, memories: Iterator[Text]) -> Written:
    """Manifest, snapshots, an attestation, the database of the stand-in program, and that program."""
    store = root / "home" / ".coven" / "memory"
    (store / "snapshots").mkdir(parents=True)
    (store / "attestations").mkdir()
    attestation = "---\nattester: moss\nattestation_type: familiar-witness\n---\nSeen.\n"
    (store / "attestations" / f"{_ATTESTATION}.md").write_text(attestation, encoding="utf-8")
    (store / "archival.tvim").write_bytes(b"The stand-in ranks by words.\n")
    standin = Path(memory_recall.__file__).parent / "demo" / "standin.py"
    program = root / "coven-memory"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{standin}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    with (
        closing(sqlite3.connect(store / "archival.sqlite3")) as database,
        (store / "manifest.jsonl").open("w", encoding="utf-8") as manifest,
    ):
        database.execute(
            "CREATE TABLE docs (id INTEGER PRIMARY KEY, path TEXT NOT NULL, familiar TEXT NOT NULL DEFAULT 'coven',"
            " chunk TEXT NOT NULL, chunk_offset INTEGER NOT NULL DEFAULT 0, content_hash TEXT NOT NULL DEFAULT '',"
            " ingested_at INTEGER NOT NULL DEFAULT 0)"
        )
        for number, text in enumerate(memories):
            line, size = write_claim(store, number, text)
            manifest.write(line)
            ulid = ulid_of(number)
            database.execute(
                "INSERT INTO docs (path, chunk) VALUES (?, ?)", (str(store / "snapshots" / f"{ulid}.md"), text.body)
            )
            yield ulid, size + len(line)
        database.commit()


def write_claim(store: Path, number: int, text: Text) -> tuple[str, int]:
    """A claim's snapshot; returns its manifest line and the bytes of the snapshot."""
    ulid = ulid_of(number)
    header = (
        f"---\nulid: {ulid}\ntype: coven-fact\nscope: coven\nmemory_type: semantic\ncreated_at: {_MOMENT}\n"
        f"attested_by: sage\nattested_via: {_ATTESTATION}\ntitle: {text.title}\n"
        "source_context: session://sage/2026-07-24/queue\nconfidence: high\n---\n\n"
    )
    data = f"{header}{text.body}\n".encode()
    (store / "snapshots" / f"{ulid}.md").write_bytes(data)
    line = {
        "timestamp": _MOMENT,
        "ulid": ulid,
        "operation": "promote",
        "entry_path": f"memory/{ulid.lower()}.md",
        "author": "sage",
        "attested_by": "sage",
        "source_session": "session://sage/2026-07-24/queue",
        "sha256": hashlib.sha256(data).hexdigest(),
        "prior_ulid": None,
    }
    return json.dumps(line) + "\n", len(data)


def ulid_of(number: int) -> str:
    """The ULID of a claim: one moment, and the number where others are random."""
    chance = random.Random(number).getrandbits(40)
    rest = (chance << 40) + number
    digits = "".join(_CROCKFORD[(rest >> 5 * place) & 31] for place in reversed(range(16)))
    return f"01J4K9R81M{digits}"


WRITERS: Mapping[Store, Callable[[Path, Iterator[Text]], Written]] = {
    "nemp": write_nemp,
    "agent": write_agent,
    "coven": write_coven,
}


if __name__ == "__main__":
    asked = sys.argv[1]
    build(next(store for store in STORES if store == asked), int(sys.argv[2]), Path(sys.argv[3]))
