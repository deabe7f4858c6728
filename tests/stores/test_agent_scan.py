"""A look at 100,000 files: names and stamps, with the help of a second process or without."""

from __future__ import annotations

import os
import signal
import struct
from pathlib import Path

import pytest

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.files.reading import stamp_of
from memory_recall.stores import agent_scan
from memory_recall.stores.agent_scan import LINK, Listing, Scan, listed, row_at, row_of


def names_of(listing: Listing) -> list[str]:
    return [entry.name for entry in listing.entries]


def expected(directory: Path, names: list[str]) -> bytes:
    rows = []
    for name in names:
        path = directory / name
        row = row_of(stamp_of(path), path.stat().st_nlink if path.exists() else 0, is_link=path.is_symlink())
        assert row == row_at(str(path))
        rows.append(row)
    return b"".join(rows)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for number in range(40):
        (tmp_path / f"MEM-{number}.json").write_text("x" * number)
    (tmp_path / "hard").hardlink_to(tmp_path / "MEM-1.json")
    (tmp_path / "link").symlink_to("MEM-2.json")
    (tmp_path / "nowhere").symlink_to("missing")
    (tmp_path / "directory").mkdir()
    (tmp_path / os.fsdecode(b"caf\xe9\n.json")).write_text("x")
    return tmp_path


def test_all_names_are_listed(directory: Path) -> None:
    listing = listed(str(directory))
    assert sorted(names_of(listing)) == sorted(path.name for path in directory.iterdir())
    assert listing.blob.split(b"\0") == [*map(os.fsencode, names_of(listing)), b""]


def test_each_has_a_row_in_their_order(directory: Path) -> None:
    listings = [listed(str(directory)), listed(str(directory))]
    assert Scan(listings).rows() == expected(directory, names_of(listings[0])) * 2


def test_nothing_is_no_row(tmp_path: Path) -> None:
    assert Scan([listed(str(tmp_path))]).rows() == b""


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_scan, "HELPED_FROM", 1)
    monkeypatch.setattr(agent_scan, "_CHUNK", 4)
    monkeypatch.setattr(agent_scan, "_may_fork", lambda: True)


@pytest.mark.usefixtures("helped")
def test_two_processes_see_what_one_does(directory: Path) -> None:
    listing = listed(str(directory))
    scan = Scan([listing])
    assert scan._helper is not None
    assert scan.rows() == expected(directory, names_of(listing))


@pytest.mark.usefixtures("helped")
@pytest.mark.parametrize("dies", ["at once", "half way"])
def test_what_a_helper_left_undone_is_done(directory: Path, monkeypatch: pytest.MonkeyPatch, dies: str) -> None:
    real, us, calls = Scan._look, os.getpid(), []

    def look(scan: Scan, chunk: int) -> None:
        calls.append(chunk)
        if os.getpid() != us and (dies == "at once" or len(calls) > 3):
            os.kill(os.getpid(), signal.SIGKILL)
        real(scan, chunk)

    monkeypatch.setattr(Scan, "_look", look)
    listing = listed(str(directory))
    assert Scan([listing]).rows() == expected(directory, names_of(listing))


@pytest.mark.usefixtures("helped")
def test_without_a_second_process_one_does_it_all(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", none_left)
    listing = listed(str(directory))
    assert Scan([listing]).rows() == expected(directory, names_of(listing))


@pytest.mark.usefixtures("helped")
def test_a_helper_is_waited_for_also_when_nobody_waits(directory: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    scan = Scan([listed(str(directory))])
    with pytest.raises(Cancelled):
        scan.rows(cancellation)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_process_with_threads_is_not_forked() -> None:
    import threading

    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert not agent_scan._may_fork()
    finally:
        ended.set()
        thread.join()


def test_descriptors_are_given_back(directory: Path) -> None:
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    for _ in range(3):
        Scan([listed(str(directory))]).rows()
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before
    with pytest.raises(OSError, match="No such file"):
        listed(str(directory / "missing"))
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before


def test_numbers_of_more_than_64_bits_are_cut() -> None:
    stamp = stamp_of("/")
    assert stamp is not None
    assert len(row_of(stamp._replace(inode=2**80 + 5), 1, is_link=False)) == 48


def test_a_row_says_whether_the_name_is_a_link(directory: Path) -> None:
    listing = listed(str(directory))
    rows = struct.iter_unpack("QQqqqQ", Scan([listing]).rows())
    links = {name for name, row in zip(names_of(listing), rows, strict=True) if row[-1] & LINK}
    assert links == {"link", "nowhere"}
