"""One question to every store: one list, provenance, folding, and no store that can silence another."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import memory_recall.demo
from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment, Place
from memory_recall.errors import Cancelled, RecallError, UsageError
from memory_recall.recall import coven
from memory_recall.recall.everywhere import TEXT_LENGTH, SearchQuery, SearchResult, search
from memory_recall.stores.shelf import Shelf
from worlds import World

INDEX = """
CREATE TABLE docs (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, familiar TEXT NOT NULL, chunk TEXT NOT NULL,
    chunk_offset INTEGER NOT NULL DEFAULT 0, content_hash TEXT NOT NULL DEFAULT '', ingested_at INTEGER DEFAULT 0
)
"""
OLD, NEW = "01J4K9R81M6D92TX6D4E7R31VZ", "01J9ZZ5Q3W8N4T7C2B6KXM0HPE"


def ask(world: World, query: str, **options: Any) -> SearchResult:
    return search(SearchQuery(query, **options), world.place, world.env, Shelf())


def found(result: SearchResult) -> list[tuple[str, str]]:
    return [(hit.memory.provenance.source, hit.memory.id) for hit in result.hits]


def ids(result: SearchResult) -> list[str]:
    return [hit.memory.id for hit in result.hits]


def nemp(world: World, project: object = None, home: object = None) -> None:
    if project is not None:
        world.write("project/.nemp/memories.json", project)
    if home is not None:
        world.write("home/.nemp/memories.json", home)


def entry(world: World, memory_id: str, content: str, **members: Any) -> None:
    record = {
        "schema_version": 1,
        "memory_id": memory_id,
        "type": "semantic",
        "title": memory_id,
        "content": content,
        "tags": [],
        "created_at": "2026-08-02T00:00:00Z",
        **members,
    }
    world.write(f"project/.agent/memory/semantic/{memory_id}.json", record)


def promote(world: World, *claims: tuple[str, str, str | None]) -> None:
    """A Coven store with claims (ULID, text, the ULID they supersede), attested, and indexed for the stand-in."""
    lines, rows = [], []
    for ulid, text, prior in claims:
        attestation = "01J8AT" + ulid[6:]
        body = f"---\nulid: {ulid}\ntitle: {text}\nattested_by: sage\nattested_via: {attestation}\n---\n\n{text}\n"
        path = world.write(f"home/.coven/memory/snapshots/{ulid}.md", body)
        world.write(f"home/.coven/memory/attestations/{attestation}.md", "---\nattester: sage\n---\n")
        line = {
            "timestamp": f"2026-0{len(lines) + 4}-01T10:00:00Z",
            "ulid": ulid,
            "operation": "supersede" if prior else "promote",
            "entry_path": f"memory/{ulid}.md",
            "author": "sage",
            "attested_by": "sage",
            "source_session": "session://sage/2026-04-01/x",
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "prior_ulid": prior,
        }
        lines.append(json.dumps(line))
        rows.append((str(path), "coven", text))
    world.write("home/.coven/memory/manifest.jsonl", "".join(f"{line}\n" for line in lines))
    with closing(sqlite3.connect(world.home / ".coven/memory/archival.sqlite3")) as database:
        database.execute(INDEX)
        database.executemany("INSERT INTO docs (path, familiar, chunk) VALUES (?, ?, ?)", rows)
        database.commit()
    world.write("home/.coven/memory/archival.tvim", b"TVIM")


@pytest.fixture
def with_program(world: World) -> World:
    """The world with the stand-in of Coven's program on its PATH."""
    standin = Path(memory_recall.demo.__file__).with_name("standin.py")
    program = world.write(
        "bin/coven-memory", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(standin))} "$@"\n'
    )
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return world.at(world.env.now(), PATH=path, HOME=str(world.home))


