"""Dates as people and agents write them, read leniently; UTC out."""

from __future__ import annotations

from datetime import UTC, datetime

_SECONDS_A_DAY = 86_400.0


def parse_moment(written: object) -> datetime | None:
    """The moment that an ISO-8601 date or date-time names, in UTC; None for anything else.

    A date without a time means 00:00 UTC of that day; a time without a zone is taken as UTC.
    """
    if not isinstance(written, str):
        return None
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (OverflowError, ValueError):  # the year 1 or 9999, moved over the edge by its offset
        return None


def is_date_only(written: str) -> bool:
    """Whether an ISO text names a whole day rather than an instant."""
    stripped = written.strip()
    return len(stripped) <= len("2026-11-30") and parse_moment(stripped) is not None


def days_between(earlier: datetime | None, later: datetime) -> float:
    """Days from one moment to a later one, with fraction; 0.0 where the earlier is unknown or not earlier."""
    if earlier is None:
        return 0.0
    return max(0.0, (later - earlier).total_seconds() / _SECONDS_A_DAY)


def utc_seconds(moment: datetime) -> str:
    """`2026-11-30T16:37:19Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_millis(moment: datetime) -> str:
    """`2026-11-30T16:37:19.123Z`."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
