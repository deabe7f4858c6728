"""Dates are read leniently, and never crash whoever asks."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text.dates import days_between, is_date_only, parse_moment, utc_millis, utc_seconds

every = settings(derandomize=True, deadline=None, max_examples=200)
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "hour"),
    [
        ("2026-11-30T12:00:00Z", 12),
        ("2026-11-30t12:00:00z", 12),
        ("2026-11-30T12:00:00.000Z", 12),
        ("2026-11-30T12:00:00.123456789Z", 12),
        ("2026-11-30 12:00", 12),
        ("2026-11-30T14:00:00+02:00", 12),
        ("2026-11-30T07:00:00-0500", 12),
        ("20261130T120000Z", 12),
        (" 2026-11-30T12:00:00Z\n", 12),
        ("2026-11-30", 0),
    ],
)
def test_iso_dates_are_read_as_utc(written: str, hour: int) -> None:
    moment = parse_moment(written)
    assert moment is not None
    assert moment.utcoffset() == timedelta(0)
    assert (moment.date(), moment.hour) == (date(2026, 11, 30), hour)


@pytest.mark.parametrize(
    "written",
    [
        *("", " ", "yesterday", "not a date", "30.11.2026", "Mon, 30 Nov 2026 12:00:00 GMT", "\ud800"),
        *("2026", "2026-11", "2026-02-30", "2026-13-01", "-2026-11-30", "２０２６-11-30", "2026-11-30\ud800"),
        *("2026-11-30T", "2026-11-30T25:00:00Z", "2026-11-30\x0012:00"),
        *("1711111111111", "1711111111", "1" * 100_000),
        *(
            "2026-11-30T24:00:01Z",
            "2026-11-30T24:30",
            "2026-11-30T12:60",
            "2026-11-30T12:60:60",
            "2026-11-30T23:59:61Z",
        ),
        *(None, True, 0, 1711111111111, 3.5, math.nan, [], {}, ["2026-11-30"], date(2026, 11, 30)),
    ],
    ids=lambda written: repr(written)[:24],
)
def test_everything_else_is_no_date(written: object) -> None:
    assert parse_moment(written) is None


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-11-29T24:00:00Z", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-11-29 24:00", datetime(2026, 11, 30, tzinfo=UTC)),
        ("20261129T24", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-11-29T24:00:00.000+02:00", datetime(2026, 11, 29, 22, tzinfo=UTC)),
        ("2026-12-31T23:59:60Z", datetime(2027, 1, 1, tzinfo=UTC)),
        ("2027-01-01T01:59:60+02:00", datetime(2027, 1, 1, tzinfo=UTC)),
        ("20261231T235960Z", datetime(2027, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59-12:00", datetime.max.replace(tzinfo=UTC)),
        ("9999-12-31T24:00:00Z", datetime.max.replace(tzinfo=UTC)),
        ("9999-12-31T23:59:60Z", datetime.max.replace(tzinfo=UTC)),
        ("0001-01-01T00:00:00+05:00", datetime.min.replace(tzinfo=UTC)),
        ("9999-12-31T24:00:00+05:00", datetime(9999, 12, 31, 19, tzinfo=UTC)),
    ],
)
def test_moments_that_only_iso_can_write_are_read(written: str, moment: datetime) -> None:
    assert parse_moment(written) == moment


@every
@given(st.text(max_size=30) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.+Z-]{0,20})?", fullmatch=True))
def test_no_text_raises(written: str) -> None:
    moment = parse_moment(written)
    assert moment is None or moment.utcoffset() == timedelta(0)
    assert is_date_only(written) in (True, False)


@every
@given(st.datetimes(timezones=ZONES, min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)))
def test_what_is_written_is_read_back(moment: datetime) -> None:
    assert parse_moment(utc_seconds(moment)) == moment.replace(microsecond=0)
    assert parse_moment(utc_millis(moment)) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert parse_moment(moment.isoformat()) == moment


def test_written_moments_have_their_exact_shape() -> None:
    moment = datetime(2026, 11, 30, 18, 37, 19, 123_999, tzinfo=timezone(timedelta(hours=2)))
    assert utc_seconds(moment) == "2026-11-30T16:37:19Z"
    assert utc_millis(moment) == "2026-11-30T16:37:19.123Z"
    assert utc_seconds(datetime(33, 4, 3, tzinfo=UTC)) == "0033-04-03T00:00:00Z"


@pytest.mark.parametrize(
    ("written", "whole_day"),
    [
        ("2026-11-30", True),
        (" 2026-11-30 ", True),
        ("20261130", True),
        ("2026-11-30T00:00:00Z", False),
        ("2026-11-30 00:00", False),
        ("2026-02-30", False),
        ("soon", False),
        ("", False),
    ],
)
def test_a_day_is_told_from_an_instant(written: str, whole_day: bool) -> None:
    assert is_date_only(written) is whole_day


def test_days_are_counted_with_fraction_and_never_below_zero() -> None:
    assert days_between(NOON - timedelta(hours=36), NOON) == 1.5
    assert days_between(NOON + timedelta(days=3), NOON) == 0.0, "a clock that went back"
    assert days_between(None, NOON) == 0.0
