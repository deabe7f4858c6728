"""Vitality: how alive a nemp memory is, by one formula over its counters. Pure arithmetic; knows no file and no store.

Counters come from files that people, models and other tools wrote: whatever is no usable number counts as 0, so that a
score is always a whole number from 0 to 100.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory_recall.text.dates import days_between, parse_moment, utc_seconds

_LARGEST_WEIGHED = 10**15
"""More than this of anything weighs no more: a score ends at 100, and a double must hold the sum."""

_MOST_BITS = 14_000
"""Integers beyond this (4,214 digits) cannot be written any more, and count as infinity does: as 0."""

_STATES = ((80, "thriving"), (50, "active"), (20, "fading"), (1, "dormant"))


def new_vitality() -> dict[str, Any]:
    """The vitality of a memory that was never read, as nemp writes it."""
    return {
        "score": 50,
        "trend": "stable",
        "state": "active",
        "reads": 0,
        "last_read": None,
        "reads_7d": 0,
        "reads_30d": 0,
        "foresight_loads": 0,
        "foresight_skips": 0,
        "agent_references": 0,
        "update_count": 0,
        "correction_events": 0,
        "decay_rate": 0.01,
    }


def count_of(written: object) -> int | float:
    """The number that a counter stands for; 0 for null, booleans, negatives, not-a-number, infinity and prose.

    A number in quotes counts as that number. Whole numbers come back as integers, however large.
    """
    if isinstance(written, str):
        written = _number_in_quotes(written)
    if isinstance(written, float) and math.isfinite(written) and written.is_integer():
        written = int(written)
    if isinstance(written, bool) or not isinstance(written, int | float):
        return 0
    usable = math.isfinite(written) if isinstance(written, float) else written.bit_length() <= _MOST_BITS
    return max(0, written) if usable else 0


def _number_in_quotes(written: str) -> int | float | None:
    if not written.isascii() or "_" in written:
        return None
    for number in (int, float):
        try:
            return number(written)
        except ValueError:  # no such number; or an integer of more digits than Python converts
            continue
    return None


def score_of(
    vitality: Mapping[str, Any],
    *,
    created: datetime | None,
    last_read: datetime | None,
    goal_active: bool,
    now: datetime,
) -> int:
    """The vitality score, 0 to 100.

    reads_7d·15 + reads_30d·3 + foresight_load_ratio·20 + agent_reference_ratio·25 + update_frequency·10 + 15 for an
    active goal − correction_events·10 − days_since_last_read·decay_rate, clamped to 0–100, then rounded half up
    (docs/contract.md, "nemp"). A ratio over nothing is 0, and so are the days since an unknown date.
    """
    counter = {name: min(count_of(vitality.get(name)), _LARGEST_WEIGHED) for name in _COUNTED}
    weighed = (
        counter["reads_7d"] * 15
        + counter["reads_30d"] * 3
        + _ratio(20 * counter["foresight_loads"], counter["foresight_loads"] + counter["foresight_skips"])
        + _ratio(25 * counter["agent_references"], counter["reads"])
        + 10 * counter["update_count"] / max(1.0, days_between(created, now))
        + (15 if goal_active else 0)
        - counter["correction_events"] * 10
        - days_between(last_read, now) * counter["decay_rate"]
    )
    # A sum that is a half on paper (14.5) may be a hair below it in binary; nine decimals put it back.
    return math.floor(round(min(100.0, max(0.0, weighed)), 9) + 0.5)


_COUNTED = (
    "reads", "reads_7d", "reads_30d", "foresight_loads", "foresight_skips", "agent_references", "update_count",
    "correction_events", "decay_rate",
)  # fmt: skip


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def state_of(score: int) -> str:
    """The word for a score: thriving from 80, active from 50, fading from 20, dormant from 1, else extinct."""
    return next((state for least, state in _STATES if score >= least), "extinct")


def after_read(
    vitality: Mapping[str, Any] | None, *, created: datetime | None, goal_active: bool, now: datetime
) -> dict[str, Any]:
    """The whole vitality after one more read at `now`: missing members completed, then counted, then scored."""
    after = {**new_vitality(), **(vitality or {})}
    for name in ("reads", "reads_7d", "reads_30d"):
        after[name] = count_of(after[name]) + 1
    after["last_read"] = utc_seconds(now)
    return _scored(after, created=created, last_read=now, goal_active=goal_active, now=now)


def with_windows(
    vitality: Mapping[str, Any] | None,
    reads_7d: float,
    reads_30d: float,
    *,
    created: datetime | None,
    goal_active: bool,
    now: datetime,
) -> dict[str, Any]:
    """The whole vitality with both windows recounted; here the days since the last read are real ones."""
    after = {**new_vitality(), **(vitality or {}), "reads_7d": reads_7d, "reads_30d": reads_30d}
    last_read = parse_moment(after["last_read"])
    return _scored(after, created=created, last_read=last_read, goal_active=goal_active, now=now)


def _scored(
    after: dict[str, Any], *, created: datetime | None, last_read: datetime | None, goal_active: bool, now: datetime
) -> dict[str, Any]:
    after["score"] = score_of(after, created=created, last_read=last_read, goal_active=goal_active, now=now)
    after["state"] = state_of(after["score"])
    return after
