"""The `.agent` memories on the command line: what stands in the way is said, in one sentence, and never hidden."""

from __future__ import annotations

import errno
import io
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_entries import write_entry
from memory_recall.faces.cli.invocation import Streams
from memory_recall.faces.cli.main import run
from worlds import RunCli, World


def forbid(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    """Take from this user, who may be root, the right to look into a directory."""
    for name in ("stat", "lstat", "open", "scandir"):
        real = getattr(os, name)

        def call(path: Any, *arguments: Any, real: Any = real, **options: Any) -> Any:
            if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(f"{directory}{os.sep}"):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real(path, *arguments, **options)

        monkeypatch.setattr(os, name, call)


@pytest.mark.parametrize("where", [".agent", ".agent/memory"])
def test_what_may_not_be_read_is_an_error_and_no_empty_answer(
    world: World, cli: RunCli, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    write_entry(world, "MEM-1")
    forbid(monkeypatch, world.project / where)
    ran = cli(["memory", "recall", "webhooks"])
    assert (ran.code, ran.stdout) == (3, "")
    assert f"{world.project / where} may not be read by this user" in ran.stderr


@pytest.mark.parametrize("where", [".agent", ".agent/memory", ".agent/memory/semantic"])
def test_the_doctor_and_a_search_say_what_may_not_be_read(
    world: World, cli: RunCli, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    write_entry(world, "MEM-1")
    write_entry(world, "MEM-2", "episodic")
    forbid(monkeypatch, world.project / where)
    text = cli(["doctor"]).stdout
    assert "✓ memory" not in text
    seen = "only 1 memory could be read" if where.endswith("semantic") else "could not be read"
    assert f"✗ memory (project): {seen} in .agent/memory" in text
    assert f"⚠ {where} may not be read by this user" in text
    assert f"⚠ {where} may not be read by this user" in cli(["search", "webhooks"]).stdout
    (store,) = [store for store in cli(["doctor", "--json"]).json["stores"] if store["system"] == "memory"]
    assert (store["exists"], store["readable"]) == (True, False)


def test_the_doctor_ticks_no_store_that_is_broken(world: World, cli: RunCli) -> None:
    world.write("project/.nemp/memories.json", "{")
    (world.home / ".coven/memory/manifest.jsonl").mkdir(parents=True)
    text = cli(["doctor"]).stdout
    assert "✗ nemp (project): could not be read in .nemp/memories.json" in text
    assert "✗ coven: could not be read" in text
    assert "✓ nemp (project)" not in text


@pytest.mark.parametrize(
    "verb",
    [
        ["nemp", "recall", "x"],
        ["nemp", "recount"],
        ["memory", "recall", "x"],
        ["search", "x"],
        ["show", "x"],
        ["doctor"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("option", [["--project", ""], ["--project="]], ids=["apart", "joined"])
def test_an_empty_project_is_no_project_and_not_the_working_directory(
    world: World, cli: RunCli, verb: list[str], option: list[str]
) -> None:
    write_entry(world, "MEM-1")
    ran = cli([*verb, *option])
    assert (ran.code, ran.stdout) == (2, "")
    assert "--project" in ran.stderr
    assert not (world.project / ".agent/runs").exists()


def test_a_switch_that_is_given_a_value_is_refused_in_plain_words(world: World, cli: RunCli) -> None:
    ran = cli(["memory", "recall", "x", "--json=1"])
    assert ran.code == 2
    assert "--json takes no value" in ran.stderr
    assert "ignored" not in ran.stderr


def test_a_familiar_without_coven_is_refused(world: World, cli: RunCli) -> None:
    ran = cli(["search", "x", "--familiar", "sage"])
    assert ran.code == 2
    assert "--with-coven" in ran.stderr


def test_a_search_of_coven_without_its_program_advises_nothing_that_a_search_has_not(world: World, cli: RunCli) -> None:
    line = '{"ulid": "01K2F3T8Q4N6R9V1X5Z7B2D4G6"}\n'
    world.write("home/.coven/memory/manifest.jsonl", line)
    ran = cli(["search", "x", "--with-coven"], env={"PATH": "/nowhere"})
    assert "COVEN_MEMORY_BIN" in ran.stdout
    assert "--binary" not in ran.stdout


def test_expired_entries_that_were_asked_for_are_marked(world: World, cli: RunCli) -> None:
    write_entry(world, "MEM-1", expires_at="2020-01-01")
    ran = cli(["memory", "recall", "webhooks", "--include-expired"])
    assert "⚠ It expired at 2020-01-01." in ran.stdout


@pytest.mark.parametrize("broken", [[], ["runs"], ["inbox"], ["runs", "inbox"]], ids="-".join)
def test_a_failure_is_one_sentence_whatever_could_not_be_written(world: World, cli: RunCli, broken: list[str]) -> None:
    (world.project / ".agent").mkdir()
    for name in broken:
        world.write(f"project/.agent/{name}", "a file")
    ran = cli(["memory", "recall", "x"])
    assert ran.code == 3
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.count(". ") == 0
    assert ran.stderr.endswith(".\n")
    assert ran.stderr.count(str(world.project)) == 1
    assert ("the run is recorded in .agent/runs/" in ran.stderr) is ("runs" not in broken)
    assert ("nobody was told in the inbox (" in ran.stderr) is ("inbox" in broken)


def test_a_run_id_that_is_taken_shows_nobody_else_s_record(world: World, cli: RunCli) -> None:
    write_entry(world, "MEM-1")
    assert cli(["memory", "recall", "webhooks", "--run-id", "R-1"]).code == 0
    ran = cli(["memory", "recall", "payments", "--run-id", "R-1"])
    assert (ran.code, ran.stdout) == (2, "")
    assert "R-1 is taken" in ran.stderr
    assert len(list((world.project / ".agent/inbox").iterdir())) == 1


def test_both_records_of_an_id_are_shown(world: World, cli: RunCli) -> None:
    write_entry(world, "MEM-dup", "episodic", content="one")
    write_entry(world, "MEM-dup", "semantic", content="two")
    text = cli(["show", "MEM-dup"]).stdout
    assert text.count("[memory:MEM-dup]") == 2
    assert "has the same memory_id as .agent/memory/semantic/MEM-dup.json" in text


def test_a_large_store_leaves_an_index_unless_it_is_not_wanted(
    world: World, cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_recall.stores.agent.INDEXED_FROM", 2)
    for number in range(4):
        write_entry(world, f"MEM-{number}")
    cache = world.home / ".cache/memory-recall/index"
    right = cli(["memory", "recall", "webhooks", "--no-cache", "--json"]).json["memories"]
    cli(["search", "webhooks", "--no-cache"])
    cli(["show", "MEM-nowhere", "--no-cache"])
    cli(["memory", "recall", "webhooks"], env={"MEMORY_RECALL_NO_CACHE": "1"})
    assert "index: none is kept" in cli(["doctor", "--no-cache"]).stdout
    assert not cache.exists()
    assert cli(["memory", "recall", "webhooks", "--json"]).json["memories"] == right
    assert cache.exists()
    assert cli(["memory", "recall", "webhooks", "--json"]).json["memories"] == right
    index = cli(["doctor", "--json"]).json["index"]
    assert (Path(index["directory"]), index["problem"]) == (cache, None)
    assert index["bytes"] > 0
    assert index["age_seconds"] >= 0
    assert "✓ index: 0.0 MB, 0 minutes old, in" in cli(["doctor"]).stdout
    cache.chmod(0o777)
    assert f"✗ index: {cache} is open to others" in cli(["doctor"]).stdout
    assert cli(["memory", "recall", "webhooks", "--json"]).json["memories"] == right


def test_a_small_store_leaves_no_index(world: World, cli: RunCli) -> None:
    write_entry(world, "MEM-1")
    cli(["memory", "recall", "webhooks"])
    cli(["search", "webhooks"])
    assert "index: none yet" in cli(["doctor"]).stdout
    assert not (world.home / ".cache").exists()


def test_doctor_counts_the_index_of_a_large_nemp_store(
    world: World, cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_recall.stores.nemp.LARGE", 0)
    world.write("project/.nemp/memories.json", {f"key-{number}": f"webhook {number}" for number in range(9)})
    assert "index: none yet" in cli(["doctor"]).stdout
    assert cli(["search", "webhook"]).code == 0
    assert cli(["doctor", "--json"]).json["index"]["bytes"] > 0


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "arguments", [["nemp", "recall", "webhook", "--no-record"], ["search", "webhook"], ["memory", "recall", "webhooks"]]
)
def test_a_person_is_told_why_a_first_answer_takes_long(
    world: World, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr("memory_recall.stores.nemp.LARGE", 0)
    monkeypatch.setattr("memory_recall.stores.agent.INDEXED_FROM", 2)
    monkeypatch.setattr("memory_recall.index.indexing.MANY", 4)
    world.write("project/.nemp/memories.json", {f"key-{number}": f"webhook {number}" for number in range(9)})
    for number in range(4):
        write_entry(world, f"MEM-{number}")
    told = []
    for terminal in (False, True, True):
        stderr = _Screen() if terminal else io.StringIO()
        assert run(arguments, world.env, Streams(io.BytesIO(b""), io.StringIO(), stderr)) == 0
        told.append(stderr.getvalue())
        if not terminal:
            shutil.rmtree(world.home / ".cache")
    assert told[0] == told[2] == ""
    assert told[1].startswith("Indexing ")
