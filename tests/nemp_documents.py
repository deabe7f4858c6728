"""nemp stores of all shapes, as all sorts of writers lay them out, for property tests. Not a test itself."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

KEYS = ["a", "b", "c-ü", "決策", "", "key", "value", "memories", 'q"uote', "back\\slash", "😀", "<", "x\ny"]
TEXTS = st.sampled_from([*KEYS, "memories are made", "\u2028", "é" * 9, '"value": 1', "{[", "\\u0065"])
LINKS = st.fixed_dictionaries(
    {},
    optional={
        "supersedes": st.none() | st.sampled_from(KEYS) | st.lists(st.sampled_from(KEYS), max_size=2),
        "superseded_by": st.none() | st.sampled_from(KEYS),
        "conflicts": st.lists(st.sampled_from(KEYS), max_size=1),
    },
)
LEAVES = st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    LEAVES, lambda below: st.lists(below, max_size=2) | st.dictionaries(TEXTS, below, max_size=2), max_leaves=4
)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "key": st.sampled_from(KEYS) | LEAVES,
        "value": VALUES,
        "links": LINKS | LEAVES,
        "tags": st.lists(LEAVES, max_size=2) | LEAVES,
        "created": LEAVES,
        "vitality": st.just({"state": "extinct"}),
        "other": VALUES,
    },
)
USUAL = st.fixed_dictionaries({"key": st.sampled_from(KEYS[:4]), "value": VALUES}, optional={"links": LINKS})
ITEMS = st.lists(USUAL | ENTRIES | VALUES, max_size=5) | st.lists(USUAL, max_size=6)


class Pairs(list[tuple[str, Any]]):
    """An object as it is written, which may repeat a name."""


MAPS = st.lists(st.tuples(st.sampled_from(KEYS), USUAL | ENTRIES | VALUES), max_size=5).map(Pairs)
UNIQUE_MAPS = st.dictionaries(st.sampled_from(KEYS[:6]), USUAL | ENTRIES | VALUES, max_size=6)
BESIDE = st.lists(st.tuples(st.sampled_from(["version", "metadata", "memories", "stray"]), VALUES | USUAL), max_size=2)
WRAPPERS = st.builds(
    lambda before, memories, after: Pairs([*before, ("memories", memories), *after]),
    BESIDE | st.just([]),
    ITEMS | MAPS | UNIQUE_MAPS | st.none(),
    BESIDE | st.just([]),
)
CONTENTS = ITEMS | MAPS | UNIQUE_MAPS | WRAPPERS


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Stores of all shapes, as all sorts of writers lay them out."""
    line_end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    many = draw(st.booleans())
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]))
    as_ascii = draw(st.booleans())
    uneven = draw(st.booleans())

    def string(text: str) -> str:
        written = json.dumps(text, ensure_ascii=as_ascii)
        if uneven and draw(st.integers(0, 9)) == 0 and text[:1].isalpha() and text.isascii():
            return f'"\\u{ord(text[0]):04x}{written[2:]}'
        return written

    def gap(depth: int) -> str:
        extra = draw(st.sampled_from(["", " ", "\t"])) if uneven else ""
        return (line_end + "  " * depth if many else "") + extra

    def written(value: Any, depth: int) -> str:
        if isinstance(value, dict | Pairs):
            pairs = value.items() if isinstance(value, dict) else value
            parts = [f"{gap(depth + 1)}{string(name)}{colon}{written(item, depth + 1)}" for name, item in pairs]
            return "{" + comma.join(parts) + gap(depth) + "}"
        if isinstance(value, list):
            return "[" + comma.join(gap(depth + 1) + written(item, depth + 1) for item in value) + gap(depth) + "]"
        if isinstance(value, str):
            return string(value)
        return json.dumps(value) if value not in (float("inf"), float("-inf")) else "1e999"

    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return (mark + written(draw(CONTENTS), 0) + draw(st.sampled_from(["", "\n", " \r\n"]))).encode()
