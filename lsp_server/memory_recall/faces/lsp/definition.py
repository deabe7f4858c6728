"""`textDocument/definition`: from a citation to the record's own line in its store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types

from memory_recall.cancellation import Cancellation
from memory_recall.faces.lsp.citing import citation_in_thread
from memory_recall.faces.lsp.lookup import Citation
from memory_recall.faces.lsp.session import Session
from memory_recall.files.reading import Unreadable, read_file
from memory_recall.model import Memory
from memory_recall.text.positions import Encoding, LineIndex, units_from_column

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


class Target(NamedTuple):
    """Where a record begins in its store: a line from 0, and the client's units from `start` up to `end` in it."""

    path: Path
    line: int
    start: int
    end: int

    @property
    def range(self) -> types.Range:
        """The record's name in its store, or the line where it has none."""
        return types.Range(types.Position(self.line, self.start), types.Position(self.line, self.end))


async def definition(
    session: Session, params: types.DefinitionParams
) -> list[types.Location] | list[types.LocationLink] | None:
    """The records that a citation means; null where there is none. A shadowed namesake is not what it means."""
    look = citation_in_thread(session, params)

    def work(cancellation: Cancellation) -> tuple[Citation, list[Target]] | None:
        citation = look(cancellation)
        if citation is None:
            return None
        return citation, [_target(memory, session.client.encoding) for memory in _meant(citation.resolution.memories)]

    found = await session.workers.run(work)
    if found is None or not found[1]:
        return None
    citation, targets = found
    if not session.client.definition_links:
        return [types.Location(_uri_of(session, target.path), target.range) for target in targets]
    origin = citation.spot.range_of(citation.reference.start, citation.reference.end)
    return [
        types.LocationLink(
            target_uri=_uri_of(session, target.path),
            target_range=target.range,
            target_selection_range=target.range,
            origin_selection_range=origin,
        )
        for target in targets
    ]


def _meant(memories: Sequence[Memory]) -> list[Memory]:
    """One memory a name and system: the first, which is the project's."""
    first: dict[tuple[str, str], Memory] = {}
    for memory in memories:
        first.setdefault((memory.system, memory.id), memory)
    return list(first.values())


def _uri_of(session: Session, path: Path) -> str:
    return session.documents.uri_of(path) or session.folders.spelling_of(path)


def _target(memory: Memory, encoding: Encoding) -> Target:
    """Columns are converted by the text of the line that they lie in; a file that has gone is still named."""
    where = memory.provenance
    line, column = max(0, where.line - 1), max(0, where.column - 1)
    try:
        text = read_file(where.path).data.decode("utf-8-sig", "replace")
    except Unreadable:
        return Target(where.path, line, 0, 0)
    content = LineIndex(text).content(line)
    column = min(column, len(content))
    quoted = _QUOTED.match(content, column)
    end = quoted.end() if quoted else len(content)
    return Target(
        where.path, line, units_from_column(content, column, encoding), units_from_column(content, end, encoding)
    )
