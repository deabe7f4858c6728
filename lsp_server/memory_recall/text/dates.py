"""Dates as people and agents write them, read leniently; UTC out."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_SECONDS_A_DAY = 86_400.0
# Without this shape a number of milliseconds that happens to begin like a date would be read as one.
_ISO_8601 = re.compile(r"[0-9]{4}-?(?:[0-9]{2}-?[0-9]{2}|W[0-9]{2}(?:-?[0-9])?)(?P<time>[T ][0-9:.,TZ+\- ]+)?")


def parse_moment(written: object) -> datetime | None:
    """The moment that an ISO-8601 date or date-time names, in UTC; None for anything else.

    A date without a time means 00:00 UTC of that day; a time without a zone is taken as UTC. `t` and `z` may be small,
    as RFC 3339 allows.
    """
    if not isinstance(written, str):
        return None
    stripped = written.strip().upper()
    if _ISO_8601.fullmatch(stripped) is None:
        return None
    try:
        moment = datetime.fromisoformat(stripped)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (OverflowError, ValueError):  # no such day; or the year 1 or 9999, moved over the edge by its offset
        return None


def is_date_only(written: str) -> bool:
    """Whether an ISO text names a whole day rather than an instant."""
    shape = _ISO_8601.fullmatch(written.strip().upper())
    return shape is not None and shape["time"] is None and parse_moment(written) is not None


def days_between(earlier: datetime | None, later: datetime) -> float:
    """Days from one moment to a later one, with fraction; 0.0 where the earlier is unknown or not earlier."""
    if earlier is None:
        return 0.0
    return max(0.0, (later - earlier).total_seconds() / _SECONDS_A_DAY)


def utc_seconds(moment: datetime) -> str:
    """`2026-11-30T16:37:19Z`, cut to the second."""
    return _utc(moment, "seconds")


def utc_millis(moment: datetime) -> str:
    """`2026-11-30T16:37:19.123Z`, cut to the millisecond."""
    return _utc(moment, "milliseconds")


def _utc(moment: datetime, precision: str) -> str:
    # Not strftime: its %Y has no leading zeros on some systems.
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=precision)}Z"
