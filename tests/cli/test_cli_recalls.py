"""The recalls end to end: a command line, an answer, and exactly what it leaves on the disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_recall.demo.world import World as Sample
from memory_recall.demo.world import build
from memory_recall.text.dates import utc_seconds
from worlds import NOW, Ran, RunCli, World

HOSTILE_QUERIES = [
    "-x",
    "--limit",
    "-- --",
    "$(touch pwned) `touch pwned`; touch pwned",
    "'; DROP TABLE docs; --",
    '"quoted" \\ back',
    "line\nbreak\r\nREAD key=forged agent=x query=y",
    "\x1b[31mred\x07",
    "%s %n {0} {query!r}",
    "日本語 🚀 e\u0301",
    "x" * 100_000,
    "*?[a-z]+(",
]


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    """The sample world of the demo, fresh."""
    return build(tmp_path / "sample")


SampleCli = Callable[..., Ran]


@pytest.fixture
def in_sample(sample: Sample, run_cli: RunCli) -> SampleCli:
    """A process in the sample world."""

    def run(arguments: list[str], stdin: str | bytes | None = None, **variables: str) -> Ran:
        return run_cli(arguments, stdin=stdin, env={**sample.variables(), **variables}, cwd=sample.project)

    return run


# nemp


def test_an_exact_key_is_answered_and_counted_once(sample: Sample, in_sample: SampleCli) -> None:
    before = tree(sample.root)
    ran = in_sample(["nemp", "recall", "commit-style", "--json"], CLAUDE_AGENT_NAME="reviewer")
    assert (ran.code, ran.stderr) == (0, "")
    answer = ran.json
    assert next(iter(answer)) == "v"
    assert (answer["match"], answer["count"], answer["memories"][0]["recorded"]) == ("exact", 1, True)
    assert [shadow["source"] for shadow in answer["shadowed"]] == ["global"]
    after = tree(sample.root)
    assert {name for name in after if after[name] != before.get(name)} == {
        "project/.nemp/memories.json",
        "project/.nemp/access.log",
    }
    added = after["project/.nemp/access.log"].removeprefix(before["project/.nemp/access.log"]).decode()
    assert added.count("\n") == 1
    assert added.endswith("READ key=commit-style agent=reviewer query=commit-style\n")
    assert not list(sample.root.rglob("*.tmp*"))


def test_looking_without_recording_changes_nothing(sample: Sample, in_sample: SampleCli) -> None:
    before = tree(sample.root)
    for arguments in (
        ["nemp", "recall", "session-tokens", "--no-record"],
        ["search", "webhook"],
        ["search", "tracking", "--with-coven"],
        ["show", "session-tokens"],
        ["doctor"],
        ["nemp", "recall", "nothing-like-this-exists"],
        ["nemp", "recall", "session-tokens", "--limit", "0"],
    ):
        in_sample(arguments)
        assert tree(sample.root) == before, arguments


def test_the_agent_can_be_named(world: World, cli: RunCli) -> None:
    world.write("project/.nemp/memories.json", {"auth-flow": {"value": "JWT"}})
    cli(["nemp", "recall", "auth-flow", "--agent", "ada"])
    log = (world.project / ".nemp" / "access.log").read_text(encoding="utf-8")
    assert log == f"[{utc_seconds(NOW)}] READ key=auth-flow agent=ada query=auth-flow\n"


def test_a_project_is_searched_upward_from_where_it_is_named(world: World, cli: RunCli) -> None:
    world.write("project/.nemp/memories.json", {"auth-flow": "JWT"})
    (world.project / "deep" / "er").mkdir(parents=True)
    ran = cli(["nemp", "recall", "auth-flow", "--project", "deep/er"])
    assert "Source: project (.nemp/memories.json:2)" in ran.stdout


def test_above_a_linked_directory_lies_what_lies_above_its_target(world: World, cli: RunCli, tmp_path: Path) -> None:
    world.write("project/.nemp/memories.json", {"auth-flow": "JWT"})
    (world.project / "deep").mkdir()
    (tmp_path / "link").symlink_to(world.project / "deep")
    ran = cli(["nemp", "recall", "auth-flow", "--project", str(tmp_path / "link")])
    assert "Value: JWT" in ran.stdout


@pytest.mark.parametrize("query", HOSTILE_QUERIES, ids=range(len(HOSTILE_QUERIES)))
def test_no_query_is_anything_but_a_query(world: World, cli: RunCli, query: str) -> None:
    world.write("project/.nemp/memories.json", {"auth-flow": "JWT", query: "under a hostile key"})
    for ran in (
        cli(["nemp", "recall", "--json", "--", query]),
        cli(["nemp", "recall", "--json", "--query-stdin"], stdin=query + "\n"),
    ):
        assert ran.code == 0, ran.stderr
        assert ran.json["query"] == query
        assert ran.json["match"] == "exact"
    assert len((world.project / ".nemp" / "access.log").read_bytes().splitlines()) == 2
    text = cli(["nemp", "recall", "--no-record", "--", query]).stdout
    assert "\x1b" not in text
    assert not (world.project / "pwned").exists()


@pytest.mark.parametrize("arguments", [[], [""], ["  "], ["--query-stdin"], ["x", "--limit", "51"], ["x", "--limit=0"]])
def test_an_unusable_nemp_query_is_exit_code_2(world: World, cli: RunCli, arguments: list[str]) -> None:
    world.write("project/.nemp/memories.json", {"x": "y"})
    ran = cli(["nemp", "recall", *arguments])
    assert (ran.code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)


def test_a_broken_store_is_reported_with_its_place_and_left_alone(world: World, cli: RunCli) -> None:
    broken = world.write("project/.nemp/memories.json", '{\n  "memories": [\n    {"key": "x"},\n  ]\n}\n')
    world.write("home/.nemp/memories.json", {"x": "from home"})
    before = broken.read_bytes()
    ran = cli(["nemp", "recall", "x"])
    assert ran.code == 0
    assert "from home" in ran.stdout
    assert "⚠ .nemp/memories.json:4:3" in ran.stdout
    assert broken.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_for_a_store_does_not_hang(world: World, run_cli: RunCli) -> None:
    (world.project / ".nemp").mkdir()
    os.mkfifo(world.project / ".nemp" / "memories.json")
    ran = run_cli(["nemp", "recall", "x", "--json"])
    assert ran.code == 0
    assert ran.json["problems"]


def test_two_processes_recalling_the_same_key_at_once_are_both_counted(world: World) -> None:
    store = world.write("project/.nemp/memories.json", {"auth-flow": {"value": "JWT"}})
    processes = [
        subprocess.Popen(
            [sys.executable, "-P", "-m", "memory_recall", "nemp", "recall", "auth-flow"],
            cwd=world.project,
            env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    assert [(process.communicate(timeout=40)[1], process.returncode) for process in processes] == [(b"", 0)] * 4
    assert json.loads(store.read_bytes())["auth-flow"]["vitality"]["reads"] == 4
    assert len((world.project / ".nemp" / "access.log").read_bytes().splitlines()) == 4


def test_a_recount_says_what_it_changed(world: World, cli: RunCli) -> None:
    vitality = {"reads": 9, "reads_7d": 9, "reads_30d": 9, "score": 100, "state": "thriving"}
    world.write("project/.nemp/memories.json", {"auth-flow": {"value": "JWT", "vitality": vitality}})
    world.write("project/.nemp/access.log", f"[{utc_seconds(NOW)}] READ key=auth-flow agent=main query=auth-flow\n")
    ran = cli(["nemp", "recount"])
    assert ran.code == 0
    assert "[auth-flow] reads_7d 9 → 1, reads_30d 9 → 1" in ran.stdout
    assert cli(["nemp", "recount", "--json"]).json["changes"] == []
    assert cli(["nemp", "recount", "now"]).code == 2
    assert (
        "✓ Nothing to correct: the read counters of 1 memory agree with the access log."
        in cli(["nemp", "recount"]).stdout
    )


def test_a_recount_claims_nothing_of_what_it_did_not_check(world: World, cli: RunCli) -> None:
    nowhere = cli(["nemp", "recount"])
    assert (nowhere.code, nowhere.stdout.count("\n")) == (0, 1)
    assert nowhere.stdout.startswith("⚠ There is no nemp store here")
    world.write("project/.nemp/memories.json", {"a": {"value": 1, "vitality": {"reads_7d": 3}}})
    unlogged = cli(["nemp", "recount"])
    assert (unlogged.code, unlogged.stderr) == (0, "")
    assert unlogged.stdout == (
        "⚠ .nemp/access.log does not exist: no reads are logged, so there is nothing to recount.\n"
    )
    world.write("project/.nemp/access.log", "")
    world.write("project/.nemp/memories.json", {"a": "plain"})
    assert cli(["nemp", "recount"]).stdout == "Nothing to recount: no memory here has read counters.\n"


def test_a_recount_that_cannot_be_done_is_exit_code_3(world: World, cli: RunCli) -> None:
    path = world.write("project/.nemp/memories.json", '{"a": ')
    world.write("project/.nemp/access.log", "")
    ran = cli(["nemp", "recount"])
    assert (ran.code, ran.stdout) == (3, "")
    assert ran.stderr.startswith(f"memory-recall: {path}:1:7: This is not valid JSON")
    ran = cli(["nemp", "recount", "--json"])
    assert ran.code == 3
    assert ran.json["error"]["code"] == "not-json"
    assert (ran.json["v"], ran.json["changes"], ran.json["problems"][0]["line"]) == (1, [], 1)
    assert "Nothing" not in ran.stdout


def test_a_recount_names_what_it_could_not_check(world: World, cli: RunCli) -> None:
    vitality = {"reads_7d": 3, "reads_30d": 3, "last_read": utc_seconds(NOW)}
    world.write("home/.nemp/memories.json", {"a": {"value": 1, "vitality": vitality}})
    world.write("home/.nemp/access.log", "")
    ran = cli(["nemp", "recount"])
    assert ran.stdout.endswith(f"[a] last read {utc_seconds(NOW)}; its reads are logged in other projects\n")
    assert "✓" not in ran.stdout


# memory


def test_an_agent_recall_leaves_one_record_and_one_message(sample: Sample, in_sample: SampleCli) -> None:
    before = tree(sample.root)
    ran = in_sample(["memory", "recall", "webhook", "--json"])
    assert (ran.code, ran.stderr) == (0, "")
    answer = ran.json
    assert next(iter(answer)) == "v"
    assert (answer["status"], answer["returned"], answer["expired_skipped"], answer["low_confidence_skipped"]) == (
        "success",
        2,
        1,
        1,
    )
    after = tree(sample.root)
    record = f"project/.agent/runs/{answer['run_id']}/result.json"
    new = set(after) - set(before)
    assert record in new
    assert len([name for name in new if name.startswith("project/.agent/inbox/IM-")]) == 1
    assert len(new) == 2
    assert {name for name in before if before[name] != after[name]} == {"project/.agent/inbox/index.json"}
    written = json.loads(after[record])
    assert written["memories"] == answer["memories"]


def test_the_options_of_an_agent_recall_reach_it(sample: Sample, in_sample: SampleCli) -> None:
    arguments = "memory recall webhook --type semantic,episodic --min-confidence 0 --include-expired --limit 50 --json"
    ran = in_sample(
        [*arguments.split(), "--scope", "project", "--run-id", "R-mine", "--parent", "ada", "--notify", "always"]
    )
    answer = ran.json
    assert (answer["run_id"], answer["types"], answer["scope"]) == ("R-mine", ["episodic", "semantic"], "project")
    assert {memory["memory_id"] for memory in answer["memories"]} >= {"MEM-summer-freeze", "MEM-second-queue"}
    (message,) = (sample.project / ".agent" / "inbox").glob("IM-*.json")
    assert "ada" in message.read_text(encoding="utf-8")


def test_notify_never_leaves_no_message(sample: Sample, in_sample: SampleCli) -> None:
    in_sample(["memory", "recall", "webhook", "--notify", "never"])
    assert list((sample.project / ".agent" / "inbox").glob("IM-*.json")) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--type", "poetic"],
        ["x", "--type", ""],
        ["x", "--scope", "galaxy"],
        ["x", "--min-confidence", "2"],
        ["x", "--min-confidence", "high"],
        ["x", "--notify", "sometimes"],
        ["x", "--limit", "0"],
        ["x", "--run-id", "../../escape"],
        ["x", "--project", "nowhere"],
    ],
)
def test_an_unusable_agent_query_is_exit_code_2(sample: Sample, in_sample: SampleCli, arguments: list[str]) -> None:
    ran = in_sample(["memory", "recall", *arguments])
    assert ran.code == 2, ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (sample.root / "escape").exists()


def test_no_agent_directory_is_an_error_and_creates_nothing(world: World, cli: RunCli) -> None:
    ran = cli(["memory", "recall", "webhook", "--json"])
    assert ran.code == 3
    assert ran.json["error"]["recoverable"] is True
    assert [path.name for path in world.project.iterdir()] == [".git"]


def test_no_memories_directory_is_recorded_as_a_failure(world: World, cli: RunCli) -> None:
    (world.project / ".agent").mkdir()
    ran = cli(["memory", "recall", "webhook", "--json"])
    assert ran.code == 3
    (failure,) = (world.project / ".agent" / "runs").glob("*/error.json")
    assert json.loads(failure.read_bytes())["error_code"] == ran.json["error"]["code"]
    assert not (world.project / ".agent" / "memory").exists()


def test_a_parent_directory_is_never_asked(world: World, cli: RunCli) -> None:
    (world.project / ".agent" / "memory").mkdir(parents=True)
    (world.project / "sub").mkdir()
    assert cli(["memory", "recall", "x"], cwd=world.project / "sub").code == 3


# coven


def test_claims_are_verified_and_the_newer_one_comes_first(sample: Sample, in_sample: SampleCli) -> None:
    before = tree(sample.home)
    ran = in_sample(["coven", "recall", "tracking", "API", "requests", "--json"])
    assert (ran.code, ran.stderr) == (0, "")
    answer: dict[str, Any] = ran.json
    assert next(iter(answer)) == "v"
    ulids = [hit["ulid"] for hit in answer["hits"]]
    assert ulids[:2] == ["01K7H9W2M5P8S1V4Y6A3C7E9J2", "01K2F3T8Q4N6R9V1X5Z7B2D4G6"]
    assert answer["hits"][1]["superseded_by"] == ulids[0]
    assert answer["count"] == len(ulids)
    assert tree(sample.home) == before


def test_a_changed_snapshot_is_dropped_unless_it_is_asked_for(in_sample: SampleCli) -> None:
    dropped = in_sample(["coven", "recall", "labels", "archived", "--json"]).json
    assert dropped["dropped_reasons"] == {"hash-mismatch": 1}
    kept = in_sample(["coven", "recall", "labels", "archived", "--json", "--include-unverified"]).json
    assert "01K4C6E8G2J5M7Q9S1V3X6Z8B4" in [hit["ulid"] for hit in kept["hits"]]


def test_a_period_and_a_number_of_claims(in_sample: SampleCli) -> None:
    arguments = ["coven", "recall", "tracking", "--since", "2026-09-20", "--until", "2026-10-14", "-k", "1", "--json"]
    answer = in_sample(arguments).json
    assert len(answer["hits"]) == 1
    assert answer["hits"][0]["promoted_at"] >= "2026-09-20"


def test_the_words_of_a_coven_query_stand_nowhere_but_in_the_answer(sample: Sample, in_sample: SampleCli) -> None:
    secret = "zanzibarquery"
    for arguments in (
        ["coven", "recall", secret],
        ["coven", "recall", f"-{secret}"],
        ["coven", "recall", "-k", secret],
        ["coven", "recall", f"-k{secret}"],
        ["coven", "recall", f"--{secret}", "x"],
        ["coven", "recall", secret, "--familiar", "../x"],
        ["coven", "recall", secret, "--binary", "/nowhere"],
        ["coven", "recall", secret, "-k", "99"],
        ["search", f"--{secret}", "--with-coven"],
    ):
        ran = in_sample([*arguments, "--json"])
        assert secret not in ran.stderr, arguments
        if arguments[0] == "coven":
            assert secret not in ran.stdout, arguments
    assert not [name for name, data in tree(sample.root).items() if secret.encode() in data]


def test_a_store_that_was_never_promoted_to_is_an_honest_empty(world: World, cli: RunCli) -> None:
    ran = cli(["coven", "recall", "anything", "--json"])
    assert ran.code == 0
    assert (ran.json["hits"], ran.json["note"]) == ([], "promotion layer has not run")
    assert list(world.home.iterdir()) == []


def test_a_missing_program_is_exit_code_3_with_a_pointer(sample: Sample, run_cli: RunCli) -> None:
    ran = run_cli(["coven", "recall", "x"], env={"HOME": str(sample.home), "PATH": "/nowhere"}, cwd=sample.project)
    assert ran.code == 3
    assert "OpenCoven/coven" in ran.stderr


@pytest.mark.parametrize("mode", ["crash", "error", "garbage"])
def test_a_program_that_fails_is_exit_code_3(in_sample: SampleCli, mode: str) -> None:
    ran = in_sample(["coven", "recall", "tracking"], COVEN_STANDIN_MODE=mode)
    assert (ran.code, ran.stdout, ran.stderr.count("\n")) == (3, "", 1)


@pytest.mark.parametrize(
    "arguments", [["x", "-k", "0"], ["x", "-k", "21"], ["x", "--familiar", "a b"], ["x", "--since", "soon"], []]
)
def test_an_unusable_coven_query_is_exit_code_2(in_sample: SampleCli, arguments: list[str]) -> None:
    ran = in_sample(["coven", "recall", *arguments])
    assert (ran.code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)


def test_a_source_opens_under_the_familiars_root_and_is_a_reference_elsewhere(
    sample: Sample, in_sample: SampleCli
) -> None:
    closed = in_sample(["coven", "open", "01K2F3T8Q4N6R9V1X5Z7B2D4G6", "--json"])
    assert closed.code == 0
    assert closed.json["reference"] == "session://wren/2026-08-12/tracking-rate-limit"
    assert (closed.json["resolved"], closed.json["text"]) == (None, None)
    assert closed.json["note"]
    assert (
        "session://wren/2026-08-12/tracking-rate-limit"
        in in_sample(["coven", "open", "01K2F3T8Q4N6R9V1X5Z7B2D4G6"]).stdout
    )
    assert in_sample(["coven", "open", "[[coven:01K2F3T8Q4N6R9V1X5Z7B2D4G6]]", "--json"]).json == closed.json
    for unusable in ([], ["no-ulid"], ["01K2F3T8Q4N6R9V1X5Z7B2D4G6", "--familiar-root", ""]):
        assert in_sample(["coven", "open", *unusable]).code == 2
    for option in ("--familiar-root=", "--binary="):
        assert in_sample(["coven", "recall", "tracking", option]).code == 2
    assert in_sample(["coven", "open", "01K2F3T8Q4N6R9V1X5Z7B2D4G7"]).code == 3


# browsing


def test_a_search_names_the_system_and_the_place_of_each_hit(in_sample: SampleCli) -> None:
    answer = in_sample(["search", "webhook", "--json"]).json
    assert next(iter(answer)) == "v"
    assert {"query", "count", "hits", "problems"} <= set(answer)
    for hit in answer["hits"]:
        assert {"system", "id", "title", "text", "score", "provenance", "also"} <= set(hit)
        assert Path(hit["provenance"]["path"]).is_file()
    text = in_sample(["search", "webhook"]).stdout
    assert "[memory:MEM-webhook-order] Webhook events arrive out of order" in text
    assert "(.agent/memory/semantic/MEM-webhook-order.json:1)" in text


def test_coven_takes_part_in_a_search_only_when_asked(in_sample: SampleCli) -> None:
    without = in_sample(["search", "tracking API requests", "--json"]).json
    with_coven = in_sample(["search", "tracking API requests", "--json", "--with-coven"]).json
    assert "coven" not in {hit["system"] for hit in without["hits"]}
    assert "coven" in {hit["system"] for hit in with_coven["hits"]}


@pytest.mark.parametrize(
    ("reference", "systems"),
    [
        ("commit-style", ["nemp", "nemp"]),
        ("nemp:commit-style", ["nemp", "nemp"]),
        ("[[nemp:配送状態]]", ["nemp"]),
        ("carrier retries", ["nemp"]),
        ("MEM-carrier-outage", ["memory"]),
        ("01K2F3T8Q4N6R9V1X5Z7B2D4G6", ["coven"]),
        ("coven:01K4C6E8G2J5M7Q9S1V3X6Z8B4", ["coven"]),
    ],
)
def test_a_record_is_shown_with_its_provenance(in_sample: SampleCli, reference: str, systems: list[str]) -> None:
    answer = in_sample(["show", "--json", reference]).json
    assert next(iter(answer)) == "v"
    assert answer["reference"] == reference
    assert [record["system"] for record in answer["records"]] == systems
    assert all(record["provenance"]["line"] >= 1 for record in answer["records"])


def test_an_unknown_reference_is_answered_with_nothing_and_a_suggestion(in_sample: SampleCli) -> None:
    ran = in_sample(["show", "comit-style"])
    assert ran.code == 0
    assert "Did you mean commit-style?" in ran.stdout
    assert in_sample(["show", "comit-style", "--json"]).json["records"] == []
    assert in_sample(["show"]).code == 2


def test_the_doctor_lists_stores_program_and_problems(sample: Sample, in_sample: SampleCli) -> None:
    (sample.project / ".agent" / "memory" / "semantic" / "MEM-cut.json").write_text("{", encoding="utf-8")
    ran = in_sample(["doctor", "--json"])
    assert ran.code == 0
    answer = ran.json
    assert {(store["system"], store["source"]): store["count"] for store in answer["stores"]} == {
        ("nemp", "project"): 7,
        ("nemp", "global"): 3,
        ("memory", "project"): 6,
        ("coven", "coven"): 4,
    }
    assert answer["coven_memory"] == str(sample.programs / "coven-memory")
    assert all(answer["versions"].values())
    assert [problem["path"] for problem in answer["problems"]] == [
        str(sample.project / ".agent" / "memory" / "semantic" / "MEM-cut.json")
    ]
    text = in_sample(["doctor"]).stdout
    assert "✓ nemp (project): 7 memories in .nemp/memories.json" in text
    assert "⚠ .agent/memory/semantic/MEM-cut.json" in text


def test_the_doctor_answers_without_a_home(world: World, run_cli: RunCli) -> None:
    ran = run_cli(["doctor"], env={"HOME": "relative"})
    assert ran.code == 0
    assert "Home: none; set HOME" in ran.stdout
    assert "✗" not in ran.stdout
