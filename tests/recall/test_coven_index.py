"""The private copy of the index: made whole, for its owner only, outside of the store, and never left behind."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from coven_worlds import A, Coven, coven_in
from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled, RecallError
from memory_recall.recall import coven_index
from memory_recall.recall.coven_index import private_index
from worlds import World

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the program of the fixture is a shell script")


@pytest.fixture
def coven(world: World) -> Coven:
    coven = coven_in(world)
    coven.claim(A, "Queue names are kebab-case.")
    return coven.finish()


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


def test_the_copy_is_private_has_the_very_bytes_and_vanishes(coven: Coven, temporary: Path) -> None:
    (coven.root / "archival.sqlite3-wal").write_bytes(b"journal")
    (coven.root / "archival.sqlite3-shm").write_bytes(b"shared")
    before = coven.trace()
    with private_index(coven.root, coven.env(TMPDIR=str(temporary))) as index:
        assert index.directory.parent == temporary
        assert stat.S_IMODE(index.directory.stat().st_mode) == 0o700
        names = ["archival.sqlite3", "archival.sqlite3-wal", "archival.tvim"]
        assert sorted(path.name for path in index.directory.iterdir()) == names
        for name in names:
            assert (index.directory / name).read_bytes() == (coven.root / name).read_bytes()
    assert list(temporary.iterdir()) == []
    assert coven.trace() == before


def test_the_copy_vanishes_after_an_error_too(coven: Coven, temporary: Path) -> None:
    with pytest.raises(ZeroDivisionError), private_index(coven.root, coven.env(TMPDIR=str(temporary))):
        raise ZeroDivisionError
    assert list(temporary.iterdir()) == []


def test_the_copied_files_are_for_their_owner_only(coven: Coven, temporary: Path) -> None:
    with private_index(coven.root, coven.env(TMPDIR=str(temporary))) as index:
        assert {stat.S_IMODE(path.stat().st_mode) for path in index.directory.iterdir()} == {0o600}


@pytest.fixture
def directories(temporary: Path) -> list[Path]:
    """A copy left by somebody, something else of that beginning, and a link of the same name."""
    made = [temporary / name for name in ("memory-recall-index-a", "memory-recall-other")]
    for directory in made:
        directory.mkdir()
        (directory / "archival.sqlite3").write_bytes(b"private")
    made.append(temporary / "memory-recall-index-link")
    made[-1].symlink_to(made[1])
    return made


def left_after_a_question(coven: Coven, temporary: Path) -> list[Path]:
    with private_index(coven.root, coven.env(TMPDIR=str(temporary))):
        pass
    return sorted(temporary.iterdir())


def test_a_copy_that_nobody_holds_is_removed_at_once(coven: Coven, temporary: Path, directories: list[Path]) -> None:
    assert left_after_a_question(coven, temporary) == sorted(directories[1:])
    assert (directories[1] / "archival.sqlite3").exists()


def test_a_copy_at_work_is_left_alone_however_old_it_is(coven: Coven, temporary: Path) -> None:
    with private_index(coven.root, coven.env(TMPDIR=str(temporary))) as index:
        os.utime(index.directory, (0, 0))
        assert left_after_a_question(coven, temporary) == [index.directory]
        assert index.vectors.exists()


def test_where_directories_cannot_be_locked_age_decides(
    coven: Coven, temporary: Path, directories: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def unsupported(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert left_after_a_question(coven, temporary) == sorted(directories)
    os.utime(directories[0], (0, 0))
    assert left_after_a_question(coven, temporary) == sorted(directories[1:])


def test_a_directory_that_is_swept_before_it_is_held_is_made_again(
    coven: Coven, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, swept = coven_index._hold, []

    def sweeping(directory: Path) -> int | None:
        if len(swept) < 2:
            swept.append(directory)
            directory.rmdir()
        return hold(directory)

    monkeypatch.setattr(coven_index, "_hold", sweeping)
    with private_index(coven.root, coven.env(TMPDIR=str(temporary))) as index:
        assert index.directory not in swept
        assert index.vectors.exists()


@pytest.mark.parametrize("place", ["memory", "memory/tmp", ".", "link"])
def test_no_copy_is_made_in_the_store(
    coven: Coven, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = coven.root.parent / place
    if place == "link":
        inside = tmp_path / "link"
        inside.symlink_to(coven.root)
    inside.mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(inside))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = coven.trace()
    with private_index(coven.root, coven.env(TMPDIR=str(inside))) as index:
        assert not index.directory.resolve().is_relative_to(coven.root.parent.resolve())
        assert coven.trace() == before
    assert coven.trace() == before


def test_without_a_place_outside_of_the_store_there_is_an_error(coven: Coven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coven_index, "_OTHER_PLACES", (str(coven.root), "/no/such/place"))
    with pytest.raises(RecallError) as caught, private_index(coven.root, coven.env(TMPDIR=str(coven.root))):
        pass
    assert caught.value.code == "index-unreadable"
    assert "$TMPDIR" in caught.value.message


@pytest.mark.parametrize("name", ["archival.sqlite3", "archival.tvim"])
@pytest.mark.parametrize(
    ("instead", "code"),
    [
        ("nothing", "index-missing"),
        ("dangling", "index-missing"),
        ("directory", "index-unreadable"),
        ("pipe", "index-unreadable"),
        ("loop", "index-unreadable"),
    ],
)
def test_an_index_that_is_missing_or_no_file_is_an_error_and_nothing_is_made(
    coven: Coven, temporary: Path, name: str, instead: str, code: str
) -> None:
    path = coven.root / name
    path.unlink()
    if instead == "directory":
        path.mkdir()
    elif instead == "pipe":
        os.mkfifo(path)
    elif instead == "loop":
        path.symlink_to(path)
    elif instead == "dangling":
        path.symlink_to(coven.root / "gone")
    before = coven.trace()
    with pytest.raises(RecallError) as caught, private_index(coven.root, coven.env(TMPDIR=str(temporary))):
        pass
    assert caught.value.code == code
    assert coven.trace() == before
    assert list(temporary.iterdir()) == []


def test_a_linked_database_is_copied_with_the_journal_of_the_real_one(coven: Coven, tmp_path: Path) -> None:
    live = coven.root / "archival.sqlite3"
    live.rename(tmp_path / "big.sqlite3")
    live.symlink_to(tmp_path / "big.sqlite3")
    (tmp_path / "big.sqlite3-wal").write_bytes(b"journal")
    with private_index(coven.root, coven.env()) as index:
        assert (index.directory / "archival.sqlite3-wal").read_bytes() == b"journal"


class Writer:
    """Stands in for the reading of pieces, and writes to the live index during the first `rounds` copies."""

    def __init__(self, live: Path, rounds: int) -> None:
        self._live = live
        self._left = rounds
        self._read = coven_index.read_pieces

    def __call__(self, path: Path) -> Iterator[bytes]:
        yield from self._read(path)
        if self._left > 0 and path == self._live:
            self._left -= 1
            self._live.write_bytes(self._live.read_bytes() + b"more")


def test_a_copy_torn_by_a_writer_is_made_again(coven: Coven, monkeypatch: pytest.MonkeyPatch) -> None:
    live = coven.root / "archival.tvim"
    monkeypatch.setattr(coven_index, "_COPY_PAUSE", 0.0)
    monkeypatch.setattr(coven_index, "read_pieces", Writer(live, rounds=2))
    with private_index(coven.root, coven.env()) as index:
        assert index.vectors.read_bytes() == live.read_bytes() == b"vectors\nmoremore"


def test_a_writer_that_never_rests_is_an_error(coven: Coven, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coven_index, "_COPY_PAUSE", 0.0)
    monkeypatch.setattr(coven_index, "read_pieces", Writer(coven.root / "archival.tvim", rounds=1_000))
    with pytest.raises(RecallError) as caught, private_index(coven.root, coven.env(TMPDIR=str(temporary))):
        pass
    assert caught.value.code == "index-busy"
    assert list(temporary.iterdir()) == []


def test_a_full_temporary_disk_is_a_sentence(coven: Coven, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> Iterator[bytes]:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(coven_index, "read_pieces", full)
    with pytest.raises(RecallError) as caught, private_index(coven.root, coven.env(TMPDIR=str(temporary))):
        pass
    assert caught.value.code == "index-unreadable"
    assert "No space left" in caught.value.message
    assert list(temporary.iterdir()) == []


def test_a_cancelled_copy_stops(coven: Coven, temporary: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled), private_index(coven.root, coven.env(TMPDIR=str(temporary)), cancellation):
        pass
    assert list(temporary.iterdir()) == []
