"""What nemp's access log says about reads: which memories were read, how often of late, and when last.

Reads the log leniently, because people, models and other tools wrote it too; knows no store and changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_recall.cancellation import Cancellation
from memory_recall.text.dates import parse_moment
from memory_recall.text.untrusted import for_log

WEEK, MONTH = timedelta(days=7), timedelta(days=30)
_CLOCKS_APART = timedelta(minutes=5)
"""How far ahead of our clock another writer's may be; lines further in the future are accidents."""

_READ_LINE = re.compile(r"(?<![^\r\n])[ \t]*\[([^\]\r\n]*)\][ \t]*READ[ \t]([^\r\n]*)")
_KEY = re.compile(r"(?:^|[ \t])key=")
_BEHIND_KEY = re.compile(r"[ \t](?:agent|query)=")
_QUERY = re.compile(r"[ \t]query=")

_CHECK_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Namesakes:
    """How many memories have one key: in the store that is counted, and in the other one that the same log tells of."""

    here: int = 1
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class Windows:
    """How often a memory was read in the last seven and the last thirty days."""

    reads_7d: float = 0
    reads_30d: float = 0


@dataclass(frozen=True, slots=True)
class LoggedReads:
    """The reads in a log, by key: those of the last thirty days, and the moment of the newest, however old.

    `unknown` are the keys of the last thirty days that are none of the known ones.
    """

    windows: Mapping[str, Windows]
    newest: Mapping[str, datetime]
    unknown: tuple[str, ...]


def reads_in(
    log: str, known: Mapping[str, Namesakes], now: datetime, cancellation: Cancellation | None = None
) -> LoggedReads:
    """Count the READ lines of a log by key. Lines of any other form, and without a usable time, are passed over.

    A key stands unquoted in its line and may itself contain ` agent=`: of the possible readings, the longest one that
    is a known key is taken, with the spaces at its end if that is a known key. (A line break in a key and the two
    characters `\\n` are logged alike; which of two such keys was read cannot be told.)

    A recall writes a line for each memory that it returns, and those of one key are told apart by nothing. So the lines
    of a key that are wholly alike (time, agent, query) are shared by all memories of that key that such a recall
    returns: those of this store where the query is the key, those of both stores where it is not. The share is rounded
    up, because a limit may have cut one of them.
    """
    spelt = {for_log(key): key for key in known}
    longest = max(map(len, spelt), default=0)
    counts: dict[str, list[int]] = {}
    newest: dict[str, datetime] = {}
    unknown: dict[str, None] = {}
    alike: Counter[tuple[str, str, int, bool]] = Counter()
    for number, line in enumerate(_READ_LINE.finditer(log)):
        if cancellation is not None and not number % _CHECK_EVERY:
            cancellation.check()
        moment = parse_moment(line.group(1))
        member = _KEY.search(line.group(2))
        if moment is None or member is None or moment - now > _CLOCKS_APART:
            continue
        rest = line.group(2)[member.end() :]
        reading, end = next((found for found in _readings(rest, longest) if found[0] in spelt), ("", 0))
        if not reading:
            if now - moment <= MONTH:
                unknown[_BEHIND_KEY.split(rest, maxsplit=1)[0].rstrip()] = None
            continue
        key = spelt[reading]
        newest[key] = max(moment, newest.get(key, moment))
        if now - moment > MONTH:
            continue
        sharing = _sharing(known[key], reading, rest[end:])
        if sharing == 1:
            _add(counts, key, 1, in_week=now - moment <= WEEK)
        else:
            alike[key, line.group(), sharing, now - moment <= WEEK] += 1
    for (key, _, sharing, in_week), lines in alike.items():
        _add(counts, key, -(-lines // sharing), in_week=in_week)
    return LoggedReads({key: Windows(*count) for key, count in counts.items()}, newest, tuple(unknown))


def _readings(rest: str, longest: int) -> Iterator[tuple[str, int]]:
    """What may be the key in the part of a line behind `key=`, and where it ends there; the longest first.

    None is longer than any known key.
    """
    ends = [match.start() for match in _BEHIND_KEY.finditer(rest, 0, longest + len(" agent="))]
    for end in (len(rest), *reversed(ends)):
        if end > longest + len(rest) - len(rest.rstrip()):
            continue
        written = rest[:end]
        yield written, end
        yield written.rstrip(), end


def _sharing(namesakes: Namesakes, key: str, behind: str) -> int:
    """How many memories a recall of these namesakes returns; `behind` is what follows the key in the line."""
    query = _QUERY.search(behind)
    asked = behind[query.end() :] if query is not None else ""
    is_exact = key in (asked, asked.strip())
    return namesakes.here if is_exact else namesakes.here + namesakes.elsewhere


def _add(counts: dict[str, list[int]], key: str, reads: int, *, in_week: bool) -> None:
    count = counts.setdefault(key, [0, 0])
    count[0] += reads * in_week
    count[1] += reads
