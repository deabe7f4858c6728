"""From what the program printed to claims of the ledger: which claim a file belongs to, and whether it may be shown.

Owns the join and the verdicts, not the order. Only files of the store itself are opened: a hit elsewhere (the index may
hold a familiar's own workspace) can still be joined by its path, and is then judged by the snapshot in the store.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_recall.cancellation import Cancellation
from memory_recall.files.reading import Unreadable
from memory_recall.model import Memory, Problem
from memory_recall.recall.budget import Trimmed
from memory_recall.recall.coven_output import PrintedHit
from memory_recall.recall.coven_period import Period
from memory_recall.stores.coven import CovenStore, as_memory
from memory_recall.stores.coven_claims import Claim, read_snapshot
from memory_recall.stores.coven_manifest import Manifest, normal_ulid
from memory_recall.text import tokens
from memory_recall.text.snippets import snippet


@dataclass(frozen=True, slots=True)
class CovenHit:
    """A claim that answers.

    `snippet` is the chunk that the program printed, where that stands in the claim's text. An index that lags behind
    (`indexed_text_differs`) prints something else: then it is the verified text itself, or, for a claim that is not
    verified, what was printed. `score` is the best one printed for the claim; None where that was no number.
    `trimmed` is set where the snippet ends early.
    """

    claim: Claim
    snippet: str
    score: float | None
    indexed_text_differs: bool = False
    trimmed: Trimmed | None = None

    @property
    def memory(self) -> Memory:
        """The claim as every other system's hits are seen."""
        return as_memory(self.claim)

    def as_json(self) -> dict[str, Any]:
        """The contract's hit; `superseded_by` and `trimmed` only where there is one."""
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
        if self.trimmed is not None:
            shape["trimmed"] = self.trimmed.as_json()
        return {
            **shape,
            "confidence": claim.field("confidence"),
            "source_context": claim.source_context,
            "updated_at": ledger.content.timestamp,
            "archived": ledger.archived,
            "author": provenance.author,
            "tags": list(memory.tags),
            "verified": claim.verified,
            "snippet_verified": claim.verified,
            "indexed_text_differs": self.indexed_text_differs,
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
    query: str,
    home: Path,
    period: Period,
    verified_only: bool,
    familiar_root: Path | None,
    cancellation: Cancellation | None = None,
) -> Joined:
    """Join printed hits to the manifest. The chunks of one file are one hit, the files of one claim likewise.

    Of several chunks, and of several files, the one that shares most words with the query is shown.
    """
    asked = frozenset(tokens.query_words(query))
    hits: dict[str, tuple[tuple[bool, int], CovenHit]] = {}
    dropped: Counter[str] = Counter()
    outside: set[str] = set()
    problems: dict[Problem, None] = {}
    for path, chunks in _by_file(printed).items():
        if cancellation is not None:
            cancellation.check()
        claim = _claim_of_file(expanded(path, home), store, manifest, familiar_root)
        if claim is None:
            dropped["manifest-line-missing"] += 1
            continue
        if not period.holds(claim.ledger.promoted.moment):
            outside.add(claim.ulid)
            continue
        problems.update(dict.fromkeys(_problems(claim)))
        reason = _reason_to_drop(claim, verified_only)
        if reason is not None:
            dropped[reason] += 1
            continue
        hit = _hit(claim, chunks, asked)
        rank = (claim.verified, _shared(hit.snippet, asked))
        known = hits.get(claim.ulid)
        if known is None or rank > known[0]:
            hits[claim.ulid] = rank, hit  # a claim keeps the place of its first hit
    return Joined(tuple(hit for _, hit in hits.values()), dropped, len(outside), tuple(problems))


def _by_file(printed: Iterable[PrintedHit]) -> dict[str, list[PrintedHit]]:
    files: dict[str, list[PrintedHit]] = {}
    for hit in printed:
        files.setdefault(hit.path, []).append(hit)
    return files


def _problems(claim: Claim) -> Iterable[Problem]:
    """What a person should mend in the files of a claim."""
    if claim.snapshot is not None and claim.snapshot.frontmatter.problem is not None:
        yield Problem("frontmatter-unclear", claim.snapshot.frontmatter.problem, str(claim.snapshot.path), 1, 1)
    for finding in claim.findings:
        if finding.problem is not None:
            yield finding.problem


