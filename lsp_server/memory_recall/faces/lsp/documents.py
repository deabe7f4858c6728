"""The notes that are open in the client, exactly as the client sent them. An open buffer beats the file on disk.

A document is kept as its lines, so that a keystroke costs the edit and not the document, and a hover reads one line of
a ten-megabyte note. What ends a line, and how a client counts characters, only `text.positions` knows. Touched only on
the event loop; what goes to a thread is a `Spot` or a text, which never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types

from memory_recall.faces.lsp.uris import path_of
from memory_recall.files.reading import Unreadable, read_file
from memory_recall.text.positions import Encoding, LineIndex, column_from_units, units_from_column

NOTE_LIMIT = 64 * 1024 * 1024
"""The most bytes that are read of a note that no client has opened."""


class Spot(NamedTuple):
    """A position in a note, with the one line that it is in. `column` counts code points from 0."""

    line: int
    column: int
    content: str
    encoding: Encoding

    def range_of(self, start: int, end: int) -> types.Range:
        """The columns of this line from `start` up to `end`, in the client's units."""
        return types.Range(
            types.Position(self.line, units_from_column(self.content, start, self.encoding)),
            types.Position(self.line, units_from_column(self.content, end, self.encoding)),
        )


class Document:
    """One open note."""

    def __init__(self, uri: str, text: str, version: int | None, encoding: Encoding) -> None:
        self.uri = uri
        self.version = version
        self._encoding = encoding
        self._lines = _split(text)

    @property
    def text(self) -> str:
        """The whole note, character for character."""
        return "".join(self._lines)

    def spot(self, position: types.Position) -> Spot | None:
        """The place that a client's position means; None past the last line."""
        if position.line >= len(self._lines):
            return None
        content = _content(self._lines[position.line])
        column = column_from_units(content, position.character, self._encoding)
        return Spot(position.line, column, content, self._encoding)

    def replace(self, text: str) -> None:
        """The client sent the whole note anew."""
        self._lines = _split(text)

    def edit(self, change: types.Range, text: str) -> None:
        """One change, its range in the client's units of the note as it is now; positions past an end mean the end."""
        first, start = self._clamped(change.start)
        last, end = self._clamped(change.end)
        if (last, end) < (first, start):
            first, start, last, end = last, end, first, start
        fragment = self._lines[first][:start] + text + self._lines[last][end:]
        if first and fragment.startswith("\n") and self._lines[first - 1].endswith("\r"):
            first -= 1  # the two now are one line end
            fragment = self._lines[first] + fragment
        lines = _split(fragment)
        if last + 1 < len(self._lines):
            lines.pop()  # the fragment ends with its line end, after which the next line goes on
        self._lines[first : last + 1] = lines

    def _clamped(self, position: types.Position) -> tuple[int, int]:
        if position.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        content = _content(self._lines[position.line])
        return position.line, column_from_units(content, position.character, self._encoding)


class Documents:
    """All open notes, by the URI that the client uses."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._open: dict[str, Document] = {}

    @property
    def encoding(self) -> Encoding:
        """What a client's column counts."""
        return self._encoding

    def open(self, uri: str, text: str, version: int | None) -> None:
        """`textDocument/didOpen`; a second opening replaces the first."""
        self._open[uri] = Document(uri, text, version, self._encoding)

    def close(self, uri: str) -> None:
        """`textDocument/didClose`; harmless for a note that was not open."""
        document = self.opened(uri)
        if document is not None:
            del self._open[document.uri]

    def change(
        self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent], version: int | None
    ) -> Document | None:
        """`textDocument/didChange`, in order. None, and nothing done, for a note that was not opened."""
        document = self.opened(uri)
        if document is None:
            return None
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                document.edit(change.range, change.text)
            else:
                document.replace(change.text)
        document.version = version
        return document

    def opened(self, uri: str) -> Document | None:
        """The open note of that URI, however its escapes are spelt."""
        document = self._open.get(uri)
        if document is not None or not self._open:
            return document
        path = path_of(uri)
        spelt = None if path is None else self.uri_of(path)
        return None if spelt is None else self._open[spelt]

    def uri_of(self, path: Path) -> str | None:
        """The client's own URI of a file that it has open."""
        return next((uri for uri in self._open if path_of(uri) == path), None)


def read_spot(uri: str, position: types.Position, encoding: Encoding) -> Spot | None:
    """The place in a note that nobody has opened, from disk; None where it is no readable UTF-8 file.

    Reads a file: not for the event loop.
    """
    path = path_of(uri)
    if path is None:
        return None
    try:
        text = read_file(path, limit=NOTE_LIMIT).data.decode("utf-8-sig")
    except (Unreadable, UnicodeDecodeError):
        return None
    return Document(uri, text, None, encoding).spot(position)


def _split(text: str) -> list[str]:
    """The lines with their ends; the last one has none, and may be empty."""
    index = LineIndex(text)
    return [text[index.start_of(line) : index.start_of(line + 1)] for line in range(len(index))]


def _content(line: str) -> str:
    return line.rstrip("\r\n")
