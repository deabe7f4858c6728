"""The key that a written `/nemp:recall` asks for. A question in natural language is no reference."""

from __future__ import annotations

import re

from memory_recall.references.line import Line
from memory_recall.references.nouns import NAME_LIMIT, Reference
from memory_recall.text.key_runs import SEGMENTED, expressions, has_unspaced, is_name, is_unspaced

_COMMAND = "/nemp:recall"
_SOMETHING_ELSE = re.compile(rf"{_COMMAND}[ \t]|\[\[|`|(?<![\w.:/\-])(?:nemp|memory|coven):")
_NOTHING_MORE = re.compile(r"[\s.,;:!)\]}>*_~\"'”’»]*")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}


def command_in(line: Line, start: int, end: int, limit: int) -> int | None:
    """Where in the run `text[start:end]` the command begins; None if it is not one with something to follow."""
    slash = end - len(_COMMAND)
    if slash < start or end >= limit or line.text[end] not in " \t" or not line.text.endswith(_COMMAND, start, end):
        return None
    before = line.before(slash)
    return slash if slash == start or before in "_:" or is_unspaced(before) else None


def argument(line: Line, command_end: int, limit: int) -> Reference | None:
    """The argument of a command, if it is a key: the longest known one that begins there, else what looks like one.

    A word that nobody knows looks like a key if it is all there is to the argument, or has two or more segments.
    """
    text = line.text
    start = command_end
    while start < limit and text[start] in " \t":
        start += 1
    other = _SOMETHING_ELSE.search(text, start, min(limit, start + NAME_LIMIT + 1))
    end = other.start() if other else limit
    if start < end and (closing := _QUOTES.get(text[start])):
        return _quoted(line, start + 1, text.find(closing, start + 1, min(end, start + NAME_LIMIT + 2)))
    name = _longest_known(line, start, end) or _unknown(line, start, end, is_all=other is None)
    return line.reference("nemp", "command", name, name) if name else None


def _quoted(line: Line, start: int, end: int) -> Reference | None:
    name = line.text[start:end] if end >= 0 else ""
    if not is_name(name):
        return None
    is_key = line.known.has_key(name) or (" " not in name and not has_unspaced(name, 0, len(name)))
    return line.reference("nemp", "command", (start, end), (start, end)) if is_key else None


def _longest_known(line: Line, start: int, end: int) -> tuple[int, int] | None:
    # One character more than a name may have, so that the expression sees what stands behind the longest.
    found = expressions(line.text).name_end.finditer(line.text, start + 1, min(end, start + NAME_LIMIT + 1))
    ends = [match.start() for match in found]
    for last in reversed(ends):
        if last - start <= NAME_LIMIT and line.known.has_key(line.text[start:last]):
            return start, last
    return None


def _unknown(line: Line, start: int, end: int, *, is_all: bool) -> tuple[int, int] | None:
    text = line.text
    word = expressions(text).run.match(text, start, min(end, start + NAME_LIMIT + 1))
    if word is None or text[start] == "-":  # an option
        return None
    last = line.ends(start, word.end())[-1]
    if last - start > NAME_LIMIT or not is_name(text[start:last]):
        return None
    stands_alone = is_all and _NOTHING_MORE.fullmatch(text, last, end) is not None
    # A script without spaces writes a whole question as one run.
    is_word = stands_alone and not has_unspaced(text, start, last)
    return (start, last) if is_word or SEGMENTED.search(text, start, last) else None
