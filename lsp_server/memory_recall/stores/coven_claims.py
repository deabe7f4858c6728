"""One claim: its snapshot, its attestation, and whether they are what the ledger says they are.

Owns the trust rules. Paths that a file names are untrusted: only what really lies inside the directory it is meant for,
links resolved, is opened. Snapshot and attestation are read anew for each claim, so a verdict is never stale; what
stands in the way of reading one is told with the verdict.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memory_recall.files.reading import Unreadable, read_file
from memory_recall.model import Problem
from memory_recall.stores.coven_manifest import Ledger, normal_ulid, relative_segments
from memory_recall.text.frontmatter import Frontmatter, read_frontmatter, read_record

ATTESTATIONS = "attestations"
SNAPSHOTS = "snapshots"
SCOPE = "coven"

LEADS_OUTSIDE = "leads-outside"
"""The code of the problem with a link that leads out of the directory it lies in."""

FindingCode = Literal[
    "snapshot-missing",
    "snapshot-unreadable",
    "hash-mismatch",
    "scope-not-coven",
    "attestation-missing",
    "attestation-unreadable",
]

_SNAPSHOT_LIMIT = 16 * 1024 * 1024
_ATTESTATION_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why a claim is not verified: a code, and a sentence for people.

    `problem` is what a person should mend on disk, where that is more than the claim itself.
    """

    code: FindingCode
    message: str
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A promoted text as its file holds it. `sha256` is over the exact bytes, `whole` is all of them as text."""

    path: Path
    sha256: str
    frontmatter: Frontmatter
    whole: str

    @property
    def ulid(self) -> str | None:
        """The claim that the file says it belongs to."""
        return normal_ulid(self.frontmatter.text("ulid"))

    @property
    def text(self) -> str:
        """What is claimed, without the blank lines around it."""
        return self.frontmatter.body.strip()


@dataclass(frozen=True, slots=True)
class Attestation:
    """Who vouched for a claim, and how. Fields are None where the file does not say."""

    path: Path
    fields: Mapping[str, Any]
    attester: str | None
    type: str | None
    timestamp: str | None


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the ledger with its evidence. `findings` is empty for a verified one."""

    ledger: Ledger
    manifest_path: Path
    snapshot: Snapshot | None
    attestation: Attestation | None
    findings: tuple[Finding, ...]

    @property
    def ulid(self) -> str:
        """The claim's id."""
        return self.ledger.ulid

    @property
    def verified(self) -> bool:
        """Whether the snapshot is the promoted one, and the attestation is there."""
        return not self.findings

    def field(self, name: str) -> str | None:
        """A text of the snapshot's frontmatter; None where there is none."""
        return self.snapshot.frontmatter.text(name) if self.snapshot is not None else None

    @property
    def title(self) -> str:
        """The claim's title; where it has none, the name of the entry it was promoted from, else its id."""
        segments = relative_segments(self.ledger.content.entry_path)
        return self.field("title") or (Path(segments[-1]).stem if segments else self.ulid)

    @property
    def attested_by(self) -> str | None:
        """Who attested it, as the ledger says; else as the claim, or its attestation, says."""
        attester = self.attestation.attester if self.attestation is not None else None
        return self.ledger.content.attested_by or self.field("attested_by") or attester

    @property
    def disputed_attester(self) -> str | None:
        """Who the snapshot says attested it, where the ledger names somebody else; the ledger's word counts."""
        own, ledger = self.field("attested_by"), (self.ledger.content.attested_by or "").strip()
        return own if own and ledger and own != ledger else None

    @property
    def source_context(self) -> str | None:
        """A portable reference to where the claim comes from. Opened on request only."""
        return self.field("source_context") or self.ledger.content.source_session


def confined(root: Path, segments: tuple[str, ...]) -> Path | None:
    """The real path of a regular file below `root`; None where there is none, or where a link leads out of `root`."""
    if not segments:
        return None
    try:
        real = _real_below(root, root.joinpath(*segments))
        return real if real.is_file() else None
    except (Unreadable, OSError):
        return None


def read_snapshot(root: Path, path: Path) -> Snapshot:
    """The snapshot file at a path that should lie below `root`.

    Raises `Unreadable`, `missing` where there is none, with the code `LEADS_OUTSIDE` where a link leads out of `root`.
    """
    real = _real_below(root, path)
    data = read_file(real, limit=_SNAPSHOT_LIMIT).data
    text = data.decode("utf-8", "replace")
    return Snapshot(real, hashlib.sha256(data).hexdigest(), read_frontmatter(text), text)


def _real_below(root: Path, path: Path) -> Path:
    """The real path of what lies below the real `root`; whether anything is there is not asked. Raises `Unreadable`."""
    try:
        real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
        if real.is_relative_to(real_root):
            return real
        link = next((part for part in _parts_below(root, path) if not _leads_into(part, real_root)), path)
    except (OSError, ValueError) as failure:  # a NUL in the path, a name that is too long
        raise Unreadable(
            Problem("bad-path", "A path of the store is none that this system can open."), missing=True
        ) from failure
    message = f"{link} leads out of {root} and is not followed; put what it leads to in its place."
    raise Unreadable(Problem(LEADS_OUTSIDE, message, str(link)))


