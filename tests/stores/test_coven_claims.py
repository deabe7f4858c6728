"""A claim with its evidence, read without the program: where its snapshot is found, and what makes it unverified."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coven_worlds import ATTESTATION, A, B, Coven, coven_in
from memory_recall.stores.coven import CovenStore, as_memory, familiar_root, is_current, read_store
from memory_recall.stores.coven_claims import Claim
from worlds import World

TEXT = "Queues are kebab-case. One queue a consumer."


@pytest.fixture
def coven(world: World) -> Coven:
    return coven_in(world)


def store_of(coven: Coven) -> CovenStore:
    coven.finish()
    return read_store(coven.world.home)


def claim_of(coven: Coven, ulid: str = A, root: Path | None = None) -> Claim:
    claim = store_of(coven).claim(ulid, root)
    assert claim is not None
    return claim


def codes(claim: Claim) -> list[str]:
    return [finding.code for finding in claim.findings]


def test_a_claim_carries_snapshot_attestation_and_provenance(coven: Coven) -> None:
    path = coven.claim(A, TEXT, frontmatter={"tags": "[gateway, 'queue']"})
    memory = as_memory(claim_of(coven))
    assert (memory.system, memory.id, memory.title, memory.text) == ("coven", A, "Queues are kebab-case", TEXT)
    assert memory.tags == ("gateway", "queue")
    assert memory.standings == ()
    origin = memory.provenance
    assert (origin.path, origin.line, origin.source) == (path, 1, "coven")
    assert (origin.author, origin.attested_by, origin.attestation_type) == ("sage", "sage", "familiar-witness")
    assert (origin.confidence, origin.verified) == ("high", True)


def test_an_unknown_ulid_has_no_claim(coven: Coven) -> None:
    coven.claim(A, TEXT)
    store = store_of(coven)
    assert store.claim(B) is None
    assert store.claim("../../etc/passwd") is None
    assert store.claim(A.lower()) is not None


def test_one_changed_byte_is_a_hash_mismatch(coven: Coven) -> None:
    path = coven.claim(A, TEXT)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n", 1))
    claim = claim_of(coven)
    assert codes(claim) == ["hash-mismatch"]
    assert [(standing.code, bool(standing.message)) for standing in as_memory(claim).standings] == [
        ("unverified", True)
    ]


def test_without_a_snapshot_the_record_is_the_manifest_line(coven: Coven) -> None:
    coven.lines.append(b"broken")
    coven.claim(A, TEXT).unlink()
    memory = as_memory(claim_of(coven))
    assert (memory.provenance.path, memory.provenance.line) == (coven.root / "manifest.jsonl", 2)
    assert memory.title == A.lower()
    assert memory.provenance.verified is False


@pytest.mark.parametrize(
    "where", [f"snapshots/{A}.md", f"{A}.md", f"memory/{A.lower()}.md", "anything/else.md", "a/b/c/d.md"]
)
def test_a_snapshot_is_found_wherever_the_store_keeps_it(coven: Coven, where: str) -> None:
    path = coven.claim(A, TEXT, where=where)
    claim = claim_of(coven)
    assert claim.snapshot is not None
    assert claim.snapshot.path == path
    assert claim.verified


def test_the_snapshot_that_the_hash_proves_is_preferred(coven: Coven) -> None:
    good = coven.claim(A, TEXT, where="kept/x.md")
    coven.put(f"snapshots/{A}.md", good.read_text().replace("One", "Two"))
    claim = claim_of(coven)
    assert claim.snapshot is not None
    assert claim.snapshot.path == good


def test_a_file_at_the_entry_path_that_belongs_to_another_claim_is_not_taken(coven: Coven) -> None:
    coven.claim(A, TEXT, where="memory/shared.md", entry_path="memory/shared.md")
    coven.claim(B, TEXT, entry_path="memory/shared.md").unlink()
    assert codes(claim_of(coven, B))[0] == "snapshot-missing"


def test_the_scan_notices_what_changed_since_it_was_made(coven: Coven) -> None:
    path = coven.claim(A, TEXT, where="kept/x.md")
    data = path.read_bytes()
    path.unlink()
    store = store_of(coven)
    claim = store.claim(A)
    assert claim is not None
    assert claim.snapshot is None
    path.write_bytes(data)
    claim = store.claim(A)
    assert claim is not None
    assert claim.verified


def test_a_missing_attestation_leaves_the_claim_unverified(coven: Coven) -> None:
    coven.claim(A, TEXT)
    (coven.root / "attestations" / f"{ATTESTATION}.md").unlink()
    assert codes(claim_of(coven)) == ["attestation-missing"]


def test_an_attestation_that_is_no_file_is_missing(coven: Coven) -> None:
    coven.claim(A, TEXT)
    path = coven.root / "attestations" / f"{ATTESTATION}.md"
    path.unlink()
    os.mkfifo(path)
    assert codes(claim_of(coven)) == ["attestation-missing"]


def test_a_claim_that_names_no_attestation_is_unverified(coven: Coven) -> None:
    coven.claim(A, TEXT, frontmatter={"attested_via": None})
    assert codes(claim_of(coven)) == ["attestation-missing"]


def test_an_attestation_by_path_is_tried_in_the_store_and_then_under_the_familiar_root(
    coven: Coven, tmp_path: Path
) -> None:
    coven.claim(A, TEXT, frontmatter={"attested_via": "evidence/seen.md"})
    workspace = tmp_path / "sage"
    (workspace / "evidence").mkdir(parents=True)
    (workspace / "evidence" / "seen.md").write_text("attestation_type: self\nattester: sage\n")
    assert codes(claim_of(coven)) == ["attestation-missing"]
    claim = claim_of(coven, root=workspace)
    assert claim.verified
    assert claim.attestation is not None
    assert claim.attestation.type == "self"
    coven.put("evidence/seen.md", "---\nattestation_type: val-in-band\n---\n")
    claim = claim_of(coven, root=workspace)
    assert claim.attestation is not None
    assert claim.attestation.type == "val-in-band"


@pytest.mark.parametrize("form", ["absolute", "climbing", "link", "linked-directory"])
def test_an_attestation_outside_of_the_store_is_absent(coven: Coven, tmp_path: Path, form: str) -> None:
    outside = tmp_path / "outside" / "seen.md"
    outside.parent.mkdir()
    outside.write_text("attestation_type: self\n")
    if form == "absolute":
        named = str(outside)
    elif form == "climbing":
        named = os.path.relpath(outside, coven.root)
    elif form == "link":
        named = "evidence.md"
        (coven.root / named).symlink_to(outside)
    else:
        named = "linked/seen.md"
        (coven.root / "linked").symlink_to(outside.parent)
    coven.claim(A, TEXT, frontmatter={"attested_via": named})
    assert codes(claim_of(coven)) == ["attestation-missing"]


def test_a_snapshot_linked_out_of_the_store_is_absent(coven: Coven, tmp_path: Path) -> None:
    path = coven.claim(A, TEXT)
    path.rename(tmp_path / "elsewhere.md")
    path.symlink_to(tmp_path / "elsewhere.md")
    assert codes(claim_of(coven))[0] == "snapshot-missing"


def test_a_store_that_is_itself_a_link_works(coven: Coven, tmp_path: Path) -> None:
    coven.claim(A, TEXT)
    coven.finish()
    coven.root.rename(tmp_path / "disk")
    coven.root.symlink_to(tmp_path / "disk")
    claim = read_store(coven.world.home).claim(A)
    assert claim is not None
    assert claim.verified


def test_superseded_and_archived_claims_say_so(coven: Coven) -> None:
    coven.claim(A, TEXT)
    coven.claim(B, TEXT, operation="supersede", prior_ulid=A)
    coven.lines.append({**coven.lines[0], "operation": "archive"})  # type: ignore[dict-item]
    standings = as_memory(claim_of(coven)).standings
    assert [(standing.code, standing.successor) for standing in standings] == [("superseded", B), ("archived", None)]


def test_frontmatter_that_is_no_yaml_still_gives_its_plain_lines(coven: Coven) -> None:
    coven.claim(A, TEXT, frontmatter={"title": "Fix: the queue: names"})
    claim = claim_of(coven)
    assert claim.title == "Fix: the queue: names"
    assert claim.verified


def test_a_missing_store_is_absent_and_a_broken_one_is_a_problem(coven: Coven) -> None:
    assert not read_store(coven.world.home / "nobody").exists
    (coven.root / "manifest.jsonl").mkdir()
    store = read_store(coven.world.home)
    assert store.exists
    assert not store.has_claims
    assert [problem.code for problem in store.problems] == ["is-a-directory"]
    assert list(store.ulids) == []
    assert store.claim(A) is None


def test_a_manifest_that_is_a_pipe_does_not_hang(coven: Coven) -> None:
    os.mkfifo(coven.root / "manifest.jsonl")
    assert [problem.code for problem in read_store(coven.world.home).problems] == ["not-a-file"]


def test_a_changed_manifest_is_no_longer_current(coven: Coven) -> None:
    coven.claim(A, TEXT)
    store = store_of(coven)
    assert is_current(store)
    with open(coven.root / "manifest.jsonl", "ab") as file:
        file.write(b"\n")
    assert not is_current(store)


def test_looking_up_claims_changes_nothing(coven: Coven) -> None:
    coven.claim(A, TEXT).unlink()
    store = store_of(coven)
    before = coven.trace()
    assert store.claim(A) is not None
    assert coven.trace() == before


def test_the_familiar_root_is_given_or_set_and_never_guessed(world: World) -> None:
    assert familiar_root(world.env) is None
    env = world.env._replace(variables={"COVEN_FAMILIAR_ROOT": "~/sage"})
    assert familiar_root(env) == world.home / "sage"
    assert familiar_root(env, Path("here")) == world.project / "here"
