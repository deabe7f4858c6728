"""A recall from Coven as its asker sees it: the contract sentence by sentence, against a stand-in with real faults."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from coven_worlds import ATTESTATION, A, B, C, Coven, D, all_below, coven_in, digest, install_program, manifest_line
from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment
from memory_recall.errors import Cancelled, RecallError, UsageError
from memory_recall.recall.coven import CovenQuery, recall
from worlds import REPOSITORY, World

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is installed as a shell script")

HIT_FIELDS = {
    "ulid", "title", "type", "memory_type", "snippet", "score", "attested_by", "attestation_type", "promoted_at",
    "confidence", "source_context",
}  # fmt: skip
RESULT_FIELDS = {"v", "hits", "count", "queried_at", "manifest_hash", "dropped", "dropped_reasons", "note", "problems"}


@pytest.fixture
def coven(world: World) -> Coven:
    return coven_in(world)


def ask(coven: Coven, query: str = "gateway timeout", env: Environment | None = None, **options: Any) -> dict[str, Any]:
    return recall(CovenQuery(query, **options), env or coven.env()).as_json()


def ulids(answer: dict[str, Any]) -> list[str]:
    return [hit["ulid"] for hit in answer["hits"]]


# --- what comes out ------------------------------------------------------------------------------------------------


def test_a_hit_has_every_field_of_the_contract(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds. Long work is queued.")
    answer = ask(coven.finish())
    assert answer.keys() >= RESULT_FIELDS
    (hit,) = answer["hits"]
    assert hit.keys() >= HIT_FIELDS
    assert "superseded_by" not in hit
    assert {name: hit[name] for name in HIT_FIELDS} == {
        "ulid": A,
        "title": "Gateway timeout is 30 seconds",
        "type": "coven-fact",
        "memory_type": "semantic",
        "snippet": "Gateway timeout is 30 seconds. Long work is queued.",
        "score": 1.0,
        "attested_by": "sage",
        "attestation_type": "familiar-witness",
        "promoted_at": "2026-07-24T10:00:00Z",
        "confidence": "high",
        "source_context": "session://sage/2026-07-24/queue",
    }
    assert (answer["count"], answer["dropped"], answer["dropped_reasons"]) == (1, 0, {})
    assert answer["queried_at"] == "2026-11-30T16:37:19Z"
    assert answer["manifest_hash"] == digest((coven.root / "manifest.jsonl").read_bytes())
    json.dumps(answer)


@pytest.mark.parametrize("manifest", [None, b"", b"\n \r\n", b"\xef\xbb\xbf\n"])
def test_without_a_promotion_the_answer_is_an_honest_nothing_and_nothing_is_started(
    coven: Coven, manifest: bytes | None
) -> None:
    if manifest is not None:
        coven.finish()
        (coven.root / "manifest.jsonl").write_bytes(manifest)
    before = coven.trace()
    answer = ask(coven)
    assert answer.keys() >= RESULT_FIELDS
    assert (answer["hits"], answer["count"], answer["note"]) == ([], 0, "promotion layer has not run")
    assert answer["manifest_hash"] == (None if manifest is None else digest(manifest))
    assert coven.starts() == []
    assert coven.trace() == before


def test_without_a_home_nothing_was_promoted(coven: Coven) -> None:
    answer = ask(coven, env=coven.env()._replace(home=None))
    assert answer["note"] == "promotion layer has not run"


@pytest.mark.parametrize("words", ["zebra", "gateway"])
def test_the_programs_honest_nothings_are_empty_answers(coven: Coven, words: str) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.", indexed=words == "zebra")
    answer = ask(coven.finish(), words)
    assert answer.keys() >= RESULT_FIELDS
    assert (answer["hits"], answer["count"], answer["dropped"]) == ([], 0, 0)


# --- what goes in --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("familiar", ["", "a.b", "sage\n", "ſage", "s p", "a" * 129, "../x", "--db"[:2] + "=x"])
def test_a_familiar_that_is_no_name_is_refused(coven: Coven, familiar: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(coven, familiar=familiar)
    assert caught.value.code == "familiar-invalid"


@pytest.mark.parametrize("familiar", ["coven", "a" * 128, "S_a-9", "-x"])
def test_a_familiar_that_is_a_name_is_passed_on(coven: Coven, familiar: str) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    coven.rows.append((coven.rows[0][0], familiar, "Gateway timeout"))
    assert ulids(ask(coven.finish(), familiar=familiar)) == [A]


@pytest.mark.parametrize("k", [0, -1, 21])
def test_k_is_from_1_to_20(coven: Coven, k: int) -> None:
    with pytest.raises(UsageError):
        ask(coven, k=k)


@pytest.mark.parametrize("query", ["", "  \n\t", "\u3000"])
def test_a_blank_query_is_refused(coven: Coven, query: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(coven, query)
    assert caught.value.code == "query-invalid"


@pytest.mark.parametrize(
    "period", [{"since": "yesterday"}, {"until": ""}, {"since": "2026-02-02", "until": "2026-02-01"}]
)
def test_a_period_that_is_none_is_refused(coven: Coven, period: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        ask(coven, **period)
    assert caught.value.code == "period-invalid"


@pytest.mark.parametrize(
    "query",
    [
        "-k 3 gateway",
        "--help gateway",
        "-- gateway",
        "$(touch x) `gateway`",
        "gateway\nQuery: x\n\n",
        "'\"gateway\\",
        "网关 gateway",
    ],
)
def test_any_query_reaches_the_program_as_it_is(coven: Coven, query: str) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    assert ulids(ask(coven.finish(), query)) == [A]
    argv = coven.starts()[0]["argv"]
    assert argv[-2:] == ["--", query]
    assert argv[:3] == ["search", "--familiar", "coven"]
    assert int(argv[argv.index("-k") + 1]) > 5


def test_the_program_works_elsewhere_and_on_copies(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    ask(coven.finish())
    (start,) = coven.starts()
    for name in ("cwd", "db", "index"):
        assert not Path(start[name]).is_relative_to(coven.world.home)
        assert not Path(start[name]).is_relative_to(coven.world.project)
        assert not Path(start[name]).exists()
    assert not Path(start["cache"]).is_relative_to(start["cwd"])
    assert not list(coven.world.project.glob(".fast*"))


# --- failures ------------------------------------------------------------------------------------------------------


def failure(coven: Coven, **variables: str) -> RecallError:
    with pytest.raises(RecallError) as caught:
        ask(coven, "gateway secretword", coven.env(**variables))
    return caught.value


@pytest.mark.parametrize(
    ("mode", "code"), [("crash", "binary-crashed"), ("error", "binary-failed"), ("garbage", "output-unknown")]
)
def test_a_fault_of_the_program_is_an_error(coven: Coven, mode: str, code: str) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    error = failure(coven.finish(), COVEN_STANDIN_MODE=mode)
    assert (error.code, error.recoverable) == (code, True)


def test_a_program_that_hangs_is_an_error_in_time(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    error = failure(coven.finish(), COVEN_STANDIN_MODE="hang", MEMORY_RECALL_COVEN_TIMEOUT="0.5")
    assert error.code == "binary-timeout"


def test_a_panic_inside_a_character_is_an_error_and_not_fewer_hits(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    coven.claim(B, "Gateway " + "网关" * 100)
    assert failure(coven.finish()).code == "binary-crashed"


def test_a_missing_program_is_an_error_with_a_pointer_and_no_search_of_our_own(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    error = failure(coven.finish(), PATH="/nowhere")
    assert error.code == "binary-missing"
    assert "OpenCoven/coven" in error.message


def test_a_missing_index_is_an_error_and_none_is_made(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    coven.finish()
    (coven.root / "archival.sqlite3").unlink()
    before = coven.trace()
    assert failure(coven).code == "index-missing"
    assert coven.trace() == before
    assert coven.starts() == []


def test_a_manifest_that_cannot_be_read_is_an_error(coven: Coven) -> None:
    os.mkfifo(coven.root / "manifest.jsonl")
    assert failure(coven).code == "manifest-unreadable"


def test_a_cancelled_recall_stops(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        recall(CovenQuery("gateway"), coven.finish().env(), cancellation)


# --- reading what it printed ---------------------------------------------------------------------------------------


def test_imitated_headers_are_no_hits(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout is 30 seconds.")
    coven.claim(B, "Gateway timeout is 60 seconds.")
    plain = ask(coven.finish())
    spoofed = ask(coven, env=coven.env(COVEN_STANDIN_MODE="spoof"))
    assert sorted(ulids(spoofed)) == sorted(ulids(plain)) == [A, B]
    assert spoofed["dropped"] == 0
    assert {hit["indexed_text_differs"] for hit in plain["hits"]} == {False}
    assert {hit["indexed_text_differs"] for hit in spoofed["hits"]} == {True}
    assert sorted(hit["snippet"] for hit in spoofed["hits"]) == sorted(hit["snippet"] for hit in plain["hits"])


def test_text_that_nobody_attested_is_not_shown_under_a_verified_claim(coven: Coven) -> None:
    coven.claim(A, "Filler. " * 60 + "The gateway timeout is 30 seconds. " + "Filler. " * 60)
    coven.rows = [(coven.rows[0][0], "coven", "The gateway timeout is 99 seconds.")]
    (hit,) = ask(coven.finish())["hits"]
    assert "gateway timeout is 30 seconds" in hit["snippet"]
    assert "99" not in hit["snippet"]
    assert (hit["verified"], hit["snippet_verified"], hit["indexed_text_differs"]) == (True, True, True)


def test_a_claim_that_is_not_verified_shows_what_the_index_holds_and_says_so(coven: Coven) -> None:
    path = coven.claim(A, "The gateway timeout is 30 seconds.")
    path.write_bytes(path.read_bytes().replace(b"30", b"60"))
    (hit,) = ask(coven.finish(), verified_only=False)["hits"]
    assert hit["snippet"] == "The gateway timeout is 30 seconds."
    assert (hit["snippet_verified"], hit["indexed_text_differs"]) == (False, True)


def test_a_chunk_that_begins_in_the_frontmatter_is_shown_as_the_text_below_it(coven: Coven) -> None:
    path = coven.claim(A, "Gateway timeout is 30 seconds.")
    coven.rows = [(str(path), "coven", path.read_text(encoding="utf-8"))]
    (hit,) = ask(coven.finish())["hits"]
    assert (hit["snippet"], hit["indexed_text_differs"]) == ("Gateway timeout is 30 seconds.", False)


def test_of_several_chunks_the_one_with_most_words_of_the_query_is_shown(coven: Coven) -> None:
    path = coven.claim(A, "Gateway intro.\n\nTimeouts of the gateway are 60 seconds.\n\nOutro.")
    chunks = ("Gateway intro.", "Timeouts of the gateway are 60 seconds.", "Outro.", "gateway timeout 60 stale")
    coven.rows = [(str(path), "coven", chunk) for chunk in chunks]
    (hit,) = ask(coven.finish(), "gateway timeout 60")["hits"]
    assert (hit["snippet"], hit["indexed_text_differs"]) == (chunks[1], False)


def test_a_long_chunk_is_cut_and_a_multi_line_one_is_one_line(coven: Coven) -> None:
    text = "Gateway timeout\nis " + "very " * 100 + "long."
    coven.claim(A, text)
    (hit,) = ask(coven.finish())["hits"]
    assert hit["snippet"] == text.replace("\n", " ")[:280] + "…"
    assert hit["snippet_verified"]


def test_chunks_of_one_claim_are_one_hit_with_the_best_chunk(coven: Coven) -> None:
    path = coven.claim(A, "Gateway things.")
    coven.rows = [
        (str(path), "coven", "gateway"),
        (str(path), "coven", "gateway timeout"),
        (str(path), "coven", "timeout"),
    ]
    (hit,) = ask(coven.finish())["hits"]
    assert hit["score"] == 1.0  # the best that was printed for one of them


def test_more_is_fetched_where_too_little_is_left(coven: Coven) -> None:
    for number in range(30):
        path = coven.put(f"coven/note-{number}.md", "not promoted")
        coven.rows.append((str(path), "coven", "gateway timeout"))
    coven.claim(A, "Gateway timeouts are 30 seconds.")
    answer = ask(coven.finish())
    assert ulids(answer) == [A]
    assert answer["dropped_reasons"] == {"manifest-line-missing": 30}
    assert len(coven.starts()) == 2


def test_hits_beyond_k_are_cut_and_counted(coven: Coven) -> None:
    for ulid in (A, B, C, D):
        coven.claim(ulid, "Gateway timeout.")
    answer = ask(coven.finish(), k=3)
    assert (answer["count"], answer["omitted"]) == (3, 1)


def test_rows_in_the_order_of_their_ids_are_ranked_by_words(coven: Coven) -> None:
    coven.claim(A, "The gateway is old.")
    coven.claim(B, "A gateway for queues.")
    coven.claim(C, "Gateway timeout is 60 seconds.")
    answer = ask(coven.finish())
    assert ulids(answer)[0] == C
    assert answer["order"] == "words"
    assert len(coven.starts()) == 1


NEAREST = """#!{python}
import os, sys
count = int(sys.argv[sys.argv.index("-k") + 1])
with open({log!r}, "a") as log:
    print(count, file=log)
