"""Stores that a test writes and reads at once count as settled, or nothing would ever be current within one tick."""

from __future__ import annotations

import pytest

from memory_recall.files import reading


@pytest.fixture(autouse=True)
def settled_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as long unchanged. What a tick of the clock means: tests/files/test_reading.py."""
    monkeypatch.setattr(reading, "_CLOCK_TICK_NS", -(1 << 62))
