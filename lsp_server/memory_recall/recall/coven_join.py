"""From what the program printed to claims of the ledger: which claim a file belongs to, and whether it may be shown.

Owns the join and the verdicts, not the order. Only files of the store itself are opened: a hit elsewhere (the index may
hold a familiar's own workspace) can still be joined by its path, and is then judged by the snapshot in the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_recall.cancellation import Cancellation
from memory_recall.model import Memory, Problem
from memory_recall.recall.coven_output import PrintedHit
from memory_recall.recall.coven_period import Period
from memory_recall.stores.coven import CovenStore, as_memory
from memory_recall.stores.coven_claims import Claim, inside, read_snapshot
from memory_recall.stores.coven_manifest import Manifest


@dataclass(frozen=True, slots=True)
class CovenHit:
    """A claim that answers. `snippet` and `score` are the program's; `score` is None where it printed no number."""

    claim: Claim
    snippet: str
    score: float | None

    @property
    def memory(self) -> Memory:
        """The claim as every other system's hits are seen."""
        return as_memory(self.claim)

    @property
    def snippet_is_verified(self) -> bool:
        """Whether the snippet stands in the verified snapshot. An index that lags behind prints older text."""
        if self.claim.snapshot is None or not self.claim.verified:
            return False
        promoted = " ".join(self.claim.snapshot.frontmatter.body.split())
        return " ".join(self.snippet.removesuffix("…").split()) in promoted

    def as_json(self) -> dict[str, Any]:
        """The contract's hit; `superseded_by` only where there is one."""
        claim, memory, ledger = self.claim, self.memory, self.claim.ledger
        provenance = memory.provenance
        shape: dict[str, Any] = {
            "ulid": claim.ulid,
            "title": claim.title,
            "type": claim.field("type"),
            "memory_type": claim.field("memory_type"),
            "snippet": self.snippet,
            "score": self.score,
            "attested_by": claim.attested_by,
            "attestation_type": provenance.attestation_type,
            "promoted_at": ledger.promoted.timestamp,
        }
        if ledger.superseded_by is not None:
            shape["superseded_by"] = ledger.superseded_by
        return {
            **shape,
            "confidence": claim.field("confidence"),
            "source_context": claim.source_context,
            "updated_at": ledger.content.timestamp,
            "archived": ledger.archived,
            "author": provenance.author,
            "tags": list(memory.tags),
            "verified": claim.verified,
            "snippet_verified": self.snippet_is_verified,
            "standings": [standing.as_json() for standing in memory.standings],
            "path": str(provenance.path),
            "line": provenance.line,
        }


@dataclass(frozen=True, slots=True)
class Joined:
    """The hits in printed order, one a claim.

    `dropped` counts files that could not be joined or trusted, by reason; `filtered` counts claims outside the period.
    """

    hits: tuple[CovenHit, ...]
    dropped: Counter[str]
    filtered: int
    problems: tuple[Problem, ...]


def join(
    printed: Iterable[PrintedHit],
    store: CovenStore,
    manifest: Manifest,
    *,
    home: Path,
    period: Period,
    verified_only: bool,
    familiar_root: Path | None,
    cancellation: Cancellation | None = None,
) -> Joined:
    """Join printed hits to the manifest. The chunks of one file are one hit, the files of one claim likewise."""
    hits: dict[str, CovenHit] = {}
    dropped: Counter[str] = Counter()
    outside: set[str] = set()
    problems: list[Problem] = []
    for path, chunk in _best_of_each_file(printed).items():
        if cancellation is not None:
            cancellation.check()
        claim = _claim_of_file(expanded(path, home), store, manifest, familiar_root)
        if claim is None:
            dropped["manifest-line-missing"] += 1
            continue
        if not period.holds(claim.ledger.content.moment):
            outside.add(claim.ulid)
            continue
        if claim.findings and verified_only:
            dropped[claim.findings[0].code] += 1
            continue
        if claim.snapshot is not None and claim.snapshot.frontmatter.problem is not None:
            file = str(claim.snapshot.path)
            problems.append(Problem("frontmatter-unclear", claim.snapshot.frontmatter.problem, file, 1, 1))
        hit = CovenHit(claim, chunk.chunk, chunk.score)
        known = hits.get(claim.ulid)
        if known is None or _rank(hit) > _rank(known):
            hits[claim.ulid] = hit  # a claim keeps the place of its first hit
    return Joined(tuple(hits.values()), dropped, len(outside), tuple(problems))


def _rank(hit: CovenHit) -> tuple[bool, float]:
    return hit.claim.verified, float("-inf") if hit.score is None else hit.score


def _best_of_each_file(printed: Iterable[PrintedHit]) -> dict[str, PrintedHit]:
    best: dict[str, PrintedHit] = {}
    for hit in printed:
        known = best.get(hit.path)
        if known is None or (hit.score is not None and (known.score is None or hit.score > known.score)):
            best[hit.path] = hit
    return best


def expanded(printed: str, home: Path) -> Path:
    """The path that was indexed. The program replaces the home directory by `~`, wherever it finds its letters."""
    if str(home) == home.anchor:
        return Path(printed.replace("~", home.anchor))
    return home / printed[2:] if printed.startswith("~/") else Path(printed)


def _claim_of_file(path: Path, store: CovenStore, manifest: Manifest, familiar_root: Path | None) -> Claim | None:
    """The claim that a file belongs to: by the ULID it carries, else by a unique hash, else by a unique entry path."""
    file = inside(store.root, path) if path.is_absolute() else None
    snapshot = read_snapshot(file) if file is not None else None
    if snapshot is not None:
        named = {snapshot.ulid} if snapshot.ulid is not None else manifest.by_sha256.get(snapshot.sha256, frozenset())
        if snapshot.ulid is not None or len(named) == 1:
            ledger = manifest.ledgers.get(next(iter(named)) or "")
            return store.claim_of(ledger, snapshot, familiar_root) if ledger is not None else None
    ulid = _by_entry_path(path, manifest)
    if ulid is None:
        return None
    claim = store.claim(ulid, familiar_root)
    if claim is not None and claim.snapshot is None and snapshot is not None:
        return store.claim_of(claim.ledger, snapshot, familiar_root)
    return claim


def _by_entry_path(path: Path, manifest: Manifest) -> str | None:
    """The one claim whose entry path ends this path, in whole segments; None where there is none, or several."""
    segments = path.parts
    if not segments:
        return None
    named = manifest.by_entry_name.get(segments[-1], frozenset())
    ulids = {ulid for entry, ulid in named if segments[-len(entry) :] == entry}
    return ulids.pop() if len(ulids) == 1 else None
