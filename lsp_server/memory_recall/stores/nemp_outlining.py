"""Making the outline of a nemp store that was read: once for each writing of it by somebody else."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise

from memory_recall.stores.nemp_bytes import StoreBytes
from memory_recall.stores.nemp_outline import OFFSET, Outline, is_key
from memory_recall.stores.nemp_shapes import StoreText

_SPELT_KEY = re.compile(rb'"key"[ \t\r\n]*:[ \t\r\n]*"([^"\\]*)"')


def outline_of(content: StoreText | StoreBytes, data: bytes) -> Outline | None:
    """The outline of a store without faults, and its bytes; None of one that has no entries."""
    if not content.keys:
        return None
    is_map = content.shape in ("map", "wrapped map")
    if isinstance(content, StoreBytes):
        found = content.found
        begins = array(OFFSET, found.starts if found.names is None else found.names)
        stop, linked, is_ascii = found.ends[-1], found.linked, content.is_ascii
    else:
        entries = content.entries
        offsets = [entry.key_offset if is_map else entry.start for entry in entries]
        is_ascii = content.text.isascii()
        *starts, stop = _in_bytes(content.text, [*offsets, entries[-1].end], is_ascii=is_ascii)
        begins, linked = array(OFFSET, starts), [entry.number for entry in content.linked()]
    outline = Outline(content.shape, begins, stop, linked, is_ascii, spelt_plainly=False)
    return outline._replace(spelt_plainly=_are_spelt_plainly(outline, data, content.keys)).surveyed(data)


def _in_bytes(text: str, offsets: Sequence[int], *, is_ascii: bool) -> Sequence[int]:
    """Ascending offsets of code points as those of bytes."""
    if is_ascii:
        return offsets
    return list(accumulate(len(text[start:end].encode("utf-8")) for start, end in pairwise((0, *offsets))))


def _are_spelt_plainly(outline: Outline, data: bytes, keys: Sequence[str]) -> bool:
    """Whether `named` finds every key."""
    begins = outline.begins
    ends = (*begins[1:], outline.stop)
    first = None if outline.is_map else _SPELT_KEY.search(data, begins[0], ends[0])
    opening = b"" if first is None else data[begins[0] : first.start(1) - 1]  # next to always that of all others too
    opens_with_key = outline.is_map or (first is not None and is_key(data, first.start(1) - 1))
    return all(
        (opens_with_key and data.startswith(b'%b"%b"' % (opening, spelt), begin))
        or any(
            match[1] == spelt and is_key(data, match.start(1) - 1) for match in _SPELT_KEY.finditer(data, begin, end)
        )
        for begin, end, spelt in zip(begins, ends, (key.encode("utf-8") for key in keys), strict=True)
    )
