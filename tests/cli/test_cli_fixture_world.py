"""The same program in a world that this repository did not make: every shape of store, and the odd things in each.

The world's maker lies beside the repository where it is developed, and nowhere else.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_recall.demo.world import World as Sample
from memory_recall.demo.world import build
from worlds import REPOSITORY, RunCli

MAKER = REPOSITORY.parent / "shared" / "fixtures" / "make_fixtures.py"

pytestmark = pytest.mark.skipif(not MAKER.is_file(), reason="the fixtures' maker is not beside this repository")

READABLE = [
    "array",
    "bom",
    "crlf",
    "escaped",
    "map",
    "map-keyed",
    "minified",
    "odd-entries",
    "strings",
    "wrapper",
    "wrapper-meta",
]
UNREADABLE = ["broken", "not-a-store", "truncated"]
EMPTY = ["blank-file", "empty-file", "empty-object"]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    root = tmp_path / "made"
    subprocess.run([sys.executable, str(MAKER), str(root)], check=True, capture_output=True, timeout=30)
    return root


@pytest.fixture
def programs(tmp_path: Path) -> Sample:
    """For its stand-in of Coven's program."""
    return build(tmp_path / "sample")


def entry_lines_changed(before: str, after: str) -> list[str]:
    changes = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    return [line for line in changes if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def test_the_project_answers_and_the_shadowed_one_is_named(made: Path, run_cli: RunCli) -> None:
    store = made / "project" / ".nemp" / "memories.json"
    before = store.read_text(encoding="utf-8")
    answer = run_cli(
        ["nemp", "recall", "auth-flow", "--json"], env={"HOME": str(made / "home")}, cwd=made / "project"
    ).json
    (memory,) = answer["memories"]
    assert (memory["source"], memory["line"], memory["vitality"]["score"]) == ("project", 5, 79)
    assert [(shadow["key"], shadow["source"]) for shadow in answer["shadowed"]] == [("auth-flow", "global")]
    changed = entry_lines_changed(before, store.read_text(encoding="utf-8"))
    assert {line.lstrip("+- ").partition(":")[0] for line in changed} == {
        '"score"', '"state"', '"reads"', '"last_read"', '"reads_7d"', '"reads_30d"',
    } - ({'"state"'} if memory["vitality"]["state"] == "active" else set())  # fmt: skip


@pytest.mark.parametrize("shape", READABLE)
def test_every_shape_is_recalled_and_keeps_its_shape(made: Path, run_cli: RunCli, shape: str) -> None:
    store = made / "shapes" / shape / ".nemp" / "memories.json"
    before = store.read_bytes()
    answer = run_cli(["nemp", "recall", "pkg-manager", "--json"], cwd=store.parent.parent).json
    (memory,) = answer["memories"]
    assert (memory["value"], memory["vitality"]["score"], memory["recorded"]) == ("bun, never npm", 18, True)
    after = store.read_bytes()
    assert without_entry(json.loads(after.decode("utf-8-sig"))) == without_entry(json.loads(before.decode("utf-8-sig")))
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert after.endswith(b"\n") == before.endswith(b"\n")
    start, end = (
        before.index(b"bun, never npm"),
        before.index(b"loose string" if shape == "odd-entries" else b"api-base"),
    )
    assert after.startswith(before[: before.rindex(b"pkg-manager", 0, start)])
    assert after.endswith(before[end:])


def without_entry(document: Any) -> Any:
    """The document, its one recalled entry taken out."""
    entries = document.get("memories", document) if isinstance(document, dict) else document
    rest = (
        {key: value for key, value in entries.items() if key != "pkg-manager"}
        if isinstance(entries, dict)
        else [entry for entry in entries if not (isinstance(entry, dict) and entry.get("key") == "pkg-manager")]
    )
    return {**document, "memories": rest} if isinstance(document, dict) and "memories" in document else rest


@pytest.mark.parametrize("shape", UNREADABLE)
def test_what_is_no_store_is_reported_and_never_written(made: Path, run_cli: RunCli, shape: str) -> None:
    store = made / "shapes" / shape / ".nemp" / "memories.json"
    before = store.read_bytes()
    ran = run_cli(
        ["nemp", "recall", "commit-style", "--json"], env={"HOME": str(made / "home")}, cwd=store.parent.parent
    )
    assert ran.json["memories"][0]["source"] == "global"
    (problem,) = ran.json["problems"]
    assert (problem["path"], problem["line"] >= 1, problem["column"] >= 1) == (str(store), True, True)
    assert store.read_bytes() == before


@pytest.mark.parametrize("shape", EMPTY)
def test_an_empty_store_is_no_problem(made: Path, run_cli: RunCli, shape: str) -> None:
    ran = run_cli(["nemp", "recall", "pkg-manager", "--json"], cwd=made / "shapes" / shape)
    assert (ran.code, ran.json["memories"], ran.json["problems"]) == (0, [], [])


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("how does auth work", "auth-flow"),
        ("package manager", "user-prefers-bun"),
        ("部署流程", "部署流程"),
        ("feature flags", "feature flags"),
    ],
)
def test_questions_find_their_memory(made: Path, run_cli: RunCli, query: str, key: str) -> None:
    answer = run_cli(["nemp", "recall", query, "--json"], env={"HOME": str(made / "home")}, cwd=made / "project").json
    assert answer["memories"][0]["key"] == key


def test_agent_memories_are_counted_in_and_out(made: Path, run_cli: RunCli) -> None:
    answer = run_cli(["memory", "recall", "webhook", "--json"], cwd=made / "project").json
    assert [memory["memory_id"] for memory in answer["memories"]] == ["MEM-webhook-retry", "MEM-release-0731"]
    assert (answer["expired_skipped"], answer["low_confidence_skipped"]) == (1, 1)
    assert [Path(problem["path"]).name for problem in answer["problems"]] == ["MEM-broken.json"]
    chinese = run_cli(["memory", "recall", "决策", "--json"], cwd=made / "project").json
    assert [memory["memory_id"] for memory in chinese["memories"]] == ["MEM-decision-style-001"]


def test_claims_are_ordered_by_succession_and_what_cannot_be_trusted_is_counted(
    made: Path, programs: Sample, run_cli: RunCli
) -> None:
    store = made / "home" / ".coven"
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    variables = {**programs.variables(), "HOME": str(made / "home")}
    answer = run_cli(["coven", "recall", "gateway timeout", "--json"], env=variables, cwd=made / "project").json
    assert [hit["ulid"] for hit in answer["hits"]][:2] == ["01J9ZZ5Q3W8N4T7C2B6KXM0HPE", "01J4K9R81M6D92TX6D4E7R31VZ"]
    assert answer["dropped"] == sum(answer["dropped_reasons"].values()) == 4
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before
