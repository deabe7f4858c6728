"""What counts as a home directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_recall.environment import Environment
from memory_recall.errors import RecallError


@pytest.mark.parametrize("given", ["", "relative", ".", "~"])
def test_an_empty_or_relative_home_is_no_home(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("HOME", given)
    assert Environment.of_process().home is None


def test_an_absolute_home_is_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Environment.of_process().home == tmp_path


def test_without_the_variable_the_account_says_where_home_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    home = Environment.of_process().home
    assert home is None or home.is_absolute()


def test_a_deleted_working_directory_is_taken_for_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.delenv("PWD", raising=False)
    with pytest.raises(RecallError, match="working directory is gone"):
        Environment.of_process()
    monkeypatch.setenv("PWD", str(gone))
    assert Environment.of_process().cwd == gone
