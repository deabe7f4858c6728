"""References in a run of key characters: the whole run, its `nemp:` prefixes, the parts between unspaced letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_recall.model import System
from memory_recall.references.line import MEMORY_ID, OPENER, Line, system_of
from memory_recall.references.nouns import NAME_LIMIT, Reference
from memory_recall.text.key_runs import (
    SEGMENTED,
    SENTENCE_END,
    expressions,
    has_unspaced,
    is_key_character,
    is_name,
    is_unspaced,
)

_NEARLY_ULID = re.compile(r"[0-7][0-9A-Za-z]{20,31}")  # a mistyped one is a reference to nothing, not a word
# `nemp:recall` in a sentence is the name of the plugin's command, unless a memory has that key.
_PLUGIN_COMMANDS = frozenset({"recall", "save", "list", "forget", "context", "export", "init", "sync", "log"})


def run_references(line: Line, start: int, end: int, *, bare_keys: bool, bare: bool) -> Iterator[Reference]:
    """The references in `text[start:end]`, in order. `bare`: whether names without a prefix count at all (not in an
    address); `bare_keys`: whether keys are among them (not in code, where they are words of some language)."""
    if bare and (whole := _bare(line, start, end, bare_keys=bare_keys)):
        yield whole
        return
    mixed = bare and has_unspaced(line.text, start, end)
    position = start
    for opener, segment_end in _openers(line, start, end):
        if opener.start() < position:  # inside the name that the one before has taken
            continue
        if mixed:
            yield from _between_unspaced(line, position, opener.start(), bare_keys=bare_keys)
        reference = _prefixed(line, opener, segment_end, end)
        position = opener.end()
        if reference:
            yield reference
            position = reference.end
    if mixed:
        yield from _between_unspaced(line, position, end, bare_keys=bare_keys)


def _between_unspaced(line: Line, start: int, end: int, *, bare_keys: bool) -> Iterator[Reference]:
    for part in expressions(line.text).spaced_run.finditer(line.text, start, end):
        first, last = part.span()
        if is_unspaced(line.before(first)):
            while first < last and line.text[first] == ":":  # `参见:auth-flow`
                first += 1
        if reference := _bare(line, first, last, bare_keys=bare_keys):
            yield reference


def _bare(line: Line, start: int, end: int, *, bare_keys: bool) -> Reference | None:
    """A run that is a known id, or a known key of two or more segments."""
    for first, last in line.readings(start, end):
        if 0 < last - first <= NAME_LIMIT:
            name = line.text[first:last]
            if line.knows_id(name) or (bare_keys and SEGMENTED.search(name) and line.known.has_key(name)):
                return line.reference(None, "bare", (first, last), (first, last))
    return None


def _openers(line: Line, start: int, end: int) -> Iterator[tuple[re.Match[str], int]]:
    """The prefixes in a run, each with the offset at which the next one, or nothing, follows."""
    waiting: re.Match[str] | None = None
    for opener in OPENER.finditer(line.text, start, end):
        if _may_open(line, opener.start()):
            if waiting:
                yield waiting, opener.start()
            waiting = opener
    if waiting:
        yield waiting, end


def _may_open(line: Line, offset: int) -> bool:
    """Whether `nemp:` at an offset begins a reference, rather than being the end of something longer."""
    before = line.before(offset)
    if before != "_":
        return before == ":" or not is_key_character(before) or is_unspaced(before)
    while line.before(offset) == "_":
        offset -= 1
    outside = line.before(offset)
    return (not is_key_character(outside) or is_unspaced(outside)) and line.emphasis[1] > offset


def _prefixed(line: Line, opener: re.Match[str], segment_end: int, run_end: int) -> Reference | None:
    """A prefix and the longest known name that begins behind it; if none is known, all that looks like a name.

    `segment_end` is where the next prefix in the run opens: only a known name reaches across it, so that the work for
    all prefixes of a run is no more than the run is long.
    """
    system, start = system_of(opener), opener.end()
    for end in _ends(line, start, segment_end, run_end):
        if 0 < end - start <= NAME_LIMIT and line.knows(system, line.text[start:end]):
            return line.reference(system, "prefix", (start, end), (opener.start(), end))
    end = _end_of_unknown(line, system, start, segment_end)
    if not 0 < end - start <= NAME_LIMIT:
        return None
    return line.reference(system, "prefix", (start, end), (opener.start(), end))


def _ends(line: Line, start: int, segment_end: int, run_end: int) -> Iterator[int]:
    if run_end - start <= NAME_LIMIT:
        yield from line.ends(start, run_end)
    if segment_end < run_end or run_end - start > NAME_LIMIT:
        yield from line.ends(start, segment_end)
    boundaries = expressions(line.text).script_boundary.finditer(
        line.text, start + 1, min(segment_end, start + NAME_LIMIT + 1)
    )
    for boundary in reversed([match.start() for match in boundaries]):
        yield boundary
        if line.text[boundary - 1] in SENTENCE_END:
            yield line.ends(start, boundary)[-1]


def _end_of_unknown(line: Line, system: System, start: int, end: int) -> int:
    """Where a name that nobody knows ends; `start` where there is none that the system could have given."""
    text = line.text
    last = line.ends(start, end)[-1]
    if system == "nemp":
        name = text[start : min(last, start + NAME_LIMIT + 1)]
        return last if is_name(name) and name not in _PLUGIN_COMMANDS else start
    shape = (MEMORY_ID if system == "memory" else _NEARLY_ULID).match(text, start, last)
    return line.ends(start, shape.end())[-1] if shape else start
