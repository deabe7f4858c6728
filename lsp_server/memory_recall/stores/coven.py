"""The Coven store under a home directory: its manifest, and the claims that can be looked up without the binary.

Reading only: nothing here, and nothing below it, has a call that writes. The index and its database belong to the
binary; this module does not know them. Where a snapshot lies is settled nowhere upstream, so it is looked for: under
the claim's id, under the path it was promoted from, and at last in every Markdown file of the store.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_recall.environment import Environment
from memory_recall.files.reading import Stamp, Unreadable, is_unchanged, read_file, stamp_of
from memory_recall.model import Memory, Problem, Provenance, Standing
from memory_recall.stores.coven_claims import (
    ATTESTATIONS,
    SNAPSHOTS,
    Claim,
    Snapshot,
    build_claim,
    read_snapshot,
)
from memory_recall.stores.coven_manifest import Ledger, Manifest, SkippedLine, normal_ulid, relative_segments

_SCANNED_FILES = 2_000
_SCANNED_DEPTH = 6


def store_root(home: Path) -> Path:
    """Where Coven keeps its memory: a fixed path under the home directory."""
    return home / ".coven" / "memory"


def familiar_root(environment: Environment, given: Path | None = None) -> Path | None:
    """The workspace of a familiar: what was given, else `$COVEN_FAMILIAR_ROOT`, else None. Never guessed.

    What was given may be relative to where it was typed; a variable that is relative would mean another directory in
    each place, and counts as none (see `relative_familiar_root`).
    """
    if given is not None:
        return environment.cwd / _from_home(given, environment)
    named = environment.variable("COVEN_FAMILIAR_ROOT")
    path = _from_home(Path(named), environment) if named is not None else None
    return path if path is not None and path.is_absolute() else None


def relative_familiar_root(environment: Environment) -> str | None:
    """What is wrong with `$COVEN_FAMILIAR_ROOT`, as a sentence; None where it is unset or can be used."""
    if environment.variable("COVEN_FAMILIAR_ROOT") is None or familiar_root(environment) is not None:
        return None
    return "$COVEN_FAMILIAR_ROOT is a relative path, which is no place; set it to an absolute one, or unset it."


def _from_home(path: Path, environment: Environment) -> Path:
    if path.parts[:1] == ("~",) and environment.home is not None:
        return environment.home.joinpath(*path.parts[1:])
    return path


@dataclass(frozen=True, slots=True)
class _Scanned:
    """One file of a scan: the claim it says it belongs to, as long as the stamp holds."""

    stamp: Stamp
    ulid: str | None


class CovenStore:
    """A Coven store in one reading of its manifest. Snapshots and attestations are read when a claim is asked for.

    `manifest` is None where there is none; `unreadable` is why, where a file is there that cannot be read.
    """

    def __init__(self, root: Path, manifest: Manifest | None, unreadable: Problem | None, stamp: Stamp | None) -> None:
        self.root = root
        self.manifest = manifest
        self.unreadable = unreadable
        self.stamp = stamp
        self._scanned: Mapping[Path, _Scanned] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a manifest, readable or not."""
        return self.manifest is not None or self.unreadable is not None

    @property
    def manifest_hash(self) -> str | None:
        """The SHA-256 of the manifest's bytes as they were read; None without a manifest."""
        return self.manifest.sha256 if self.manifest is not None else None

    @property
    def skipped(self) -> tuple[SkippedLine, ...]:
        """The manifest lines that are no entries, with reasons."""
        return self.manifest.skipped if self.manifest is not None else ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is broken in the manifest."""
        if self.unreadable is not None:
            return (self.unreadable,)
        return self.manifest.problems if self.manifest is not None else ()

    @property
    def ulids(self) -> Collection[str]:
        """The claims of the manifest, in the order in which they entered it."""
        return self.manifest.ledgers.keys() if self.manifest is not None else ()

    def claim(self, ulid: str, familiar_root: Path | None = None, *, at: Path | None = None) -> Claim | None:
        """The claim of that ULID with its evidence; None where the manifest has no line for it.

        `at` is where its snapshot is looked for first.
        """
        normal = normal_ulid(ulid)
        if self.manifest is None or normal is None or normal not in self.manifest.ledgers:
            return None
        ledger = self.manifest.ledgers[normal]
        snapshot, obstacle = self._snapshot(ledger, at)
        return build_claim(ledger, self.root, snapshot, familiar_root, self.manifest.path, obstacle=obstacle)

    def claim_of(self, ledger: Ledger, snapshot: Snapshot, familiar_root: Path | None = None) -> Claim:
        """The claim for which a file of the store, already read, stands as its snapshot."""
        return build_claim(ledger, self.root, snapshot, familiar_root, self.root / "manifest.jsonl")

    def _snapshot(self, ledger: Ledger, at: Path | None) -> tuple[Snapshot | None, Problem | None]:
        """The snapshot that the ledger's hash proves; failing that, the first that is plausible.

        Where there is neither: what stands in the way of reading one.
        """
        plausible: Snapshot | None = None
        obstacle: Problem | None = None
        for path, named_after_it in self._candidates(ledger, at):
            try:
                snapshot = read_snapshot(self.root, path)
            except Unreadable as failure:
                if not failure.missing:
                    obstacle = obstacle or failure.problem
                continue
            if not named_after_it and snapshot.ulid not in (None, ledger.ulid):
                continue
            if snapshot.sha256 == ledger.content.sha256:
                return snapshot, None
            plausible = plausible or snapshot
        return plausible, None if plausible is not None else obstacle

    def _candidates(self, ledger: Ledger, at: Path | None) -> Iterator[tuple[Path, bool]]:
        """Where a snapshot may lie, and whether the file's name alone says whose it is."""
        name = f"{ledger.ulid}.md"
        if at is not None:
            yield at, False
        yield self.root / SNAPSHOTS / name, True
        yield self.root / name, True
        segments = relative_segments(ledger.content.entry_path)
        if segments:
            yield self.root.joinpath(*segments), False
        for path in self._files_of(ledger.ulid):
            yield path, False

    def _files_of(self, ulid: str) -> list[Path]:
        """The store's Markdown files that say they belong to a claim. Only what changed since the last scan is read."""
        before, now = self._scanned, {}
        for path in _markdown_files(self.root):
            stamp = stamp_of(path)
            if stamp is None:
                continue
            known = before.get(path)
            if known is None or known.stamp != stamp or not known.stamp.settled:
                known = _Scanned(stamp, self._owner(path))
            now[path] = known
        self._scanned = now
        return [path for path, scanned in now.items() if scanned.ulid == ulid]

    def _owner(self, path: Path) -> str | None:
        try:
            return read_snapshot(self.root, path).ulid
        except Unreadable:
            return None


