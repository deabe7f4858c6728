"""What `coven-memory search` prints, read by position.

Chunks, paths and the query are printed as they are, so any of them can imitate a hit. Nothing is therefore searched
for: the query is skipped because it is known, and after the header each hit is three lines. What stands elsewhere is
no known output, and an error: half an answer would look like a whole one. Only the empty line after the last
hit, which says nothing, may be absent.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from memory_recall.errors import RecallError

_TITLE = re.compile("\n── Archival Memory Search ─+\n")
_RULE = re.compile("─+\n\n")
_SCORE = re.compile(r"  \[(-?(?:\d{1,9}(?:\.\d{1,9})?|inf)|NaN)\] ", re.ASCII)
_LINES_A_HIT = 3


@dataclass(frozen=True, slots=True)
class PrintedHit:
    """One hit as printed. `path` may begin with `~`; `score` is None where it is no number.

    The program pairs scores with rows of its database in an order that need not be theirs, so a score says how near
    something was, not for certain what.
    """

    path: str
    score: float | None
    chunk: str


def parse_output(output: bytes, query: str, familiar: str) -> tuple[PrintedHit, ...]:
    """The hits, in printed order; none for the two honest ways to say so. Raises `RecallError` (`output-unknown`)."""
    text = output.decode("utf-8", "surrogateescape")
    if text.strip("\n") in ("No results.", f"No documents found for familiar '{familiar}'"):
        return ()
    printed = text[_header_length(text, query, familiar) :].rstrip("\n")
    lines = [*printed.split("\n"), ""] if printed else []
    if len(lines) % _LINES_A_HIT:
        raise _unknown()
    hits = zip(lines[0::_LINES_A_HIT], lines[1::_LINES_A_HIT], lines[2::_LINES_A_HIT], strict=True)
    return tuple(_hit(header, chunk, blank, familiar) for header, chunk, blank in hits)


def _header_length(text: str, query: str, familiar: str) -> int:
    title = _TITLE.match(text)
    echo = f"  Query: {query}\n"
    if title is None or not text.startswith(echo, title.end()):
        raise _unknown()
    # Past the echo nothing is the asker's, and nothing yet is a document's: the first scope line is the program's own.
    scope = f"  Familiar: {familiar}\n"
    at = title.end() + len(echo)
    while not text.startswith(scope, at) or _RULE.match(text, at + len(scope)) is None:
        at = text.find("\n", at) + 1
        if not at:
            raise _unknown()
    rule = _RULE.match(text, at + len(scope))
    assert rule is not None
    return rule.end()


def _hit(header: str, chunk: str, blank: str, familiar: str) -> PrintedHit:
    score = _SCORE.match(header)
    scope = f"  (familiar: {familiar})"
    if score is None or not header.endswith(scope) or not chunk.startswith("  ") or blank:
        raise _unknown()
    value = float(score.group(1))
    return PrintedHit(header[score.end() : -len(scope)], value if math.isfinite(value) else None, chunk[2:])


def _unknown() -> RecallError:
    return RecallError(
        "output-unknown",
        "`coven-memory` printed something that is not known here; is it another version, or not Coven's?",
    )
