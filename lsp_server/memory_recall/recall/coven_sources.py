"""Opening the source a claim was drawn from. On request only: answering a recall never needs it.

A reference is portable: it names a session or a path, and means a file only under the workspace of a familiar. Where it
cannot be resolved it is given back as it is, with a note: that is an answer, not a failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_recall.environment import Environment
from memory_recall.errors import RecallError
from memory_recall.files.reading import Unreadable, read_file
from memory_recall.stores.coven import familiar_root as root_of
from memory_recall.stores.coven import read_store
from memory_recall.stores.coven_claims import Claim, confined
from memory_recall.stores.coven_manifest import relative_segments

_SESSION = "session://"
_EXTENSIONS = ("", ".md", ".jsonl", ".json", ".txt")
_SOURCE_LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A claim's source: the portable `reference`, and the file with its text where it has one; `note` says why not."""

    ulid: str
    reference: str | None
    resolved: Path | None
    text: str | None
    note: str | None

    def as_json(self) -> dict[str, Any]:
        """`{v, ulid, reference, resolved, text, note}`."""
        return {
            "v": 1,
            "ulid": self.ulid,
            "reference": self.reference,
            "resolved": str(self.resolved) if self.resolved is not None else None,
            "text": self.text,
            "note": self.note,
        }


def open_source(ulid: str, environment: Environment, familiar_root: Path | None = None) -> OpenedSource:
    """The source of a claim, resolved against `familiar_root`, else `$COVEN_FAMILIAR_ROOT`, else not at all.

    Raises `RecallError` (`claim-unknown`) where the manifest has no line for the ULID.
    """
    claim = _claim(ulid, environment)
    reference = claim.source_context
    if reference is None:
        return OpenedSource(claim.ulid, None, None, None, "The claim names no source.")
    root = root_of(environment, familiar_root)
    return _open(claim.ulid, reference, root)


def _claim(ulid: str, environment: Environment) -> Claim:
    store = read_store(environment.home) if environment.home is not None else None
    if store is not None and store.unreadable is not None:
        raise RecallError("manifest-unreadable", store.unreadable.message)
    claim = store.claim(ulid) if store is not None else None
    if claim is None:
        raise RecallError(
            "claim-unknown", "The Coven manifest has no claim of that ULID; give one as `coven recall` shows it."
        )
    return claim


def _open(ulid: str, reference: str, root: Path | None) -> OpenedSource:
    places = list(_places(reference))
    if not places:
        note = "The reference names no session and no path below a workspace; it is not opened."
    elif root is None:
        note = "Name the familiar's workspace by `--familiar-root` or $COVEN_FAMILIAR_ROOT to open it."
    elif not root.is_dir():
        note = "The familiar's workspace that was named is no directory."
    else:
        path = next((found for place in places if (found := confined(root, place)) is not None), None)
        if path is not None:
            return _read(ulid, reference, path)
        note = "The familiar's workspace has no file for this reference."
    return OpenedSource(ulid, reference, None, None, note)


def _read(ulid: str, reference: str, path: Path) -> OpenedSource:
    try:
        text = read_file(path, limit=_SOURCE_LIMIT).data.decode("utf-8", "replace")
    except Unreadable as failure:
        return OpenedSource(ulid, reference, path, None, failure.problem.message)
    return OpenedSource(ulid, reference, path, text, None)


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
