"""The span of time that a recall is limited to: `since` and `until`, both inclusive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_recall.errors import UsageError
from memory_recall.text.dates import is_date_only, parse_moment

_LAST_OF_DAY = timedelta(days=1) - timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Period:
    """From the first moment to the last, in UTC; None where that side is open."""

    first: datetime | None
    last: datetime | None

    @classmethod
    def between(cls, since: str | None, until: str | None) -> Period:
        """The period that two ISO dates or times name. A date means its whole UTC day. Raises `UsageError`."""
        first = _moment("since", since) if since is not None else None
        last = _moment("until", until) if until is not None else None
        if last is not None and until is not None and is_date_only(until):
            last += _LAST_OF_DAY
        if first is not None and last is not None and first > last:
            raise UsageError("`since` lies after `until`; exchange them.", code="period-invalid")
        return cls(first, last)

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies in the period."""
        return (self.first is None or self.first <= moment) and (self.last is None or moment <= self.last)


def _moment(name: str, written: str) -> datetime:
    moment = parse_moment(written)
    if moment is None:
        raise UsageError(
            f"`{name}` is no ISO date or time; write it as 2026-11-30 or 2026-11-30T16:37:19Z.", code="period-invalid"
        )
    return moment
