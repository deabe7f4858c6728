"""One memory of `.agent/memory`: from the value in its file to an `AgentEntry`, and what is odd about it.

Lenient, because agents and people write these files by hand: whatever can still be understood is kept, and what was
not understood is a `Problem` that names the member and its place. Opens no file. There may be 100,000 of these, so none
is validated by a library, and none keeps more objects alive than it must.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memory_recall.model import Memory, Problem, Provenance, Standing
from memory_recall.stores.agent_files import Document
from memory_recall.text.dates import parse_moment
from memory_recall.text.json_spans import members, value_at, value_start
from memory_recall.text.json_values import as_text, dumps
from memory_recall.text.positions import LineIndex

MemoryType = Literal["episodic", "semantic", "procedural"]
MEMORY_TYPES: tuple[MemoryType, ...] = ("episodic", "semantic", "procedural")

Scope = Literal["user", "project", "skill", "runtime", "global"]
SCOPES: tuple[Scope, ...] = ("user", "project", "skill", "runtime", "global")

_KNOWN_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """One memory entry.

    `type` is the directory it lies in, whatever the entry says of itself. `title` is None where it has none. `scope` is
    `project` where the entry names none that exists. `expires` is the moment after which it no longer holds, None for
    never (a pinned entry keeps its date, and never expires). `confidence` is from 0 to 1, None where it is unknown.
    `file` is its path as text, `text` the JSON that the file held.
    """

    memory_id: str
    type: MemoryType
    title: str | None
    content: str
    tags: tuple[str, ...]
    scope: Scope
    pinned: bool
    expires_at: str | None
    expires: datetime | None
    confidence: float | None
    created_at: str | None
    updated_at: str | None
    file: str
    text: str

    @property
    def path(self) -> Path:
        """The file that it lies in."""
        return Path(self.file)

    @property
    def raw(self) -> Mapping[str, Any]:
        """The record as its file holds it. Parsed anew each time: next to nobody asks, and 100,000 dicts are dear."""
        record: dict[str, Any] = value_at(self.text, value_start(self.text))[0]
        return record

    def is_expired(self, now: datetime) -> bool:
        """Whether the moment of `expires_at` has passed. A pinned entry never expires."""
        return self.expires is not None and not self.pinned and now > self.expires


class NotAnEntry(Exception):
    """A JSON value that is no memory, as a `Problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def entry_in(document: Document, file: str, type_: MemoryType) -> tuple[AgentEntry, tuple[Problem, ...]]:
    """The entry in a JSON document, and what is odd about it. Raises `NotAnEntry` where nothing is to be remembered."""
    raw = document.value
    if not isinstance(raw, dict):
        kind = "null" if raw is None else _NAMES.get(type(raw), "a value")
        raise NotAnEntry(_schema_problem(file, document, None, f"holds {kind}; a memory is an object. It was skipped."))
    title, content, tags = _optional_text(raw.get("title")), _content(raw.get("content")), _tags(raw.get("tags"))
    if not (title or content or tags):
        sentence = "has no content, no title and no tags, so there is nothing to recall. It was skipped."
        raise NotAnEntry(_schema_problem(file, document, None, sentence))
    entry = AgentEntry(
        memory_id=_memory_id(raw, file),
        type=type_,
        title=title,
        content=content,
        tags=tags,
        scope=_scope(raw.get("scope")),
        pinned=raw.get("pinned") is True,
        expires_at=_optional_text(raw.get("expires_at")) or None,
        expires=parse_moment(raw.get("expires_at")),
        confidence=_confidence(raw.get("confidence")),
        created_at=_optional_text(raw.get("created_at")),
        updated_at=_optional_text(raw.get("updated_at")),
        file=file,
        text=document.text,
    )
    oddities = tuple(_schema_problem(file, document, member, sentence) for member, sentence in _oddities(entry, raw))
    return entry, (*document.problems, *oddities)


def as_memory(entry: AgentEntry, now: datetime) -> Memory:
    """The entry as search, hover and `show` see it; `now` decides whether it has expired."""
    raw = entry.raw
    standings: tuple[Standing, ...] = ()
    if entry.is_expired(now):
        standings = (Standing("expired", f"It expired at {entry.expires_at}."),)
    return Memory(
        system="memory",
        id=entry.memory_id,
        title=entry.title or entry.memory_id,
        text=entry.content,
        provenance=Provenance(
            system="memory",
            source=entry.scope,
            path=entry.path,
            line=1,
            author=_author(raw),
            created=entry.created_at,
            updated=entry.updated_at,
            confidence=entry.confidence,
        ),
        tags=entry.tags,
        standings=standings,
        fields=raw,
    )


def _author(raw: Mapping[str, Any]) -> str | None:
    """Who wrote it, as far as the record says: the run, conversation or decision that it came out of."""
    for member in ("source_run_id", "source_conversation_id", "source_decision_id"):
        if isinstance(written := raw.get(member), str) and written:
            return written
    return None


def _memory_id(raw: Mapping[str, Any], file: str) -> str:
    written = raw.get("memory_id")
    return written if isinstance(written, str) and written.strip() else Path(file).stem


def _optional_text(written: Any) -> str | None:
    return None if written is None or written is False else as_text(written)


def _content(written: Any) -> str:
    return "" if written is None else as_text(written)


def _tags(written: Any) -> tuple[str, ...]:
    if not isinstance(written, list):
        return ()
    return tuple(as_text(tag) for tag in written if tag is not None)


def _scope(written: Any) -> Scope:
    return next((scope for scope in SCOPES if scope == written), "project")


def _confidence(written: Any) -> float | None:
    """A number from 0 to 1, also one written as text. Anything else says nothing about how sure the entry is."""
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return None
    try:
        value = float(written)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) and 0.0 <= value <= 1.0 else None


def _oddities(entry: AgentEntry, raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The members that were not understood, each with what was made of them."""
    if raw.get("memory_id") != entry.memory_id:
        yield "memory_id", f"has no `memory_id`; its file name, {entry.memory_id}, stands in."
    if not entry.content:
        yield "content", "has no `content`; only its title and tags can be found."
    version = raw.get("schema_version", _KNOWN_SCHEMA_VERSION)
    if version != _KNOWN_SCHEMA_VERSION or isinstance(version, bool):
        written = dumps(version)[:40]
        yield "schema_version", f"has `schema_version` {written}, not the number 1; it was read as version 1."
    if (stated := raw.get("type", entry.type)) != entry.type:
        yield "type", f"says that its type is {as_text(stated)[:40]} and lies in {entry.type}/; the directory counts."
    if raw.get("tags") is not None and not isinstance(raw["tags"], list):
        yield "tags", "has `tags` that are no list; they were left out."
    if (scope := raw.get("scope")) is not None and scope != entry.scope:
        yield "scope", f"has the unknown `scope` {as_text(scope)[:40]}; it counts as project."
    if raw.get("confidence") is not None and entry.confidence is None:
        yield "confidence", "has a `confidence` that is no number from 0 to 1; it counts as unknown."
    if raw.get("pinned") is not None and not isinstance(raw["pinned"], bool):
        yield "pinned", "has a `pinned` that is neither true nor false; it counts as not pinned."
    if entry.expires_at and entry.expires is None:
        yield "expires_at", "has an `expires_at` that is no ISO date; it counts as never expiring."


_NAMES: Mapping[type, str] = {list: "a list", str: "a text", int: "a number", float: "a number", bool: "true or false"}


def _schema_problem(file: str, document: Document, member: str | None, sentence: str) -> Problem:
    line, column = LineIndex(document.text).line_column(_offset_of(document, member))
    return Problem("schema", f"{file}:{line}:{column} {sentence}", file, line, column)


def _offset_of(document: Document, member: str | None) -> int:
    """Where a member of the record begins; where the record begins if it has no such member."""
    if not isinstance(document.value, dict) or member not in document.value:
        return document.start
    # The last of several members with one name is the one that parsers keep.
    return [found.key_start for found in members(document.text, document.start) if found.key == member][-1]