if os.environ.get("FAILS") == str(count):
    sys.exit(1)
rows = {rows!r}
best = sorted([rows[-1], *rows[:-1]][:count])
print("\\n── Archival Memory Search ────\\n  Query: " + sys.argv[-1] + "\\n  Familiar: coven\\n" + "─" * 52 + "\\n")
for place, (number, path, chunk) in enumerate(best):
    print(f"  [{{0.9 - place / 100:.3f}}] {{path}}  (familiar: coven)\\n  {{chunk}}\\n")
"""


@pytest.fixture
def meaning(coven: Coven) -> tuple[Coven, Path]:
    """A program that finds by meaning: what it likes best shares no word with the query and is the last row."""
    for number in range(6):
        coven.claim(f"01J4K9R81M6D92TX6D4E7R31{number:02}", f"Deadline filler number {number}.")
    coven.claim(A, "The proxy gives up after 60 s.")
    coven.finish()
    rows = [(number, path, chunk) for number, (path, _, chunk) in enumerate(coven.rows)]
    log = coven.programs / "counts"
    script = NEAREST.format(python=sys.executable, log=str(log), rows=rows)
    return coven, install_program(coven.programs, script, "nearest").parent / "nearest"


def counts(program: Path) -> list[int]:
    return [int(line) for line in (program.parent / "counts").read_text().split()]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_where_the_order_says_nothing_the_programs_own_best_go_first(meaning: tuple[Coven, Path], k: int) -> None:
    coven, program = meaning
    answer = ask(coven, "slow upstream deadline", binary=str(program), k=k)
    assert A in ulids(answer)
    assert (answer["order"], answer["count"], answer["omitted"]) == ("members", k, 7 - k)
    assert answer["problems"] == []
    assert counts(program) == [20, k]


def test_the_best_of_two_is_asked_for_as_well(coven: Coven) -> None:
    """Two hits in row order are believed, unless one of them would be cut off."""
    coven.claim(A, "Timeout and more of it.")
    coven.claim(B, "Gateway timeout.")
    assert ask(coven.finish())["order"] == "printed"
    answer = ask(coven, k=1)
    assert (ulids(answer), answer["order"]) == ([B], "members")


def test_where_all_claims_are_answered_nothing_is_asked_again(meaning: tuple[Coven, Path]) -> None:
    coven, program = meaning
    assert ask(coven, "slow upstream deadline", binary=str(program), k=7)["order"] == "words"
    assert counts(program) == [28]


def test_where_the_nearest_are_not_told_words_decide_and_a_problem_says_so(meaning: tuple[Coven, Path]) -> None:
    coven, program = meaning
    answer = ask(coven, "filler", env=coven.env(FAILS="2"), binary=str(program), k=2)
    assert (answer["order"], answer["count"]) == ("words", 2)
    assert [problem["code"] for problem in answer["problems"]] == ["nearest-unknown"]


def test_a_later_start_that_fails_leaves_the_first_answer_and_a_problem(coven: Coven, tmp_path: Path) -> None:
    for number in range(30):
        path = coven.put(f"coven/note-{number}.md", "not promoted")
        coven.rows.append((str(path), "coven", "gateway timeout"))
    coven.rows.insert(3, (str(coven.claim(A, "Gateway timeout.", indexed=False)), "coven", "Gateway timeout."))
    coven.finish()
    real = coven.programs / "coven-memory"
    program = install_program(tmp_path / "once", f'#!/bin/sh\n[ "$5" = 20 ] || exit 101\nexec "{real}" "$@"\n')
    answer = ask(coven, binary=str(program))
    assert ulids(answer) == [A]
    assert [problem["code"] for problem in answer["problems"]] == ["overfetch-failed"]
    assert "gateway" not in answer["problems"][0]["message"]


def test_a_program_that_prints_in_another_order_is_believed(coven: Coven, tmp_path: Path) -> None:
    for ulid in (A, B, C):
        coven.claim(ulid, "Gateway timeout.")
    coven.finish()
    hits = "".join(
        f"  [0.5] ~/.coven/memory/snapshots/{ulid}.md  (familiar: coven)\n  Gateway timeout.\n\n" for ulid in (C, A, B)
    )
    rule = "─" * 52
    output = f"\n── Archival Memory Search ─────\n  Query: gateway timeout\n  Familiar: coven\n{rule}\n\n{hits}"
    (tmp_path / "output").write_text(output, encoding="utf-8")
    program = install_program(tmp_path / "fixed", f"#!/bin/sh\ncat '{tmp_path}/output'\n")
    answer = ask(coven, binary=str(program))
    assert (ulids(answer), answer["order"]) == ([C, A, B], "printed")


# --- joining -------------------------------------------------------------------------------------------------------


def test_a_file_without_an_ulid_is_joined_by_its_hash(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.", frontmatter={"ulid": None}, where="odd/name.md", entry_path="memory/other.md")
    assert ulids(ask(coven.finish())) == [A]


def test_a_hash_that_two_claims_share_joins_neither(coven: Coven) -> None:
    path = coven.claim(A, "Gateway timeout.", frontmatter={"ulid": None}, where="odd/name.md")
    coven.lines.append(manifest_line(B, sha256=digest(path.read_bytes())))
    answer = ask(coven.finish())
    assert (ulids(answer), answer["dropped_reasons"]) == ([], {"manifest-line-missing": 1})


def indexed_outside(coven: Coven, tmp_path: Path, path: str) -> Path:
    """A file of a familiar's own workspace, in the index under its own path; its snapshot is in the store."""
    coven.claim(A, "Gateway timeout.", indexed=False, entry_path="memory/queue.md")
    outside = tmp_path / "workspace" / path
    outside.parent.mkdir(parents=True)
    outside.write_text(f"---\nulid: {B}\n---\nEdited since.")
    coven.rows.append((str(outside), "coven", "Gateway timeout, edited since."))
    return outside


