"""What is kept of each entry for filters, order and names: columns of numbers, made of entries, a row for each.

The entry itself stays in its file. Knows no query and no file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from memory_recall.index.packing import Arrays, texts_packed
from memory_recall.stores.agent_entry import SCOPES, AgentEntry
from memory_recall.text.dates import parse_moment

NEVER = np.iinfo(np.int64).min
"""The moment of a date that is missing."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TYPES = {
    "ids": (np.uint8, 1),
    "id_ends": (np.uint32, 1),
    "id_hash": (np.uint64, 1),
    "digest": (np.uint64, 2),
    "scope": (np.uint8, 1),
    "pinned": (np.bool_, 1),
    "confidence": (np.float64, 1),
    "expires": (np.int64, 1),
    "written": (np.int64, 1),
}


def columns_of(entries: Sequence[AgentEntry]) -> Arrays:
    """The columns of entries.

    `expires` and `written` (the last of its dates) are moments (`moment_of`), `confidence` is NaN where it is unknown,
    `scope` a number in `SCOPES`, `digest` that of the entry's text, `id_hash` that of its id in any case.
    """
    ids, id_ends = texts_packed([entry.memory_id for entry in entries])
    return {
        "ids": ids,
        "id_ends": id_ends,
        "id_hash": np.array([hash_of(entry.memory_id) for entry in entries], np.uint64),
        "digest": np.array([digest_of(entry.text) for entry in entries], np.uint64).reshape(-1, 2),
        "scope": np.array([SCOPES.index(entry.scope) for entry in entries], np.uint8),
        "pinned": np.array([entry.pinned for entry in entries], np.bool_),
        "confidence": np.array(
            [np.nan if entry.confidence is None else entry.confidence for entry in entries], np.float64
        ),
        "expires": np.array([moment_of(entry.expires) for entry in entries], np.int64),
        "written": np.array([moment_of(written(entry)) for entry in entries], np.int64),
    }


def fit(columns: Arrays, count: int) -> bool:
    """Whether columns that were kept have the types and lengths that `columns_of` so many entries makes."""
    for name, (kind, dimensions) in _TYPES.items():
        column = columns.get(name)
        if column is None or column.dtype != kind or column.ndim != dimensions:
            return False
        if name != "ids" and len(column) != count:
            return False
    if columns["digest"].shape[1] != 2 or (count and columns["scope"].max() >= len(SCOPES)):
        return False
    ends = columns["id_ends"]
    return (int(ends[-1]) if count else 0) == len(columns["ids"]) and bool(np.all(ends[1:] >= ends[:-1]))


def written(entry: AgentEntry) -> datetime | None:
    """When an entry was last written, as far as it says."""
    return parse_moment(entry.updated_at) or parse_moment(entry.created_at)


def moment_of(moment: datetime | None) -> int:
    """Microseconds of the epoch, exactly; `NEVER` for None."""
    return int(NEVER) if moment is None else (moment - _EPOCH) // _MICROSECOND


def digest_of(text: str) -> tuple[int, int]:
    """The digest of a text, in two numbers: nobody finds two texts with the same."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def hash_of(memory_id: str) -> int:
    """A number that ids have in common which differ in case only; others hardly ever."""
    folded = memory_id.casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(folded, digest_size=8).digest(), "little")


def digests(columns: Arrays, numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The digests of some rows."""
    return [(int(first), int(second)) for first, second in columns["digest"][numbers]]