def test_all_stores_answer_in_one_list(world: World) -> None:
    nemp(world, {"retry-limits": "Webhooks are retried five times"}, {"style": "Retries are logged in one line"})
    entry(world, "MEM-webhook", "The webhook of the shop is retried with backoff", tags=["webhook"])
    result = ask(world, "webhook retries")
    assert set(found(result)) == {("project", "retry-limits"), ("project", "MEM-webhook"), ("global", "style")}
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    assert found(result)[-1] == ("global", "style")
    assert (result.match, result.omitted, result.problems) == ("words", 0, ())


def test_the_shape_is_the_contract_s(world: World) -> None:
    nemp(
        world,
        {"auth-flow": {"value": "JWT tokens", "agent_id": "backend", "tags": ["auth"], "confidence": {"score": 0.9}}},
    )
    answer = ask(world, "auth").as_json()
    assert list(answer)[:4] == ["v", "query", "match", "count"]
    assert (answer["v"], answer["query"], answer["count"], answer["problems"]) == (1, "auth", 1, [])
    (hit,) = answer["hits"]
    assert (hit["system"], hit["id"], hit["title"], hit["text"]) == ("nemp", "auth-flow", "auth-flow", "JWT tokens")
    assert 0 < hit["score"] <= 1
    assert hit["also"] == []
    assert hit["provenance"]["path"] == str(world.project / ".nemp/memories.json")
    assert (hit["provenance"]["line"], hit["provenance"]["author"]) == (2, "backend")
    assert (hit["snippet"], hit["truncated"], hit["tags"]) == ("JWT tokens", False, ["auth"])