def test_a_file_outside_of_the_store_is_joined_by_its_path_and_never_read(coven: Coven, tmp_path: Path) -> None:
    indexed_outside(coven, tmp_path, "memory/queue.md")
    (hit,) = ask(coven.finish())["hits"]
    assert (hit["ulid"], hit["verified"], hit["indexed_text_differs"]) == (A, True, True)
    assert hit["snippet"] == "Gateway timeout."
    assert Path(hit["path"]).is_relative_to(coven.root)


@pytest.mark.parametrize("path", ["old-memory/queue.md", "memory/queue.md.md", "queue.md"])
def test_a_path_is_joined_by_whole_segments_only(coven: Coven, tmp_path: Path, path: str) -> None:
    indexed_outside(coven, tmp_path, path)
    assert ask(coven.finish())["dropped_reasons"] == {"manifest-line-missing": 1}


@pytest.mark.parametrize("entry_path", ["/etc/passwd", "../../../../etc/passwd", "", "."])
def test_an_untrusted_entry_path_joins_nothing(coven: Coven, entry_path: str) -> None:
    coven.lines.append(manifest_line(A, entry_path=entry_path))
    coven.rows.append(("/etc/passwd", "coven", "gateway timeout"))
    answer = ask(coven.finish(), verified_only=False)
    assert answer["dropped_reasons"] == {"manifest-line-missing": 1}