def _reason_to_drop(claim: Claim, verified_only: bool) -> str | None:
    """Why a claim may not be shown. What belongs to another scope is never shown, as with lines of the manifest."""
    codes = [finding.code for finding in claim.findings]
    if "scope-not-coven" in codes:
        return "scope-not-coven"
    return codes[0] if codes and verified_only else None


def _hit(claim: Claim, chunks: Sequence[PrintedHit], asked: Collection[str]) -> CovenHit:
    score = max((chunk.score for chunk in chunks if chunk.score is not None), default=None)
    shown = sorted((chunk.chunk for chunk in chunks), key=lambda text: -_shared(text, asked))
    if claim.snapshot is None:
        return CovenHit(claim, shown[0], score)
    body, whole = _on_one_line(claim.snapshot.frontmatter.body), _on_one_line(claim.snapshot.whole)
    promoted = [text for text in shown if (found := _on_one_line(text.removesuffix("…"))) and found in whole]
    if promoted and _on_one_line(promoted[0].removesuffix("…")) in body:
        return CovenHit(claim, promoted[0], score)
    if promoted or claim.verified:  # a chunk that begins in the frontmatter is nothing to read
        excerpt = snippet(body, asked) or claim.title
        return CovenHit(claim, excerpt, score, indexed_text_differs=not promoted)
    return CovenHit(claim, shown[0], score, indexed_text_differs=True)


def _shared(text: str, asked: Collection[str]) -> int:
    """How many of the stems asked for a text has."""
    return len(frozenset(tokens.stems(tokens.terms(text))).intersection(asked)) if asked else 0


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def expanded(printed: str, home: Path) -> Path:
    """The path that was indexed. The program replaces the home directory by `~`, wherever it finds its letters."""
    if str(home) == home.anchor:
        return Path(printed.replace("~", home.anchor))
    return home / printed[2:] if printed.startswith("~/") else Path(printed)


def _claim_of_file(path: Path, store: CovenStore, manifest: Manifest, familiar_root: Path | None) -> Claim | None:
    """The claim that a file belongs to: by the ULID it carries, else by a unique hash, else by a unique entry path.

    A file of the store that can tell nothing of itself, because it is gone, unreadable or overwritten, is still the
    claim that its name says it is; what is wrong with it is then among the findings.
    """
    own = _lies_in_store(path, store.root)
    snapshot = None
    if own:
        with suppress(Unreadable):  # whether that matters is seen when its claim has no other snapshot
            snapshot = read_snapshot(store.root, path)
    if snapshot is not None:
        named = {snapshot.ulid} if snapshot.ulid is not None else manifest.by_sha256.get(snapshot.sha256, frozenset())
        if snapshot.ulid is not None or len(named) == 1:
            ledger = manifest.ledgers.get(next(iter(named)) or "")
            return store.claim_of(ledger, snapshot, familiar_root) if ledger is not None else None
    ulid = _by_entry_path(path, manifest) or (normal_ulid(path.stem) if own else None)
    if ulid is None:
        return None
    return store.claim(ulid, familiar_root, at=path if own else None)


def _lies_in_store(path: Path, root: Path) -> bool:
    """Whether a path lies in the store as it is written, or once links are followed."""
    if not path.is_absolute():
        return False
    if path.is_relative_to(root) and ".." not in path.parts:
        return True
    try:
        real_root = os.path.realpath(root)
        return any(Path(os.path.realpath(place)).is_relative_to(real_root) for place in (path, path.parent))
    except (OSError, ValueError):
        return False


def _by_entry_path(path: Path, manifest: Manifest) -> str | None:
    """The one claim whose entry path ends this path, in whole segments; None where there is none, or several."""
    segments = path.parts
    if not segments:
        return None
    named = manifest.by_entry_name.get(segments[-1], frozenset())
    ulids = {ulid for entry, ulid in named if segments[-len(entry) :] == entry}
    return ulids.pop() if len(ulids) == 1 else None
