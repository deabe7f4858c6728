"""Opening the source a claim was drawn from. On request only: answering a recall never needs it.

A reference is portable: it names a session or a path, and means a file only under the workspace of a familiar. Where it
cannot be resolved it is given back as it is, with a note: that is an answer, not a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_recall.environment import Environment
from memory_recall.errors import RecallError, UsageError
from memory_recall.files.reading import Unreadable, read_file
from memory_recall.model import Standing
from memory_recall.stores.coven import as_memory, familiar_root, read_store, relative_familiar_root
from memory_recall.stores.coven_claims import Claim, confined
from memory_recall.stores.coven_manifest import normal_ulid, relative_segments

_SESSION = "session://"
_BRACKETED = re.compile(r"\[\[(.*)\]\]", re.DOTALL)
_PREFIX = "coven:"
_EXTENSIONS = ("", ".md", ".jsonl", ".json", ".txt")
_SOURCE_LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A claim's source: the portable `reference`, and the file with its text where it has one; `note` says why not.

    `verified` and `standings` are the claim's, whose word it is that this is its source.
    """

    ulid: str
    reference: str | None
    resolved: Path | None
    text: str | None
    note: str | None
    verified: bool
    standings: tuple[Standing, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """`{v, ulid, reference, resolved, text, note, verified, standings}`."""
        return {
            "v": 1,
            "ulid": self.ulid,
            "reference": self.reference,
            "resolved": str(self.resolved) if self.resolved is not None else None,
            "text": self.text,
            "note": self.note,
            "verified": self.verified,
            "standings": [standing.as_json() for standing in self.standings],
        }


def open_source(reference: str, environment: Environment, given_root: Path | None = None) -> OpenedSource:
    """The source of a claim, resolved against `given_root`, then `$COVEN_FAMILIAR_ROOT`, else not at all.

    The claim is named by its ULID, also as `coven:ULID` and in brackets. Raises `UsageError` (`ulid-invalid`, `usage`)
    and `RecallError` (`manifest-unreadable`; `claim-unknown` where the manifest has no line for the ULID).
    """
    ulid = _ulid(reference)
    claim = _claim(ulid, environment, familiar_root(environment, given_root))
    source = claim.source_context
    resolved, text, note = _resolved(source, environment, given_root)
    return OpenedSource(claim.ulid, source, resolved, text, note, claim.verified, as_memory(claim).standings)


def _ulid(reference: str) -> str:
    bracketed = _BRACKETED.fullmatch(reference.strip())
    ulid = normal_ulid((bracketed[1] if bracketed else reference).strip().removeprefix(_PREFIX).strip())
    if ulid is None:
        raise UsageError("A claim is named by its ULID: 26 letters and digits, as in `coven:…`.", code="ulid-invalid")
    return ulid


def _claim(ulid: str, environment: Environment, root: Path | None) -> Claim:
    store = read_store(environment.home) if environment.home is not None else None
    if store is not None and store.unreadable is not None:
        raise RecallError("manifest-unreadable", store.unreadable.message)
    claim = store.claim(ulid, root) if store is not None else None
    if claim is None:
        raise RecallError(
            "claim-unknown", "The Coven manifest has no claim of that ULID; give one as `coven recall` shows it."
        )
    return claim


_Resolved = tuple[Path | None, str | None, str | None]
"""The file of a reference, its text, and why either is missing."""


def _resolved(reference: str | None, environment: Environment, given_root: Path | None) -> _Resolved:
    if reference is None:
        return None, None, "The claim names no source."
    places = list(_places(reference))
    if not places:
        return None, None, "The reference names no session and no path below a workspace; it is not opened."
    notes = []
    for root in _roots(environment, given_root):
        path = next((found for place in places if (found := confined(root, place)) is not None), None)
        if path is not None:
            return _read(path)
        notes.append(
            "has no file for this reference." if root.is_dir() else "that was named is no directory that can be read."
        )
    if not notes:
        return None, None, "Name the familiar's workspace by `--familiar-root` or $COVEN_FAMILIAR_ROOT to open it."
    return None, None, f"The familiar's workspace {notes[0]}"


def _roots(environment: Environment, given: Path | None) -> Iterator[Path]:
    """The workspaces in which a source is looked for, in order. The variable is looked at only where that is needed."""
    if given is not None and (root := familiar_root(environment, given)) is not None:
        yield root
    relative = relative_familiar_root(environment)
    if relative is not None:
        raise UsageError(relative)
    root = familiar_root(environment)
    if root is not None:
        yield root


def _read(path: Path) -> _Resolved:
    try:
        return path, read_file(path, limit=_SOURCE_LIMIT).data.decode("utf-8", "replace"), None
    except Unreadable as failure:
        return path, None, failure.problem.message


def _places(reference: str) -> Iterator[tuple[str, ...]]:
    """Where a reference may lie below a workspace; nothing for one that is unsafe or of an unknown kind.

    How sessions are laid out in a workspace is prescribed nowhere, so the plausible places are tried in order.
    """
    if not reference.startswith(_SESSION):
        if "://" not in reference and not reference.startswith("agent:"):
            segments = relative_segments(reference)
            if segments:
                yield segments
        return
    named = reference.removeprefix(_SESSION)
    segments = relative_segments(named)
    if len(segments) != 3 or "/".join(segments) != named:
        return
    familiar, date, slug = segments
    for folder in (("sessions", familiar), (familiar,), ("sessions",), ()):
        for extension in _EXTENSIONS:
            yield (*folder, date, slug + extension)
            yield (*folder, f"{date}-{slug}{extension}")
