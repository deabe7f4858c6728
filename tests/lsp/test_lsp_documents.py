"""Open notes: character for character what the client has, whatever it types."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from memory_recall.faces.lsp.documents import Document, Documents, read_spot
from memory_recall.text.positions import Encoding

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
TEXT = st.text(st.sampled_from("ab\n\r\n\r🚀é部\u2028\x0c\x85\u0301"), max_size=30)


def lines_of(text: str) -> list[str]:
    """The lines with their ends, worked out the slow and obvious way."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z|\Z", text)[: len(re.findall(r"\r\n|\r|\n", text)) + 1]


def position_of(text: str, offset: int, encoding: Encoding) -> types.Position:
    before = lines_of(text[:offset])
    if before and before[-1] == "" and text[offset - 1 : offset + 1] == "\r\n":  # between the two: no position
        return position_of(text, offset - 1, encoding)
    column = before[-1] if before else ""
    return types.Position(
        len(before) - 1,
        len(column.encode(f"{encoding}-le" if encoding != "utf-8" else encoding))
        // {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding],
    )


@settings(derandomize=True, deadline=None, max_examples=400)
@given(st.data(), st.sampled_from(ENCODINGS))
def test_edits_leave_exactly_the_text_that_the_client_has(data: st.DataObject, encoding: Encoding) -> None:
    text = data.draw(TEXT)
    document = Document("file:///a.md", text, 1, encoding)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        if "\r\n" in (text[start - 1 : start + 1] if start else "", text[end - 1 : end + 1] if end else ""):
            continue  # no client can name a position inside a line end
        new = data.draw(TEXT)
        document.edit(types.Range(position_of(text, start, encoding), position_of(text, end, encoding)), new)
        text = text[:start] + new + text[end:]
        assert document.text == text
        assert [document._lines[line] for line in range(len(document._lines))] == lines_of(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_only_line_feeds_and_carriage_returns_end_a_line(encoding: Encoding) -> None:
    document = Document("file:///a.md", "one\u2028two\x0cthree\x85four\x0bfive\r\nsix\rseven\n", 1, encoding)
    spots = [document.spot(types.Position(line, 0)) for line in range(5)]
    assert [spot.content if spot else None for spot in spots] == [
        "one\u2028two\x0cthree\x85four\x0bfive",
        "six",
        "seven",
        "",
        None,
    ]


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 5 + 3 + 1), ("utf-16", 2 + 1 + 2), ("utf-32", 4)])
def test_columns_count_what_the_client_counts(encoding: Encoding, character: int) -> None:
    spot = Document("file:///a.md", "🚀é部 x", 1, encoding).spot(types.Position(0, character + (encoding == "utf-8")))
    assert spot is not None
    assert (spot.content[spot.column], spot.column) == ("x", 4)
    assert spot.range_of(4, 5).end.character == character + 1 + (encoding == "utf-8")


def test_positions_past_an_end_mean_the_end() -> None:
    document = Document("file:///a.md", "one\ntwo", 1, "utf-16")
    document.edit(types.Range(types.Position(0, 99), types.Position(0, 99)), "!")
    document.edit(types.Range(types.Position(9, 9), types.Position(12, 0)), "?")
    assert document.text == "one!\ntwo?"


def test_a_range_given_backwards_is_the_same_range() -> None:
    document = Document("file:///a.md", "abcdef", 1, "utf-16")
    document.edit(types.Range(types.Position(0, 4), types.Position(0, 2)), "-")
    assert document.text == "ab-ef"


def test_a_change_without_range_replaces_all() -> None:
    documents = Documents("utf-16")
    documents.open("file:///a.md", "old", 1)
    changes = [
        types.TextDocumentContentChangeWholeDocument("new"),
        types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 1)), "N"),
    ]
    documents.change("file:///a.md", changes, 2)
    document = documents.opened("file:///a.md")
    assert document is not None
    assert (document.text, document.version) == ("New", 2)


def test_a_change_or_a_close_of_an_unopened_note_is_harmless() -> None:
    documents = Documents("utf-16")
    change = types.TextDocumentContentChangeWholeDocument("new")
    assert documents.change("untitled:Untitled-7", [change], 2) is None
    documents.close("untitled:Untitled-7")
    assert documents.opened("untitled:Untitled-7") is None


def test_a_note_is_found_however_its_escapes_are_spelt() -> None:
    documents = Documents("utf-16")
    documents.open("file:///w/a%20b%2Bc.md", "text", 1)
    assert documents.opened("file:///w/a b+c.md") is documents.opened("file:///w/a%20b%2Bc.md")
    assert documents.uri_of(Path("/w/a b+c.md")) == "file:///w/a%20b%2Bc.md"
    documents.close("file:///w/a b+c.md")
    assert documents.opened("file:///w/a%20b%2Bc.md") is None


def test_an_unopened_note_is_read_from_disk_without_its_byte_order_mark(tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    note.write_bytes("\ufeffone\r\ntwo 🚀 three".encode())
    spot = read_spot(note.as_uri(), types.Position(1, 6), "utf-16")
    assert spot is not None
    assert (spot.content, spot.column) == ("two 🚀 three", 5)


def test_an_unopened_note_that_is_no_readable_text_has_no_spots(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "directory.md").mkdir()
    for uri in ("untitled:x", *((tmp_path / name).as_uri() for name in ("latin.md", "directory.md", "missing.md"))):
        assert read_spot(uri, types.Position(0, 0), "utf-16") is None
