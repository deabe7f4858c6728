"""Reading a file ends, with its bytes or with a sentence, whatever stands at its path."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_recall.files import reading
from memory_recall.files.reading import Stamp, Unreadable, is_unchanged, read_file, read_pieces, stamp_of

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")


def refused(path: Path, **options: int) -> Unreadable:
    before = open_descriptors()
    with pytest.raises(Unreadable) as caught:
        read_file(path, **options)
    problem = caught.value.problem
    assert problem.path == str(path)
    assert str(path) in problem.message
    assert problem.message.endswith(".")
    assert problem.message == str(caught.value)
    assert open_descriptors() == before, "a descriptor was left open"
    return caught.value


def open_descriptors() -> int | None:
    directory = Path("/dev/fd")
    return len(list(directory.iterdir())) if directory.is_dir() else None


def test_the_bytes_come_as_they_are_with_their_stamp(tmp_path: Path) -> None:
    path = tmp_path / "store.json"
    path.write_bytes(b"\xef\xbb\xbf{\r\n}\x00\xff")
    file = read_file(path)
    assert file.data == b"\xef\xbb\xbf{\r\n}\x00\xff"
    assert file.stamp == stamp_of(path)


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert read_file(path).data == b""


@on_posix
def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to("real")
    assert read_file(link).data == b"x"
    assert read_file(link).stamp == stamp_of(tmp_path / "real")


def test_a_missing_file_is_told_from_a_broken_one(tmp_path: Path) -> None:
    missing = refused(tmp_path / "none.json")
    assert (missing.missing, missing.problem.code) == (True, "missing")


def test_a_file_where_a_directory_should_be_means_missing(tmp_path: Path) -> None:
    (tmp_path / ".nemp").write_text("not a directory")
    assert refused(tmp_path / ".nemp" / "memories.json").missing


@on_posix
def test_a_dangling_link_means_missing(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    failure = refused(link)
    assert failure.missing
    assert "symbolic link to nothing" in failure.problem.message, "the link itself does exist"


def test_a_directory_is_named_as_one(tmp_path: Path) -> None:
    failure = refused(tmp_path)
    assert (failure.missing, failure.problem.code) == (False, "is-a-directory")


@on_posix
def test_a_pipe_that_nobody_writes_to_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert refused(path).problem.code == "not-a-file"


@on_posix
def test_a_pipe_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that waits for a reader would be set free, and be killed when its reader turns away."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(reading.os, "open", refuse(errno.EIO))
    assert refused(tmp_path / "pipe").problem.code == "not-a-file"


@on_posix
def test_a_file_that_becomes_a_pipe_before_it_is_opened_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real_stat = tmp_path / "store.json", os.stat
    path.touch()

    def stat_then_swap(target: Path) -> os.stat_result:
        status = real_stat(target)
        path.unlink()
        os.mkfifo(path)
        return status

    monkeypatch.setattr(reading.os, "stat", stat_then_swap)
    with pytest.raises(Unreadable) as caught:
        read_file(path)
    assert caught.value.problem.code == "not-a-file"


@on_posix
def test_a_socket_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has little room
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert refused(tmp_path / "socket").problem.code == "not-a-file"


@on_posix
def test_a_device_is_no_file() -> None:
    assert refused(Path("/dev/zero")).problem.code == "not-a-file"


@on_posix
def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    failure = refused(tmp_path / "a")
    assert (failure.missing, failure.problem.code) == (False, "link-loop")


@pytest.mark.parametrize("name", ["a\x00b", "a\ud800b"])
def test_a_path_that_no_system_has(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path / name).problem.code in ("bad-path", "missing")
    assert stamp_of(tmp_path / name) is None


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    assert refused(tmp_path / ("x" * 5000)).problem.code in ("unreadable", "missing")


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "not-permitted"),
        (errno.EPERM, "not-permitted"),
        (errno.ELOOP, "link-loop"),
        (errno.ENOENT, "missing"),
        (errno.EIO, "unreadable"),
        (errno.EMFILE, "unreadable"),
        (errno.ESTALE, "unreadable"),
    ],
)
def test_what_the_system_refuses_becomes_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    path = tmp_path / "store.json"
    path.write_bytes(b"{}")
    monkeypatch.setattr(reading.os, "open", refuse(number))
    assert refused(path).problem.code == code


def test_a_disk_that_fails_midway_becomes_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.json"
    path.write_bytes(b"{}")
    monkeypatch.setattr(reading.os, "read", refuse(errno.EIO))
    assert refused(path).problem.code == "unreadable"


def refuse(number: int) -> Callable[..., int]:
    def call(*arguments: object, **options: object) -> int:
        raise OSError(number, os.strerror(number))

    return call


@on_posix
def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so a child that is somebody else looks; by a relative path, for what lies above."""
    monkeypatch.chdir(tmp_path)
    Path("secret").write_bytes(b"{}")
    Path("secret").chmod(0)
    child = os.fork()
    if not child:
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            read_file(Path("secret"))
        except Unreadable as failure:
            os._exit(0 if failure.problem.code == "not-permitted" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"12345")
    assert read_file(path, limit=5).data == b"12345"
    failure = refused(path, limit=4)
    assert failure.problem.code == "too-large"
    assert "4 bytes" in failure.problem.message


