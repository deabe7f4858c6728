"""Reading a large nemp store without parsing its entries into objects: the common shapes, a whole or a stretch of one.

`text/json_bytes.py` says where values stand, this module what they are. Whatever is not plainly one of the shapes here
(a repeated name, entries beside the memories, JSON that is none) is `Unsure`, and left to `nemp_shapes.py`.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import msgspec

from memory_recall.stores.nemp_bytes import Container, Found, StoreBytes
from memory_recall.stores.nemp_entry import tags_of
from memory_recall.stores.nemp_shapes import (
    Oddity,
    Shape,
    has_entry_fields,
    nameless_member,
    odd_item,
    offsets_of_successions,
    valueless,
)
from memory_recall.text.json_bytes import (
    Spans,
    Unsure,
    check_depth,
    check_utf8,
    decode,
    element_spans,
    escaped_names,
    member_spans,
    parsed,
    skip_space,
)
from memory_recall.text.json_spans import JsonError, members

_ABSENT, _PRESENT = msgspec.Raw(b""), msgspec.Raw(b"\\")
"""A member that is not there, and one that may say anything."""
_HEAD = 1 << 16
"""Bytes in which a wrapper's `memories` begins."""
AROUND = frozenset(("version", "metadata"))
OF_AN_ENTRY = ("value", "created", "updated", "agent_id")


class _Fields(msgspec.Struct, gc=False):
    """What is looked at of an entry when it is read: its key, whether it has a value, its links as they are written."""

    key: Any = msgspec.UNSET
    value: msgspec.Raw = _ABSENT
    links: msgspec.Raw = _ABSENT


class _Wrapper(msgspec.Struct):
    memories: list[msgspec.Raw]


class _Searched(msgspec.Struct, gc=False):
    value: Any = None
    tags: Any = None


_fields = msgspec.json.Decoder(_Fields).decode
_searched = msgspec.json.Decoder(_Searched).decode


def read_large(data: bytes) -> StoreBytes:
    """The store that these bytes are. Raises `Unsure`."""
    is_ascii = data.isascii()
    if not is_ascii:
        check_utf8(data)
    start = skip_space(data, 0)
    opening = data[start : start + 1]
    if opening == b"[":
        container, found = _read_list(data, start, decode(data, list[msgspec.Raw]))
        return StoreBytes(data, "list", container, found, is_ascii=is_ascii)
    if opening != b"{":
        raise Unsure
    wrapped = _start_of_list(data, start)
    if wrapped is not None:
        container, found = _read_list(data, wrapped, decode(data, _Wrapper).memories)
        _check_what_follows(data, container.close + 1)
        return StoreBytes(data, "wrapper", container, found, is_ascii=is_ascii)
    shape, container, found = _read_object(data, start)
    return StoreBytes(data, shape, container, found, is_ascii=is_ascii)


def _start_of_list(data: bytes, start: int) -> int | None:
    """Where the list of a wrapper begins, if the file begins like one."""
    head = data[start : start + _HEAD].decode("utf-8", "ignore")
    end, opens_at = 1, -1
    beside: list[object] = []
    try:
        for member in members(head, 0):
            if member.key == "memories":
                opens_at = member.value_start if isinstance(member.value, list) else -1
                break
            beside.append(member.value)
            end = member.value_end
    except JsonError:  # normally in the middle of the list
        opening = _LIST_OF_MEMORIES.match(head, end)
        opens_at = opening.end() - 1 if opening else -1
    if opens_at < 0:
        return None
    for value in beside:
        _check_beside(value)
    return start + len(head[:opens_at].encode("utf-8"))


_LIST_OF_MEMORIES = re.compile(r'[ \t\r\n]*(?:,[ \t\r\n]*)?"memories"[ \t\r\n]*:[ \t\r\n]*\[')


def _check_what_follows(data: bytes, offset: int) -> None:
    """Raise `Unsure` unless the rest of a wrapper, behind its list, is what may stand beside one."""
    if len(data) - offset > _HEAD:
        raise Unsure
    try:
        for member in members('{"":0' + data[offset:].decode("utf-8"), 0, whole=True):
            if member.key == "memories":
                raise Unsure
            _check_beside(member.value)
    except (JsonError, UnicodeDecodeError) as failure:
        raise Unsure from failure


def _check_beside(value: object) -> None:
    if isinstance(value, dict) and "value" in value:  # it may be an entry that strayed
        raise Unsure


def _read_object(data: bytes, start: int) -> tuple[Shape, Container, Found]:
    """A map, or a map within a wrapper."""
    found = decode(data, dict[str, msgspec.Raw])
    spans = member_spans(data, start, found)
    if "memories" not in found:
        if len(found) <= len(AROUND):
            raise Unsure
        return "map", Container(start, spans.close, is_map=True), entries_of_map(data, spans, found)
    number = list(found).index("memories")
    inner = spans.starts[number]
    opening = data[inner : inner + 1]
    if opening == b'"' or opening.isdigit() or opening in (b"-", b"t", b"f"):
        return "map", Container(start, spans.close, is_map=True), entries_of_map(data, spans, found)
    if opening != b"{":
        raise Unsure
    for key, begin, end in zip(found, spans.starts, spans.ends, strict=True):
        if key != "memories" and data[begin : begin + 1] == b"{":
            _check_beside(parsed(data, begin, end))
    below = decode(found["memories"], dict[str, msgspec.Raw])
    if any(name in below and bytes(below[name])[:1] != b"{" for name in OF_AN_ENTRY):
        raise Unsure  # a memory that is called "memories"
    spans = member_spans(data, inner, below)
    return "wrapped map", Container(inner, spans.close, is_map=True), entries_of_map(data, spans, below)


