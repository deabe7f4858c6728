"""The shapes in which nemp's `memories.json` is found, and the entries in them with their exact places in the text.

Knows JSON text and nothing else: no path, no disk, no environment. Whatever is odd becomes an `Oddity` with an offset
and stays where it is; a text that does not parse, or is no store, has no entries and must not be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from memory_recall.text.json_spans import (
    WHITESPACE,
    JsonError,
    Member,
    elements,
    members,
    root_span,
    value_at,
    value_start,
)
from memory_recall.text.json_values import as_text

Shape = Literal["wrapper", "wrapped map", "map", "list", "empty", "broken", "absent"]
"""`wrapper`: `{"memories": [entry]}` · `wrapped map`: `{"memories": {key: entry}}` · `map`: `{key: entry or value}` ·
`list`: `[entry]` · `empty`: nothing but white space · `broken`: unreadable or no store · `absent`: no file."""

_SPACE = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_END_OF_ROOT = re.compile(r"[ \t\r\n]*\}[ \t\r\n]*")
_DEEPEST = 100
"""Values nested deeper are shown as their JSON text: whoever prints them again must not run out of stack."""

_ENTRY_FIELDS = frozenset(
    ("key", "created", "updated", "timestamp", "agent_id", "confidence", "vitality", "links", "projectPath",
     "accessCount", "lastAccessed")
)  # fmt: skip
"""Members that make an object without a `value` an entry nevertheless. Words that any value may use are left out."""


class Oddity(NamedTuple):
    """Something in the text that is no memory, or ambiguous: `offset` counts code points into the text."""

    code: str
    message: str
    offset: int


class NempEntry:
    """One memory in a store's text. There may be 100,000: what few askers need is found when it is asked for.

    `start` and `end` span the entry's value in the text. A `plain` entry is a bare value in a map: it has no fields.
    """

    __slots__ = ("_key_start", "_raw", "_text", "end", "key", "plain", "start", "tags", "value")

    def __init__(
        self,
        text: str,
        key: str,
        value: Any,
        span: tuple[int, int],
        *,
        tags: tuple[str, ...] = (),
        key_start: int = -1,
        plain: bool = False,
    ) -> None:
        self._text = text
        self._raw: dict[str, Any] | None = None
        self._key_start = key_start
        self.key = key
        self.value = value
        self.tags = tags
        self.start, self.end = span
        self.plain = plain

    def moved(self, text: str, start: int, end: int) -> NempEntry:
        """The entry in a text in which its value, an object by now, spans other offsets; its name moved with it."""
        key_start = self._key_start if self._key_start < 0 else self._key_start + start - self.start
        return NempEntry(text, self.key, self.value, (start, end), tags=self.tags, key_start=key_start)

    def __repr__(self) -> str:
        return f"NempEntry({self.key!r}, {self.start}:{self.end})"

    @property
    def raw(self) -> Mapping[str, Any]:
        """The entry as its store holds it, unknown fields included; a plain entry as `{"value": value}`."""
        if self._raw is None:
            if self.plain:
                self._raw = {"value": self.value}
            else:
                self._raw = {
                    member.key: _printable(member.value, self._text, member.value_start, member.value_end)
                    for member in members(self._text, self.start)
                }
        return self._raw

    @property
    def key_offset(self) -> int:
        """Where the key's string begins in the text: the map key, or in a list the value of the member `key`."""
        if self._key_start >= 0:
            return self._key_start
        found = [member.value_start for member in members(self._text, self.start) if member.key == "key"]
        return found[-1] if found else self.start

    @property
    def text(self) -> str:
        """The value as text: a string as it is, anything else as JSON."""
        return as_text(self.value)

    @property
    def agent_id(self) -> str | None:
        """Who wrote it."""
        return _text_or_none(self.raw.get("agent_id"))

    @property
    def created(self) -> str | None:
        """When it was first written, as its writer spelt it; `timestamp` stands in where `created` is missing."""
        return _text_or_none(self.raw.get("created")) or _text_or_none(self.raw.get("timestamp"))

    @property
    def updated(self) -> str | None:
        """When its value last changed, as its writer spelt it; a lone `timestamp` stands in."""
        return _text_or_none(self.raw.get("updated")) or _text_or_none(self.raw.get("timestamp"))

    @property
    def type(self) -> Any:
        """The kind of memory (`fact`, `rule`, ...), or None."""
        return self.raw.get("type")

    @property
    def confidence(self) -> Any:
        """The member `confidence` as it stands: normally `{score, source, reason}`."""
        return self.raw.get("confidence")

    @property
    def vitality(self) -> Any:
        """The member `vitality` as it stands: normally an object of counters."""
        return self.raw.get("vitality")

    @property
    def links(self) -> Any:
        """The member `links` as it stands: normally `{goals, conflicts, supersedes, superseded_by, causal}`."""
        return self.raw.get("links")


