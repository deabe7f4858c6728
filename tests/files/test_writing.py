"""Whatever happens while a file is written, it is as it was or as it was meant to be, and nothing is left beside it."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faulty_system import calls_of, failing, killed

from memory_recall.files import writing
from memory_recall.files.locking import locked
from memory_recall.files.reading import Stamp
from memory_recall.files.writing import NotWritten, append_line, create, replace_file, rewrite

OLD, NEW = b'{"a": 1}\n', b'{"a": 2}\n'
CODES = [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EPERM, errno.EIO, errno.EDQUOT]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    path = directory / "memories.json"
    path.write_bytes(OLD)
    return path


def to_new(_: bytes) -> bytes:
    return NEW


def problem_of(action: Callable[[], object]) -> str:
    """The code of the problem because of which an action wrote nothing."""
    with pytest.raises(NotWritten) as caught:
        action()
    assert caught.value.problem.message == str(caught.value)
    assert caught.value.problem.message.endswith(".")
    return caught.value.problem.code


def names_in(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


# Rewriting


def test_a_file_gets_the_bytes_that_are_made_of_its_own(store: Path) -> None:
    rewrite(store, lambda old: old.replace(b"1", b"3"))
    assert store.read_bytes() == b'{"a": 3}\n'
    assert names_in(store.parent) == [store.name]


def test_the_same_bytes_are_not_written_again(store: Path) -> None:
    before = os.stat(store)
    rewrite(store, lambda old: old, before_replace=lambda: pytest.fail("nothing to replace"))
    assert os.stat(store) == before


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o777])
def test_the_mode_is_kept(store: Path, mode: int) -> None:
    store.chmod(mode)
    rewrite(store, to_new)
    assert store.stat().st_mode & 0o7777 == mode


@as_root
def test_the_owner_is_kept(store: Path) -> None:
    os.chown(store, 1234, 2345)
    rewrite(store, to_new)
    assert (store.stat().st_uid, store.stat().st_gid) == (1234, 2345)


@as_root
def test_the_group_is_kept_where_the_owner_cannot_be(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(store, 1234, 2345)
    real = os.fchown

    def fchown(descriptor: int, owner: int, group: int) -> None:
        if owner != -1:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        real(descriptor, owner, group)

    monkeypatch.setattr(os, "fchown", fchown)
    rewrite(store, to_new)
    assert (store.stat().st_uid, store.stat().st_gid) == (0, 2345)


def test_extended_attributes_are_kept(store: Path) -> None:
    try:
        os.setxattr(store, "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("this file system has no extended attributes")
    rewrite(store, to_new)
    assert os.getxattr(store, "user.note") == b"mine"


def test_a_link_stays_a_link_and_the_file_behind_it_is_written(store: Path, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / "memories.json").symlink_to("../project/memories.json")
    rewrite(links / "memories.json", to_new)
    assert (links / "memories.json").is_symlink()
    assert store.read_bytes() == NEW
    assert names_in(links) == ["memories.json"]


def test_another_writers_change_is_kept(store: Path) -> None:
    seen: list[bytes] = []

    def change(old: bytes) -> bytes:
        seen.append(old)
        if len(seen) == 1:
            store.write_bytes(b"foreign ")
        return old + b"and ours"

    rewrite(store, change)
    assert seen == [OLD, b"foreign "]
    assert store.read_bytes() == b"foreign and ours"


def test_a_change_that_leaves_no_trace_in_the_times_is_noticed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = Stamp.of_status(os.stat(store))
    monkeypatch.setattr(Stamp, "of_status", lambda _: frozen)

    def change(old: bytes) -> bytes:
        if old == OLD:
            store.write_bytes(b'{"b": 1}\n')
        return old.replace(b"1", b"2")

    rewrite(store, change)
    assert store.read_bytes() == b'{"b": 2}\n'


def test_a_change_while_the_last_word_is_given_is_kept_and_the_word_given_once(store: Path) -> None:
    told: list[str] = []

    def before_replace() -> None:
        told.append("told")
        replacement = store.with_name("theirs")
        replacement.write_bytes(b"foreign ")
        replacement.rename(store)

    rewrite(store, lambda old: old + b"and ours", before_replace=before_replace)
    assert told == ["told"]
    assert store.read_bytes() == b"foreign and ours"


def test_a_link_that_is_turned_elsewhere_meanwhile_is_not_followed_to_where_it_led(store: Path, tmp_path: Path) -> None:
    link, other = tmp_path / "link", tmp_path / "other"
    other.write_bytes(b"other")
    link.symlink_to(store)

    def change(old: bytes) -> bytes:
        link.unlink()
        link.symlink_to(other)
        return old + b"!"

    assert problem_of(lambda: rewrite(link, change)) == "changed-meanwhile"
    assert (store.read_bytes(), other.read_bytes()) == (OLD, b"other")


def test_a_file_that_never_rests_is_left_alone(store: Path) -> None:
    def change(old: bytes) -> bytes:
        store.write_bytes(old + b".")
        return NEW

    assert problem_of(lambda: rewrite(store, change)) == "changed-meanwhile"
    assert store.read_bytes().startswith(OLD)
    assert names_in(store.parent) == [store.name]


def test_a_file_that_vanishes_meanwhile_is_not_made_again(store: Path) -> None:
    def change(old: bytes) -> bytes:
        store.unlink()
        return NEW

    assert problem_of(lambda: rewrite(store, change)) == "missing"
    assert names_in(store.parent) == []


@pytest.mark.parametrize("failure", [ZeroDivisionError, OSError, ValueError, NotWritten])
@pytest.mark.parametrize("where", ["change", "before_replace", "check"])
def test_what_the_caller_raises_comes_through_and_nothing_is_written(
    store: Path, failure: type[Exception], where: str
) -> None:
    error = NotWritten(writing.Problem("log", "The log is full.")) if failure is NotWritten else failure("theirs")

    def fail(*_: bytes) -> Any:
        raise error

    with pytest.raises(failure) as caught:
        rewrite(
            store,
            fail if where == "change" else to_new,
            before_replace=fail if where == "before_replace" else lambda: None,
            check=fail if where == "check" else None,
        )
    assert caught.value is error
    assert store.read_bytes() == OLD
    assert names_in(store.parent) == [store.name]
    rewrite(store, to_new)


def test_who_gives_up_in_time_is_spared_every_step_that_would_have_to_be_undone(store: Path) -> None:
    wanted = [True]

    def change(_: bytes) -> bytes:
        wanted[0] = False
        return NEW

    def check() -> None:
        if not wanted[0]:
            raise KeyError

    with pytest.raises(KeyError):
        rewrite(store, change, before_replace=lambda: pytest.fail("too late to begin"), check=check)
    assert store.read_bytes() == OLD
    assert names_in(store.parent) == [store.name]


def test_who_gives_up_after_the_last_moment_is_too_late(store: Path) -> None:
    told: list[bool] = []

    def check() -> None:
        if told:
            pytest.fail("the step before the replacement was taken already")

    rewrite(store, to_new, before_replace=lambda: told.append(True), check=check)
    assert store.read_bytes() == NEW


def test_a_wait_for_the_lock_is_given_up_too(store: Path) -> None:
    def check() -> None:
        raise OSError("theirs")

    with locked(store.parent), pytest.raises(OSError, match="theirs"):
        rewrite(store, to_new, check=check)
    assert store.read_bytes() == OLD


def test_an_interrupt_leaves_nothing_behind(store: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rewrite(store, to_new, before_replace=interrupt)
    assert store.read_bytes() == OLD
    assert names_in(store.parent) == [store.name]


def test_what_is_no_readable_file_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    expected = {
        "missing": "missing",
        "no/such/directory": "missing",
        "dangling": "missing",
        "loop": "link-loop",
        "pipe": "not-a-file",
        ".": "is-a-directory",
        "nul\0": "bad-path",
        "n" * 300: "unreadable",
    }
    for name, code in expected.items():
        assert problem_of(lambda name=name: rewrite(tmp_path / name, to_new)) == code


@pytest.mark.parametrize("marked", ["file", "directory"])
def test_what_is_marked_read_only_is_respected(store: Path, marked: str) -> None:
    there, mode = (store, 0o444) if marked == "file" else (store.parent, 0o555)
    there.chmod(mode)
    try:
        assert problem_of(lambda: rewrite(store, to_new)) == "not-permitted"
        assert store.read_bytes() == OLD
    finally:
        there.chmod(0o755)


def test_a_lock_that_is_not_let_go_is_a_sentence(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "locked", lambda directory, **_: locked(directory, timeout=0.0))
    with locked(store.parent):
        assert problem_of(lambda: rewrite(store, to_new)) == "lock-timeout"
    assert store.read_bytes() == OLD


def test_windows_is_asked_again_while_a_reader_has_the_file_open(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals, pauses = [True] * 3, []
    real = os.replace

    def replace(*arguments: Any) -> None:
        if refusals:
            refusals.pop()
            raise PermissionError(errno.EACCES, "The process cannot access the file")
        real(*arguments)

    monkeypatch.setattr(writing, "_WINDOWS", True)
    monkeypatch.setattr(writing.time, "sleep", pauses.append)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.delattr(os, "fchown")
    monkeypatch.delattr(os, "listxattr")
    rewrite(store, to_new)
    assert store.read_bytes() == NEW
    assert len(pauses) == 3


def test_windows_is_not_asked_for_ever(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "The process cannot access the file")

    monkeypatch.setattr(writing, "_WINDOWS", True)
    monkeypatch.setattr(writing.time, "sleep", lambda _: None)
    monkeypatch.setattr(os, "replace", replace)
    assert problem_of(lambda: rewrite(store, to_new)) == "not-permitted"
    assert store.read_bytes() == OLD
    assert names_in(store.parent) == [store.name]


# Every step of every writer, failing and killed. `log.txt` is appended to, `new.json` created.


def add_line(store: Path) -> None:
    append_line(store.with_name("log.txt"), "line")


def make_new(store: Path) -> None:
    create(store.with_name("new.json"), NEW)


def rewrite_and_log(store: Path) -> None:
    undo: list[Callable[[], bool]] = []
    try:
        rewrite(store, to_new, before_replace=lambda: undo.append(append_line(store.with_name("log.txt"), "line")))
    except NotWritten:
        for take_back in undo:
            take_back()
        raise


WRITERS = [lambda store: rewrite(store, to_new), add_line, make_new, rewrite_and_log]
NAMES = ["rewrite", "append", "create", "rewrite and log"]


def check_whole(store: Path) -> tuple[bool, bool, bool]:
    """Every file is as it was or as it was meant to be; which of the three is new."""
    log, new = store.with_name("log.txt"), store.with_name("new.json")
    assert store.read_bytes() in (OLD, NEW)
    assert not new.exists() or new.read_bytes() == NEW
    line = log.read_bytes() if log.exists() else b""
    assert line in (b"", b"line\n")
    return store.read_bytes() == NEW, new.exists(), bool(line)


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
@pytest.mark.parametrize("write", WRITERS, ids=NAMES)
def test_a_failure_of_any_step_leaves_every_file_whole(store: Path, write: Callable[[Path], None], code: int) -> None:
    steps = calls_of(lambda: write(store))
    done = check_whole(store)
    for number, step in enumerate(steps, start=1):
        for path in store.parent.iterdir():
            path.unlink()
        store.write_bytes(OLD)
        finished = False
        with contextlib.suppress(NotWritten), failing(number, code):
            write(store)
            finished = True
        state = check_whole(store)
        assert state == (done if finished else (False, False, False)), f"step {number} ({step})"
        if step != "unlink":
            assert not [name for name in names_in(store.parent) if "tmp" in name], f"step {number} ({step})"
        rewrite(store, lambda old: old + b" ")
        assert not [name for name in names_in(store.parent) if "tmp" in name]


@pytest.mark.parametrize("write", WRITERS, ids=NAMES)
def test_a_writer_that_is_killed_at_any_step_leaves_every_file_whole(
    store: Path, write: Callable[[Path], None]
) -> None:
    number = 1
    while killed(number, lambda: write(store)):
        check_whole(store)
        rewrite(store, lambda old: old + b" ")  # the lock has died with its holder, and the leavings are cleared
        assert not [name for name in names_in(store.parent) if "tmp" in name], f"step {number}"
        for path in store.parent.iterdir():
            path.unlink()
        store.write_bytes(OLD)
        number += 1
    assert number > 10


INCREMENT = """
import sys
from pathlib import Path
from memory_recall.files.writing import append_line, rewrite
store, name = Path(sys.argv[1]), sys.argv[2]
for number in range(50):
    rewrite(store, lambda old: str(int(old) + 1).encode())
    append_line(store.with_name("log.txt"), f"{name} {number} " + name * 200)
