"""Changing one object inside a JSON text so that nothing else changes: not a byte outside, nor an untouched one inside.

What is added is written the way the file is written already. The style is looked for where the new text goes (the
object, then the object around it, then the document): members on lines of their own or on one line, indentation, line
ending, the spaces around colons and commas, and whether characters beyond ASCII are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from memory_recall.records import NamedTuple
from memory_recall.text.json_spans import JsonError, Member, members, skip_space, string_end
from memory_recall.text.json_values import dumps

_DEFAULT_UNIT = "  "
_LOOKED_AT = 1_000_000  # characters, for the style of a document: enough for any, and the same time for all
_TOKENS_LOOKED_AT = 400

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r"[ \t]*")
_INDENTED_LINE = re.compile(r"[\n\r]([ \t]+)[^ \t\n\r]")
_UNINDENTED_MEMBER = re.compile(r'[\n\r]"')
_SEPARATOR = re.compile(r'"(?:[^"\\]|\\.)*"([ \t]*:[ \t]*)?|([ \t]*,[ \t]*)(?![\n\r])', re.DOTALL)
_ESCAPED_BEYOND_ASCII = re.compile(
    r"(?<!\\)(?:\\\\)*\\u(?:(?!00[0-7]|[dD][89a-fA-F])[0-9a-fA-F]{4}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F])"
)
_OPENS_ITS_LINE = re.compile(r'[ \t]*(?:,[ \t]*)?(?:"(?:[^"\\]|\\.)*"[ \t]*:[ \t]*)?')
_ENDS_ITS_LINE = re.compile(r"[ \t]*,?[ \t]*[\n\r]")

MemberPath = tuple[str, ...]


def edit_object(text: str, start: int, end: int, changes: Sequence[tuple[MemberPath, Any]]) -> str:
    """What `text[start:end]`, an object, becomes when the values at the given paths of member names are set.

    A missing member is added at the end of its object; a missing parent, or one that is no object, becomes an object.
    A value that is equal already stays as it is written (`1.0` stays when 1 is set). Of several members of one name
    the last is meant, the one that parsers keep. Later changes apply on top of earlier ones. Raises `JsonError` where
    there is no object at `start` or too deep a one, and `ValueError` for an empty path.
    """
    plan: dict[str, Any] = {}
    for path, value in changes:
        _add_to_plan(plan, path, value)
    splices = _splices(text, start, end, plan, _Style.of_document(text, start, end))
    try:
        return replace_spans(text[start:end], [(begin - start, stop - start, new) for begin, stop, new in splices])
    except RecursionError:
        raise JsonError("nested too deeply to be changed", start) from None


def wrap_as_object(text: str, start: int, end: int, members: Sequence[tuple[str, Any]], keep_as: str = "value") -> str:
    """What `text[start:end]`, any value, becomes as an object: its very bytes under `keep_as`, then `members`."""
    style = _Style.of_document(text, start, end)
    style = style._replace(
        multi_line=style.multi_line and _has_its_line(text, start, end), indent=_indent_at(text, start)
    )
    inner = style.inside()
    kept = f"{style.string(keep_as)}{style.colon}{text[start:end]}"
    return style.enclose("{", [kept, *(inner.member(name, value) for name, value in members)], "}")


def replace_spans(text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
    """The text with each `text[start:end]` replaced; the spans must not overlap, their order does not matter."""
    pieces: list[str] = []
    position = 0
    for start, end, new in sorted(replacements, key=lambda splice: splice[:2]):
        pieces += (text[position:start], new)
        position = end
    return "".join((*pieces, text[position:]))


_Splice = tuple[int, int, str]


class _Set(NamedTuple):
    """A leaf of a plan: the value to set. A plan is a dict of names to leaves and further plans."""

    value: Any


def _add_to_plan(plan: dict[str, Any], path: MemberPath, value: Any) -> None:
    if not path:
        raise ValueError("a change needs the name of a member")
    for name in path[:-1]:
        below = plan.get(name)
        if isinstance(below, _Set):  # set as a whole, now changed inside: the whole is known, so change that
            inside = {key: _Set(item) for key, item in below.value.items()} if isinstance(below.value, dict) else {}
            below = _Whole(inside)
        elif below is None:
            below = {}
        plan[name] = below
        plan = below
    plan[path[-1]] = _Set(value)


class _Whole(dict[str, Any]):
    """A plan that says all there is to be: what stands there now does not matter."""


def _value_of(plan: Any) -> Any:
    """The value a plan amounts to where nothing stands yet."""
    return {name: _value_of(below) for name, below in plan.items()} if isinstance(plan, dict) else plan.value


def _splices(text: str, start: int, end: int, plan: dict[str, Any], around: _Style) -> Iterator[_Splice]:
    present = list(members(text, start))
    style = _style_of_object(text, start, end, present, around)
    last_of_name = {member.key: member for member in present}
    added: list[str] = []
    for name, below in plan.items():
        member = last_of_name.get(name)
        if member is None:
            added.append(style.member(name, _value_of(below)))
        elif isinstance(below, dict) and not isinstance(below, _Whole) and isinstance(member.value, dict):
            yield from _splices(text, member.value_start, member.value_end, below, style)
        elif not _same(member.value, value := _value_of(below)):
            yield member.value_start, member.value_end, style.value(value)
    if added and present:
        position = present[-1].value_end
        yield position, position, "".join(style.gap + member for member in added)
    elif added:
        outer = style._replace(indent=around.indent)
        yield start, end, outer.enclose("{", added, "}")


def _same(left: Any, right: Any) -> bool:
    """Equality as JSON sees it: `1` is `1.0`, but `true` is not `1`."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