def test_it_is_browsing_and_leaves_nothing(world: World) -> None:
    nemp(world, {"auth-flow": "JWT"}, {"auth-flow": "Okta"})
    entry(world, "MEM-auth", "auth by JWT")
    before = {path: path.stat() for path in sorted(world.home.parent.rglob("*"))}
    ask(world, "auth", limit=50)
    assert {path: path.stat() for path in sorted(world.home.parent.rglob("*"))} == before


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_a_blank_query_is_a_usage_error(world: World, query: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        ask(world, query)


@pytest.mark.parametrize("limit", [0, 51, -1, True, 2.5, "3"])
def test_a_limit_out_of_range_is_a_usage_error(world: World, limit: Any) -> None:
    with pytest.raises(UsageError, match="1 to 50"):
        ask(world, "auth", limit=limit)


def test_absent_stores_are_absent(world: World) -> None:
    result = ask(world, "auth")
    assert (result.hits, result.match, result.problems) == ((), "none", ())
    nowhere = Environment(cwd=world.project, home=None, clock=world.env.clock)
    assert search(SearchQuery("auth"), Place(world.project), nowhere, Shelf()).hits == ()


@pytest.mark.parametrize(
    "query", ["the of", "?!", "xyzzy plugh", "purple monkey dishwasher", "-", "\x00", "$(rm -rf /)", "\udcff"]
)
def test_what_says_nothing_finds_nothing(world: World, query: str) -> None:
    nemp(world, {"auth-flow": "JWT access tokens", "db": "PostgreSQL by hand"})
    assert ask(world, query).hits == ()


def test_the_limit_cuts_and_the_rest_is_counted(world: World) -> None:
    nemp(world, {f"note-{number}": f"webhook number {number}" for number in range(130)})
    result = ask(world, "webhook", limit=3)
    assert (len(result.hits), result.omitted) == (3, 127)


def test_a_name_goes_first(world: World) -> None:
    nemp(world, {"other": "auth auth auth auth", "auth": "JWT", "oauth-app": "Okta"})
    entry(world, "MEM-auth-9", "unrelated")
    result = ask(world, "AUTH")
    assert (ids(result)[0], result.hits[0].score, result.match) == ("auth", 1.0, "named")
    assert "oauth-app" in ids(result)
    assert ids(ask(world, "mem-auth-9"))[0] == "MEM-auth-9"


def test_the_project_s_memory_of_a_key_stands_before_the_global_one(world: World) -> None:
    nemp(world, {"auth-flow": "JWT access tokens with refresh tokens, in cookies"}, {"auth-flow": "Okta"})
    assert found(ask(world, "how does auth work")) == [("project", "auth-flow"), ("global", "auth-flow")]


def test_words_of_the_same_matter_are_the_last_attempt(world: World) -> None:
    nemp(world, {"user-prefers-bun": "Use bun instead of npm"})
    assert ids(ask(world, "package manager")) == ["user-prefers-bun"]
    assert ask(world, "package manager").match == "related"
    entry(world, "MEM-literal", "The package manager is fixed by the lockfile")
    assert ids(ask(world, "package manager")) == ["MEM-literal"]


def test_a_superseded_memory_stands_behind_its_successor(world: World) -> None:
    links = {"superseded_by": "target-2"}
    nemp(
        world,
        {
            "target-1": {"value": "Deploy to Vercel, Vercel, Vercel", "links": links},
            "target-2": "Fly; Vercel for docs only",
        },
    )
    result = ask(world, "vercel")
    assert ids(result) == ["target-2", "target-1"]
    assert result.as_json()["hits"][1]["standings"][0]["successor"] == "target-2"
    assert result.hits[0].score >= result.hits[1].score


def test_a_memory_that_no_longer_holds_stands_behind_one_that_does(world: World) -> None:
    entry(world, "MEM-expired", "webhook of the old shop", expires_at="2026-01-01")
    entry(world, "MEM-living", "in the new shop there is one more webhook among many other long words")
    result = ask(world, "webhook")
    assert ids(result) == ["MEM-living", "MEM-expired"]
    assert [standing.code for standing in result.hits[1].memory.standings] == ["expired"]


def test_the_same_said_in_two_systems_is_one_hit_with_both_sources(world: World) -> None:
    text = "Payment webhooks are retried five times with exponential backoff, then someone is paged"
    nemp(world, {"webhook-retry": text + "."}, {"hooks": text.upper()})
    entry(world, "MEM-webhook", text + " !")
    result = ask(world, "webhook backoff")
    (hit,) = result.hits
    assert {(other.system, other.provenance.source) for other in (hit.memory, *hit.also)} == {
        ("nemp", "project"),
        ("nemp", "global"),
        ("memory", "project"),
    }
    assert result.omitted == 0
    also = result.as_json()["hits"][0]["also"]
    assert all(other["provenance"]["path"] and other["id"] and other["system"] for other in also)


def test_folding_makes_room_for_others(world: World) -> None:
    same = {f"copy-{number}": "the webhook is retried five times with backoff" for number in range(5)}
    nemp(world, {**same, "other": "one webhook is never retried"})
    result = ask(world, "webhook", limit=2)
    assert {len(hit.also) for hit in result.hits} == {4, 0}


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_what_is_said_to_be_more_are_hits_that_a_larger_limit_shows(world: World, limit: int) -> None:
    same = {f"copy-{number}": "the webhook is retried five times with backoff" for number in range(3)}
    nemp(world, {**same, "other": "one webhook is never retried", "third": "a webhook needs a signature of its sender"})
    result = ask(world, "webhook", limit=limit)
    assert len(result.hits) + result.omitted == len(ask(world, "webhook", limit=50).hits) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The public gateway times out after 30 seconds for every client",
            "The public gateway times out after 60 seconds for every client",
        ),
        (
            "We always squash commits before a merge into main here",
            "We never squash commits before a merge into main here",
        ),
        ("生产环境的日志输出是结构化的", "生产环境的日志输出不是结构化的"),
    ],
)
def test_a_number_or_a_negation_keeps_memories_apart(world: World, one: str, other: str) -> None:
    nemp(world, {"a": one, "b": other})
    assert len(ask(world, one, limit=5).hits) == 2


def test_equal_short_values_of_different_keys_are_different_memories(world: World) -> None:
    nemp(world, {"retry-limit": 5, "worker-limit": 5}, {"retry-limit": 5})
    result = ask(world, "limit")
    assert sorted(ids(result)) == ["retry-limit", "worker-limit"]
    assert sum(len(hit.also) for hit in result.hits) == 1


