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


@pytest.mark.parametrize("instead", ["pipe", "directory", "too-large", "loop"])
def test_an_attestation_that_cannot_be_read_is_not_a_missing_one(coven: Coven, instead: str) -> None:
    coven.claim(A, TEXT)
    path = coven.root / "attestations" / f"{ATTESTATION}.md"
    path.unlink()
    put_instead(path, instead)
    (finding,) = claim_of(coven).findings
    assert finding.code == "attestation-unreadable"
    assert finding.problem is not None
    assert (finding.problem.code, finding.problem.path) == ("attestation-unreadable", str(path))


def put_instead(path: Path, kind: str) -> None:
    """Something at a path that is no file to read."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "too-large":
        with open(path, "wb") as file:
            file.truncate(20 * 1024 * 1024)
    else:
        assert kind == "nothing"


@pytest.mark.parametrize(
    "content", ["", "\n", "---\n---\n", "Seen by moss.\n", "[attester]\n", "---\nattester:\n---\nSeen.\n", "\x00\x01"]
)
def test_a_file_that_attests_nothing_is_no_attestation(coven: Coven, content: str) -> None:
    coven.claim(A, TEXT)
    coven.put(f"attestations/{ATTESTATION}.md", content)
    assert codes(claim_of(coven)) == ["attestation-unreadable"]


@pytest.mark.parametrize(
    "content",
    ["attester: moss\n", "---\nattestation_type: self\n---\n", "---\nattester: moss\ncontext: a: b: c\n---\nSeen.\n"],
)
def test_an_attestation_that_says_who_or_how_counts(coven: Coven, content: str) -> None:
    coven.claim(A, TEXT)
    coven.put(f"attestations/{ATTESTATION}.md", content)
    assert claim_of(coven).verified


@pytest.mark.parametrize("named", ["manifest.jsonl", "./manifest.jsonl", f"snapshots/{A}.md", "link.md"])
def test_a_claim_cannot_attest_itself(coven: Coven, named: str) -> None:
    path = coven.claim(A, TEXT, frontmatter={"attested_via": named, "attester": "sage"})
    (coven.root / "link.md").symlink_to(path)
    assert codes(claim_of(coven)) == ["attestation-missing"]


def test_an_attester_of_its_own_text_does_not_outdo_the_manifests(coven: Coven) -> None:
    coven.claim(A, TEXT, frontmatter={"attested_by": "mallory"})
    claim = claim_of(coven)
    memory = as_memory(claim)
    assert (claim.verified, claim.attested_by) == (True, "sage")
    assert [standing.code for standing in memory.standings] == ["conflicting"]
    assert "mallory" in memory.standings[0].message


@pytest.mark.parametrize("scope", ["private", "[coven]", "Coven"])
def test_a_text_of_another_scope_is_no_claim_of_the_coven(coven: Coven, scope: str) -> None:
    coven.claim(A, TEXT, frontmatter={"scope": scope})
    assert codes(claim_of(coven)) == ["scope-not-coven"]


@pytest.mark.parametrize("scope", [None, "", "coven", "'coven'", "null"])
def test_a_text_without_a_scope_is_one(coven: Coven, scope: str | None) -> None:
    coven.claim(A, TEXT, frontmatter={"scope": scope})
    assert claim_of(coven).verified


@pytest.mark.parametrize("instead", ["pipe", "directory", "too-large", "loop"])
@pytest.mark.parametrize("where", [None, f"memory/{A.lower()}.md"])
def test_a_snapshot_that_cannot_be_read_is_not_a_missing_one(coven: Coven, instead: str, where: str | None) -> None:
    path = coven.claim(A, TEXT, where=where)
    path.unlink()
    put_instead(path, instead)
    finding = claim_of(coven).findings[0]
    assert finding.code == "snapshot-unreadable"
    assert finding.problem is not None
    assert (finding.problem.code, finding.problem.path) == ("snapshot-unreadable", str(path))


def test_a_missing_snapshot_is_a_problem_at_its_line(coven: Coven) -> None:
    coven.lines.append(b"broken")
    coven.claim(A, TEXT).unlink()
    finding = claim_of(coven).findings[0]
    assert finding.problem is not None
    assert (finding.code, finding.problem.code, finding.problem.line) == ("snapshot-missing", "snapshot-missing", 2)


def test_an_unreadable_snapshot_is_no_matter_where_an_intact_one_is_found(coven: Coven) -> None:
    coven.claim(A, TEXT, where="kept/a.md")
    (coven.root / "snapshots").mkdir()
    os.mkfifo(coven.root / "snapshots" / f"{A}.md")
    assert claim_of(coven).verified


@pytest.mark.parametrize("inside", [True, False])
def test_a_linked_directory_of_snapshots_must_stay_in_the_store(coven: Coven, tmp_path: Path, inside: bool) -> None:
    coven.claim(A, TEXT)
    target = coven.root / "kept" / "here" if inside else tmp_path / "outside"
    target.parent.mkdir(exist_ok=True)
    (coven.root / "snapshots").rename(target)
    (coven.root / "snapshots").symlink_to(target)
    claim = claim_of(coven)
    assert claim.verified is inside
    if not inside:
        problem = claim.findings[0].problem
        assert claim.findings[0].code == "snapshot-missing"
        assert problem is not None
        assert (problem.code, problem.path) == ("leads-outside", str(coven.root / "snapshots"))


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
    assert familiar_root(world.env._replace(variables={"COVEN_FAMILIAR_ROOT": "sage"})) is None
