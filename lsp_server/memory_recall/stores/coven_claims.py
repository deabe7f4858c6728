"""One claim: its snapshot, its attestation, and whether they are what the ledger says they are.

Owns the trust rules. Paths that a file names are untrusted: only what really lies inside the directory it is meant for,
links resolved, is opened. Snapshot and attestation are read anew for each claim, so a verdict is never stale.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memory_recall.files.reading import Unreadable, read_file
from memory_recall.stores.coven_manifest import Ledger, normal_ulid, relative_segments
from memory_recall.text.frontmatter import Frontmatter, read_frontmatter, read_record

ATTESTATIONS = "attestations"
SNAPSHOTS = "snapshots"

FindingCode = Literal["snapshot-missing", "hash-mismatch", "attestation-missing"]

_SNAPSHOT_LIMIT = 16 * 1024 * 1024
_ATTESTATION_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why a claim is not verified: a code, and a sentence for people."""

    code: FindingCode
    message: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A promoted text as its file holds it. `sha256` is over the exact bytes."""

    path: Path
    sha256: str
    frontmatter: Frontmatter

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
    def source_context(self) -> str | None:
        """A portable reference to where the claim comes from. Opened on request only."""
        return self.field("source_context") or self.ledger.content.source_session


def confined(root: Path, segments: tuple[str, ...]) -> Path | None:
    """The real path of a regular file below `root`; None where there is none, or where a link leads out of `root`."""
    return inside(root, root.joinpath(*segments)) if segments else None


def inside(root: Path, path: Path) -> Path | None:
    """The real path of a regular file, if that really lies below the real `root`; else None."""
    try:
        real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
        if not real.is_relative_to(real_root) or not real.is_file():
            return None
    except (OSError, ValueError):  # a NUL in the path, a name that is too long
        return None
    return real


def read_snapshot(path: Path) -> Snapshot | None:
    """A snapshot file, which the caller has confined; None where it cannot be read."""
    try:
        data = read_file(path, limit=_SNAPSHOT_LIMIT).data
    except Unreadable:
        return None
    text = data.decode("utf-8", "replace")
    return Snapshot(path, hashlib.sha256(data).hexdigest(), read_frontmatter(text))


def build_claim(
    ledger: Ledger, root: Path, snapshot: Snapshot | None, familiar_root: Path | None, manifest_path: Path
) -> Claim:
    """A claim of the store at `root` with its attestation and the findings about both.

    `familiar_root` is where an attestation's relative path is tried after the store; None where no such root is set.
    """
    findings: list[Finding] = []
    if snapshot is None:
        findings.append(Finding("snapshot-missing", "The store has no snapshot of it that can be read."))
    elif snapshot.sha256 != ledger.content.sha256:
        findings.append(Finding("hash-mismatch", "Its snapshot was changed after it was promoted: the hash differs."))
    reference = snapshot.frontmatter.text("attested_via") if snapshot is not None else None
    attestation = _read_attestation(reference, root, familiar_root) if reference else None
    if attestation is None:
        named = "names no attestation" if reference is None else "names an attestation that is not there"
        findings.append(Finding("attestation-missing", f"The claim {named}."))
    return Claim(ledger, manifest_path, snapshot, attestation, tuple(findings))


def _read_attestation(reference: str, root: Path, familiar_root: Path | None) -> Attestation | None:
    path = _attestation_path(reference, root, familiar_root)
    if path is None:
        return None
    try:
        data = read_file(path, limit=_ATTESTATION_LIMIT).data
    except Unreadable:
        return None
    record = read_record(data.decode("utf-8", "replace"))
    return Attestation(
        path, record.fields, record.text("attester"), record.text("attestation_type"), record.text("timestamp")
    )


def _attestation_path(reference: str, root: Path, familiar_root: Path | None) -> Path | None:
    ulid = normal_ulid(reference)
    if ulid is not None:
        return confined(root, (ATTESTATIONS, f"{ulid}.md"))
    segments = relative_segments(reference)
    found = confined(root, segments)
    if found is None and familiar_root is not None:
        found = confined(familiar_root, segments)
    return found