def test_an_entry_path_that_two_claims_share_joins_neither(coven: Coven, tmp_path: Path) -> None:
    indexed_outside(coven, tmp_path, "memory/queue.md")
    coven.claim(B, "Gateway.", indexed=False, entry_path="queue.md")
    assert ask(coven.finish())["dropped_reasons"] == {"manifest-line-missing": 1}


@pytest.mark.parametrize("verified_only", [True, False])
def test_a_hit_without_a_manifest_line_is_dropped_in_any_case(coven: Coven, verified_only: bool) -> None:
    coven.claim(A, "Gateway timeout.")
    coven.claim(B, "Gateway timeout.", promoted=False)
    coven.rows.append((str(coven.root / "gone.md"), "coven", "gateway timeout"))
    answer = ask(coven.finish(), verified_only=verified_only)
    assert (ulids(answer), answer["dropped"]) == ([A], 2)


@pytest.mark.parametrize(
    ("instead", "reason", "problem"),
    [
        ("nothing", "snapshot-missing", "snapshot-missing"),
        ("link", "snapshot-missing", "leads-outside"),
        ("pipe", "snapshot-unreadable", "snapshot-unreadable"),
        ("directory", "snapshot-unreadable", "snapshot-unreadable"),
        ("other text", "hash-mismatch", None),
    ],
)
def test_a_claim_whose_file_is_broken_is_dropped_for_what_is_broken(
    coven: Coven, tmp_path: Path, instead: str, reason: str, problem: str | None
) -> None:
    path = coven.claim(A, "Gateway timeout.")
    path.rename(tmp_path / "elsewhere.md")
    if instead == "link":
        path.symlink_to(tmp_path / "elsewhere.md")
    elif instead == "pipe":
        os.mkfifo(path)
    elif instead == "directory":
        path.mkdir()
    elif instead == "other text":
        path.write_text("Gateway timeout, and no word about whose it is.")
    answer = ask(coven.finish())
    assert (ulids(answer), answer["dropped_reasons"]) == ([], {reason: 1})
    assert [found["code"] for found in answer["problems"]] == ([] if problem is None else [problem])