def test_a_huge_file_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert refused(path).problem.code == "too-large"


def test_a_file_that_grows_while_it_is_read_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"x")
    monkeypatch.setattr(reading.os, "read", lambda *_: b"x" * 10)
    assert refused(path, limit=1000).problem.code == "too-large"


# In pieces


def test_a_file_in_pieces_is_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_bytes(bytes(range(256)) * 10_000)
    pieces = list(read_pieces(path))
    assert len(pieces) > 1
    assert b"".join(pieces) == path.read_bytes()


def test_pieces_are_refused_where_a_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreadable):
        next(read_pieces(tmp_path))
    (tmp_path / "index").write_bytes(b"x")
    monkeypatch.setattr(reading.os, "read", refuse(errno.EIO))
    with pytest.raises(Unreadable):
        next(read_pieces(tmp_path / "index"))


# Stamps


def test_a_stamp_stays_while_nothing_happens(tmp_path: Path) -> None:
    path = tmp_path / "store.json"
    path.write_bytes(b"{}")
    assert stamp_of(path) == stamp_of(path) == read_file(path).stamp


def test_a_stamp_tells_a_replacement_of_the_same_size_and_time(tmp_path: Path) -> None:
    path, other = tmp_path / "store.json", tmp_path / "other"
    path.write_bytes(b"{1}")
    other.write_bytes(b"{2}")
    before = path.stat()
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    stamp = read_file(path).stamp
    other.replace(path)
    assert stamp_of(path) != stamp


def test_a_stamp_is_of_the_moment_before_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write during the read must make the stamp old: then whoever caches the bytes reads again."""
    path = tmp_path / "store.json"
    path.write_bytes(b"old")
    real_read = os.read

    def read_while_written(descriptor: int, size: int) -> bytes:
        data = real_read(descriptor, size)
        path.write_bytes(b"newer")
        return data

    monkeypatch.setattr(reading.os, "read", read_while_written)
    assert read_file(path).stamp != stamp_of(path)


def test_nothing_has_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path / "none") is None
    assert Stamp.of_status(tmp_path.stat()) == stamp_of(tmp_path)
    assert stat.S_ISDIR(tmp_path.stat().st_mode)


def test_a_file_changed_a_moment_before_it_was_read_is_read_again(tmp_path: Path) -> None:
    """Two writes within one tick of the clock carry the same times; the second must be seen all the same."""
    path = tmp_path / "memories.json"
    path.write_bytes(b"{}")

    stamp = read_file(path).stamp

    assert not stamp.settled
    assert stamp_of(path) == stamp
    assert not is_unchanged(path, stamp)


def test_a_file_that_has_long_stood_still_is_unchanged_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memories.json"
    path.write_bytes(b"{}")
    changed = path.stat().st_ctime_ns
    monkeypatch.setattr(reading.time, "time_ns", lambda: changed + 60_000_000)

    stamp = read_file(path).stamp

    assert stamp.settled
    assert is_unchanged(path, stamp)
    path.write_bytes(b"[1]")
    assert not is_unchanged(path, stamp)


def test_a_file_that_was_missing_is_unchanged_while_it_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "memories.json"

    assert is_unchanged(path, None)
    path.write_bytes(b"{}")
    assert not is_unchanged(path, None)
