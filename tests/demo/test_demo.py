"""The demo: a sample world that is consistent, touched by nobody, and shown as it is."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_recall.demo import world as sample_world
from worlds import REPOSITORY, RunCli, World

SHIPPED = REPOSITORY / "lsp_server" / "memory_recall" / "demo" / "world"


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_the_manifest_holds_the_hash_of_every_snapshot_but_the_one_that_was_edited() -> None:
    store = SHIPPED / "home" / ".coven" / "memory"
    lines = [json.loads(line) for line in (store / "manifest.jsonl").read_bytes().splitlines()]
    holds = {
        line["ulid"]: hashlib.sha256((store / "snapshots" / f"{line['ulid']}.md").read_bytes()).hexdigest()
        == line["sha256"]
        for line in lines
    }
    assert len(holds) == 4
    assert [ulid for ulid, same in holds.items() if not same] == ["01K4C6E8G2J5M7Q9S1V3X6Z8B4"]


def test_the_sample_files_keep_their_bytes_in_every_checkout() -> None:
    assert "lsp_server/memory_recall/demo/world/** -text" in (REPOSITORY / ".gitattributes").read_text(encoding="utf-8")
    assert not any(b"\r" in data for data in contents(SHIPPED).values())


def test_a_world_is_a_copy_with_an_index_and_a_stand_in(tmp_path: Path) -> None:
    before = contents(SHIPPED)
    built = sample_world.build(tmp_path / "a world")
    copied = contents(built.root)
    assert {name: data for name, data in copied.items() if name in before} == before
    assert set(copied) - set(before) == {
        "bin/coven-memory",
        "home/.coven/memory/archival.sqlite3",
        "home/.coven/memory/archival.tvim",
    }
    assert os.access(built.programs / "coven-memory", os.X_OK)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The demo as a person sees it, run once, from a home that is not theirs."""
    home, temporary = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("temporary")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "memory_recall", "demo"],
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": str(temporary)},
        capture_output=True,
        encoding="utf-8",
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == []
    assert list(temporary.iterdir()) == []
    return done


def test_the_demo_shows_the_three_recalls_with_their_command_lines(shown: subprocess.CompletedProcess[str]) -> None:
    assert "› /nemp:recall session-tokens\n$ memory-recall nemp recall session-tokens\n🔍 Memory: " in shown.stdout
    assert "› /memory recall webhook\n$ memory-recall memory recall webhook\n🔍 Found 2 memories" in shown.stdout
    assert "$ memory-recall coven recall 'how many requests does the tracking API allow'" in shown.stdout
    newer, older = (
        shown.stdout.index("[01K7H9W2M5P8S1V4Y6A3C7E9J2]"),
        shown.stdout.index("[01K2F3T8Q4N6R9V1X5Z7B2D4G6]"),
    )
    assert newer < older
    assert "Superseded by 01K7H9W2M5P8S1V4Y6A3C7E9J2" in shown.stdout
    assert "Dropped: 1 (1 hash mismatch)" in shown.stdout


def test_the_demo_shows_a_hover_of_a_real_server(shown: subprocess.CompletedProcess[str]) -> None:
    assert "notes/login.md:3\nSessions follow [[nemp:session-tokens]]; scripts run with `use-pnpm`.\n" in shown.stdout
    assert "│ session-tokens" in shown.stdout
    assert ".nemp/memories.json:5" in shown.stdout


def test_the_demo_leaves_nothing_behind_and_says_so(shown: subprocess.CompletedProcess[str]) -> None:
    assert shown.stderr == ""
    assert "is removed again" in shown.stdout


def test_the_readme_opens_with_the_hover_that_the_demo_shows(shown: subprocess.CompletedProcess[str]) -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    transcript = readme.split("```\n")[1]
    assert transcript.count("\n") > 8
    assert transcript in shown.stdout


def test_the_demo_as_json(cli: RunCli, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ran = cli(["demo", "--json", "--keep", str(kept)])
    assert ran.code == 0, ran.stderr
    answer: dict[str, Any] = ran.json
    assert next(iter(answer)) == "v"
    assert [step["command"][:3] for step in answer["steps"]] == [
        ["memory-recall", "nemp", "recall"],
        ["memory-recall", "memory", "recall"],
        ["memory-recall", "coven", "recall"],
    ]
    assert [hover["reference"] for hover in answer["hovers"]] == [
        "[[nemp:session-tokens]]",
        "[[nemp:deploy-region-v1]]",
    ]
    assert all(hover["definition"] for hover in answer["hovers"])
    assert answer["world"] == str(kept.resolve())
    assert (kept / "project" / "notes" / "login.md").is_file()


def test_a_directory_that_holds_something_is_not_built_over(cli: RunCli, world: World) -> None:
    world.write("project/mine.txt", "mine")
    ran = cli(["demo", "--keep", "."])
    assert (ran.code, ran.stdout) == (2, "")
    assert sorted(path.name for path in world.project.iterdir()) == [".git", "mine.txt"]


def test_what_the_demo_does_to_the_sample_is_not_done_to_the_original(cli: RunCli, tmp_path: Path) -> None:
    before = contents(SHIPPED)
    assert cli(["demo", "--keep", str(tmp_path / "kept")]).code == 0
    assert contents(SHIPPED) == before