class _Style(NamedTuple):
    """How the members of one object are written.

    `indent` is what their lines begin with, `unit` what each level adds to it; `gap` stands between two members,
    `comma` between two of a one-line object, `padding` inside the brackets of one.
    """

    text: str
    start: int
    multi_line: bool
    indent: str
    unit: str
    line_end: str
    colon: str
    comma: str
    padding: str = ""
    gap: str = ""

    @classmethod
    def of_document(cls, text: str, start: int, end: int) -> _Style:
        """The style around a value: `indent` is that of the line on which the value begins."""
        multi_line = _holds_line_end(text, start, end) or _shares_lines(text, start, end)
        colon, comma = _separators_of(text)
        return cls(
            text=text,
            start=start,
            multi_line=multi_line,
            indent=_indent_at(text, start),
            unit=_unit_of(text) if multi_line else _DEFAULT_UNIT,
            line_end=_line_end_of(text, start, end) if multi_line else "\n",
            colon=colon,
            comma=comma,
        )

    def inside(self) -> _Style:
        """The style one level deeper."""
        return self._replace(indent=self.indent + self.unit)

    def member(self, name: str, value: Any) -> str:
        """A member, its value laid out for a line that begins with `indent`."""
        return f"{self.string(name)}{self.colon}{self.value(value)}"

    def value(self, value: Any) -> str:
        """A value, laid out for a line that begins with `indent`."""
        inner = self.inside()
        if isinstance(value, dict) and value:
            return self.enclose("{", [inner.member(name, item) for name, item in value.items()], "}")
        if isinstance(value, list | tuple) and value:
            return self._replace(padding="").enclose("[", [inner.value(item) for item in value], "]")
        return self.string(value)

    def enclose(self, opening: str, parts: Sequence[str], closing: str) -> str:
        """Members or elements between their brackets, which stand on lines that begin with `indent`."""
        if not self.multi_line:
            return f"{opening}{self.padding}{self.comma.join(parts)}{self.padding}{closing}"
        line = self.line_end + self.indent + self.unit
        return f"{opening}{line}{f',{line}'.join(parts)}{self.line_end}{self.indent}{closing}"

    def string(self, value: Any) -> str:
        """A scalar or an empty container as JSON, escaped as the document escapes."""
        written = dumps(value, exact=True)
        return json.dumps(value) if not written.isascii() and _escapes(self.text, self.start) else written


