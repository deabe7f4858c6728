"""As much of a long JSON text as tells how a value in it is written: its head, and the lines that the value stands on.

`json_edit.py` looks around a value for its style. Of a text laid out in lines it finds in an excerpt what it finds in
the whole, and megabytes need not be decoded for it. Knows what is looked for there, and holds for changes of which
nothing is beyond ASCII: whether a document escapes such characters cannot be seen in a part of it.
"""

from __future__ import annotations

import re

from memory_recall.records import NamedTuple

HEAD = 1 << 16
"""Bytes at the beginning of a text, and on either side of the value, within which all must be found."""

_STRINGS = 400
"""Strings in a head: in no more of them are the separators of a document looked for."""

_INDENTED_LINE = re.compile(rb"[\n\r][ \t]+[^ \t\n\r]")


class Excerpt(NamedTuple):
    """A part of a text; `text[start:end]` is the value."""

    text: str
    start: int
    end: int


def excerpt_of(data: bytes, start: int, end: int) -> Excerpt | None:
    """What changing the value `data[start:end]` of a valid text goes by; None where that may be all of it.

    Both cuts are made at the ends of lines, which no string contains.
    """
    head = data[: data.rfind(b"\n", 0, HEAD) + 1]
    nearest = max(data.rfind(b"\n", max(0, start - HEAD), start), data.rfind(b"\r", max(0, start - HEAD), start))
    begin, stop = nearest + 1, data.find(b"\n", end, end + HEAD) + 1
    tells_style = head.count(b'"') - head.count(b'\\"') >= 2 * _STRINGS and _INDENTED_LINE.search(head)
    if not begin or not stop or not tells_style:
        return None
    head, stop = head[:begin], max(stop, len(head))
    before, value = (head + data[begin:start]).decode("utf-8"), data[start:end].decode("utf-8")
    return Excerpt(before + value + data[end:stop].decode("utf-8"), len(before), len(before) + len(value))