def test_a_broken_file_counts_only_where_there_is_no_other_snapshot(coven: Coven) -> None:
    """The index names a place; the store has the promoted text in another."""
    coven.claim(A, "Gateway timeout.", where="kept/a.md", indexed=False)
    coven.rows.append((str(coven.root / "facts" / f"{A}.md"), "coven", "Gateway timeout."))
    assert ulids(ask(coven.finish())) == [A]


def test_a_broken_attestation_is_another_reason_than_a_missing_one(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.")
    coven.put(f"attestations/{ATTESTATION}.md", "")
    answer = ask(coven.finish())
    assert answer["dropped_reasons"] == {"attestation-unreadable": 1}
    assert [found["code"] for found in answer["problems"]] == ["attestation-unreadable"]


@pytest.mark.parametrize("verified_only", [True, False])
def test_a_text_of_another_scope_is_dropped_in_any_case(coven: Coven, verified_only: bool) -> None:
    coven.claim(A, "Gateway timeout.", frontmatter={"scope": "private"})
    answer = ask(coven.finish(), verified_only=verified_only)
    assert (ulids(answer), answer["dropped_reasons"]) == ([], {"scope-not-coven": 1})


def test_a_claim_whose_text_names_another_attester_is_kept_with_a_note(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.", frontmatter={"attested_by": "mallory"})
    (hit,) = ask(coven.finish())["hits"]
    assert (hit["attested_by"], hit["verified"]) == ("sage", True)
    assert [standing["code"] for standing in hit["standings"]] == ["conflicting"]


def test_a_relative_familiar_root_is_ignored_and_said_to_be(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.")
    answer = ask(coven.finish(), env=coven.env(COVEN_FAMILIAR_ROOT="sage"))
    assert ulids(answer) == [A]
    assert [found["code"] for found in answer["problems"]] == ["familiar-root-ignored"]


@pytest.mark.parametrize("limit", ["0", "abc", "nan"])
def test_a_time_limit_that_is_none_is_a_usage_error(coven: Coven, limit: str) -> None:
    with pytest.raises(UsageError):
        ask(coven, env=coven.env(MEMORY_RECALL_COVEN_TIMEOUT=limit))


def test_skipped_lines_are_counted_with_their_reasons(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.")
    coven.lines += [
        b'{"ulid": "cut off',
        manifest_line(B, surprise=True),
        manifest_line(B, operation="forget"),
        manifest_line(B, scope="sage"),
    ]
    answer = ask(coven.finish())
    assert ulids(answer) == [A]
    assert answer["dropped"] == 4
    assert answer["dropped_reasons"] == Counter(
        ["malformed-line", "unknown-field", "unknown-operation", "foreign-scope"]
    )
    assert [problem["line"] for problem in answer["problems"]] == [2, 3, 4, 5]


def test_a_home_directory_of_one_slash_is_expanded(coven: Coven, tmp_path: Path) -> None:
    from memory_recall.recall.coven_join import expanded

    assert expanded("~data~x.md", Path("/")) == Path("/data/x.md")
    assert expanded("~/x.md", tmp_path) == tmp_path / "x.md"
    assert expanded("/a/~/x.md", tmp_path) == Path("/a/~/x.md")


# --- supersession --------------------------------------------------------------------------------------------------


def test_the_superseding_claim_stands_before_the_superseded_one(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout gateway timeout.")
    coven.claim(B, "Gateway is something else now.", operation="supersede", prior_ulid=A)
    answer = ask(coven.finish())
    assert ulids(answer) == [B, A]
    assert [hit.get("superseded_by") for hit in answer["hits"]] == [None, B]


def test_a_superseding_claim_that_is_no_hit_is_only_named(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.")
    coven.claim(B, "Something else.", operation="supersede", prior_ulid=A)
    (hit,) = ask(coven.finish())["hits"]
    assert (hit["ulid"], hit["superseded_by"]) == (A, B)


def test_circles_end_and_archived_claims_stay(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.")
    path = coven.claim(B, "Gateway timeout.", operation="supersede", prior_ulid=A)
    first = coven.root / "snapshots" / f"{A}.md"
    coven.lines.append(manifest_line(A, operation="supersede", prior_ulid=B, sha256=digest(first.read_bytes())))
    coven.lines.append(manifest_line(B, operation="archive", sha256=digest(path.read_bytes())))
    answer = ask(coven.finish())
    assert sorted(ulids(answer)) == [A, B]
    assert {hit["ulid"]: hit["archived"] for hit in answer["hits"]} == {A: False, B: True}


# --- verification --------------------------------------------------------------------------------------------------


def test_a_changed_snapshot_is_dropped_and_shown_only_on_request(coven: Coven) -> None:
    path = coven.claim(A, "Gateway timeout.")
    path.write_bytes(path.read_bytes() + b" ")
    answer = ask(coven.finish())
    assert (ulids(answer), answer["dropped_reasons"]) == ([], {"hash-mismatch": 1})
    (hit,) = ask(coven, verified_only=False)["hits"]
    assert (hit["ulid"], hit["verified"]) == (A, False)
    assert [standing["code"] for standing in hit["standings"]] == ["unverified"]


def test_a_claim_without_its_attestation_is_dropped(coven: Coven) -> None:
    coven.claim(A, "Gateway timeout.")
    coven.claim(B, "Gateway timeout.", frontmatter={"attested_via": "../../../outside.md"})
    (coven.root / "attestations" / f"{ATTESTATION}.md").unlink()
    answer = ask(coven.finish())
    assert (ulids(answer), answer["dropped_reasons"]) == ([], {"attestation-missing": 2})
    assert len(ask(coven, verified_only=False)["hits"]) == 2


def test_an_attestation_under_the_familiar_root_counts_where_one_is_set(coven: Coven, tmp_path: Path) -> None:
    coven.claim(A, "Gateway timeout.", frontmatter={"attested_via": "evidence/a.md"})
    (tmp_path / "sage" / "evidence").mkdir(parents=True)
    (tmp_path / "sage" / "evidence" / "a.md").write_text("attestation_type: self\n")
    assert ask(coven.finish())["dropped"] == 1
    (hit,) = ask(coven, env=coven.env(COVEN_FAMILIAR_ROOT=str(tmp_path / "sage")))["hits"]
    assert hit["attestation_type"] == "self"


def test_a_snapshot_linked_out_of_the_store_is_not_read(coven: Coven, tmp_path: Path) -> None:
    path = coven.claim(A, "Gateway timeout.")
    path.rename(tmp_path / "outside.md")
    path.symlink_to(tmp_path / "outside.md")
    assert ask(coven.finish())["dropped"] == 1


def test_a_tampered_copy_does_not_hide_the_intact_claim(coven: Coven) -> None:
    path = coven.claim(A, "Gateway timeout.")
    copy = coven.put("copies/a.md", path.read_text() + "forged")
    coven.rows.insert(0, (str(copy), "coven", "gateway timeout forged"))
    for verified_only, dropped in ((True, 1), (False, 0)):
        answer = ask(coven.finish(), verified_only=verified_only)
        assert (ulids(answer), answer["dropped"]) == ([A], dropped)
        assert answer["hits"][0]["snippet"] == "Gateway timeout."


def test_an_updated_claim_is_verified_against_its_update(coven: Coven) -> None:
    path = coven.claim(A, "Gateway timeout.", timestamp="2026-01-01T00:00:00Z", sha256="1" * 64)
    update = manifest_line(A, operation="update", timestamp="2026-02-01T00:00:00Z", sha256=digest(path.read_bytes()))
    coven.lines.append(update)
    (hit,) = ask(coven.finish())["hits"]
    assert (hit["promoted_at"], hit["updated_at"]) == ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")


# --- the period ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ({}, [A, B, C]),
        ({"since": "2026-05-02"}, [B, C]),
        ({"until": "2026-05-02"}, [A, B]),
        ({"since": "2026-05-02", "until": "2026-05-02"}, [B]),
        ({"since": "2026-05-02T23:59:59Z"}, [B, C]),
        ({"until": "2026-05-03T01:59:58+02:00"}, [A]),
        ({"until": "2026-05-03T01:59:59+02:00"}, [A, B]),
        ({"since": "9999-12-31"}, []),
        ({"until": "9999-12-31"}, [A, B, C]),
    ],
)
def test_a_date_covers_its_whole_day_and_a_time_itself(
    coven: Coven, period: dict[str, str], expected: list[str]
) -> None:
    for ulid, timestamp in ((A, "2026-05-01T12:00:00Z"), (B, "2026-05-03T01:59:59+02:00"), (C, "2026-05-03T00:00:00Z")):
        coven.claim(ulid, "Gateway timeout.", timestamp=timestamp)
    answer = ask(coven.finish(), **period)
    assert sorted(ulids(answer)) == expected
    assert (answer["dropped"], answer["filtered"]) == (0, 3 - len(expected))


def test_the_period_is_about_the_promotion_that_is_shown(coven: Coven) -> None:
    path = coven.claim(A, "Gateway timeout.", timestamp="2026-01-01T00:00:00Z", sha256="1" * 64)
    update = manifest_line(A, operation="update", timestamp="2026-06-01T00:00:00Z", sha256=digest(path.read_bytes()))
    coven.lines.append(update)
    coven.finish()
    assert ulids(ask(coven, until="2026-01-31")) == [A]
    assert ask(coven, since="2026-02-01")["filtered"] == 1


# --- nothing is changed, nothing leaks -----------------------------------------------------------------------------


MODES = ["", "crash", "error", "garbage", "spoof", "hang"]


def patience(mode: str) -> str:
    """Seconds to wait: hardly any for a program that will never answer, enough on a busy machine for one that will."""
    return "0.5" if mode == "hang" else "40"


@pytest.mark.parametrize("mode", MODES)
def test_nothing_under_coven_is_changed(coven: Coven, mode: str, tmp_path: Path) -> None:
    coven.claim(A, "Gateway timeout.")
    coven.finish()
    (tmp_path / "tmp").mkdir()
    before = coven.trace()
    env = coven.env(COVEN_STANDIN_MODE=mode, MEMORY_RECALL_COVEN_TIMEOUT=patience(mode), TMPDIR=str(tmp_path / "tmp"))
    try:
        ask(coven, env=env)
    except RecallError:
        assert mode
    assert coven.trace() == before
    assert list((tmp_path / "tmp").iterdir()) == []


SECRET = "xylophonequartz"


@pytest.mark.parametrize(
    "mode", [*MODES, "nul", "too-long", "lone", "missing-binary", "missing-index", "bad-interpreter"]
)
def test_the_query_is_in_no_message_log_or_file(
    coven: Coven, mode: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    coven.claim(A, "Gateway timeout.")
    coven.finish()
    caplog.set_level(logging.DEBUG)
    (tmp_path / "tmp").mkdir()
    variables = {"COVEN_STANDIN_MODE": mode, "MEMORY_RECALL_COVEN_TIMEOUT": patience(mode)}
    variables["TMPDIR"] = str(tmp_path / "tmp")
    env = coven.env(**variables)
    env = env._replace(variables={name: value for name, value in env.variables.items() if name != "COVEN_STANDIN_LOG"})
    query = f"gateway {SECRET}"
    if mode == "nul":
        query += "\x00"
    elif mode == "lone":
        query += "\ud800"
    elif mode == "too-long":
        query *= 200_000
    elif mode == "missing-binary":
        env = env._replace(variables={**env.variables, "PATH": "/nowhere"})
    elif mode == "missing-index":
        (coven.root / "archival.tvim").unlink()
    elif mode == "bad-interpreter":
        install_program(coven.programs, "#!/no/such\n")
    said = repr(CovenQuery(query))
    try:
        said += json.dumps(recall(CovenQuery(query), env).as_json())
    except RecallError as error:
        said += "".join(traceback.format_exception(error)) + str(error.as_json())
        linked: BaseException | None = error
        while linked is not None:
            said += repr(linked) + repr(vars(linked))
            linked = linked.__cause__ or linked.__context__
    out, err = capfd.readouterr()
    assert SECRET not in said + out + err + caplog.text
    for path in all_below(tmp_path):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_nothing_in_the_source_starts_a_shell_or_opens_the_store_for_writing() -> None:
    package = REPOSITORY / "lsp_server" / "memory_recall"
    for path in [*package.glob("stores/coven*.py"), *package.glob("recall/coven*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "shell=" not in text
        assert not re.search(r"\blogging\b|\bprint\(", text)


# --- the world that is shared by those who build and those who test ------------------------------------------------

SHARED = REPOSITORY.parent / "shared" / "fixtures"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Its world, and its stand-in on PATH. One for all tests here: a recall changes nothing."""
    if not (SHARED / "make_fixtures.py").exists():
        pytest.skip("the shared fixtures are not beside this repository")
    root = tmp_path_factory.mktemp("shared")
    subprocess.run([sys.executable, SHARED / "make_fixtures.py", root], check=True, stdout=subprocess.DEVNULL)
    variables = {"PATH": f"{SHARED / 'coven-standin'}{os.pathsep}{os.environ['PATH']}"}
    return Environment(cwd=root / "project", home=root / "home", variables=variables)


def test_the_shared_world_answers_as_it_should(shared: Environment) -> None:
    assert shared.home is not None
    root = shared.home / ".coven"
    before = {path: path.read_bytes() if path.is_file() else b"" for path in all_below(root)}
    answer = recall(CovenQuery("gateway timeout"), shared).as_json()
    assert ulids(answer) == ["01J9ZZ5Q3W8N4T7C2B6KXM0HPE", "01J4K9R81M6D92TX6D4E7R31VZ", "01J6C0B1C2D3E4F5G6H7J8K9M2"]
    assert answer["hits"][1]["superseded_by"] == "01J9ZZ5Q3W8N4T7C2B6KXM0HPE"
    assert answer["dropped_reasons"] == {
        "attestation-missing": 1,
        "manifest-line-missing": 1,
        "malformed-line": 1,
        "unknown-field": 1,
    }
    backups = recall(CovenQuery("backups nightly"), shared).as_json()
    assert backups["dropped_reasons"]["hash-mismatch"] == 1
    manifest = (root / "memory" / "manifest.jsonl").read_bytes()
    assert answer["manifest_hash"] == hashlib.sha256(manifest).hexdigest()
    assert {path: path.read_bytes() if path.is_file() else b"" for path in all_below(root)} == before


@pytest.mark.parametrize("mode", MODES)
def test_the_shared_program_is_handled_in_all_its_modes(shared: Environment, mode: str) -> None:
    variables = {**shared.variables, "COVEN_STANDIN_MODE": mode, "MEMORY_RECALL_COVEN_TIMEOUT": patience(mode)}
    env = shared._replace(variables=variables)
    codes = {"crash": "binary-crashed", "error": "binary-failed", "garbage": "output-unknown", "hang": "binary-timeout"}
    if mode in codes:
        with pytest.raises(RecallError) as caught:
            recall(CovenQuery("gateway timeout"), env)
        assert caught.value.code == codes[mode]
    else:
        assert len(recall(CovenQuery("gateway timeout"), env).hits) == 3


@pytest.mark.parametrize(
    ("mode", "arguments"),
    [
        ("", ["search", "gateway"]),
        ("spoof", ["search", "-k", "2", "--familiar", "coven", "--", "-x gateway"]),
        ("crash", ["search", "--familiar", "coven", "gateway"]),
        ("garbage", ["search", "gateway"]),
        ("error", ["search", "gateway"]),
        ("", ["search", "--familiar", "nobody", "gateway"]),
        ("", ["search", "zebra"]),
        ("", ["search", "-x"]),
        ("", ["search", "a", "b"]),
        ("", ["search", "--json", "a"]),
        ("", ["find", "a"]),
    ],
)
def test_our_stand_in_is_as_strict_as_the_shared_one(
    shared: Environment, tmp_path: Path, mode: str, arguments: list[str]
) -> None:
    told = []
    for program in (SHARED / "coven-standin" / "coven-memory", install_program(tmp_path / "ours")):
        variables = {"HOME": str(shared.home), "PATH": os.environ["PATH"], "COVEN_STANDIN_MODE": mode}
        copies = ["--db", str(tmp_path / program.parent.name / "db"), "--index", str(tmp_path / "index")]
        (tmp_path / program.parent.name).mkdir(exist_ok=True)
        shutil.copy(Path(str(shared.home)) / ".coven" / "memory" / "archival.sqlite3", copies[1])
        command = [program, arguments[0], *copies, *arguments[1:]]
        ran = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, check=False)
        told.append((ran.returncode, ran.stdout))
    assert told[0] == told[1]
