"""The manifest: Coven's ledger of what was promoted, changed, archived and superseded. One JSON object a line.

Owns what a line may say and what the lines of one claim add up to. It is given bytes and opens no file. A line that
does not hold what the ledger prescribes is skipped, with a reason: half a claim is not a claim.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from memory_recall.model import Problem
from memory_recall.text.dates import parse_moment

Operation = Literal["promote", "update", "archive", "supersede"]
_OPERATIONS = frozenset(("promote", "update", "archive", "supersede"))

SkipReason = Literal["malformed-line", "unknown-field", "unknown-operation", "foreign-scope"]

_REQUIRED = ("timestamp", "ulid", "operation", "entry_path", "sha256")
_OPTIONAL = ("author", "attested_by", "source_session", "prior_ulid", "scope")
_FIELDS = frozenset((*_REQUIRED, *_OPTIONAL))

_ULID = re.compile("[0-7][0-9A-HJKMNP-TV-Z]{25}", re.ASCII | re.IGNORECASE)
_SHA256 = re.compile("[0-9a-fA-F]{64}", re.ASCII)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_Item = TypeVar("_Item")


def normal_ulid(written: object) -> str | None:
    """An ULID in its canonical upper case; None for anything that is none."""
    # Upper case only after the match: some letters outside ASCII become ASCII ones.
    return written.upper() if isinstance(written, str) and _ULID.fullmatch(written) else None


@dataclass(frozen=True, slots=True)
class ManifestLine:
    """One entry of the ledger. `number` counts from 1; `moment` is `timestamp` in UTC; `sha256` is in lower case."""

    number: int
    timestamp: str
    moment: datetime
    ulid: str
    operation: Operation
    entry_path: str
    sha256: str
    author: str | None
    attested_by: str | None
    source_session: str | None
    prior_ulid: str | None


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that is no entry, why, and where."""

    number: int
    reason: SkipReason
    message: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All lines of one claim, in file order, and what later lines of others say about it.

    `superseders` are the ULIDs of the claims that replaced it, in file order.
    """

    ulid: str
    lines: tuple[ManifestLine, ...]
    superseders: tuple[str, ...] = ()

    @property
    def content(self) -> ManifestLine:
        """The line that describes the present snapshot: the last one that is no archival."""
        return next((line for line in reversed(self.lines) if line.operation != "archive"), self.lines[-1])

    @property
    def promoted(self) -> ManifestLine:
        """The line that first brought the claim into the store; an update does not promote again."""
        return next((line for line in self.lines if line.operation in ("promote", "supersede")), self.lines[0])

    @property
    def archived(self) -> bool:
        """Whether the last word about the claim is that it was archived."""
        return self.lines[-1].operation == "archive"

    @property
    def superseded_by(self) -> str | None:
        """The newest claim that replaced this one."""
        return self.superseders[-1] if self.superseders else None


class _Skip(Exception):
    def __init__(self, reason: SkipReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Manifest:
    """The ledger as it stood in one reading.

    `sha256` is the digest of the very bytes that were parsed. `blank` is true where no line holds anything: nothing was
    ever promoted.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        self.path = path
        self.sha256 = hashlib.sha256(data).hexdigest()
        lines: list[ManifestLine] = []
        skipped: list[SkippedLine] = []
        self.blank = True
        for number, written in _numbered(data):
            self.blank = False
            try:
                lines.append(_parse(number, written))
            except _Skip as skip:
                skipped.append(SkippedLine(number, skip.reason, skip.message))
        self.lines = tuple(lines)
        self.skipped = tuple(skipped)

    @cached_property
    def ledgers(self) -> Mapping[str, Ledger]:
        """The claims by ULID, in the order in which they entered the store."""
        by_ulid: dict[str, list[ManifestLine]] = {}
        superseders: dict[str, list[str]] = {}
        for line in self.lines:
            prior = line.prior_ulid if line.operation == "supersede" else None
            # Only a *later* line supersedes, so what it names must already be there.
            if prior is not None and prior in by_ulid and prior != line.ulid:
                superseders.setdefault(prior, []).append(line.ulid)
            by_ulid.setdefault(line.ulid, []).append(line)
        return {ulid: Ledger(ulid, tuple(lines), tuple(superseders.get(ulid, ()))) for ulid, lines in by_ulid.items()}

    @cached_property
    def by_sha256(self) -> Mapping[str, frozenset[str]]:
        """The ULIDs whose lines, past or present, name a digest."""
        return _grouped((line.sha256, line.ulid) for line in self.lines if line.operation != "archive")

    @cached_property
    def by_entry_name(self) -> Mapping[str, frozenset[tuple[tuple[str, ...], str]]]:
        """The trustworthy entry paths, as segments with their ULID, by their last segment."""
        paths = ((relative_segments(line.entry_path), line.ulid) for line in self.lines)
        return _grouped((segments[-1], (segments, ulid)) for segments, ulid in paths if segments)

    @property
    def skip_reasons(self) -> Counter[str]:
        """How many lines were skipped for each reason."""
        return Counter(line.reason for line in self.skipped)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What a person should mend in the file."""
        return tuple(
            Problem(f"manifest-{line.reason}", f"{line.message}; the line was skipped.", str(self.path), line.number, 1)
            for line in self.skipped
        )


def relative_segments(written: str) -> tuple[str, ...]:
    """The segments of a relative path that a file names; empty where the path is absolute, climbs, or is none.

    Such paths are untrusted: one that could lead out of the directory it is meant for leads nowhere.
    """
    if not written or "\\" in written or "\x00" in written or written.startswith("/") or written[1:2] == ":":
        return ()
    segments = tuple(segment for segment in written.split("/") if segment not in ("", "."))
    return () if ".." in segments else segments


def _grouped(pairs: Iterable[tuple[str, _Item]]) -> Mapping[str, frozenset[_Item]]:
    groups: dict[str, set[_Item]] = {}
    for name, item in pairs:
        groups.setdefault(name, set()).add(item)
    return {name: frozenset(items) for name, items in groups.items()}


def _numbered(data: bytes) -> Iterator[tuple[int, bytes]]:
    # JSON Lines end at a line feed; a carriage return is white space to JSON, before it and anywhere else.
    for number, line in enumerate(data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _parse(number: int, written: bytes) -> ManifestLine:
    fields = _object(written)
    unknown = fields.keys() - _FIELDS
    if unknown:
        raise _Skip("unknown-field", f"The manifest line has {len(unknown)} field(s) that the ledger does not know")
    scope = fields.get("scope")
    if scope is not None and scope != "coven":
        raise _Skip("foreign-scope", "The manifest line belongs to another scope than coven")
    for name in _REQUIRED:
        if not isinstance(fields.get(name), str):
            raise _Skip("malformed-line", f"The manifest line has no text in `{name}`")
    for name in _OPTIONAL:
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            raise _Skip("malformed-line", f"The manifest line has something else than text in `{name}`")
    if fields["operation"] not in _OPERATIONS:
        raise _Skip("unknown-operation", "The manifest line names an operation that the ledger does not know")
    moment = parse_moment(fields["timestamp"])
    if moment is None:
        raise _Skip("malformed-line", "The manifest line has no ISO date in `timestamp`")
    ulid = normal_ulid(fields["ulid"])
    if ulid is None:
        raise _Skip("malformed-line", "The manifest line has no ULID in `ulid`")
    if not _SHA256.fullmatch(fields["sha256"]):
        raise _Skip("malformed-line", "The manifest line has no SHA-256 of 64 hex digits in `sha256`")
    return ManifestLine(
        number=number,
        timestamp=fields["timestamp"],
        moment=moment,
        ulid=ulid,
        operation=fields["operation"],
        entry_path=fields["entry_path"],
        sha256=fields["sha256"].lower(),
        author=fields.get("author"),
        attested_by=fields.get("attested_by"),
        source_session=fields.get("source_session"),
        prior_ulid=normal_ulid(fields.get("prior_ulid")),
    )


def _object(written: bytes) -> dict[str, Any]:
    try:
        value = _DECODER.decode(written.decode("utf-8"))
    except UnicodeDecodeError as failure:
        raise _Skip("malformed-line", "The manifest line is not UTF-8") from failure
    except (ValueError, RecursionError) as failure:
        raise _Skip("malformed-line", "The manifest line is not valid JSON") from failure
    if not isinstance(value, dict):
        raise _Skip("malformed-line", "The manifest line is no JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):  # which of the two is meant, nobody can say
        raise _Skip("malformed-line", "The manifest line says the same field twice")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
