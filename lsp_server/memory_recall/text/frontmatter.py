"""The YAML block on top of a Markdown file, read so that every scalar stays the text it was written as.

`2026-04-01`, `no` and `0123` are what an author wrote, not a date, a boolean and a number. Knows no file and no
schema. Hostile YAML (nesting, aliases that multiply) ends in a sentence, never in a full memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_OPENING = re.compile("\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile("(?<=[\r\n])(?:---|\\.\\.\\.)[ \t]*(?:\r\n|\n|\r|\\Z)")
_SIMPLE_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ \t]+(.*))?")
_LINE_END = re.compile("\r\n|\n|\r")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))

_SIZE_LIMIT = 64 * 1024
_NODE_LIMIT = 5_000
_DEPTH_LIMIT = 16


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What stands in the block and what follows it.

    `fields` maps names to text, lists and mappings of text. `body` is the rest of the file, untouched. `problem` is a
    sentence where the block is no YAML that is read here; `fields` then holds its plain `name: value` lines.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    problem: str | None = None

    def text(self, name: str) -> str | None:
        """A field's text; None where it is absent, empty, null, or no text."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            return None
        stripped = value.strip()
        return None if stripped in _NULLS else stripped

    def texts(self, name: str) -> tuple[str, ...]:
        """A field that holds several texts: a YAML list, or text with commas."""
        value = self.fields.get(name)
        if isinstance(value, str):
            value = value.strip().strip("[]").split(",")
        if not isinstance(value, list):
            return ()
        return tuple(item.strip() for item in value if isinstance(item, str) and item.strip() not in _NULLS)


class _NotRead(Exception):
    """Why a block of YAML is not used, as the end of a sentence."""


def read_frontmatter(text: str) -> Frontmatter:
    """The frontmatter of a Markdown text. A text without one is all body."""
    opening = _OPENING.match(text)
    if opening is None:
        return Frontmatter(body=text)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return Frontmatter(body=text, problem="The frontmatter is not closed; end it with a line of three dashes.")
    return _read_block(text[opening.end() : closing.start()], text[closing.end() :])


def read_record(text: str) -> Frontmatter:
    """A file that is a record: frontmatter, or YAML from its first line to its last."""
    if _OPENING.match(text):
        return read_frontmatter(text)
    return _read_block(text.removeprefix("\ufeff"), "")


def _read_block(block: str, body: str) -> Frontmatter:
    try:
        return Frontmatter(_yaml_mapping(block), body)
    except _NotRead as failure:
        return Frontmatter(_simple_lines(block), body, f"The frontmatter {failure}; only its plain lines were read.")


def _yaml_mapping(block: str) -> dict[str, Any]:
    import yaml

    if len(block) > _SIZE_LIMIT:
        raise _NotRead(f"is longer than {_SIZE_LIMIT:,} characters")
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        value = yaml.load(block, Loader=loader)
    except yaml.MarkedYAMLError as failure:
        line = "" if failure.problem_mark is None else f" (line {failure.problem_mark.line + 2} of the file)"
        raise _NotRead(f"is not valid YAML{line}") from failure
    except (yaml.YAMLError, RecursionError, ValueError) as failure:
        raise _NotRead("is not valid YAML") from failure
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise _NotRead("is no mapping of names to values")
    copied: dict[str, Any] = _copy(value, [_NODE_LIMIT], 0)
    return copied


def _copy(value: Any, budget: list[int], depth: int) -> Any:
    """A tree of its own: YAML aliases may repeat one node a billion times, or close a circle."""
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEPTH_LIMIT:
        raise _NotRead("holds too many values, or nests them too deeply")
    if isinstance(value, dict):
        return {str(key): _copy(item, budget, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item, budget, depth + 1) for item in value]
    return value


def _simple_lines(block: str) -> dict[str, Any]:
    """The lines that say `name: value` without indentation: what a person meant who wrote `title: Fix: the gateway`."""
    fields: dict[str, Any] = {}
    for line in _LINE_END.split(block[:_SIZE_LIMIT]):
        match = _SIMPLE_LINE.fullmatch(line.rstrip())
        if match is not None:
            fields[match.group(1)] = _unquoted(match.group(2) or "")
    return fields


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" else value
