"""JSON texts as all sorts of programs and people write them, for property tests. Not a test itself.

A document is drawn as a tree whose leaves are spellings (`1.0`, `1e400`, `"\\u00e9"`), then laid out: every container
decides for itself whether it takes one line or many, with spaces, tabs, blank lines and line endings of all kinds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

NAMES = [
    "key",
    "value",
    "vitality",
    "links",
    "a",
    "b",
    "",
    "ü",
    "schlüssel mit leerzeichen",
    "\\",
    '"',
    "{",
    "決策",
    "\n",
]

_text = st.text(max_size=12) | st.sampled_from([*NAMES, '\\"', "\\u00e9", "a, b: {c}", "\ud800", "😀", "\u2028", "NaN"])

_number_spellings = st.sampled_from(
    [
        "0",
        "-0",
        "1",
        "1.0",
        "-0.0",
        "1e400",
        "-1E+400",
        "1e-400",
        "2.5e3",
        "0.1",
        "9" * 400,
        "9" * 5000,
        "-" + "8" * 4301,
    ]
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _text.filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text))
)
"""Python values that JSON can say as one token."""

values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)
"""Any JSON value, as Python holds it."""


@dataclass(frozen=True)
class Leaf:
    spelling: str


@dataclass(frozen=True)
class Branch:
    """A container; `names` are spelt names for an object, None for an array."""

    names: tuple[str, ...] | None
    children: tuple[Any, ...]


def _spelt(text: str, as_ascii: bool) -> str:
    written = json.dumps(text, ensure_ascii=as_ascii)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in written)


_strings = st.builds(_spelt, _text, st.booleans())
_leaves = st.builds(
    Leaf,
    _strings
    | _number_spellings
    | st.sampled_from(["null", "true", "false"])
    | st.integers(-(10**25), 10**25).map(str)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
_names = st.builds(_spelt, st.sampled_from(NAMES), st.booleans())


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Branch]:
    pairs = st.lists(st.tuples(_names, inner), max_size=4)  # a name may come twice
    return pairs.map(lambda pairs: Branch(tuple(n for n, _ in pairs), tuple(c for _, c in pairs)))


def _arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Branch]:
    return st.lists(inner, max_size=3).map(lambda items: Branch(None, tuple(items)))


trees = st.recursive(_leaves, lambda inner: _objects(inner) | _arrays(inner), max_leaves=12)
objects = _objects(trees)


@dataclass(frozen=True)
class Document:
    """A text, and the span of one object in it: `text[:start] + object + text[end:]`."""

    text: str
    start: int
    end: int

    @property
    def object(self) -> str:
        return self.text[self.start : self.end]


class _Layout:
    """How one document is laid out; each question may be answered differently each time it is asked."""

    def __init__(self, draw: Any, target: Branch) -> None:
        self._draw = draw
        self.target = target
        self.target_span = (0, 0)
        self.unit = draw(st.sampled_from(["  ", "    ", "\t", "", " ", " \t"]))
        self.line_end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
        self.colon = draw(st.sampled_from([": ", ":", " : ", " :", "\t:\t"]))
        self.comma = draw(st.sampled_from([", ", ",", " , ", " ,"]))
        self.habit = draw(st.sampled_from(["many lines", "one line", "by container", "wild"]))

    def many_lines(self) -> bool:
        return self.habit == "many lines" or (self.habit != "one line" and bool(self._draw(st.booleans())))

    def space(self) -> str:
        """Between any two tokens of a wild document."""
        if self.habit != "wild":
            return ""
        return str(self._draw(st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "\r", "  \n\n  "])))


def _write(node: Any, layout: _Layout, depth: int, offset: int) -> str:
    if isinstance(node, Leaf):
        return node.spelling
    opening, closing = "[]" if node.names is None else "{}"
    many = layout.many_lines() and bool(node.children)
    line = layout.line_end + layout.unit * (depth + 1) if many else ""
    written = opening
    for number, child in enumerate(node.children):
        if number:
            written += layout.space() + ("," if many else layout.comma)
        written += line + layout.space()
        if node.names is not None:
            written += node.names[number] + layout.space() + layout.colon + layout.space()
        written += _write(child, layout, depth + 1, offset + len(written))
    written += layout.space() + (layout.line_end + layout.unit * depth if many else "") + closing
    if node is layout.target:
        layout.target_span = (offset, offset + len(written))
    return written


@st.composite
def documents(draw: Any) -> Document:
    """Any JSON text with an object in it, at the root, as an array's element, or as a member."""
    target = draw(objects)
    others = draw(st.lists(trees, max_size=2))
    place = draw(st.sampled_from(["root", "element", "member", "wrapped"]))
    before = draw(st.integers(0, len(others)))
    siblings = (*others[:before], target, *others[before:])
    named = Branch(tuple(f'"key-{number}"' for number in range(len(siblings))), siblings)
    root: Any = {
        "root": target,
        "element": Branch(None, siblings),
        "member": named,
        "wrapped": Branch(('"version"', '"memories"'), (Leaf('"1.0"'), Branch(None, siblings))),
    }[place]
    layout = _Layout(draw, target)
    lead, trail = draw(st.sampled_from(["", "", " ", "\n"])), draw(st.sampled_from(["", "\n", "\r\n", "\n\n "]))
    text = lead + _write(root, layout, 0, len(lead)) + trail
    return Document(text, *layout.target_span)


paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple)
changes = st.lists(st.tuples(paths, values), min_size=1, max_size=4)


def changed(value: Any, path: tuple[str, ...], new: Any) -> Any:
    """What a value becomes when a member is set: the plain meaning of an edit, on plain Python values."""
    if not path:
        return new
    members = dict(value) if isinstance(value, dict) else {}
    members[path[0]] = changed(members.get(path[0]), path[1:], new)
    return members