def _read_list(data: bytes, start: int, items: Sequence[msgspec.Raw]) -> tuple[Container, Found]:
    spans = element_spans(data, start, items)
    return Container(start, spans.close, is_map=False), entries_of_list(data, spans, items)


def entries_of_list(data: bytes, spans: Spans, items: Sequence[msgspec.Raw]) -> Found:
    """The entries among the elements of a list. Raises `Unsure`."""
    check_depth(data, spans)
    read = _read_fields(data, spans, items)
    starts, ends = spans.starts, spans.ends
    oddities: list[Oddity] = []
    good = bytearray(b"\1") * len(read)
    for number, fields in enumerate(read):
        key = None if fields is None else fields.key
        if type(key) is not str or not key:
            good[number] = 0
            shown = None if key is msgspec.UNSET else key
            oddities.append(odd_item(number + 1, starts[number], is_object=fields is not None, key=shown))
        elif fields is not None and fields.value is _ABSENT:
            oddities.append(valueless(key, starts[number]))
    if not all(good):
        starts, ends = array("Q", compress(starts, good)), array("Q", compress(ends, good))
    entries = [fields for fields, is_good in zip(read, good, strict=True) if is_good and fields is not None]
    keys = [fields.key for fields in entries]
    return Found(starts, ends, None, keys, bytes(len(keys)), _linked(entries), tuple(oddities))


def entries_of_map(data: bytes, spans: Spans, found: Mapping[str, msgspec.Raw]) -> Found:
    """The entries among the members of an object. Raises `Unsure`."""
    check_depth(data, spans)
    assert spans.names is not None
    read = _read_fields(data, spans, list(found.values()))
    keys: list[str] = []
    kinds = bytearray()
    oddities: list[Oddity] = []
    for number, (name, fields) in enumerate(zip(found, read, strict=True)):
        own = None if fields is None else fields.key
        key = own if isinstance(own, str) and own else name
        plain = fields is None or (fields.value is _ABSENT and not _has_fields(data, spans, number, fields))
        if not key:
            oddities.append(nameless_member(spans.names[number]))
            kinds.append(2)
            continue
        if fields is not None and not plain and fields.value is _ABSENT:
            oddities.append(valueless(key, spans.starts[number]))
        keys.append(key)
        kinds.append(plain)
    starts, ends, names, linking = spans.starts, spans.ends, spans.names, read
    if len(keys) < len(kinds):
        good = [kind != 2 for kind in kinds]
        starts, ends, names = (array("Q", compress(offsets, good)) for offsets in (starts, ends, names))
        linking = list(compress(read, good))
        kinds = bytearray(kind for kind in kinds if kind != 2)
    linked = [number for number in _linked(linking) if not kinds[number]]
    return Found(starts, ends, names, keys, bytes(kinds), linked, tuple(oddities))


def _has_fields(data: bytes, spans: Spans, number: int, fields: _Fields) -> bool:
    if fields.key is not msgspec.UNSET or fields.links is not _ABSENT:
        return True
    return has_entry_fields(parsed(data, spans.starts[number], spans.ends[number]))


def _read_fields(data: bytes, spans: Spans, items: Sequence[msgspec.Raw]) -> list[_Fields | None]:
    """The fields of each item that is an object; None for the others."""
    try:
        read: list[_Fields | None] = list(map(_fields, items))
    except (msgspec.MsgspecError, RecursionError):
        read = [_fields_or_none(data[start], item) for start, item in zip(spans.starts, items, strict=True)]
    for number in _with_escaped_names(data, spans):
        fields = parsed(data, spans.starts[number], spans.ends[number])
        if isinstance(fields, dict):
            read[number] = _Fields(
                key=fields.get("key", msgspec.UNSET),
                value=_PRESENT if "value" in fields else _ABSENT,
                links=_PRESENT if "links" in fields else _ABSENT,
            )
    return read


def _with_escaped_names(data: bytes, spans: Spans | Found) -> set[int]:
    """The numbers of the values in which msgspec may take a name for another."""
    if not spans.starts:
        return set()
    offsets = escaped_names(data, spans.starts[0], spans.ends[-1])
    return {bisect_right(spans.starts, offset) - 1 for offset in offsets}


def _linked(read: Sequence[_Fields | None]) -> list[int]:
    """The numbers of those that may say in their links what they replace. Nearly all have the very same links."""
    seen: dict[bytes, bool] = {}
    numbers = []
    for number, fields in enumerate(read):
        if fields is None or fields.links is _ABSENT:
            continue
        links = bytes(fields.links)
        says = seen.get(links)
        if says is None:
            says = seen[links] = b"\\" in links or bool(offsets_of_successions(links.decode("utf-8")))
        if says:
            numbers.append(number)
    return numbers


def documents_of(store: StoreBytes, numbers: Sequence[int] | None) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The key, the text and the tags of entries (all where None), for which not all of one is made into objects."""
    data, found = store.data, store.found
    slow = _with_escaped_names(data, found)
    for number in range(len(found.keys)) if numbers is None else numbers:
        if not found.plain[number] and number not in slow:
            try:
                fields = _searched(data[found.starts[number] : found.ends[number]])
            except (msgspec.MsgspecError, RecursionError):
                fields = _Searched()
            if isinstance(fields.value, str):
                yield found.keys[number], fields.value, tags_of(fields.tags)
                continue
        entry = store.entry(number)
        yield entry.key, entry.text, entry.tags


def _fields_or_none(opening: int, item: msgspec.Raw) -> _Fields | None:
    try:
        return _fields(item) if opening == ord("{") else None
    except (msgspec.MsgspecError, RecursionError) as failure:
        raise Unsure from failure