def test_a_long_text_is_shortened_and_says_so(world: World) -> None:
    nemp(world, {"long": "words before. " * 2_000 + "the webhook of the shop"})
    hit = ask(world, "webhook").as_json()["hits"][0]
    assert len(hit["text"]) <= TEXT_LENGTH
    assert hit["truncated"] is True
    assert "webhook" in hit["snippet"]


def test_a_broken_store_is_a_problem_and_the_others_answer(world: World) -> None:
    world.write("project/.nemp/memories.json", '{"auth-flow": ')
    nemp(world, home={"auth": "Okta"})
    entry(world, "MEM-auth", "auth by JWT")
    world.write("project/.agent/memory/semantic/MEM-broken.json", "{")
    result = ask(world, "auth")
    assert sorted(ids(result)) == ["MEM-auth", "auth"]
    assert {Path(problem.path or "").name for problem in result.problems} == {"memories.json", "MEM-broken.json"}


def test_a_system_that_fails_is_a_problem_and_the_others_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    nemp(world, {"auth": "JWT"})

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Shelf, "agent", fail)
    result = ask(world, "auth")
    assert ids(result) == ["auth"]
    assert [problem.code for problem in result.problems] == ["store-failed"]


def test_stops_when_nobody_waits(world: World) -> None:
    nemp(world, {"auth": "JWT"})
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        search(SearchQuery("auth"), world.place, world.env, Shelf(), cancellation)


def test_coven_is_not_asked_unless_it_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(coven, "recall", asked.append)
    promote(world, (OLD, "Gateway timeout is 30 seconds", None))
    assert ask(world, "gateway").hits == ()
    assert asked == []


def test_claims_stand_in_the_same_list(with_program: World) -> None:
    promote(
        with_program,
        (OLD, "The gateway timeout is 30 seconds", None),
        (NEW, "The gateway timeout is 60 seconds since August", OLD),
    )
    nemp(with_program, {"gateway": "behind the load balancer"})
    result = ask(with_program, "gateway timeout", with_coven=True)
    assert ids(result) == [NEW, OLD, "gateway"]
    assert result.hits[0].memory.provenance.verified is True
    assert result.hits[1].memory.standings[0].successor == NEW


def test_a_coven_that_cannot_answer_is_a_problem_without_the_query(world: World) -> None:
    promote(world, (OLD, "Gateway timeout is 30 seconds", None))
    nemp(world, {"gateway": "behind the load balancer"})
    without = world.at(world.env.now(), PATH=str(world.home))
    result = ask(without, "gateway", with_coven=True)
    assert ids(result) == ["gateway"]
    assert [problem.code for problem in result.problems] == ["binary-missing"]
    assert "gateway" not in repr(result.problems)
    assert "secret words" not in repr(SearchQuery("secret words"))


def test_a_familiar_that_is_no_name_is_a_usage_error(world: World) -> None:
    with pytest.raises(UsageError, match="familiar"):
        ask(world, "gateway", with_coven=True, familiar="../x")


@pytest.mark.parametrize(
    "failure", [RecallError("index-missing", "There is no index."), OSError(28, "No space left on device")]
)
def test_any_failure_of_coven_leaves_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(coven, "recall", fail)
    nemp(world, {"gateway": "behind the load balancer"})
    result = ask(world, "gateway", with_coven=True)
    assert (ids(result), len(result.problems)) == (["gateway"], 1)


def test_a_store_of_many_thousand_memories_is_searched(world: World) -> None:
    many = {f"note-{number}": f"text number {number} of many" for number in range(5_000)}
    nemp(world, {**many, "auth-flow": "JWT"})
    assert ids(ask(world, "auth")) == ["auth-flow"]


# What is too weak an answer


NONSENSE = "how do I train my dog to sit at the door"


def test_what_answers_too_poorly_is_held_back_and_counted(world: World) -> None:
    nemp(world, {"db": "PostgreSQL 16 via Prisma", "deploy": "The deployment goes to Fly.io", "bun": "bun, never npm"})
    entry(world, "MEM-login", "Users sign in with their password")
    entry(world, "MEM-release", "A release is tagged without a note")
    result = ask(world, NONSENSE)
    assert (result.hits, result.match, result.omitted) == ((), "none", 0)
    assert result.held_back > 0
    assert result.as_json()["held_back"] == result.held_back
    everything = ask(world, NONSENSE, include_weak=True)
    assert (len(everything.hits), everything.held_back) == (result.held_back, 0)


