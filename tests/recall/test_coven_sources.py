"""Sources open on request, under a workspace that was named, and never outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coven_worlds import A, B, Coven, coven_in
from memory_recall.errors import RecallError, UsageError
from memory_recall.recall.coven_sources import open_source
from worlds import World


@pytest.fixture
def coven(world: World) -> Coven:
    return coven_in(world)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "sage").mkdir()
    return tmp_path / "sage"


def with_source(coven: Coven, reference: str | None) -> None:
    coven.claim(A, "Text.", frontmatter={"source_context": reference}, source_session=None)
    coven.finish()


@pytest.mark.parametrize(
    "place",
    [
        "sessions/sage/2026-07-24/queue.md",
        "sage/2026-07-24/queue.jsonl",
        "sessions/2026-07-24-queue.md",
        "2026-07-24/queue",
    ],
)
def test_a_session_is_found_where_workspaces_keep_them(coven: Coven, workspace: Path, place: str) -> None:
    with_source(coven, "session://sage/2026-07-24/queue")
    target = workspace / place
    target.parent.mkdir(parents=True)
    target.write_text("what was said", encoding="utf-8")
    opened = open_source(A, coven.env(), workspace).as_json()
    assert opened == {
        "v": 1,
        "ulid": A,
        "reference": "session://sage/2026-07-24/queue",
        "resolved": str(target),
        "text": "what was said",
        "note": None,
        "verified": True,
        "standings": [],
    }


def test_the_given_root_goes_before_the_variable(coven: Coven, workspace: Path, tmp_path: Path) -> None:
    with_source(coven, "notes/x.md")
    for root in (workspace, tmp_path / "other"):
        (root / "notes").mkdir(parents=True)
        (root / "notes" / "x.md").write_text(root.name)
    env = coven.env(COVEN_FAMILIAR_ROOT=str(tmp_path / "other"))
    assert open_source(A, env).text == "other"
    assert open_source(A, env, workspace).text == "sage"


@pytest.mark.parametrize("root", [None, "missing", "empty"])
def test_what_cannot_be_resolved_is_given_back_with_a_note(coven: Coven, tmp_path: Path, root: str | None) -> None:
    (tmp_path / "empty").mkdir()
    with_source(coven, "session://sage/2026-07-24/queue")
    opened = open_source(A, coven.env(), None if root is None else tmp_path / root)
    assert opened.reference == "session://sage/2026-07-24/queue"
    assert (opened.resolved, opened.text) == (None, None)
    assert opened.note


@pytest.mark.parametrize(
    "reference",
    [
        "session://sage/2026-07-24",
        "session://sage/2026-07-24/a/b",
        "session://sage//queue",
        "session://../secret/x",
        "session://sage/../secret",
        "agent:main:x",
        "https://example.org/x",
        "../secret/x.md",
        "C:/secret/x.md",
        "..\\secret\\x.md",
    ],
)
def test_an_unsafe_or_unknown_reference_is_not_opened(coven: Coven, workspace: Path, reference: str) -> None:
    secret = workspace.parent / "secret"
    secret.mkdir()
    for name in ("x", "x.md"):
        (secret / name).write_text("secret")
    with_source(coven, reference)
    opened = open_source(A, coven.env(), workspace)
    assert (opened.reference, opened.resolved, opened.text) == (reference, None, None)
    assert opened.note


def test_an_absolute_or_linked_path_is_not_opened(coven: Coven, workspace: Path) -> None:
    secret = workspace.parent / "secret.md"
    secret.write_text("secret")
    (workspace / "link.md").symlink_to(secret)
    coven.claim(B, "Text.", frontmatter={"source_context": str(secret)})
    with_source(coven, "link.md")
    assert open_source(A, coven.env(), workspace).text is None
    assert open_source(B, coven.env(), workspace).text is None


def test_without_a_source_in_the_claim_the_ledger_names_one(coven: Coven) -> None:
    coven.claim(A, "Text.", frontmatter={"source_context": None}, source_session="session://sage/2026-07-24/x")
    coven.claim(B, "Text.", frontmatter={"source_context": None}, source_session=None)
    coven.finish()
    assert open_source(A, coven.env()).reference == "session://sage/2026-07-24/x"
    assert open_source(B, coven.env()).reference is None


def test_bytes_that_are_no_text_and_huge_files_are_no_crash(coven: Coven, workspace: Path) -> None:
    with_source(coven, "x.md")
    (workspace / "x.md").write_bytes(b"\xff\x00")
    assert open_source(A, coven.env(), workspace).text == "\ufffd\x00"
    with open(workspace / "x.md", "wb") as file:
        file.truncate(100 * 1024 * 1024)
    opened = open_source(A, coven.env(), workspace)
    assert opened.text is None
    assert opened.note is not None
    assert "larger" in opened.note


def test_an_unknown_claim_is_an_error_with_a_sentence(coven: Coven) -> None:
    with_source(coven, "x.md")
    for _ in range(2):
        with pytest.raises(RecallError) as caught:
            open_source(B, coven.env())
        assert caught.value.code == "claim-unknown"
        (coven.root / "manifest.jsonl").unlink(missing_ok=True)


@pytest.mark.parametrize("ulid", ["nonsense", "", "../x", A + "0", "coven:", f"nemp:{A}", f"[[{A}"])
def test_what_is_no_ulid_is_a_usage_error_that_does_not_repeat_it(coven: Coven, ulid: str) -> None:
    with_source(coven, "x.md")
    with pytest.raises(UsageError) as caught:
        open_source(ulid, coven.env())
    assert caught.value.code == "ulid-invalid"
    assert A not in caught.value.message


@pytest.mark.parametrize("written", ["{}", "coven:{}", "[[coven:{}]]", " [[ coven: {} ]] ", "[[{}]]"])
def test_a_claim_is_named_as_in_notes(coven: Coven, written: str) -> None:
    with_source(coven, "x.md")
    assert open_source(written.format(A), coven.env()).ulid == A
    assert open_source(written.format(A.lower()), coven.env()).ulid == A


def test_the_variable_is_looked_at_where_the_given_root_has_nothing(
    coven: Coven, workspace: Path, tmp_path: Path
) -> None:
    with_source(coven, "notes/x.md")
    (tmp_path / "other" / "notes").mkdir(parents=True)
    (tmp_path / "other" / "notes" / "x.md").write_text("other")
    env = coven.env(COVEN_FAMILIAR_ROOT=str(tmp_path / "other"))
    assert open_source(A, env, workspace).text == "other"
    assert open_source(A, env, tmp_path / "nowhere").text == "other"


def test_a_relative_variable_is_refused_where_it_would_be_needed(coven: Coven, workspace: Path) -> None:
    with_source(coven, "x.md")
    env = coven.env(COVEN_FAMILIAR_ROOT="sage")
    with pytest.raises(UsageError) as caught:
        open_source(A, env)
    assert "COVEN_FAMILIAR_ROOT" in caught.value.message
    (workspace / "x.md").write_text("here")
    assert open_source(A, env, workspace).text == "here"


def test_a_claim_that_does_not_hold_says_so_beside_its_source(coven: Coven, workspace: Path) -> None:
    (workspace / "x.md").write_text("source")
    path = coven.claim(A, "Text.", frontmatter={"source_context": "x.md"})
    coven.claim(B, "Text.", operation="supersede", prior_ulid=A)
    coven.finish()
    assert [standing.code for standing in open_source(A, coven.env(), workspace).standings] == ["superseded"]
    path.write_bytes(path.read_bytes() + b"x")
    opened = open_source(A, coven.env(), workspace)
    assert (opened.text, opened.verified) == ("source", False)
    assert [standing.code for standing in opened.standings] == ["superseded", "unverified"]


def test_opening_a_source_starts_nothing_and_changes_nothing(coven: Coven, workspace: Path) -> None:
    with_source(coven, "x.md")
    before = coven.trace()
    open_source(A, coven.env(), workspace)
    assert coven.trace() == before
    assert coven.starts() == []
