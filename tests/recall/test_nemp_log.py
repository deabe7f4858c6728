"""Reads in a nemp access log: which key a line means, and how lines of one key are shared."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.recall.nemp_log import Namesakes, Windows, reads_in
from memory_recall.text.dates import parse_moment, utc_seconds
from worlds import NOW


def ago(**span: float) -> str:
    return utc_seconds(NOW - timedelta(**span))


def alone(*keys: str) -> dict[str, Namesakes]:
    return dict.fromkeys(keys, Namesakes())


def test_the_longest_known_key_is_the_one_meant() -> None:
    log = "\n".join(
        [
            f"[{ago(days=1)}] READ key=a agent=b agent=main query=x",
            f"[{ago(days=1)}] READ key=a agent=main query=x agent=b query=y",
            f"[{ago(days=1)}] READ key=a query=x",
        ]
    )
    assert reads_in(log, alone("a", "a agent=b"), NOW).windows == {"a": Windows(2, 2), "a agent=b": Windows(1, 1)}


@pytest.mark.parametrize("noise", [" agent=", " query=", " ", "[", "[x] READ key=", "\t"])
def test_a_line_of_any_length_takes_linear_time(noise: str) -> None:
    log = f"[{ago(days=1)}] READ key=" + noise * 200_000
    assert reads_in(log, alone("a", "b" * 50), NOW).windows == {}


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.text(alphabet="[]READ key=agent\n\r 2026-11-30T01:Z", max_size=80),
    st.lists(st.sampled_from(["a", "k", "agent", " ", ""]), max_size=3),
    st.datetimes(timezones=st.just(NOW.tzinfo)),  # type: ignore[arg-type]
)
def test_any_log_is_read(log: str, keys: list[str], now: datetime) -> None:
    for windows in reads_in(log, alone(*keys), now).windows.values():
        assert 0 <= windows.reads_7d <= windows.reads_30d


def test_spaces_around_a_key_belong_to_it_where_such_a_key_is_known() -> None:
    log = "\n".join(f"[{ago(days=1)}] READ key={key} agent=main query=x" for key in ("a", "a ", " a", "b ", "b"))
    log += f"\n[{ago(days=1)}] READ key=a \n[{ago(days=1)}] READ key=b "
    windows = reads_in(log, alone("a", "a ", " a", "b"), NOW).windows
    assert {key: count.reads_7d for key, count in windows.items()} == {"a": 1, "a ": 2, " a": 1, "b": 3}


def test_the_newest_read_is_known_however_old_it_is() -> None:
    lines = [f"[{ago(days=days)}] READ key=a agent=main query=a" for days in (90, 40, 60)]
    logged = reads_in("\n".join(lines), alone("a"), NOW)
    assert (logged.windows, logged.newest) == ({}, {"a": parse_moment(ago(days=40))})


def shared(namesakes: Namesakes, *lines: tuple[float, str]) -> Windows:
    log = "\n".join(f"[{ago(days=days)}] READ key=k agent=main query={query}" for days, query in lines)
    return reads_in(log, {"k": namesakes}, NOW).windows["k"]


def test_lines_that_are_wholly_alike_are_shared_by_all_that_such_a_recall_returns() -> None:
    both = Namesakes(1, 1)
    assert shared(both, (1, "k"), (1, "k")) == Windows(2, 2)  # the key itself: only the project's answers
    assert shared(both, (1, "x"), (1, "x")) == Windows(1, 1)
    assert shared(both, (1, "x"), (1, "x"), (1, "x")) == Windows(2, 2)
    assert shared(both, (1, "x"), (1, "y"), (2, "x"), (9, "x")) == Windows(3, 4)
    assert shared(both, (9, "x"), (9, "x"), (1, " k ")) == Windows(1, 2)
    assert shared(Namesakes(2, 1), *[(1, "x")] * 3, *[(1, "k")] * 2) == Windows(2, 2)
    assert shared(Namesakes(1, 0), (1, "x"), (1, "x")) == Windows(2, 2)