def test_a_question_is_answered_by_meaning_across_stores(world: World) -> None:
    nemp(world, {"db": "PostgreSQL 16 via Prisma; migrations by hand"}, {"style": "Indent with tabs"})
    entry(world, "MEM-login", "Users sign in with their password and username")
    assert ids(ask(world, "how does somebody log in with a password"))[0] == "MEM-login"
    assert ids(ask(world, "which SQL server holds our tables"))[0] == "db"


def test_a_key_that_contains_the_query_is_never_held_back(world: World) -> None:
    nemp(world, {"oauth-app": "Okta", "auth": "JWT", "gateway": "auth of the gateway"})
    result = ask(world, "auth")
    assert set(ids(result)) == {"auth", "oauth-app", "gateway"}
    assert result.held_back == 0


def test_a_claim_that_coven_found_is_never_held_back(with_program: World) -> None:
    promote(with_program, (OLD, "The gateway timeout is 30 seconds", None))
    nemp(with_program, {"cake": "chocolate cake for the release party, with eggs and a recipe"})
    result = ask(with_program, "recipe for chocolate cake with eggs: timeout", with_coven=True)
    assert ids(result) == ["cake", OLD]
    assert result.held_back == 0


def test_many_that_no_longer_hold_leave_room_for_one_that_does(world: World) -> None:
    for number in range(30):
        entry(world, f"MEM-{number:02}", f"webhook {number}", title="webhook", expires_at="2026-01-01")
    entry(world, "MEM-living", "about something else, and in the end about one of many", title="webhook and others")
    result = ask(world, "webhook", limit=2)
    assert ids(result)[0] == "MEM-living"
    assert len(result.hits) + result.omitted == 31


def test_many_copies_leave_room_for_others(world: World) -> None:
    same = {f"copy-{number}": "the webhook is retried five times with backoff" for number in range(60)}
    nemp(world, {**same, "other": "long words about something else, and in the end about one webhook of many"})
    result = ask(world, "webhook backoff", limit=2)
    assert [len(hit.also) for hit in result.hits] == [59, 0]


def test_a_certain_answer_of_small_stores_loads_no_numpy(world: World) -> None:
    nemp(world, {"auth-flow": "JWT access tokens"})
    entry(world, "MEM-1", "The webhook is retried")
    probe = (
        "import sys\n"
        "from memory_recall.faces.cli.main import main\n"
        "assert main(['search', *sys.argv[1:]]) == 0\n"
        "assert 'numpy' not in sys.modules, 'numpy was loaded'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, "auth", "flow", "--project", str(world.project)],
        check=False,
        timeout=60,
        capture_output=True,
        text=True,
        env={"HOME": str(world.home)},
    )
    assert done.returncode == 0, done.stderr
    assert "auth-flow" in done.stdout


def test_a_nemp_store_is_cut_once_while_it_says_the_same(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_recall.ranking.segment import Segment

    nemp(world, {f"note-{number}": f"the webhook {number} is retried with backoff" for number in range(50)})
    entry(world, "MEM-1", "The gateway times out after half a minute")
    built: list[int] = []
    real = Segment.build

    def build(documents: Any, **options: Any) -> Segment:
        built.append(len(documents))
        return real(documents, **options)

    monkeypatch.setattr(Segment, "build", build)
    shelf = Shelf()
    for query in ("how often is a webhook retried", "when does the gateway give up"):
        assert search(SearchQuery(query), world.place, world.env, shelf).hits
    assert built.count(50) == 1
    nemp(world, {"note-0": "one webhook is never retried", "note-1": "another one is"})
    search(SearchQuery("how often is a webhook retried"), world.place, world.env, shelf)
    assert (built.count(50), built.count(2)) == (1, 1)
