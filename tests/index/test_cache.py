"""The directory of indexes: the user's alone, and never a reason for an answer to fail."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from memory_recall.index import cache as caches
from memory_recall.index.cache import Cache, Folder
from worlds import NOW, World


@pytest.fixture
def cache(world: World) -> Cache:
    made = Cache.of(world.env)
    assert made is not None
    return made


@pytest.fixture
def folder(cache: Cache, world: World) -> Folder:
    return cache.folder("agent", str(world.project))


def mode_of(path: Path) -> str:
    return f"{path.lstat().st_mode & 0o777:o}"


def test_it_lies_in_the_user_s_directory_for_caches(world: World) -> None:
    def where(**variables: str) -> Path | None:
        cache = Cache.of(world.at(NOW, **variables).env)
        return None if cache is None else cache.directory

    assert where() == world.home / ".cache/memory-recall/index"
    assert where(XDG_CACHE_HOME="/elsewhere") == Path("/elsewhere/memory-recall/index")
    assert where(XDG_CACHE_HOME="relative") == world.home / ".cache/memory-recall/index"
    assert where(MEMORY_RECALL_NO_CACHE="1") is None
    assert Cache.of(world.env._replace(home=None)) is None


def test_what_was_written_is_read(folder: Folder) -> None:
    assert folder.read("table") is None
    assert folder.write("table", [b"one ", b"two"])
    assert folder.read("table") == b"one two"
    assert folder.write("table", [b"three"])
    assert folder.read("table") == b"three"
    assert folder.fault is None


def test_a_look_makes_nothing(folder: Folder, world: World) -> None:
    folder.read("table")
    folder.keep_only(())
    assert folder.size() == 0
    assert folder.last_used() is None
    assert list(world.home.iterdir()) == []


def test_all_of_it_is_the_user_s_alone(folder: Folder, world: World) -> None:
    before = os.umask(0)
    try:
        folder.write("table", [b"x"])
    finally:
        os.umask(before)
    made = world.home / ".cache/memory-recall"
    assert [mode_of(path) for path in (made, *sorted(made.rglob("*")))] == ["700", "700", "700", "600", "600"]


@pytest.mark.parametrize("which", ["memory-recall", "memory-recall/index", "folder"])
@pytest.mark.parametrize("flaw", ["open", "link", "file", "another's"])
def test_a_directory_that_is_not_the_user_s_alone_is_not_used(
    folder: Folder, world: World, monkeypatch: pytest.MonkeyPatch, which: str, flaw: str
) -> None:
    folder.write("table", [b"x"])
    directory = folder.path if which == "folder" else world.home / ".cache" / which
    if flaw == "open":
        directory.chmod(0o770)
    elif flaw == "another's":
        real = os.lstat
        monkeypatch.setattr(os, "geteuid", lambda: real(directory).st_uid + 1)
    else:
        moved = directory.rename(world.home / "moved")
        if flaw == "link":
            directory.symlink_to(moved)
        else:
            directory.write_text("mine")
    assert folder.read("table") is None
    assert not folder.write("table", [b"y"])
    assert folder.size() == 0
    if which == "folder" or flaw != "file":
        assert str(directory if flaw != "another's" else world.home) in (folder.fault or "")
    if flaw == "link":
        assert (world.home / "moved").exists()


@pytest.mark.parametrize("flaw", ["open", "link", "hard link", "pipe", "directory", "too large"])
def test_a_file_that_was_planted_is_not_believed(folder: Folder, world: World, flaw: str) -> None:
    folder.write("table", [b"x"])
    path, elsewhere = folder.path / "table", world.write("home/elsewhere", b"planted")
    elsewhere.chmod(0o600)
    limit = 1 << 20
    if flaw == "open":
        path.chmod(0o640)
    elif flaw == "too large":
        limit = 0
    else:
        path.unlink()
        if flaw == "link":
            path.symlink_to(elsewhere)
        elif flaw == "hard link":
            path.hardlink_to(elsewhere)
        elif flaw == "pipe":
            os.mkfifo(path, 0o600)
        else:
            path.mkdir(0o700)
    assert folder.read("table", limit=limit) is None
    assert folder.fault is not None
    assert elsewhere.read_bytes() == b"planted"
    if flaw != "directory":
        assert folder.write("table", [b"y"])
        assert (folder.read("table"), elsewhere.read_bytes()) == (b"y", b"planted")


def test_no_cache_is_made_in_a_home_of_somebody_else(
    folder: Folder, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: world.home.stat().st_uid + 1)
    assert not folder.write("table", [b"x"])
    assert list(world.home.iterdir()) == []
    assert "belongs to somebody else" in (folder.fault or "")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_what_cannot_be_written_leaves_what_there_was(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    folder.write("table", [b"old"])

    def refuse(*_: Any) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        assert not folder.write("table", [b"new"])
    assert os.strerror(code) in (folder.fault or "")
    assert folder.read("table") == b"old"
    assert sorted(path.name for path in folder.path.iterdir()) == ["origin", "table"]


def test_a_home_where_nothing_can_be_made_is_no_fault_of_the_question(folder: Folder, world: World) -> None:
    (world.home / ".cache").write_text("a file")
    assert not folder.write("table", [b"x"])
    assert folder.read("table") is None


def test_files_that_nobody_names_are_removed_when_they_are_old(folder: Folder) -> None:
    for name in ("table", "kept.block", "young.block", "old.block", "0123.tmp"):
        folder.write(name, [b"x"])
    for name in ("kept.block", "old.block", "0123.tmp"):
        os.utime(folder.path / name, (1, 1))
    folder.keep_only(["table", "kept.block"])
    assert sorted(path.name for path in folder.path.iterdir()) == ["kept.block", "origin", "table", "young.block"]


def age(folder: Folder, days: float) -> None:
    moment = time.time() - days * 86_400
    for path in folder.path.iterdir():
        os.utime(path, (moment, moment))


def test_indexes_that_nobody_needs_are_removed(cache: Cache, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {}
    for name, days in (("here", 30), ("gone", 2), ("gone today", 0.5), ("forgotten", 100)):
        store = world.project / name
        if not name.startswith("gone"):
            store.mkdir()
        made[name] = cache.folder("agent", str(store))
        made[name].write("table", [b"x" * 100])
        age(made[name], days)
    cache.sweep()
    assert {name for name, folder in made.items() if folder.path.exists()} == {"here", "gone today"}
    monkeypatch.setattr(caches, "_MOST", 250)
    cache.sweep()
    assert {name for name, folder in made.items() if folder.path.exists()} == {"gone today"}, (
        "those asked for last stay"
    )


def test_what_is_of_use_is_not_forgotten(folder: Folder) -> None:
    folder.write("table", [b"x"])
    age(folder, 50)
    folder.note_use("table")
    folder.note_use("missing")
    assert time.time() - (folder.last_used() or 0) < 60


def test_the_folders_know_their_stores(cache: Cache, folder: Folder, world: World) -> None:
    assert list(cache.folders()) == []
    folder.write("table", [b"x"])
    (cache.directory / "stray").write_text("x")
    assert [(found.path, found.origin) for found in cache.folders()] == [(folder.path, str(world.project))]
