"""Changing entries of a nemp store so that nothing else in its file changes: whose fields, which bytes, in one rewrite.

Knows what an entry without counters needs (docs/contract.md, "What a read leaves") and where an entry stands in a
text; not why it changes. The disk is `files/writing.py`'s, the JSON `text/json_edit.py`'s.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memory_recall.files.reading import FileBytes, stamp_of
from memory_recall.files.writing import NotWritten, rewrite
from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempStore, bytes_of, store_after_change, store_after_edit
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.text.json_edit import edit_object, replace_spans, wrap_as_object
from memory_recall.text.positions import LineIndex


class EntryChange(NamedTuple):
    """The values to set in one entry, each at a path of member names."""

    entry: NempEntry
    changes: Sequence[tuple[tuple[str, ...], Any]]


class Edited(NamedTuple):
    """The changed entries as they stand in the file now, in the order of the changes, with their lines and columns.

    `store` is all of a large store as it was written; a small one is as soon read again.
    """

    entries: tuple[NempEntry, ...] = ()
    places: tuple[tuple[int, int], ...] = ()
    store: NempStore | None = None


def rewrite_entries(
    store: NempStore,
    plan: Callable[[NempStore], Sequence[EntryChange]],
    *,
    before_replace: Callable[[], None] | None = None,
    check: Callable[[], None] | None = None,
) -> Edited:
    """Change entries of the store's file as it is by now.

    `plan` is given the store as it stands under the lock (`store` itself, unless someone has written since) and says
    what to change; it may be asked again. `before_replace` and `check` are those of `files.writing.rewrite`.

    Raises `NotWritten`, also where the file is no readable store any more.
    """
    edited = Edited()
    held = store.bytes_held()

    def change(data: bytes) -> bytes:
        nonlocal edited
        fresh = store if data is held or store.holds(data) else store_after_change(store, data, None)
        if not fresh.writable:
            raise NotWritten(fresh.problems[0])
        edited, written = _edit(fresh, plan(fresh))
        return written

    known = FileBytes(held, store.stamp) if held is not None and store.stamp is not None else None
    rewrite(store.path, change, known=known, before_replace=before_replace, check=check)
    if edited.store is not None:
        stamp = stamp_of(store.path)
        # Not settled, whatever the clock says: somebody else may have written since we did.
        edited.store.stamp = None if stamp is None else stamp._replace(settled=False)
    return edited


def same_entry(entry: NempEntry, old: NempStore, new: NempStore) -> NempEntry | None:
    """An entry of a store's older text in its newer one: the same key, and of several the same in number."""
    if old is new:
        return entry
    namesakes = new.by_key(entry.key)
    number = next((index for index, other in enumerate(old.by_key(entry.key)) if other.number == entry.number), 0)
    return namesakes[number] if number < len(namesakes) else None


def vitality_changes(
    entry: NempEntry, vitality: Mapping[str, Any], set_anew: frozenset[str]
) -> list[tuple[tuple[str, ...], Any]]:
    """The changes that give an entry this vitality and whatever else a memory of the present generation has.

    Of an existing `vitality`, the members `set_anew` are set and missing ones added. `links` is completed in the same
    way; `type` and `confidence` are added where they are missing or null.
    """
    changes: list[tuple[tuple[str, ...], Any]] = []
    if entry.type is None:
        changes.append((("type",), "fact"))
    if entry.confidence is None:
        changes.append((("confidence",), _new_confidence()))
    present = entry.vitality
    if isinstance(present, dict):
        wanted = (name for name in vitality if name in set_anew or name not in present)
        changes += [(("vitality", name), vitality[name]) for name in wanted]
    else:
        changes.append((("vitality",), dict(vitality)))
    links = entry.links
    if links is None:
        changes.append((("links",), _new_links()))
    elif isinstance(links, dict):
        changes += [(("links", name), value) for name, value in _new_links().items() if name not in links]
    return changes


def _new_confidence() -> dict[str, Any]:
    return {"score": 0.65, "source": "agent-inferred", "reason": "Pre-cortex memory"}


def _new_links() -> dict[str, Any]:
    return {"goals": [], "conflicts": [], "supersedes": None, "superseded_by": None, "causal": []}


def _edit(store: NempStore, changes: Sequence[EntryChange]) -> tuple[Edited, bytes]:
    """The changed entries, and the bytes of the file with them."""
    numbers = [change.entry.number for change in changes]
    values = dict(zip(numbers, _replacements(store, changes), strict=True))
    if store.bytes_held() is not None:
        edited, written = store_after_edit(store, values)
        entries = [edited.entry(number) for number in numbers]
        return Edited(tuple(entries), tuple(map(edited.place_of, entries)), edited), written
    spans = {change.entry.number: (change.entry.start, change.entry.end) for change in changes}
    new_text = replace_spans(store.text, [(*spans[number], value) for number, value in values.items()])
    moved: dict[int, NempEntry] = {}
    shift = 0
    for change in sorted(changes, key=lambda change: change.entry.start):
        start, length = change.entry.start + shift, len(values[change.entry.number])
        moved[change.entry.number] = change.entry.moved(new_text, start, start + length)
        shift += length - (change.entry.end - change.entry.start)
    lines = LineIndex(new_text)
    places = (lines.line_column(moved[number].key_offset) for number in numbers)
    return Edited(tuple(moved[number] for number in numbers), tuple(places)), bytes_of(store, new_text)


def _replacements(store: NempStore, changes: Sequence[EntryChange]) -> Iterator[str]:
    """What becomes of each entry's value."""
    entries = [change.entry for change in changes]
    if all(json.dumps(value, ensure_ascii=False).isascii() for change in changes for _, value in change.changes):
        excerpts = store.excerpts(entries)
    else:
        text = store.text
        excerpts = [(text, entry.start, entry.end) for entry in entries]
    for change, (text, start, end) in zip(changes, excerpts, strict=True):
        if change.entry.plain:  # counters must live somewhere: the bare value becomes the `value` of an object
            yield wrap_as_object(text, start, end, [(path[0], value) for path, value in change.changes])
        else:
            yield edit_object(text, start, end, change.changes)
