"""The nouns that every layer speaks. Plain frozen values: no input, no output, no ranking, no store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from memory_recall.records import NamedTuple

System = Literal["nemp", "memory", "coven"]
SYSTEMS: tuple[System, ...] = ("nemp", "memory", "coven")

StandingCode = Literal["superseded", "expired", "extinct", "conflicting", "unverified", "archived"]


class Problem(NamedTuple):
    """Something that is broken but did not stop the answer.

    `path` is the file, `line` and `column` count from 1, columns in code points. `message` says what to do.
    """

    code: str
    message: str
    path: str | None = None
    line: int | None = None
    column: int | None = None

    def as_json(self) -> dict[str, Any]:
        """`{path, line, column, code, message}`; line and column only where they are known."""
        shape: dict[str, Any] = {"path": self.path}
        if self.line is not None:
            shape["line"] = self.line
        if self.column is not None:
            shape["column"] = self.column
        return {**shape, "code": self.code, "message": self.message}


class Standing(NamedTuple):
    """One reason why a memory may no longer hold.

    `successor` is the id of the memory that replaced it, where one is named.
    """

    code: StandingCode
    message: str
    successor: str | None = None

    def as_json(self) -> dict[str, Any]:
        """`{code, message, successor}`."""
        return {"code": self.code, "message": self.message, "successor": self.successor}


class Provenance(NamedTuple):
    """Where a memory comes from.

    `source`: for nemp "project" or "global"; for memory the entry's scope; for coven "coven". `path` is absolute,
    `line` and `column` count from 1 and point at the record itself. Dates are kept as their writer spelt them.
    `confidence` is a number from 0 to 1 or, for a claim, a word; None where the record has none. `verified` is True or
    False for claims, None where the system has no verification.
    """

    system: System
    source: str
    path: Path
    line: int
    column: int = 1
    author: str | None = None
    attested_by: str | None = None
    attestation_type: str | None = None
    created: str | None = None
    updated: str | None = None
    confidence: float | str | None = None
    verified: bool | None = None

    def as_json(self) -> dict[str, Any]:
        """All fields, `path` as text."""
        return {
            "system": self.system,
            "source": self.source,
            "path": str(self.path),
            "line": self.line,
            "column": self.column,
            "author": self.author,
            "attested_by": self.attested_by,
            "attestation_type": self.attestation_type,
            "created": self.created,
            "updated": self.updated,
            "confidence": self.confidence,
            "verified": self.verified,
        }


class Memory(NamedTuple):
    """One memory of any system, as search, hover and `show` see it.

    `id` is the nemp key, the `MEM-` id or the ULID; `text` is what is remembered, as text; `fields` is the record as
    its store holds it. `standings` is empty for a memory that holds.
    """

    system: System
    id: str
    title: str
    text: str
    provenance: Provenance
    tags: tuple[str, ...] = ()
    standings: tuple[Standing, ...] = ()
    fields: Mapping[str, Any] = MappingProxyType({})
