"""Changing entries of a nemp store so that nothing else in its file changes: whose fields, which bytes, in one rewrite.

Knows what an entry without counters needs (docs/contract.md, "What a read leaves") and where an entry stands in a
text; not why it changes. The disk is `files/writing.py`'s, the JSON `text/json_edit.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from memory_recall.files.writing import NotWritten, rewrite
from memory_recall.stores.nemp import NempStore, bytes_of, store_of_bytes
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.text.json_edit import edit_object, replace_spans, wrap_as_object


class EntryChange(NamedTuple):
    """The values to set in one entry, each at a path of member names."""

    entry: NempEntry
    changes: Sequence[tuple[tuple[str, ...], Any]]


class Edited(NamedTuple):
    """A store's text with the changes made, and the changed entries in it, in the order of the changes."""

    text: str
    entries: tuple[NempEntry, ...]


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
    edited = Edited(store.text, ())

    def change(data: bytes) -> bytes:
        nonlocal edited
        unchanged = bytes_of(store, store.text) == data
        fresh = store if unchanged else store_of_bytes(store.path, store.source, data, None)
        if not fresh.writable:
            raise NotWritten(fresh.problems[0])
        edited = _edit(fresh.text, plan(fresh))
        return bytes_of(fresh, edited.text)

    rewrite(store.path, change, before_replace=before_replace, check=check)
    return edited


def same_entry(entry: NempEntry, old: NempStore, new: NempStore) -> NempEntry | None:
    """An entry of a store's older text in its newer one: the same key, and of several the same in number."""
    if old is new:
        return entry
    namesakes = new.by_key(entry.key)
    number = next((index for index, other in enumerate(old.by_key(entry.key)) if other is entry), 0)
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


def _edit(text: str, changes: Sequence[EntryChange]) -> Edited:
    replacements = [(change.entry.start, change.entry.end, _replacement(text, change)) for change in changes]
    new_text = replace_spans(text, replacements)
    moved: dict[int, NempEntry] = {}
    shift = 0
    for (start, end, written), change in sorted(zip(replacements, changes, strict=True), key=lambda pair: pair[0][0]):
        moved[start] = change.entry.moved(new_text, start + shift, start + shift + len(written))
        shift += len(written) - (end - start)
    return Edited(new_text, tuple(moved[change.entry.start] for change in changes))


def _replacement(text: str, change: EntryChange) -> str:
    entry = change.entry
    if entry.plain:  # counters must live somewhere: the bare value becomes the `value` of an object
        return wrap_as_object(text, entry.start, entry.end, [(path[0], value) for path, value in change.changes])
    return edit_object(text, entry.start, entry.end, change.changes)