class StoreText(NamedTuple):
    """A parsed store: `by_key` holds, in order of the text, every entry of a name (names may repeat)."""

    text: str
    shape: Shape
    entries: tuple[NempEntry, ...]
    by_key: Mapping[str, tuple[NempEntry, ...]]
    oddities: tuple[Oddity, ...]


def parse_store(text: str) -> StoreText:
    """Read a store out of its text (without byte order mark). Never raises: a text that is no store is `broken`."""
    if not text.strip(WHITESPACE):
        return StoreText(text, "empty", (), {}, ())
    oddities: list[Oddity] = []
    try:
        shape, found = _entries(text, oddities)
        entries = tuple(found)
    except JsonError as error:
        message = (
            f"This is not valid JSON: {error.message}. Mend it by hand; until then it is neither read nor written."
        )
        return StoreText(text, "broken", (), {}, (Oddity("not-json", message, error.offset),))
    if shape == "broken":
        return StoreText(text, "broken", (), {}, tuple(oddities))
    return StoreText(text, shape, entries, _by_key(entries), tuple(oddities))


class _Listed(NamedTuple):
    """A list of entries, read item by item: `end` is the offset of its closing bracket."""

    entries: list[NempEntry]
    oddities: list[Oddity]
    end: int


def _entries(text: str, oddities: list[Oddity]) -> tuple[Shape, Iterable[NempEntry]]:
    start = value_start(text)
    if text[start] == "[":
        listed = _read_list(text, start, whole=True)
        oddities += listed.oddities
        return "list", listed.entries
    if text[start] == "{":
        return _object_entries(text, start, oddities)
    root_span(text)  # what is not even JSON is reported as that
    message = "This is JSON but no nemp store: an object or a list of memories belongs here. It was left alone."
    oddities.append(Oddity("not-a-store", message, start))
    return "broken", ()


def _object_entries(text: str, start: int, oddities: list[Oddity]) -> tuple[Shape, Iterable[NempEntry]]:
    """Tell the wrappers from a map: only the member `memories` decides, and it may itself be a key of a map."""
    root = list(_root_members(text, start))
    wrapping = [member for member in root if member.key == "memories"]
    inner = wrapping[-1] if wrapping else None
    if inner is None or isinstance(inner.value, str | int | float) or _is_entry_object(inner.value):
        return "map", _map_entries(text, root, oddities)
    for overruled in wrapping[:-1]:
        message = 'Another "memories" follows in the same object and overrules this one, so its entries are not read.'
        oddities.append(Oddity("duplicate-member", message, overruled.key_start))
    for member in root:
        if member.key != "memories" and isinstance(member.value, dict) and "value" in member.value:
            message = f'The entry "{member.key}" stands beside "memories" and is not read; move it into "memories".'
            oddities.append(Oddity("stray-entry", message, member.key_start))
    if isinstance(inner.value, _Listed):
        oddities += inner.value.oddities
        return "wrapper", inner.value.entries
    if isinstance(inner.value, dict):
        return "wrapped map", _map_entries(text, members(text, inner.value_start), oddities)
    oddities.append(Oddity("no-memories", '"memories" is null; a list belongs there.', inner.value_start))
    return "wrapper", ()


