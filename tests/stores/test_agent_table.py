"""The rows of an index: found again by name, and in the order of the names, however the directories changed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.stores.agent_scan import FIELDS
from memory_recall.stores.agent_table import (
    Sight,
    Table,
    memories_and_positions,
    places_carried,
    rows_before,
    with_changes,
)

NAMES = st.lists(
    st.sampled_from(
        ["a.json", "a.1.json", "b.json", "B.json", "é.json", "note", "x.schema.json", "aa.json", "\udcff.json"]
    ),
    unique=True,
    max_size=9,
)
LISTS = st.tuples(NAMES, NAMES, NAMES)


def sight_of(lists: tuple[list[str], ...]) -> Sight:
    blobs = ["".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape") for names in lists]
    count = sum(map(len, lists))
    return Sight(tuple(blobs), np.arange(count * FIELDS, dtype=np.uint64).reshape(count, FIELDS))


def table_of(sight: Sight) -> Table:
    count = len(sight.stamps)
    memory, position = memories_and_positions(sight.blobs)
    none = np.full(count, -1, np.int32)
    false = np.zeros(count, np.bool_)
    return Table(sight, memory, false, none, none, position, false, {}, ())


def names_of(sight: Sight) -> list[tuple[int, str]]:
    return [
        (type_, name)
        for type_, blob in enumerate(sight.blobs)
        for name in blob.decode("utf-8", "surrogateescape").split("\0")[:-1]
    ]


@settings(derandomize=True, max_examples=300, deadline=None)
@given(LISTS, LISTS)
def test_rows_and_places_are_carried_over(before: tuple[list[str], ...], now: tuple[list[str], ...]) -> None:
    table, sight = table_of(sight_of(before)), sight_of(now)
    known = names_of(table.sight)
    old = rows_before(table, sight)
    assert old.tolist() == [known.index(name) if name in known else -1 for name in names_of(sight)]
    for found, right in zip(places_carried(table, old, sight), memories_and_positions(sight.blobs), strict=True):
        np.testing.assert_array_equal(found, right)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    LISTS, st.dictionaries(st.tuples(st.integers(0, 2), NAMES.filter(bool).map(lambda names: names[0])), st.booleans())
)
def test_changes_by_name_are_what_a_new_look_would_see(
    lists: tuple[list[str], ...], changes: dict[tuple[int, str], bool]
) -> None:
    sight = sight_of(lists)
    row = np.full(FIELDS, 7, np.uint64)
    changed = with_changes(sight, {name: row.tobytes() if there else None for name, there in changes.items()})
    expected = dict(zip(names_of(sight), sight.stamps.tolist(), strict=True))
    for name, there in changes.items():
        if there:
            expected[name] = row.tolist()
        else:
            expected.pop(name, None)
    assert dict(zip(names_of(changed), changed.stamps.tolist(), strict=True)) == expected
    assert len(names_of(changed)) == len(expected)
