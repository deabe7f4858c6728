"""In which order the hits of a Coven search are answered.

The program finds the right documents and prints them in the wrong order: it looks its best matches up by a query that
returns them in row order, and pairs that with the scores in descending order. The private copy of its database shows
whether that happened; then words decide instead, because the first `k` of many rows would be the oldest, not the
nearest. Which rows are printed can be trusted all the same: the program's list of `k` holds its `k` best matches. A
program that prints in another order is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from memory_recall.recall.coven_output import PrintedHit

_FEWEST = 2

TELLING = 3
"""So many hits in row order are no coincidence; two stand in it every other time."""


def is_row_order(hits: Sequence[PrintedHit], database: Path, home: Path | None, familiar: str) -> bool:
    """Whether the hits stand in the order of their rows in a database, which the caller owns and may be written to.

    False where that cannot be told: another schema, a row that is not found, too few hits.
    """
    import sqlite3

    if len(hits) < _FEWEST:
        return False
    paths = sorted({hit.path for hit in hits})
    wanted = ", ".join("?" * len(paths))
    shown = "replace(path, ?, '~')" if home is not None else "path"
    select = (
        f"SELECT path, {shown} AS shown, replace(chunk, char(10), ' ') FROM docs"
        f" WHERE familiar = ? AND (shown IN ({wanted}) OR path IN ({wanted})) ORDER BY id"
    )
    parameters = [*([str(home)] if home is not None else []), familiar, *paths, *paths]
    try:
        with closing(sqlite3.connect(database, timeout=0)) as connection:
            rows = connection.execute(select, parameters).fetchall()
    except (sqlite3.Error, UnicodeEncodeError):
        return False
    return _in_sequence(hits, [((path, shown), chunk) for path, shown, chunk in rows if isinstance(chunk, str)])


def _in_sequence(hits: Sequence[PrintedHit], rows: Sequence[tuple[tuple[str, str], str]]) -> bool:
    """Whether each hit is found among the rows after the one before it.

    A row is its path, in both spellings, and its chunk.
    """
    remaining = iter(rows)
    return all(
        any(hit.path in paths and chunk.startswith(hit.chunk.removesuffix("…")) for paths, chunk in remaining)
        for hit in hits
    )


def by_words(query: str, texts: Sequence[tuple[str, str]]) -> list[int]:
    """The indexes of (title, text) pairs, those that share most with the query first, the others as they stood."""
    from memory_recall.ranking.lexical import Document, rank

    ranked = [score.index for score in rank(query, [Document(title, text) for title, text in texts])]
    found = set(ranked)
    return [*ranked, *(index for index in range(len(texts)) if index not in found)]


def successors_first(ulids: Sequence[str], superseders: Mapping[str, Sequence[str]]) -> list[str]:
    """The claims in their order, except that what supersedes a claim, directly or through others, stands before it.

    A chain comes newest first. A circle is cut where it closes.
    """
    present = set(ulids)
    placed: dict[str, None] = {}
    seen: set[str] = set()
    for ulid in ulids:
        # Depth first, without recursion: a chain may be longer than the stack.
        pending = [(ulid, False)]
        while pending:
            current, successors_placed = pending.pop()
            if successors_placed:
                if current in present:
                    placed[current] = None
            elif current not in seen:
                seen.add(current)
                pending.append((current, True))
                pending += [(successor, False) for successor in superseders.get(current, ())]
    return list(placed)
