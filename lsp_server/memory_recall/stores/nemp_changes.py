"""What a change of a few entries makes of a large nemp store: they alone are read again, the others are moved.

The outcome is the one that reading the whole file would have. Where that cannot be promised (a change outside of the
entries, one that could make another shape of the file) it is `Unsure`, and the whole is to be read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from memory_recall.stores.nemp_bytes import Found, Numbers, StoreBytes
from memory_recall.stores.nemp_large import AROUND, OF_AN_ENTRY, entries_of_list, entries_of_map
from memory_recall.stores.nemp_shapes import Oddity
from memory_recall.text.json_bytes import Spans, Unsure, check_utf8, decode, element_spans, member_spans

_COMPARED = 1 << 16
_FOLLOWED = 1_000
"""Changed entries above which reading the whole costs less than following each."""

_BEFORE, _BEHIND = b"<", b">"
"""Names of the members that stand for those around a stretch. A file that has one itself costs time, no more."""


class Stretch(NamedTuple):
    """Entries `first` up to `stop` of the older store, which are `new_first` up to `new_stop` of the newer."""

    first: int
    stop: int
    new_first: int
    new_stop: int


class Changed(NamedTuple):
    """The newer store, and where it differs from the older."""

    content: StoreBytes
    stretches: Sequence[Stretch]

    @property
    def is_small(self) -> bool:
        """Whether so few entries were touched that what is known of the others is worth taking over."""
        return sum(stretch.new_stop - stretch.new_first for stretch in self.stretches) <= _FOLLOWED


class _Span(NamedTuple):
    """Entries whose bytes changed, and by how much what stands before and behind them has moved."""

    first: int
    stop: int
    before: int
    behind: int


def after_edit(old: StoreBytes, data: bytes, growths: Sequence[tuple[int, int]]) -> Changed:
    """The store in which the values of some entries were replaced: their numbers, ascending, and growths in bytes.

    Raises `Unsure`.
    """
    if len(growths) > _FOLLOWED:
        raise Unsure
    spans = []
    moved = 0
    for number, growth in growths:
        spans.append(_Span(number, number + 1, moved, moved + growth))
        moved += growth
    return _changed(old, data, spans)


def after_change(old: StoreBytes, data: bytes) -> Changed:
    """The store that the file holds now, in which somebody has changed something. Raises `Unsure`."""
    begin = _common_start(old.data, data)
    end = len(old.data) - _common_end(old.data, data, begin)
    container, found = old.container, old.found
    if begin <= container.start or end > container.close:
        raise Unsure
    openings = found.starts if found.names is None else found.names
    span = _Span(bisect_left(found.ends, begin), bisect_left(openings, end), 0, len(data) - len(old.data))
    changed = _changed(old, data, [span])
    if old.container.is_map:
        _check_names(old, changed)
    return changed


def _common_start(left: bytes, right: bytes) -> int:
    shorter = min(len(left), len(right))
    for begin in range(0, shorter, _COMPARED):
        if left[begin : begin + _COMPARED] != right[begin : begin + _COMPARED]:
            pairs = enumerate(zip(left[begin : begin + _COMPARED], right[begin : begin + _COMPARED], strict=False))
            return begin + next((at for at, (one, other) in pairs if one != other), shorter - begin)
    return shorter


def _common_end(left: bytes, right: bytes, begin: int) -> int:
    """How many bytes both end with, of those behind `begin`."""
    shorter = min(len(left), len(right)) - begin
    same = 0
    while same < shorter:
        size = min(_COMPARED, shorter - same)
        one = left[len(left) - same - size : len(left) - same]
        other = right[len(right) - same - size : len(right) - same]
        if one != other:
            return same + next(at for at in range(size) if one[-1 - at] != other[-1 - at])
        same += size
    return same


def _check_names(old: StoreBytes, changed: Changed) -> None:
    """Raise `Unsure` where what the members are called, or how many there are, may tell another shape."""
    new = changed.content
    if old.shape == "map" and len(new.found.keys) <= len(AROUND):
        raise Unsure
    for stretch in changed.stretches:
        names = _members_of(new, stretch.new_first, stretch.new_stop).keys()
        if old.shape == "map" and "memories" in names | _members_of(old, stretch.first, stretch.stop).keys():
            raise Unsure
        if old.shape == "wrapped map" and not names.isdisjoint(OF_AN_ENTRY):
            raise Unsure


def _members_of(store: StoreBytes, first: int, stop: int) -> dict[str, msgspec.Raw]:
    opening, closing = _neighbours(store, first, stop)
    text = opening + store.data[_begin(store, first) : _end(store, stop)] + closing
    return _without_neighbours(decode(text, dict[str, msgspec.Raw]))


def _begin(store: StoreBytes, number: int) -> int:
    """Where what stands before an entry ends: the entry before it, or the opening bracket."""
    return store.found.ends[number - 1] if number else store.container.start + 1


def _end(store: StoreBytes, number: int) -> int:
    """Where an entry begins, its name in a map; the closing bracket behind the last."""
    return _openings(store.found)[number] if number < len(store.found.keys) else store.container.close


def _openings(found: Found) -> array[int]:
    return found.starts if found.names is None else found.names


def _neighbours(store: StoreBytes, first: int, stop: int) -> tuple[bytes, bytes]:
    """What makes a container of its own of a stretch with the separators around it.

    Something that no other text can run into stands for the entries before and behind it, where there are some.
    """
    before, behind = first > 0, stop < len(store.found.keys)
    if store.container.is_map:
        return b'{"%b":{}' % _BEFORE if before else b"{", b'"%b":{}}' % _BEHIND if behind else b"}"
    return b"[{}" if before else b"[", b"{}]" if behind else b"]"


def _without_neighbours(found: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    stand_ins = (_BEFORE.decode(), _BEHIND.decode())
    return {name: value for name, value in found.items() if name not in stand_ins}


def _changed(old: StoreBytes, data: bytes, spans: Sequence[_Span]) -> Changed:
    read = [_read(old, data, span) for span in spans]
    stretches, moved = [], 0
    for span, found in zip(spans, read, strict=True):
        first = span.first + moved
        stretches.append(Stretch(span.first, span.stop, first, first + len(found.keys)))
        moved += len(found.keys) - (span.stop - span.first)
    oddities = _moved_oddities(old, spans, same_number=all(_same_number(stretch) for stretch in stretches))
    keys, numbers = _keys(old, stretches, read)
    container = old.container._replace(close=old.container.close + len(data) - len(old.data))
    names = [found.names for found in read if found.names is not None]
    found = Found(
        _offsets(old.found.starts, spans, [found.starts for found in read]),
        _offsets(old.found.ends, spans, [found.ends for found in read]),
        None if old.found.names is None else _offsets(old.found.names, spans, names),
        keys,
        _joined(old.found.plain, stretches, [found.plain for found in read]),
        _linked(old, stretches, read),
        oddities,
    )
    is_ascii = old.is_ascii and all(_is_ascii(old, data, span) for span in spans)
    lines = old.lines().changed(data, _begin(old, spans[0].first), is_ascii=is_ascii)
    content = StoreBytes(data, old.shape, container, found, is_ascii=is_ascii, numbers=numbers, lines=lines)
    return Changed(content, tuple(stretches))


def _read(old: StoreBytes, data: bytes, span: _Span) -> Found:
    """The entries that a stretch has now. Raises `Unsure` where it is not a whole number of them."""
    begin, end = _begin(old, span.first) + span.before, _end(old, span.stop) + span.behind
    if end < begin:
        raise Unsure
    opening, closing = _neighbours(old, span.first, span.stop)
    text = opening + data[begin:end] + closing
    check_utf8(text)
    if old.container.is_map:
        members = decode(text, dict[str, msgspec.Raw])
        whole = member_spans(text, 0, members)
        inner = slice(span.first > 0, len(members) - (span.stop < len(old.found.keys)))
        assert whole.names is not None
        spans = Spans(whole.starts[inner], whole.ends[inner], whole.names[inner], whole.close)
        found = entries_of_map(text, spans, _without_neighbours(members))
    else:
        items = decode(text, list[msgspec.Raw])
        whole = element_spans(text, 0, items)
        inner = slice(span.first > 0, len(items) - (span.stop < len(old.found.keys)))
        spans = Spans(whole.starts[inner], whole.ends[inner], None, whole.close)
        found = entries_of_list(text, spans, items[inner])
    if found.oddities:
        raise Unsure
    shift = begin - len(opening)
    names = None if found.names is None else _shifted(found.names, shift)
    return found._replace(starts=_shifted(found.starts, shift), ends=_shifted(found.ends, shift), names=names)


def _same_number(stretch: Stretch) -> bool:
    return stretch.stop - stretch.first == stretch.new_stop - stretch.new_first


def _moved_oddities(old: StoreBytes, spans: Sequence[_Span], *, same_number: bool) -> tuple[Oddity, ...]:
    """The oddities, at their new places. Some say which item they are, so that items must not come and go."""
    if old.oddities and not same_number:
        raise Unsure
    moved = []
    for oddity in old.oddities:
        shift = 0
        for span in spans:
            if _begin(old, span.first) <= oddity.offset < _end(old, span.stop):
                raise Unsure
            if oddity.offset >= _end(old, span.stop):
                shift = span.behind
        moved.append(oddity._replace(offset=oddity.offset + shift))
    return tuple(moved)


def _keys(old: StoreBytes, stretches: Sequence[Stretch], read: Sequence[Found]) -> tuple[list[str], Numbers | None]:
    """All keys, and their numbers where those are as they were."""
    before = old.found.keys
    if all(before[at.first : at.stop] == found.keys for at, found in zip(stretches, read, strict=True)):
        return before, old.numbers
    keys: list[str] = []
    position = 0
    for stretch, found in zip(stretches, read, strict=True):
        keys += before[position : stretch.first]
        keys += found.keys
        position = stretch.stop
    return keys + before[position:], None


def _joined(before: bytes, stretches: Sequence[Stretch], parts: Sequence[bytes]) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for stretch, part in zip(stretches, parts, strict=True):
        pieces += (before[position : stretch.first], part)
        position = stretch.stop
    return b"".join((*pieces, before[position:]))


def _linked(old: StoreBytes, stretches: Sequence[Stretch], read: Sequence[Found]) -> list[int]:
    linked: list[int] = []
    position = moved = 0
    for stretch, found in zip(stretches, read, strict=True):
        linked += [number + moved for number in old.found.linked if position <= number < stretch.first]
        linked += [number + stretch.new_first for number in found.linked]
        position, moved = stretch.stop, stretch.new_stop - stretch.stop
    return linked + [number + moved for number in old.found.linked if number >= position]


def _offsets(before: array[int], spans: Sequence[_Span], parts: Sequence[array[int]]) -> array[int]:
    offsets: array[int] = array("Q")
    position = moved = 0
    for span, part in zip(spans, parts, strict=True):
        offsets += _shifted(before[position : span.first], moved)
        offsets += part
        position, moved = span.stop, span.behind
    return offsets + _shifted(before[position:], moved)


def _shifted(offsets: array[int], by: int) -> array[int]:
    return array("Q", [offset + by for offset in offsets]) if by else offsets


def _is_ascii(old: StoreBytes, data: bytes, span: _Span) -> bool:
    return data[_begin(old, span.first) + span.before : _end(old, span.stop) + span.behind].isascii()
