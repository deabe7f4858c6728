"""What a manifest line may say, which lines are skipped, and what the lines of one claim add up to."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ulid import ULID

from coven_worlds import A, B, C, manifest_bytes, manifest_line
from memory_recall.stores.coven_manifest import Manifest, normal_ulid, relative_segments

PATH = Path("/store/manifest.jsonl")


def manifest(*lines: dict[str, Any] | bytes) -> Manifest:
    return Manifest(manifest_bytes(*lines), PATH)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"timestamp": "2026-09-01T00:00:00Z", "ulid": "cut', "malformed-line"),
        (b"[]", "malformed-line"),
        (b"null", "malformed-line"),
        (b"\xff\xfe", "malformed-line"),
        (b'{"a": NaN}', "malformed-line"),
        (b"[" * 100_000, "malformed-line"),
        (b'{"sha256": ' + b"9" * 5_000 + b"}", "malformed-line"),
        (json.dumps(manifest_line()).replace("{", '{"ulid": "x", ', 1).encode(), "malformed-line"),
        (manifest_line(surprise=True), "unknown-field"),
        (manifest_line(operation="delete"), "unknown-operation"),
        (manifest_line(operation=3), "malformed-line"),
        (manifest_line(scope="sage"), "foreign-scope"),
        (manifest_line(scope=["coven"]), "foreign-scope"),
        (manifest_line(ulid="not-a-ulid"), "malformed-line"),
        (manifest_line(ulid=A + "\n"), "malformed-line"),
        (manifest_line(ulid="01JEXAMPLE0000000000000000"), "malformed-line"),
        (manifest_line(timestamp="yesterday"), "malformed-line"),
        (manifest_line(timestamp=1_700_000_000), "malformed-line"),
        (manifest_line(sha256="abc"), "malformed-line"),
        (manifest_line(sha256=...), "malformed-line"),
        (manifest_line(entry_path=None), "malformed-line"),
        (manifest_line(author=7), "malformed-line"),
    ],
)
def test_a_line_that_is_no_entry_is_skipped_with_its_reason_and_place(line: Any, reason: str) -> None:
    read = manifest(manifest_line(B), line, manifest_line(C))
    assert [skipped.reason for skipped in read.skipped] == [reason]
    assert [problem.line for problem in read.problems] == [2]
    assert set(read.ledgers) == {B, C}


def test_a_skipped_line_never_shows_its_content() -> None:
    read = manifest(manifest_line(**{"secret-field": "secret-value"}))
    assert "secret" not in read.problems[0].message


def test_scope_coven_and_absent_people_are_fine() -> None:
    read = manifest(manifest_line(scope="coven", author=..., attested_by=None, source_session=..., prior_ulid=...))
    assert not read.skipped
    assert read.ledgers[A].content.author is None


def test_hash_and_ulid_are_read_in_either_case() -> None:
    read = manifest(manifest_line(A.lower(), sha256="AB" * 32))
    assert read.ledgers[A].content.sha256 == "ab" * 32


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_manifest_without_a_written_line_is_blank(data: bytes) -> None:
    assert Manifest(data, PATH).blank
    assert not Manifest(data, PATH).skipped


def test_a_broken_line_is_not_blank() -> None:
    assert not Manifest(b"{\n", PATH).blank


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_byte_order_mark_and_blank_lines_do_not_disturb(end: str) -> None:
    text = "\ufeff" + json.dumps(manifest_line(A)) + end + end + json.dumps(manifest_line(B))
    read = Manifest(text.encode(), PATH)
    assert [(line.number, line.ulid) for line in read.lines] == [(1, A), (3, B)]


def test_a_carriage_return_alone_ends_no_line() -> None:
    """JSON Lines know the line feed; inside an object a carriage return is white space as any other."""
    line = json.dumps(manifest_line(A)).encode()
    read = manifest(line.replace(b", ", b",\r"), line + b"\r" + json.dumps(manifest_line(B)).encode())
    assert [entry.number for entry in read.lines] == [1]
    assert [skipped.number for skipped in read.skipped] == [2]


def test_the_hash_is_over_the_very_bytes() -> None:
    data = b"\xef\xbb\xbf" + manifest_bytes(manifest_line(A)) + b"\xff\r\n"
    assert Manifest(data, PATH).sha256 == hashlib.sha256(data).hexdigest()


def test_only_a_later_supersede_line_supersedes() -> None:
    read = manifest(
        manifest_line(C, operation="supersede", prior_ulid=A),  # earlier than what it names
        manifest_line(A),
        manifest_line(B, operation="update", prior_ulid=A),  # an update is no succession
    )
    assert read.ledgers[A].superseded_by is None
    read = manifest(manifest_line(A), manifest_line(B, operation="supersede", prior_ulid=A.lower()))
    assert read.ledgers[A].superseded_by == B
    assert read.ledgers[B].superseded_by is None


def test_a_claim_cannot_supersede_itself_and_the_newest_successor_is_named() -> None:
    read = manifest(
        manifest_line(A),
        manifest_line(A, operation="supersede", prior_ulid=A),
        manifest_line(B, operation="supersede", prior_ulid=A),
        manifest_line(C, operation="supersede", prior_ulid=A),
    )
    assert read.ledgers[A].superseders == (B, C)
    assert read.ledgers[A].superseded_by == C


def test_a_skipped_line_supersedes_nothing() -> None:
    read = manifest(manifest_line(A), manifest_line(B, operation="supersede", prior_ulid=A, surprise=1))
    assert read.ledgers[A].superseded_by is None


def test_the_last_change_describes_the_snapshot_and_the_promotion_keeps_its_date() -> None:
    read = manifest(
        manifest_line(A, timestamp="2026-01-01T00:00:00Z", sha256="1" * 64),
        manifest_line(A, timestamp="2026-02-01T00:00:00Z", sha256="2" * 64, operation="update"),
        manifest_line(A, timestamp="2026-03-01T00:00:00Z", sha256="3" * 64, operation="archive"),
    )
    ledger = read.ledgers[A]
    assert (ledger.content.sha256, ledger.content.number) == ("2" * 64, 2)
    assert ledger.promoted.timestamp == "2026-01-01T00:00:00Z"
    assert ledger.archived


def test_a_claim_promoted_again_is_no_longer_archived() -> None:
    read = manifest(manifest_line(A, operation="archive"), manifest_line(A, operation="promote"))
    assert not read.ledgers[A].archived


@pytest.mark.parametrize(
    "written", ["", ".", "..", "/etc/passwd", "../x", "a/../../x", "a\\..\\x", "\\x", "C:/x", "c:x", "a/\0", "//"]
)
def test_a_path_that_could_lead_elsewhere_leads_nowhere(written: str) -> None:
    assert relative_segments(written) == ()


def test_a_plain_path_is_cut_into_segments() -> None:
    assert relative_segments("./memory//x..y/z.md") == ("memory", "x..y", "z.md")


@pytest.mark.parametrize("written", [None, 7, "", A[:-1], A + "0", "8" + A[1:], A[:-1] + "I", "ſ" + A[1:], f" {A}"])
def test_what_is_no_ulid_is_none(written: object) -> None:
    assert normal_ulid(written) is None


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([json.dumps(manifest_line(A)).encode()])), max_size=8)
)
def test_any_bytes_are_read_without_an_exception_and_every_written_line_is_accounted_for(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    read = Manifest(data, PATH)
    written = [line for line in data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n").split(b"\n") if line.strip()]
    assert len(read.lines) + len(read.skipped) == len(written)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh-", min_size=24, max_size=28))
def test_an_ulid_is_what_the_library_for_ulids_takes_for_one(written: str) -> None:
    try:
        theirs = str(ULID.from_str(written.upper()))
    except ValueError:
        theirs = None
    assert normal_ulid(written) == theirs
