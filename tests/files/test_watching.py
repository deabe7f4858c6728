"""A watch knows of each change when the call that made it has returned, or says that it does not know."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_recall.files import watching
from memory_recall.files.watching import Watch, is_local


def write(path: Path) -> None:
    path.write_text("new")


def write_within(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"x")


def touch(path: Path) -> None:
    os.utime(path, (1, 1))


def change_mode(path: Path) -> None:
    path.chmod(0o600)


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("b"))


def replace(path: Path) -> None:
    other = path.parent.parent / "other"
    other.write_text("other")
    other.replace(path)


def truncate(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (write, {"a"}),
        (write_within, {"a"}),
        (touch, {"a"}),
        (change_mode, {"a"}),
        (remove, {"a"}),
        (rename, {"a", "b"}),
        (replace, {"a"}),
        (truncate, {"a"}),
    ],
)
def test_a_change_is_known_at_once(tmp_path: Path, change: Callable[[Path], None], names: set[str]) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (second / "a").write_text("old")
    watch = Watch([str(first), str(second)])
    before = watch.count
    assert watch.since(before) == set()
    change(second / "a")
    assert watch.since(before) == {(1, name) for name in names}
    assert watch.since(watch.count) == set()


def test_a_file_that_is_still_open_has_changed_when_it_is_written_to(tmp_path: Path) -> None:
    watch = Watch([str(tmp_path)])
    descriptor = os.open(tmp_path / "a", os.O_CREAT | os.O_WRONLY)
    try:
        mark = watch.count
        assert watch.since(mark) == set()
        os.write(descriptor, b"x")
        assert watch.since(mark) == {(0, "a")}
    finally:
        os.close(descriptor)


def test_looking_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    watch = Watch([str(tmp_path)])
    (tmp_path / "a").read_text()
    list(tmp_path.iterdir())
    (tmp_path / "a").stat()
    assert watch.since(0) == set()


def test_what_was_asked_by_one_is_still_told_to_another(tmp_path: Path) -> None:
    watch = Watch([str(tmp_path)])
    first = watch.count
    (tmp_path / "a").write_text("x")
    second = watch.count
    (tmp_path / "b").write_text("x")
    assert watch.since(second) == {(0, "b")}
    assert watch.since(first) == {(0, "a"), (0, "b")}
    watch.forget(second)
    assert watch.since(second) == {(0, "b")}


@pytest.mark.parametrize("which", ["removed", "moved"])
def test_a_directory_that_goes_is_not_known_any_more(tmp_path: Path, which: str) -> None:
    directory = tmp_path / "watched"
    directory.mkdir()
    watch = Watch([str(directory)])
    mark = watch.count
    if which == "removed":
        directory.rmdir()
    else:
        directory.rename(tmp_path / "elsewhere")
    assert watch.since(mark) is None


def test_a_doubt_has_everything_looked_at_once(tmp_path: Path) -> None:
    watch = Watch([str(tmp_path)])
    mark = watch.count
    watch.doubt()
    assert watch.since(mark) is None
    assert watch.since(watch.count) == set()


def test_more_changes_than_are_remembered_are_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_REMEMBERED", 5)
    watch = Watch([str(tmp_path)])
    mark = watch.count
    for number in range(7):
        (tmp_path / str(number)).write_text("x")
    assert watch.since(mark) is None
    assert watch.since(watch.count) == set()


def test_a_queue_that_ran_over_is_everything(tmp_path: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 200_000:
        pytest.skip("the queue of this system is too long to fill")
    (tmp_path / "a").write_text("x")
    watch = Watch([str(tmp_path)])
    mark = watch.count
    for number in range(limit + 10):  # two kinds in turn, since the same one twice is told once
        os.utime(tmp_path / "a") if number % 2 else os.truncate(tmp_path / "a", 0)
    assert watch.since(mark) is None


def test_names_that_are_no_text_are_told(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9 \n")
    watch = Watch([str(tmp_path)])
    (tmp_path / name).write_text("x")
    assert watch.since(0) == {(0, name)}


@pytest.mark.parametrize("missing", ["nowhere", "file"])
def test_what_is_no_directory_is_not_watched(tmp_path: Path, missing: str) -> None:
    (tmp_path / "file").write_text("x")
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    with pytest.raises(OSError, match=r"No such file|Not a directory"):
        Watch([str(tmp_path), str(tmp_path / missing)])
    with pytest.raises(OSError, match="are one"):
        Watch([str(tmp_path), str(tmp_path)])
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before, "and its descriptor is given back"


@pytest.mark.parametrize(
    ("mounts", "local"),
    [
        (["1 0 8:1 / / rw - ext4 /dev/a rw"], True),
        (["1 0 8:1 / / rw - ext4 /dev/a rw", "2 1 0:5 / HERE rw shared:1 - nfs4 server:/ rw"], False),
        (["1 0 8:1 / / rw - nfs server:/ rw", "2 1 0:5 / HERE rw - tmpfs tmpfs rw"], True),
        (["1 0 8:1 / / rw - ext4 /dev/a rw", "2 1 0:5 / HEREAFTER rw - fuse.sshfs x rw"], True),
        (["2 1 0:5 / HERE rw - ext4 /dev/a rw", "3 2 0:6 / HERE rw - 9p share rw"], False),
        (["1 0 8:1 / /mnt/a\\040b rw - 9p share rw"], False),
        (["nonsense", ""], False),
    ],
)
def test_only_a_file_system_of_this_kernel_is_local(tmp_path: Path, mounts: list[str], local: bool) -> None:
    here = tmp_path / "a b"
    here.mkdir()
    listing = tmp_path / "mountinfo"
    listing.write_text("\n".join(mounts).replace("HERE", str(here).replace(" ", "\\040")))
    assert is_local(str(here), str(listing)) is local


def test_without_a_list_of_mounts_nothing_is_local(tmp_path: Path) -> None:
    assert not is_local(str(tmp_path), str(tmp_path / "missing"))
