"""`index.json` of an inbox: one message more at its front, and not a byte of the others changed.

Pure: bytes in, bytes out. Other programs keep members of their own in this file, so it is edited and not rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from memory_recall.text.json_edit import edit_object
from memory_recall.text.json_spans import JsonError, Member, elements, members, value_start

_BYTE_ORDER_MARK = "\ufeff"
_MESSAGES = "messages"


class NotAnIndex(Exception):
    """A file that no message can be added to; the text continues a sentence that begins with the file."""


def with_message(data: bytes, entry: Mapping[str, Any]) -> bytes:
    """The bytes of the index with one entry before all others, written the way the file is written.

    Raises `NotAnIndex` for anything but a JSON object whose `messages` is a list, or missing.
    """
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise NotAnIndex("is not UTF-8") from failure
    text = decoded.removeprefix(_BYTE_ORDER_MARK)
    mark = decoded[: len(decoded) - len(text)]
    try:
        return f"{mark}{_with_first(text, dict(entry))}".encode()
    except JsonError as failure:
        raise NotAnIndex(f"is not a JSON object ({failure.message})") from failure


def _with_first(text: str, entry: dict[str, Any]) -> str:
    start = value_start(text)
    held = list(members(text, start, whole=True))
    messages = _messages(held)
    if messages is not None and not isinstance(messages.value, list | None):
        raise NotAnIndex("has `messages` that are no list")
    # First the entry alone, in the style of the document; then the others behind it, as they were.
    end = text.rindex("}") + 1
    alone = text[:start] + edit_object(text, start, end, [((_MESSAGES,), [entry])]) + text[end:]
    if messages is None or not messages.value:
        return alone
    first, *others = islice(elements(text, messages.value_start), 2)
    moved = _messages(list(members(alone, start)))
    assert moved is not None
    new = next(elements(alone, moved.value_start))
    between = text[first.end : others[0].start] if others else ","
    if not others:
        one_line = " " if '", "' in alone[new.start : new.end] else ""
        between += text[messages.value_start + 1 : first.start] or one_line
    return alone[: new.end] + between + text[first.start :]


def _messages(held: list[Member]) -> Member | None:
    """The member that parsers keep where the name is repeated: the last."""
    return next((member for member in reversed(held) if member.key == _MESSAGES), None)
