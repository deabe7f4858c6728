"""The vitality formula: its terms one by one, its rounding, and counters that no formula expects."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.recall.nemp_vitality import (
    after_read,
    count_of,
    new_vitality,
    score_of,
    state_of,
    with_windows,
)

NOW = datetime(2026, 11, 30, 16, 37, 19, tzinfo=UTC)


def score(
    created: datetime | None = None, last_read: datetime | None = None, goal: bool = False, **counters: Any
) -> int:
    return score_of(counters, created=created, last_read=last_read, goal_active=goal, now=NOW)


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        ({}, 0),
        ({"reads_7d": 1, "reads_30d": 1}, 18),
        ({"reads_7d": 3, "reads_30d": 3}, 54),
        ({"reads_7d": 12, "reads_30d": 38}, 100),
        ({"foresight_loads": 3, "foresight_skips": 1}, 15),
        ({"foresight_loads": 2}, 20),
        ({"foresight_skips": 2}, 0),
        ({"agent_references": 2, "reads": 5}, 10),
        ({"agent_references": 2}, 0),
        ({"update_count": 3}, 30),
        ({"goal": True}, 15),
        ({"reads_7d": 3, "correction_events": 1}, 35),
        ({"reads_7d": 1, "correction_events": 9}, 0),
        ({"update_count": 5, "created": NOW - timedelta(days=10)}, 5),
        ({"update_count": 5, "created": NOW - timedelta(hours=1)}, 50),
        ({"update_count": 5, "created": NOW + timedelta(days=400)}, 50),
        ({"reads_7d": 2, "decay_rate": 0.5, "last_read": NOW - timedelta(days=10)}, 25),
        ({"reads_7d": 2, "decay_rate": 0.5, "last_read": NOW + timedelta(days=10)}, 30),
    ],
)
def test_each_term_of_the_formula(counters: dict[str, Any], expected: int) -> None:
    assert score(**counters) == expected


@pytest.mark.parametrize(
    ("references", "reads", "expected"),
    [(1, 10, 3), (29, 50, 15), (1, 50, 1), (49, 2500, 0), (3, 10, 8), (7, 10, 18), (1, 3, 8)],
)
def test_halves_are_rounded_up_as_on_paper(references: int, reads: int, expected: int) -> None:
    assert score(agent_references=references, reads=reads) == expected


@pytest.mark.parametrize(
    ("at", "state"),
    [(100, "thriving"), (80, "thriving"), (79, "active"), (50, "active"), (49, "fading"), (20, "fading"),
     (19, "dormant"), (1, "dormant"), (0, "extinct")],
)  # fmt: skip
def test_states_have_no_gaps(at: int, state: str) -> None:
    assert state_of(at) == state


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (3, 3), (3.0, 3), (2.5, 2.5), ("3", 3), (" 3 ", 3), ("2.5", 2.5), (0, 0), (-1, 0), ("-1", 0), (-0.5, 0),
        (None, 0), (True, 0), (False, 0), ("high", 0), ("", 0), ("nan", 0), ("inf", 0), ("1e999", 0), ("1_0", 0),
        ("٣", 0), (math.nan, 0), (math.inf, 0), (-math.inf, 0), ([], 0), ({}, 0), (10**400, 10**400),
        (1e300, int(1e300)), (10**15 + 1, 10**15 + 1), ("9007199254740993", 9007199254740993), (10**4300, 0),
        ("9" * 5000, 0), ("1e400", 0),
    ],
    ids=lambda value: str(value)[:20] if not isinstance(value, int) or value < 10**20 else "huge",
)  # fmt: skip
def test_what_a_counter_counts_as(written: object, expected: float) -> None:
    counted = count_of(written)
    assert counted == expected
    assert type(counted) is type(expected)


def test_the_first_read_takes_a_fresh_memory_from_50_to_18() -> None:
    for fresh in (None, {}, new_vitality()):
        after = after_read(fresh, created=None, goal_active=False, now=NOW)
        assert after == {
            **new_vitality(),
            "score": 18,
            "state": "dormant",
            "reads": 1,
            "reads_7d": 1,
            "reads_30d": 1,
            "last_read": "2026-11-30T16:37:19Z",
        }


def test_a_read_counts_the_read_before_it_scores_and_leaves_the_trend() -> None:
    before = {"reads": 4, "reads_7d": 1, "reads_30d": 2, "agent_references": 2, "trend": "rising", "mine": [1]}
    after = after_read(before, created=None, goal_active=True, now=NOW)
    assert after["score"] == 30 + 9 + 10 + 15
    assert (after["trend"], after["mine"], after["reads"]) == ("rising", [1], 5)
    assert before["reads"] == 4


@pytest.mark.parametrize("reads", [10**15, 10**400, 2**53 + 1, 1e22, "12345678901234567890"])
def test_a_count_of_any_size_is_one_more_after_a_read(reads: Any) -> None:
    after = after_read({"reads": reads, "reads_30d": reads}, created=None, goal_active=False, now=NOW)
    assert (after["reads"], after["reads_30d"]) == (int(reads) + 1, int(reads) + 1)
    assert after["score"] == 100


def test_recounted_windows_score_with_the_real_days_since_the_last_read() -> None:
    before = {"decay_rate": 1, "last_read": "2026-11-20T16:37:19Z"}
    after = with_windows(before, 0, 5, created=None, goal_active=False, now=NOW)
    assert (after["reads_7d"], after["reads_30d"], after["score"], after["state"]) == (0, 5, 5, "dormant")
    assert with_windows({"last_read": "long ago"}, 0, 5, created=None, goal_active=False, now=NOW)["score"] == 15


ANYTHING = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.just([])
    | st.just({})
    | st.just("3")
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.dictionaries(st.sampled_from(sorted(new_vitality())), ANYTHING),
    st.datetimes(timezones=st.just(UTC)) | st.none(),
    st.booleans(),
)
def test_any_counters_give_a_whole_number_and_its_state(
    vitality: dict[str, Any], created: datetime | None, goal: bool
) -> None:
    for after in (
        after_read(vitality, created=created, goal_active=goal, now=NOW),
        with_windows(vitality, 2, 3, created=created, goal_active=goal, now=NOW),
    ):
        assert type(after["score"]) is int
        assert 0 <= after["score"] <= 100
        assert after["state"] == state_of(after["score"])
        assert set(after) == set(new_vitality())
