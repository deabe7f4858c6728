"""Dates as people and agents write them, read leniently; UTC out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_SECONDS_A_DAY = 86_400.0
# Without this shape a number of milliseconds that happens to begin like a date would be read as one.
_ISO_8601 = re.compile(r"[0-9]{4}-?(?:[0-9]{2}-?[0-9]{2}|W[0-9]{2}(?:-?[0-9])?)(?P<time>[T ][0-9:.,TZ+\- ]+)?")

# Two moments that ISO 8601 can write and `datetime` cannot: the end of a day, and a leap second. Compiled only where
# they may stand, which is hardly ever.
_END_OF_DAY = r"(?<=[T ])24(?=(?::?00(?::?00(?:[.,]0+)?)?)?(?:Z|[+-].*)?$)"
_LEAP_SECOND = r"(?<=[T ])([0-9]{2}(:?)[0-9]{2}\2)60(?![0-9])"


def parse_moment(written: object) -> datetime | None:
    """The moment that an ISO-8601 date or date-time names, in UTC; None for anything else.

    A date without a time means 00:00 UTC of that day; a time without a zone is taken as UTC. `t` and `z` may be small,
    as RFC 3339 allows. 24:00 is 00:00 of the next day, second 60 the first of the next minute. A moment that its offset
    moves out of the years 1 to 9999 is the first or the last moment of them.
    """
    if not isinstance(written, str):
        return None
    stripped = written.strip().upper()
    if _ISO_8601.fullmatch(stripped) is None:
        return None
    ends_of_day = leap_seconds = 0
    if "24" in stripped:
        stripped, ends_of_day = re.subn(_END_OF_DAY, "00", stripped)
    if "60" in stripped:
        stripped, leap_seconds = re.subn(_LEAP_SECOND, r"\g<1>59", stripped)
    try:
        moment = datetime.fromisoformat(stripped)
    except ValueError:  # no such day or time
        return None
    shift = timedelta(days=ends_of_day, seconds=leap_seconds) - (moment.utcoffset() or timedelta())
    try:
        return (moment.replace(tzinfo=None) + shift).replace(tzinfo=UTC)
    except OverflowError:
        edge = datetime.max if shift > timedelta() else datetime.min
        return edge.replace(tzinfo=UTC)


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