"""


def test_two_processes_lose_no_increment_and_mix_no_lines(store: Path) -> None:
    store.write_bytes(b"0")
    command = [sys.executable, "-c", INCREMENT, str(store)]
    writers = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert store.read_bytes() == b"100"
    lines = store.with_name("log.txt").read_text().splitlines()
    assert sorted(lines) == sorted(f"{name} {number} {name * 200}" for name in "ab" for number in range(50))
    assert names_in(store.parent) == ["log.txt", store.name]


def test_only_our_own_leavings_are_cleared(store: Path) -> None:
    ours = store.with_name(".memory-recall-0123456789abcdef.tmp")
    theirs = [".memory-recall-notes.tmp", "memory-recall-0123456789abcdef.tmp", ".memory-recall-0123456789abcdef.tmp2"]
    ours.touch()
    for name in theirs:
        store.with_name(name).touch()
    store.with_name(".memory-recall-fedcba9876543210.tmp").mkdir()
    rewrite(store, to_new)
    assert names_in(store.parent) == sorted([store.name, *theirs, ".memory-recall-fedcba9876543210.tmp"])


# Creating


def test_a_new_file_is_made_with_its_directories(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "R-1" / "result.json"
    create(path, NEW)
    assert path.read_bytes() == NEW
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    assert names_in(path.parent) == ["result.json"]


def test_a_new_file_that_cannot_be_made_leaves_no_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(os, "write", full)
    assert problem_of(lambda: create(tmp_path / "kept" / "runs" / "R-1" / "result.json", NEW)) == "disk-full"
    assert names_in(tmp_path / "kept") == []


@pytest.mark.parametrize("there", ["file", "directory", "dangling link"])
def test_what_exists_is_never_overwritten(tmp_path: Path, there: str) -> None:
    path = tmp_path / "result.json"
    if there == "file":
        path.write_bytes(OLD)
    elif there == "directory":
        path.mkdir()
    else:
        path.symlink_to("nowhere")
    assert problem_of(lambda: create(path, NEW)) == "exists"
    assert names_in(tmp_path) == ["result.json"]
    assert there != "file" or path.read_bytes() == OLD


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS])
def test_a_new_file_is_made_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def link(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    create(tmp_path / "a.json", NEW)
    assert (tmp_path / "a.json").read_bytes() == NEW
    assert names_in(tmp_path) == ["a.json"]


def test_a_file_that_appears_at_the_last_moment_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link(source: Any, target: Any) -> None:
        Path(target).write_bytes(OLD)
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    assert problem_of(lambda: create(tmp_path / "a.json", NEW)) == "exists"
    assert (tmp_path / "a.json").read_bytes() == OLD
    assert names_in(tmp_path) == ["a.json"]


def test_a_file_where_a_directory_belongs_is_a_sentence(store: Path) -> None:
    assert problem_of(lambda: create(store / "new.json", NEW)) == "missing"
    assert problem_of(lambda: append_line(store / "log.txt", "line")) == "missing"
    assert store.read_bytes() == OLD


def test_names_that_no_system_takes_are_sentences(tmp_path: Path) -> None:
    for name in ("n" * 300, "nul\0"):
        assert problem_of(lambda name=name: create(tmp_path / name, NEW)) == "bad-path"
        assert problem_of(lambda name=name: append_line(tmp_path / name, "line")) == "bad-path"
    assert names_in(tmp_path) == []


def test_a_file_is_given_its_bytes_whether_it_is_there_or_not(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    replace_file(path, OLD)
    path.chmod(0o640)
    replace_file(path, NEW)
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o777 == 0o640