def _parts_below(root: Path, path: Path) -> Iterator[Path]:
    """The path and what lies between it and `root`, from above."""
    return (part for part in (*reversed(path.parents), path) if part != root and part.is_relative_to(root))


def _leads_into(path: Path, real_root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(real_root)


def build_claim(
    ledger: Ledger,
    root: Path,
    snapshot: Snapshot | None,
    familiar_root: Path | None,
    manifest_path: Path,
    *,
    obstacle: Problem | None = None,
) -> Claim:
    """A claim of the store at `root` with its attestation and the findings about both.

    `familiar_root` is where an attestation's relative path is tried after the store; None where no such root is set.
    `obstacle` is what kept a snapshot that is there from being read.
    """
    if snapshot is None:  # which attestation it names, nobody can say either
        finding = _without_snapshot(ledger, manifest_path, obstacle)
        return Claim(ledger, manifest_path, None, None, (finding,))
    findings = tuple(_snapshot_findings(ledger, snapshot))
    found = _find_attestation(snapshot, root, familiar_root, manifest_path)
    if isinstance(found, Finding):
        return Claim(ledger, manifest_path, snapshot, None, (*findings, found))
    return Claim(ledger, manifest_path, snapshot, found, findings)


def _without_snapshot(ledger: Ledger, manifest_path: Path, obstacle: Problem | None) -> Finding:
    if obstacle is None:
        missing = f"The store has no snapshot of {ledger.ulid}; restore it, or promote the claim again."
        problem = Problem("snapshot-missing", missing, str(manifest_path), ledger.content.number, 1)
        return Finding("snapshot-missing", "The store has no snapshot of it.", problem)
    if obstacle.code == LEADS_OUTSIDE:  # what lies elsewhere is not there
        return Finding("snapshot-missing", f"Its snapshot is not in the store: {obstacle.message}", obstacle)
    message = f"Its snapshot cannot be read: {obstacle.message}"
    return Finding("snapshot-unreadable", message, obstacle._replace(code="snapshot-unreadable"))


def _snapshot_findings(ledger: Ledger, snapshot: Snapshot) -> Iterator[Finding]:
    if snapshot.sha256 != ledger.content.sha256:
        yield Finding("hash-mismatch", "Its snapshot was changed after it was promoted: the hash differs.")
    if _is_of_another_scope(snapshot.frontmatter):
        yield Finding("scope-not-coven", "Its text says that it belongs to another scope than coven.")


def _is_of_another_scope(frontmatter: Frontmatter) -> bool:
    if isinstance(frontmatter.fields.get("scope"), str):
        return frontmatter.text("scope") not in (None, SCOPE)
    return frontmatter.fields.get("scope") is not None  # a list or a mapping is no scope that the ledger knows


def _find_attestation(
    snapshot: Snapshot, root: Path, familiar_root: Path | None, manifest_path: Path
) -> Attestation | Finding:
    """The attestation that a claim names; where it has none that counts, why."""
    reference = snapshot.frontmatter.text("attested_via")
    if reference is None:
        return Finding("attestation-missing", "The claim names no attestation.")
    absent = Finding("attestation-missing", "The claim names an attestation that is not there.")
    for place, path in _attestation_places(reference, root, familiar_root):
        try:
            real = _real_below(place, path)
            data = read_file(real, limit=_ATTESTATION_LIMIT).data
        except Unreadable as failure:
            if not failure.missing:
                absent = _without_attestation(failure.problem)
            continue
        if real in (snapshot.path, Path(os.path.realpath(manifest_path))):
            return Finding("attestation-missing", "The claim names itself, or the manifest, as its attestation.")
        record = read_record(data.decode("utf-8", "replace"))
        attester, kind = record.text("attester"), record.text("attestation_type")
        if attester is None and kind is None:
            silent = f"{path} says neither `attester` nor `attestation_type`; an attestation says both."
            return _without_attestation(Problem("attestation-unreadable", silent, str(path), 1, 1))
        return Attestation(real, record.fields, attester, kind, record.text("timestamp"))
    return absent


def _without_attestation(obstacle: Problem) -> Finding:
    if obstacle.code == LEADS_OUTSIDE:
        message = f"The claim names an attestation that is not in its place: {obstacle.message}"
        return Finding("attestation-missing", message, obstacle)
    problem = obstacle._replace(code="attestation-unreadable")
    return Finding("attestation-unreadable", f"Its attestation cannot be read: {obstacle.message}", problem)


def _attestation_places(reference: str, root: Path, familiar_root: Path | None) -> Iterator[tuple[Path, Path]]:
    """Where an attestation may lie: a directory that it may not leave, and the path in it."""
    ulid = normal_ulid(reference)
    if ulid is not None:
        yield root, root / ATTESTATIONS / f"{ulid}.md"
        return
    segments = relative_segments(reference)
    if segments:
        yield root, root.joinpath(*segments)
        if familiar_root is not None:
            yield familiar_root, familiar_root.joinpath(*segments)