def _root_members(text: str, start: int) -> Iterator[Member]:
    """The root's members, as `members` has them, except that a list under `memories` comes as `_Listed`.

    That list is nearly the whole file: parsing it as one value first, and again item by item, would double the time.
    """
    position = start + 1
    separator = _SPACE.match(text, position)
    while separator is not None and text.startswith('"', separator.end()):
        key_start = separator.end()
        key, key_end = value_at(text, key_start)
        colon = _COLON.match(text, key_end)
        if colon is None:
            break
        at = colon.end()
        value: Any
        if key == "memories" and text.startswith("[", at):
            value = _read_list(text, at)
            position = value.end + 1
        else:
            value, position = value_at(text, at)
        yield Member(key, key_start, at, position, value)
        separator = _COMMA.match(text, position)
    if _END_OF_ROOT.fullmatch(text, position) is None:
        root_span(text)  # says what the fault is, and where
        raise JsonError("a comma or } is missing", position)


def _is_entry_object(value: object) -> bool:
    """Whether an object is a memory rather than a map of memories, by its own members."""
    names = ("value", "created", "updated", "agent_id")
    return isinstance(value, dict) and any(name in value and not isinstance(value[name], dict) for name in names)


def _read_list(text: str, start: int, *, whole: bool = False) -> _Listed:
    entries: list[NempEntry] = []
    oddities: list[Oddity] = []
    end = start + 1
    for number, (item_start, end, fields) in enumerate(elements(text, start, whole=whole), start=1):
        if not isinstance(fields, dict):
            message = f"Item {number} is no memory but a bare value; give it a key and a value, or remove it."
            oddities.append(Oddity("not-an-entry", message, item_start))
            continue
        key = fields.get("key")
        if isinstance(key, str) and key:
            entries.append(_entry(text, key, fields, (item_start, end), oddities=oddities))
        else:
            lack = "an empty key" if key == "" else 'no "key"' if key is None else 'a "key" that is no text'
            message = f"Item {number} has {lack} and cannot be recalled; give it one."
            oddities.append(Oddity("no-key", message, item_start))
    return _Listed(entries, oddities, text.index("]", end))


def _map_entries(text: str, found: Iterable[Member], oddities: list[Oddity]) -> Iterator[NempEntry]:
    for map_key, key_start, start, end, value in found:
        own = value.get("key") if isinstance(value, dict) else None
        key = own if isinstance(own, str) and own else map_key
        if not key:
            message = "This entry has an empty key and cannot be recalled; give it one."
            oddities.append(Oddity("no-key", message, key_start))
        elif isinstance(value, dict) and ("value" in value or not _ENTRY_FIELDS.isdisjoint(value)):
            yield _entry(text, key, value, (start, end), key_start=key_start, oddities=oddities)
        else:
            shown = _printable(value, text, start, end)
            yield NempEntry(text, key, shown, (start, end), key_start=key_start, plain=True)


def _entry(
    text: str,
    key: str,
    fields: dict[str, Any],
    span: tuple[int, int],
    *,
    oddities: list[Oddity],
    key_start: int = -1,
) -> NempEntry:
    value = fields.get("value")
    if value is None and "value" not in fields:
        oddities.append(Oddity("no-value", f'The memory "{key}" has no "value".', span[0]))
    elif isinstance(value, dict | list) and not _is_shallow(value):
        written = [member for member in members(text, span[0]) if member.key == "value"][-1]
        value = text[written.value_start : written.value_end]
    tags = fields.get("tags")
    if tags:
        listed = tags if isinstance(tags, list) else [tags]
        tags = tuple(tag for tag in listed if isinstance(tag, str))
    return NempEntry(text, key, value, span, tags=tags or (), key_start=key_start)


def _by_key(entries: tuple[NempEntry, ...]) -> dict[str, tuple[NempEntry, ...]]:
    alone: dict[str, tuple[NempEntry, ...]] = {entry.key: (entry,) for entry in entries}
    if len(alone) == len(entries):
        return alone
    grouped: dict[str, list[NempEntry]] = {}
    for entry in entries:
        grouped.setdefault(entry.key, []).append(entry)
    return {key: tuple(group) for key, group in grouped.items()}


def _printable(value: Any, text: str, start: int, end: int) -> Any:
    return value if _is_shallow(value) else text[start:end]


def _is_shallow(value: Any) -> bool:
    if not isinstance(value, dict | list):
        return True
    level = [value]
    for _ in range(_DEEPEST):
        below = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for items in below for item in items if isinstance(item, dict | list)]
        if not level:
            return True
    return False


def _text_or_none(value: object) -> str | None:
    if value is None or isinstance(value, bool | dict | list):
        return None
    return as_text(value) or None
