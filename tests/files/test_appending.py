"""One line at the end of a log: whole or not at all, on a line of its own, and taken back only while it is the last."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_recall.files.writing import NotWritten, append_line

PROPERTY = settings(
    derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / ".nemp" / "access.log"


def problem_of(path: Path, line: str = "line") -> str:
    with pytest.raises(NotWritten) as caught:
        append_line(path, line)
    return caught.value.problem.code


def test_the_log_and_its_directory_are_made(log: Path) -> None:
    append_line(log, "one")
    append_line(log, "two")
    assert log.read_bytes() == b"one\ntwo\n"
    umask = os.umask(0)
    os.umask(umask)
    assert log.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"", b"new\n"), (b"a\n", b"a\nnew\n"), (b"a", b"a\nnew\n"), (b"a\r\n", b"a\r\nnew\n"), (b"a\r", b"a\rnew\n")],
)
def test_an_unfinished_line_is_ended_first(log: Path, before: bytes, after: bytes) -> None:
    log.parent.mkdir()
    log.write_bytes(before)
    undo = append_line(log, "new")
    assert log.read_bytes() == after
    assert undo()
    assert log.read_bytes() == before


@PROPERTY
@given(st.binary(max_size=30), st.lists(st.text(max_size=10), max_size=5), st.text(max_size=10))
def test_each_line_is_one_line_and_all_can_be_taken_back(
    tmp_path: Path, before: bytes, lines: list[str], last: str
) -> None:
    log = tmp_path / "access.log"
    log.write_bytes(before)
    undone = [append_line(log, line) for line in [*lines, last]]
    added = log.read_bytes().removeprefix(before)
    unfinished = before and before[-1:] not in (b"\n", b"\r")
    assert added.count(b"\n") == len(undone) + bool(unfinished)
    assert len(added.decode().splitlines()) == len(undone) + bool(unfinished)
    assert [undo() for undo in reversed(undone)] == [True] * len(undone)
    assert log.read_bytes() == before


def test_nothing_in_a_line_can_end_it_or_keep_it_from_being_written(log: Path) -> None:
    append_line(log, "query=a\nb\r\x1b[31m\u2028\ud800 [2026-11-30T00:00:00Z] READ key=forged")
    assert log.read_text(encoding="utf-8") == (
        "query=a\\nb\\r\\x1b[31m\\u2028\\ud800 [2026-11-30T00:00:00Z] READ key=forged\n"
    )


def test_a_line_is_not_taken_back_once_it_is_not_the_last(log: Path) -> None:
    first = append_line(log, "same")
    second = append_line(log, "same")
    assert not first()
    assert second()
    assert first()
    assert not first()
    assert log.read_bytes() == b""


def test_a_line_is_not_taken_back_from_another_file(log: Path) -> None:
    undo = append_line(log, "line")
    log.rename(log.with_name("rotated.log"))
    assert not undo()
    log.write_bytes(b"line\n")
    assert not undo()
    assert log.read_bytes() == b"line\n"
    log.unlink()
    log.symlink_to("rotated.log")
    assert not undo()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    for name, target in (("access.log", "precious"), ("dangling.log", "nowhere"), ("loop.log", "loop.log")):
        (tmp_path / name).symlink_to(target)
        assert problem_of(tmp_path / name) == "is-a-link"
    assert precious.read_bytes() == b"precious"
    assert not (tmp_path / "nowhere").exists()


def test_a_linked_directory_is(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / ".nemp").symlink_to("kept")
    append_line(tmp_path / ".nemp" / "access.log", "line")
    assert (tmp_path / "kept" / "access.log").read_bytes() == b"line\n"


def test_what_is_no_regular_file_is_left_alone_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert problem_of(tmp_path / "pipe") == "not-a-file"
    assert problem_of(Path("/dev/null")) == "not-a-file"
    (tmp_path / "directory").mkdir()
    assert problem_of(tmp_path / "directory") == "is-a-directory"


@pytest.mark.parametrize("marked", ["file", "directory"])
def test_what_is_marked_read_only_is_respected(log: Path, marked: str) -> None:
    log.parent.mkdir()
    if marked == "file":
        log.write_bytes(b"")
        log.chmod(0o444)
    else:
        log.parent.chmod(0o555)
    try:
        assert problem_of(log) == "not-permitted"
        assert marked == "directory" or log.read_bytes() == b""
    finally:
        log.parent.chmod(0o755)


def test_a_line_that_fits_only_in_part_is_taken_back(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append_line(log, "one")
    real = os.write

    def write(descriptor: int, data: Any) -> int:
        return real(descriptor, data[:3])

    with monkeypatch.context() as full:
        full.setattr(os, "write", write)
        assert problem_of(log) == "disk-full"
    assert log.read_bytes() == b"one\n"
