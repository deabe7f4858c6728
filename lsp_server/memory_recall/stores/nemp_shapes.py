"""The shapes in which nemp's `memories.json` is found, and the entries in them with their exact places in the text.

Knows JSON text and nothing else: no path, no disk, no environment. Whatever is odd becomes an `Oddity` with an offset
and stays where it is; a text that does not parse, or is no store, has no entries and must not be written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from memory_recall.records import NamedTuple
from memory_recall.stores.nemp_entry import NempEntry, tags_of
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
from memory_recall.text.json_written import is_sayable, sayable
from memory_recall.text.positions import LineIndex

Shape = Literal["wrapper", "wrapped map", "map", "list", "empty", "broken", "absent"]
"""`wrapper`: `{"memories": [entry]}` · `wrapped map`: `{"memories": {key: entry}}` · `map`: `{key: entry or value}` ·
`list`: `[entry]` · `empty`: nothing but white space · `broken`: unreadable or no store · `absent`: no file."""

_SPACE = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_END_OF_ROOT = re.compile(r"[ \t\r\n]*\}[ \t\r\n]*")

_ENTRY_FIELDS = frozenset(
    ("key", "created", "updated", "timestamp", "agent_id", "confidence", "vitality", "links", "projectPath",
     "accessCount", "lastAccessed")
)  # fmt: skip
"""Members that make an object without a `value` an entry nevertheless. Words that any value may use are left out."""

_SUCCESSION = re.compile(r'"supersedes"[ \t\r\n]*:[ \t\r\n]*(?:"|\[[ \t\r\n]*")')
_ESCAPED_LETTER = re.compile(r"\\u00[67]")  # of a name that is spelt in a way nobody does

_AROUND = frozenset(("version", "metadata"))
"""Members that stand beside `memories` in a wrapper."""


class Oddity(NamedTuple):
    """Something in the text that is no memory, or ambiguous: `offset` counts code points into the text."""

    code: str
    message: str
    offset: int


class StoreText(NamedTuple):
    """A parsed store: `by_key` holds, in order of the text, every entry of a name (names may repeat)."""

    text: str
    shape: Shape
    entries: tuple[NempEntry, ...]
    by_key: Mapping[str, tuple[NempEntry, ...]]
    oddities: tuple[Oddity, ...]

    @property
    def whole(self) -> StoreText:
        """All of the store."""
        return self

    def entry(self, number: int) -> NempEntry:
        """One entry."""
        return self.entries[number]

    def span_of(self, number: int) -> tuple[int, int]:
        """Where an entry's value begins and ends, in bytes of UTF-8."""
        entry = self.entries[number]
        start = len(self.text[: entry.start].encode("utf-8"))
        return start, start + len(self.text[entry.start : entry.end].encode("utf-8"))

    @property
    def keys(self) -> Sequence[str]:
        """The key of each entry, in order."""
        return [entry.key for entry in self.entries]

    def named(self, key: str) -> tuple[NempEntry, ...]:
        """The entries of exactly that name."""
        return self.by_key.get(key, ())

    def repeated(self) -> Iterator[tuple[NempEntry, ...]]:
        """The entries that share their names with others, a name at a time."""
        if len(self.by_key) < len(self.entries):
            yield from (namesakes for namesakes in self.by_key.values() if len(namesakes) > 1)

    def linked(self) -> Iterator[NempEntry]:
        """The entries that may say in `links.supersedes` what they replace, in order; all that do, and few more."""
        starts: list[int] = []
        numbers = set()
        for offset in offsets_of_successions(self.text):
            starts = starts or [entry.start for entry in self.entries]
            number = bisect_right(starts, offset) - 1
            if number >= 0 and offset < self.entries[number].end:
                numbers.add(number)
        return (self.entries[number] for number in sorted(numbers))

    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)

    def key_place(self, entry: NempEntry) -> int:
        """Where an entry's key stands, as `lines` counts."""
        return entry.key_offset


def odd_item(number: int, offset: int, *, is_object: bool, key: object) -> Oddity:
    """The fault of a list's item, counted from 1, that is no memory, or none that has a name."""
    if not is_object:
        message = f"Item {number} is no memory but a bare value; give it a key and a value, or remove it."
        return Oddity("not-an-entry", message, offset)
    lack = "an empty key" if key == "" else 'no "key"' if key is None else 'a "key" that is no text'
    return Oddity("no-key", f"Item {number} has {lack} and cannot be recalled; give it one.", offset)


def nameless_member(offset: int) -> Oddity:
    """The fault of a map's member whose name is empty."""
    return Oddity("no-key", "This entry has an empty key and cannot be recalled; give it one.", offset)


def valueless(key: str, offset: int) -> Oddity:
    """The fault of a memory that says nothing."""
    return Oddity("no-value", f'The memory "{key}" has no "value".', offset)


def has_entry_fields(fields: Mapping[str, object]) -> bool:
    """Whether an object under a key is a memory, and not itself the value of one."""
    return "value" in fields or not _ENTRY_FIELDS.isdisjoint(fields)