def _style_of_object(text: str, start: int, end: int, present: Sequence[Member], around: _Style) -> _Style:
    """The style of an object's own members; that of its surroundings, a level deeper, where it has none."""
    if not present:
        multi_line = around.multi_line or _holds_line_end(text, start, end)
        return around.inside()._replace(multi_line=multi_line)
    last = present[-1]
    colon = text[string_end(text, last.key_start) : last.value_start]
    if _LINE_END.search(colon):
        colon = around.colon
    lead = text[start + 1 : present[0].key_start]
    tail = text[last.value_end : end - 1]
    gaps = [text[left.value_end : right.key_start] for left, right in pairwise(present)]
    on_own_line = next((gap for gap in reversed([f",{lead}", *gaps]) if _LINE_END.search(gap)), None)
    if on_own_line is None:
        comma = gaps[-1] if gaps else around.comma
        padding = lead if lead == tail else ""
        return around._replace(multi_line=False, colon=colon, comma=comma, gap=comma, padding=padding)
    line_end, indent = _last_line(on_own_line)
    before, _, after = on_own_line.partition(",")
    gap = f"{_unbroken(before)},{_unbroken(after)}"
    unit = around.unit
    if _LINE_END.search(tail):
        outer = _last_line(tail)[1]
        if indent.startswith(outer) and indent != outer:
            unit = indent[len(outer) :]
    return around._replace(
        multi_line=True, indent=indent, unit=unit, line_end=line_end, colon=colon, gap=gap, padding=""
    )


def _last_line(space: str) -> tuple[str, str]:
    """The last line end in a piece of white space (and a comma), and the indentation behind it."""
    *_, last = _LINE_END.finditer(space)
    indent = space[last.end() :]
    return last.group(), indent.partition(",")[0]


def _unbroken(space: str) -> str:
    """White space without the blank lines and trailing blanks in it."""
    if not _LINE_END.search(space):
        return space
    return "".join(_last_line(space))


def _holds_line_end(text: str, start: int, end: int) -> bool:
    return text.find("\n", start, end) >= 0 or text.find("\r", start, end) >= 0


def _shares_lines(text: str, start: int, end: int) -> bool:
    """Whether the document around a span has several lines, not counting those that are empty at its end."""
    if _holds_line_end(text, max(0, start - _LOOKED_AT), start):
        return True
    following = _LINE_END.search(text, end, end + _LOOKED_AT)
    return following is not None and skip_space(text, following.end()) < len(text)


def _line_start(text: str, offset: int) -> int:
    furthest = max(0, offset - _LOOKED_AT)
    line_feed = text.rfind("\n", furthest, offset)
    return max(line_feed, text.rfind("\r", max(furthest, line_feed), offset)) + 1


def _indent_at(text: str, offset: int) -> str:
    """The white space with which the line that holds an offset begins."""
    blanks = _BLANKS.match(text, _line_start(text, offset), offset)
    return blanks.group() if blanks else ""


def _has_its_line(text: str, start: int, end: int) -> bool:
    """Whether a member or an element stands on lines that it shares with no other."""
    if _OPENS_ITS_LINE.fullmatch(text, _line_start(text, start), start):
        return True
    return _ENDS_ITS_LINE.match(text, end) is not None


def _line_end_of(text: str, start: int, end: int) -> str:
    """The line ending within a span, else the document's first."""
    found = _LINE_END.search(text, start, end) or _LINE_END.search(text)
    return found.group() if found else "\n"


def _unit_of(text: str) -> str:
    """What a level of a document is indented by: what its first indented line begins with."""
    indented = _INDENTED_LINE.search(text, 0, _LOOKED_AT)
    if indented:
        return indented.group(1)
    return "" if _UNINDENTED_MEMBER.search(text, 0, _LOOKED_AT) else _DEFAULT_UNIT


def _separators_of(text: str) -> tuple[str, str]:
    """The first colon of a document and its first comma within a line, with the blanks around them."""
    colon = comma = None
    for token in islice(_SEPARATOR.finditer(text), _TOKENS_LOOKED_AT):
        colon = colon or token.group(1)
        comma = comma or token.group(2)
        if colon and comma:
            break
    colon = colon or ": "
    return colon, comma or (", " if colon.endswith((" ", "\t")) else ",")


def _escapes(text: str, offset: int) -> bool:
    """Whether a document writes characters beyond ASCII as escapes, as far as it can be seen from an offset."""
    if not text.isascii():
        return False
    near = text[max(0, offset - _LOOKED_AT) : offset + _LOOKED_AT]
    return "\\u" in near and _ESCAPED_BEYOND_ASCII.search(near) is not None