def read_store(home: Path) -> CovenStore:
    """The store under a home directory. Never raises: what is wrong is a `Problem` of the store."""
    root = store_root(home)
    path = root / "manifest.jsonl"
    try:
        read = read_file(path)
    except Unreadable as failure:
        return CovenStore(root, None, None if failure.missing else failure.problem, stamp_of(path))
    return CovenStore(root, Manifest(read.data, path), None, read.stamp)


def is_current(store: CovenStore) -> bool:
    """Whether the manifest is still the one that was read. Snapshots need no stamp: they are never kept."""
    return is_unchanged(store.root / "manifest.jsonl", store.stamp)


def as_memory(claim: Claim) -> Memory:
    """A claim as search, hover and `show` see it. Its record is the snapshot; without one, its manifest line."""
    content, promoted, snapshot = claim.ledger.content, claim.ledger.promoted, claim.snapshot
    return Memory(
        system="coven",
        id=claim.ulid,
        title=claim.title,
        text=snapshot.text if snapshot is not None else "",
        provenance=Provenance(
            system="coven",
            source="coven",
            path=snapshot.path if snapshot is not None else claim.manifest_path,
            line=1 if snapshot is not None else content.number,
            author=content.author or claim.field("created_by"),
            attested_by=claim.attested_by,
            attestation_type=claim.attestation.type if claim.attestation is not None else None,
            created=claim.field("created_at") or promoted.timestamp,
            updated=content.timestamp,
            confidence=claim.field("confidence"),
            verified=claim.verified,
        ),
        tags=snapshot.frontmatter.texts("tags") if snapshot is not None else (),
        standings=tuple(_standings(claim)),
        fields={
            **(snapshot.frontmatter.fields if snapshot is not None else {}),
            "promoted_at": promoted.timestamp,
            "entry_path": content.entry_path,
            "sha256": content.sha256,
            "manifest_line": content.number,
            "source_context": claim.source_context,
        },
    )


def _standings(claim: Claim) -> Iterator[Standing]:
    successor = claim.ledger.superseded_by
    if successor is not None:
        yield Standing("superseded", f"A later claim replaced it: {successor}.", successor)
    if claim.ledger.archived:
        yield Standing("archived", "It was archived; nobody keeps it up to date any more.")
    for finding in claim.findings:
        yield Standing("unverified", finding.message)
    other = claim.disputed_attester
    if other is not None:
        yield Standing("conflicting", f"Its text names {other} as its attester, the manifest {claim.attested_by}.")


def _markdown_files(root: Path) -> Iterator[Path]:
    """The store's own Markdown files, at most so many and so deep; links to directories are not followed."""
    pending, found = [(root, 0)], 0
    while pending:
        directory, depth = pending.pop()
        try:
            with os.scandir(directory) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < _SCANNED_DEPTH and not (depth == 0 and entry.name == ATTESTATIONS):
                    pending.append((Path(entry.path), depth + 1))
            elif entry.name.endswith(".md"):
                yield Path(entry.path)
                found += 1
                if found >= _SCANNED_FILES:
                    return
