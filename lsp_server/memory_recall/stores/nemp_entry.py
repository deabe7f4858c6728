"""One memory in the text of a nemp store: what it says, and exactly where it stands.

Knows JSON text and the fields of a memory; not how a store holds its entries (`nemp_shapes.py`), no path and no disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from memory_recall.text.json_spans import members, value_at
from memory_recall.text.json_values import as_text
from memory_recall.text.json_written import as_written, is_sayable, sayable

_UNREAD: Any = object()


class Home(Protocol):
    """What an entry was cut out of, where it was given nothing but its own text."""

    def offsets_of(self, number: int) -> tuple[int, int]:
        """Where in the whole text an entry's value begins, and its name in a map (else -1), in code points."""


class NempEntry:
    """One memory in a store's text. There may be 100,000: what few askers need is found when it is asked for.

    `text[start:end]` is the entry's value, in the text of the whole store; of an entry with a `home` it is only the
    text given that has it. `number` counts the entries of the store from 0. A `plain` entry is a bare value in a map:
    it has no fields.
    """

    __slots__ = ("_at", "_home", "_key_start", "_raw", "_tags", "_text", "_until", "_value", "key", "number", "plain")

    def __init__(
        self,
        text: str,
        key: str,
        span: tuple[int, int],
        number: int,
        *,
        value: Any = _UNREAD,
        tags: tuple[str, ...] | None = None,
        key_start: int = -1,
        plain: bool = False,
        home: Home | None = None,
    ) -> None:
        self._text = text
        self._raw: dict[str, Any] | None = None
        self._key_start = key_start
        self._value = value
        self._tags = tags
        self._home = home
        self._at, self._until = span
        self.key = key
        self.number = number
        self.plain = plain

    def moved(self, text: str, start: int, end: int) -> NempEntry:
        """The entry in a text in which its value, an object by now, spans other offsets; its name moved with it."""
        key_start = self._key_start if self._key_start < 0 else self._key_start + start - self._at
        return NempEntry(
            text, self.key, (start, end), self.number, value=self.value, tags=self.tags, key_start=key_start
        )

    def __repr__(self) -> str:
        return f"NempEntry({self.key!r}, {self.start}:{self.end})"

    @property
    def start(self) -> int:
        """Where the value begins in the text of the store."""
        return self._at if self._home is None else self._home.offsets_of(self.number)[0]

    @property
    def end(self) -> int:
        """Where the value ends in the text of the store."""
        return self.start + self._until - self._at

    @property
    def raw(self) -> Mapping[str, Any]:
        """The entry as its store holds it, unknown fields included; a plain entry as `{"value": value}`."""
        if self._raw is None:
            if self.plain:
                self._raw = {"value": self.value}
            else:
                self._raw, _ = value_at(self._text, self._at)
                if self._tags is None:
                    self._tags = tags_of(self._raw.get("tags"))
                if not is_sayable(self._raw):
                    self._raw = {
                        member.key: sayable(member.value, self._text, member.value_start, member.value_end)
                        for member in members(self._text, self._at)
                    }
        return self._raw

    @property
    def value(self) -> Any:
        """What is remembered, as JSON can say it; None where the entry has no value."""
        if self._value is _UNREAD:
            if self.plain:
                self._value = sayable(value_at(self._text, self._at)[0], self._text, self._at, self._until)
            else:
                self._value = self.raw.get("value")
        return self._value

    @property
    def tags(self) -> tuple[str, ...]:
        """The texts among its tags."""
        if self._tags is None and not self.plain:
            _ = self.raw
        return self._tags or ()

    @property
    def key_offset(self) -> int:
        """Where the key's string begins in the text: the map key, or in a list the value of the member `key`."""
        key_start = self._key_start if self._home is None else self._home.offsets_of(self.number)[1]
        return key_start if key_start >= 0 else self.start + self._key_span()[0] - self._at

    @property
    def bytes_before_key(self) -> int:
        """How many bytes of UTF-8 the value has before the string of its member `key`; 0 without one."""
        return len(self._text[self._at : self._key_span()[0]].encode("utf-8"))

    def _key_span(self) -> tuple[int, int]:
        return self._span_of("key") or (self._at, self._at)

    def _span_of(self, name: str) -> tuple[int, int] | None:
        """Where the value of a member stands; of several of one name the last, which parsers keep."""
        spans = [
            (member.value_start, member.value_end) for member in members(self._text, self._at) if member.key == name
        ]
        return spans[-1] if spans else None

    @property
    def text(self) -> str:
        """The value as text: a string as it is, anything else as JSON, its numbers as they are written.

        Empty where the entry has no value at all.
        """
        value = self.value
        if isinstance(value, str):
            return value
        if isinstance(value, bool) or (isinstance(value, int) and value):  # these have one spelling
            return as_text(value)
        span = (self._at, self._until) if self.plain else self._span_of("value")
        return as_written(self._text, *span) if span is not None else ""

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


def _text_or_none(value: object) -> str | None:
    if value is None or isinstance(value, bool | dict | list):
        return None
    return as_text(value) or None


def tags_of(written: object) -> tuple[str, ...]:
    """The texts in the member `tags`, which may be a list or one text."""
    if not written:
        return ()
    listed = written if isinstance(written, list) else [written]
    return tuple(tag for tag in listed if isinstance(tag, str))