def offsets_of_successions(text: str) -> list[int]:
    """Where a text seems to say that something supersedes something; nowhere else does a memory say so.

    Next to no memory does, and finding the links of all 100,000 would take a second.
    """
    patterns = (_SUCCESSION, _ESCAPED_LETTER) if "\\u00" in text else (_SUCCESSION,)
    return [match.start() for pattern in patterns for match in pattern.finditer(text)]


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
    """Entries that were read item by item; of a list, `end` is the offset of its closing bracket."""

    entries: list[NempEntry]
    oddities: list[Oddity]
    end: int = -1


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
    """Tell the wrappers from a map: only the member `memories` decides, and it may itself be a key of a map.

    Without it, an object of nothing but `version` and `metadata` is a wrapper that nothing was put into yet.
    """
    wrapping: list[Member] = []
    first: list[Member] = []
    beside = _Listed([], [])  # the entries, if this is a map; so the parsed values of all of them need not be kept
    for member in _root_members(text, start):
        if member.key == "memories":
            wrapping.append(member)
        if len(first) <= len(_AROUND):
            first.append(member)
        if member.key != "memories" or not _wraps(member.value):
            _add_map_entry(beside, text, member)
    inner = wrapping[-1] if wrapping else None
    if inner is None and _is_empty_wrapper(first):
        return "wrapper", ()
    if inner is None or not _wraps(inner.value):
        if any(_wraps(member.value) for member in wrapping):  # overruled, and so a value like the others of the map
            beside = _read_map(members(text, start), text)
        oddities += beside.oddities
        return "map", beside.entries
    for overruled in wrapping[:-1]:
        message = 'Another "memories" follows in the same object and overrules this one, so its entries are not read.'
        oddities.append(Oddity("duplicate-member", message, overruled.key_start))
    for entry in beside.entries:
        if not entry.plain and "value" in entry.raw:
            message = f'The entry "{entry.key}" stands beside "memories" and is not read; move it into "memories".'
            oddities.append(Oddity("stray-entry", message, entry.key_offset))
    if isinstance(inner.value, _Listed):
        oddities += inner.value.oddities
        return "wrapper", inner.value.entries
    if isinstance(inner.value, dict):
        below = _read_map(members(text, inner.value_start), text)
        oddities += below.oddities
        return "wrapped map", below.entries
    oddities.append(Oddity("no-memories", '"memories" is null; a list belongs there.', inner.value_start))
    return "wrapper", ()


def _is_empty_wrapper(root: list[Member]) -> bool:
    """Whether these are members that stand around memories, where there are none; `root` may end early."""
    return 0 < len(root) <= len(_AROUND) and all(
        member.key in _AROUND
        and isinstance(member.value, dict) == (member.key == "metadata")
        and not (isinstance(member.value, dict) and "value" in member.value)
        for member in root
    )


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


def _wraps(memories: object) -> bool:
    """Whether the value of the member `memories` holds memories, and is not one itself."""
    return not isinstance(memories, str | int | float) and not _is_entry_object(memories)


def _is_entry_object(value: object) -> bool:
    """Whether an object is a memory rather than a map of memories, by its own members."""
    names = ("value", "created", "updated", "agent_id")
    return isinstance(value, dict) and any(name in value and not isinstance(value[name], dict) for name in names)


def _read_list(text: str, start: int, *, whole: bool = False) -> _Listed:
    entries: list[NempEntry] = []
    oddities: list[Oddity] = []
    end = start + 1
    for number, (item_start, end, fields) in enumerate(elements(text, start, whole=whole), start=1):
        key = fields.get("key") if isinstance(fields, dict) else None
        if isinstance(fields, dict) and isinstance(key, str) and key:
            entries.append(_entry(text, key, fields, (item_start, end), len(entries), oddities=oddities))
        else:
            oddities.append(odd_item(number, item_start, is_object=isinstance(fields, dict), key=key))
    return _Listed(entries, oddities, text.index("]", end))


def _read_map(found: Iterable[Member], text: str) -> _Listed:
    read = _Listed([], [])
    for member in found:
        _add_map_entry(read, text, member)
    return read


def _add_map_entry(read: _Listed, text: str, member: Member) -> None:
    map_key, key_start, start, end, value = member
    own = value.get("key") if isinstance(value, dict) else None
    key = own if isinstance(own, str) and own else map_key
    if not key:
        read.oddities.append(nameless_member(key_start))
    elif isinstance(value, dict) and has_entry_fields(value):
        number = len(read.entries)
        read.entries.append(_entry(text, key, value, (start, end), number, key_start=key_start, oddities=read.oddities))
    else:
        shown = value if isinstance(value, str) else sayable(value, text, start, end)
        number = len(read.entries)
        read.entries.append(
            NempEntry(text, key, (start, end), number, value=shown, tags=(), key_start=key_start, plain=True)
        )


def _entry(
    text: str,
    key: str,
    fields: dict[str, Any],
    span: tuple[int, int],
    number: int,
    *,
    oddities: list[Oddity],
    key_start: int = -1,
) -> NempEntry:
    value = fields.get("value")
    if value is None and "value" not in fields:
        oddities.append(valueless(key, span[0]))
    elif not isinstance(value, str) and not is_sayable(value):
        written = [member for member in members(text, span[0]) if member.key == "value"][-1]
        value = sayable(value, text, written.value_start, written.value_end)
    tags = tags_of(fields.get("tags"))
    return NempEntry(text, key, span, number, value=value, tags=tags, key_start=key_start)


def _by_key(entries: tuple[NempEntry, ...]) -> dict[str, tuple[NempEntry, ...]]:
    alone: dict[str, tuple[NempEntry, ...]] = {entry.key: (entry,) for entry in entries}
    if len(alone) == len(entries):
        return alone
    grouped: dict[str, list[NempEntry]] = {}
    for entry in entries:
        grouped.setdefault(entry.key, []).append(entry)
    return {key: tuple(group) for key, group in grouped.items()}
