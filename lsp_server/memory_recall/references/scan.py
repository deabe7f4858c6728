"""The pass over a text: line by line, code spans first, then brackets, commands and runs in the order they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_recall.references.brackets import bracket
from memory_recall.references.commands import argument, command_in
from memory_recall.references.line import Line
from memory_recall.references.nouns import ENCLOSED_LIMIT, Known, Reference
from memory_recall.references.runs import run_references
from memory_recall.text.code_spans import CodeSpan, code_spans
from memory_recall.text.key_runs import expressions

_LINE = re.compile(r"[^\r\n]+")
_LONGEST_SCHEME = 32
_REST_OF_ADDRESS = re.compile(r"[A-Za-z0-9_!#$%&'*+,\-./:;=?@~]*")


def references_in(text: str, known: Known) -> list[Reference]:
    """All references of a text, in order and without overlap."""
    lines = (Line(text, *line.span(), known) for line in _LINE.finditer(text))
    return [reference for line in lines for reference in _found_on(line)]


def reference_at(text: str, offset: int, known: Known) -> Reference | None:
    """The reference under an offset, or the one that ends there if none begins; None where there is none.

    Looks only at that line.
    """
    if not 0 <= offset <= len(text):
        return None
    start = text.rfind("\n", 0, offset) + 1
    start = text.rfind("\r", start, offset) + 1 or start
    rest = _LINE.match(text, offset)
    before: Reference | None = None
    for reference in _found_on(Line(text, start, rest.end() if rest else offset, known)):
        if reference.start > offset:
            break
        if offset < reference.end:
            return reference
        before = reference if offset == reference.end else None
    return before


def _found_on(line: Line) -> Iterator[Reference]:
    position = line.start
    for span in code_spans(line.text, line.start, line.end):
        yield from _scan(line, position, span.open, in_code=False)
        yield from _in_code(line, span)
        position = span.close
    yield from _scan(line, position, line.end, in_code=False)


def _in_code(line: Line, span: CodeSpan) -> Iterator[Reference]:
    """A code span that is a name and nothing else; failing that, the explicit references and the ids inside it."""
    whole = span.start, span.end
    if span.end - span.start <= ENCLOSED_LIMIT:
        code = line.text[span.start : span.end]
        if line.knows_id(code) or line.known.has_key(code):
            yield line.reference(None, "code", whole, whole)
            return
        key = code.removeprefix("nemp:")
        if len(key) < len(code) and line.known.has_key(key):  # spaces and all: the ticks say where it ends
            target = span.end - len(key), span.end
            yield line.reference("nemp", "prefix", target, whole)
            return
    yield from _scan(line, span.start, span.end, in_code=True)


def _scan(line: Line, start: int, end: int, *, in_code: bool) -> Iterator[Reference]:
    position = start
    expression = expressions(line.text).candidate
    while candidate := expression.search(line.text, position, end):
        first, last = candidate.span()
        if candidate.lastgroup == "bracket":
            linked = bracket(line, first, last, end)
            references, position = ([linked], last) if linked else ([], first + 2)  # else its words are prose
        else:
            references, position = _in_run(line, first, last, end, in_code=in_code)
        for reference in references:
            yield reference
            position = max(position, reference.end)


def _in_run(line: Line, start: int, end: int, limit: int, *, in_code: bool) -> tuple[list[Reference], int]:
    """The references in a run, and where to go on: behind it, and behind the web address that it begins."""
    bare_keys = not in_code
    slash = command_in(line, start, end, limit)
    if slash is not None:
        references = list(run_references(line, start, slash, bare_keys=bare_keys, bare=True)) if slash > start else []
        asked = argument(line, end, limit)
        return ([*references, asked] if asked else references), end
    text = line.text
    scheme = _scheme_in(text, start, end)
    if scheme is not None:
        references = list(run_references(line, start, scheme, bare_keys=bare_keys, bare=True)) if scheme > start else []
        return references, _end_of_address(text, end, limit)
    # `page.md#part`, `path?query=…`: what looks like a key at its beginning is part of an address.
    is_address = end + 1 < limit and text[end] in "#?" and text[end + 1].isascii() and text[end + 1].isalnum()
    references = list(run_references(line, start, end, bare_keys=bare_keys, bare=not is_address))
    return references, _end_of_address(text, end, limit) if is_address else end


def _scheme_in(text: str, start: int, end: int) -> int | None:
    """Where in a run a web address begins; None if none does."""
    colon = text.find("://", start, end)
    if colon < 0:
        return None
    first = colon
    while first > max(start, colon - _LONGEST_SCHEME) and text[first - 1].isascii() and text[first - 1].isalnum():
        first -= 1
    return first


def _end_of_address(text: str, end: int, limit: int) -> int:
    rest = _REST_OF_ADDRESS.match(text, end, limit)
    return rest.end() if rest else end
