"""One writer at a time: by the directory itself where that can be, by a file of the user's own elsewhere."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from memory_recall.files import locking
from memory_recall.files.locking import NotLocked, held_briefly, locked


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


@pytest.fixture(params=["its own lock", "windows", "no locks here"])
def any_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if request.param == "windows":
        monkeypatch.setattr(locking, "FCNTL", None)
    if request.param == "no locks here":
        directories_cannot_be_locked(monkeypatch, errno.ENOLCK)
    return str(request.param)


def directories_cannot_be_locked(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    real = fcntl.flock

    def flock(descriptor: int, operation: int) -> Any:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        return real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)


def test_a_second_holder_waits_and_is_told_when_it_waited_too_long(project: Path, any_system: str) -> None:
    with locked(project):
        with pytest.raises(NotLocked) as caught, locked(project, timeout=0.01):
            pytest.fail("two at once")
        assert caught.value.problem.code == "lock-timeout"
        assert str(project) in caught.value.problem.message
    with locked(project, timeout=0.0):
        pass


def test_who_no_longer_needs_the_lock_stops_waiting_for_it(project: Path, any_system: str) -> None:
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise KeyError

    with locked(project), pytest.raises(KeyError), locked(project, check=check):
        pytest.fail("two at once")
    with locked(project, timeout=0.0, check=lambda: pytest.fail("nothing to wait for")):
        pass


def test_the_lock_is_let_go_when_the_work_fails(project: Path, any_system: str) -> None:
    with pytest.raises(ZeroDivisionError), locked(project):
        raise ZeroDivisionError
    with locked(project, timeout=0.0):
        pass


def test_a_directory_is_the_same_by_whatever_name(project: Path, any_system: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    with locked(project), pytest.raises(NotLocked), locked(tmp_path / "link", timeout=0.0):
        pass


def test_other_directories_are_free(project: Path, any_system: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with locked(project), locked(other, timeout=0.0):
        pass


def test_nothing_appears_in_the_project(project: Path, any_system: str) -> None:
    with locked(project):
        assert list(project.iterdir()) == []
    assert list(project.iterdir()) == []


def test_threads_take_turns(project: Path, any_system: str) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        for _ in range(10):
            with locked(project):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 30


@pytest.mark.parametrize("there", ["missing", "a-file"])
def test_what_is_no_directory_cannot_be_locked(any_system: str, tmp_path: Path, there: str) -> None:
    (tmp_path / "a-file").touch()
    with pytest.raises(NotLocked) as caught, locked(tmp_path / there):
        pass
    assert caught.value.problem.code == "missing"


def test_a_lock_dies_with_its_holder(project: Path, any_system: str) -> None:
    process = os.fork()
    if not process:
        with locked(project):
            os._exit(0)
    os.waitpid(process, 0)
    with locked(project, timeout=0.0):
        pass


@pytest.mark.parametrize(
    "code", [errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EPERM]
)
def test_a_file_stands_in_where_directories_cannot_be_locked(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    directories_cannot_be_locked(monkeypatch, code)
    kept = tmp_path / "kept"
    with locked(project, lock_files=kept):
        assert [entry.suffix for entry in kept.iterdir()] == [".lock"]
        assert kept.stat().st_mode & 0o077 == 0
        with pytest.raises(NotLocked), locked(project, timeout=0.0, lock_files=kept):
            pass


def test_a_file_stands_in_where_the_directory_may_not_be_read(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse(path: Any, *arguments: Any, **named: Any) -> int:
        if Path(path) == project:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, *arguments, **named)

    monkeypatch.setattr(os, "open", refuse)
    with locked(project, lock_files=tmp_path / "kept"):
        assert len(list((tmp_path / "kept").iterdir())) == 1


def test_a_broken_disk_is_a_sentence(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directories_cannot_be_locked(monkeypatch, errno.EIO)
    with pytest.raises(NotLocked) as caught, locked(project):
        pass
    assert caught.value.problem.code == "not-locked"


def test_lock_files_are_not_kept_where_somebody_else_rules(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "FCNTL", None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    somewhere = tmp_path / "somewhere"
    somewhere.mkdir()
    (tmp_path / f"memory-recall-locks-{os.getuid()}").symlink_to(somewhere)
    with pytest.raises(NotLocked, match="another user"), locked(project):
        pass
    assert list(somewhere.iterdir()) == []


def test_a_directory_that_was_replaced_while_we_waited_is_locked_anew(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = locking._wait_for_lock
    moved = project.with_name("moved")

    def wait(descriptor: int, deadline: float) -> bool:
        if not moved.exists():
            project.rename(moved)
            project.mkdir()
        return real(descriptor, deadline)

    monkeypatch.setattr(locking, "_wait_for_lock", wait)
    with locked(project):
        with locked(moved, timeout=0.0):
            pass
        with pytest.raises(NotLocked), locked(project, timeout=0.0):
            pass


def test_a_directory_that_vanished_while_we_waited_is_missing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "_wait_for_lock", lambda *_: project.rmdir() or True if project.exists() else True)
    with pytest.raises(NotLocked) as caught, locked(project):
        pass
    assert caught.value.problem.code == "missing"


def test_an_open_file_is_held_if_it_can_be_and_worked_on_anyway(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    descriptors = [os.open(project / "log", os.O_RDWR | os.O_CREAT) for _ in range(2)]
    try:
        with held_briefly(descriptors[0]):
            with pytest.raises(BlockingIOError):
                fcntl.flock(descriptors[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            with held_briefly(descriptors[1], timeout=0.0):
                pass
        with held_briefly(descriptors[1], timeout=0.0):
            pass
        monkeypatch.setattr(locking, "FCNTL", None)
        with held_briefly(descriptors[0]):
            fcntl.flock(descriptors[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
