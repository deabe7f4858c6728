"""File URIs as clients spell them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.faces.lsp.uris import path_of, path_text, scheme_of, uri_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/ann/notes/a.md", "/home/ann/notes/a.md"),
        ("file:///home/ann/my%20notes/a.md", "/home/ann/my notes/a.md"),
        ("file:///home/ann/my notes/a.md", "/home/ann/my notes/a.md"),
        ("file:///w/c%23/100%25/what%3F.md", "/w/c#/100%/what?.md"),
        ("file:///w/%E9%83%A8%E7%BD%B2.md", "/w/部署.md"),
        ("file:///w/a.md#L3", "/w/a.md"),
        ("FILE:///w/a.md", "/w/a.md"),
        ("file://localhost/w/a.md", "/w/a.md"),
        ("file:/w/a.md", "/w/a.md"),
        ("file:////w/a.md", "/w/a.md"),
        ("file:///c%3A/w/a.md", "/c:/w/a.md"),
        ("file:///w/caf%E9.md", "/w/caf\udce9.md"),
    ],
)
def test_a_file_uri_names_a_path(uri: str, path: str) -> None:
    assert path_text(uri, windows=False) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A/Users/ann/a.md", "C:\\Users\\ann\\a.md"),
        ("file:///C:/Users/ann/a.md", "C:\\Users\\ann\\a.md"),
        ("file:///c:/", "C:\\"),
        ("file:///c:\\Users\\a.md", "C:\\Users\\a.md"),
        ("file://server/share/a%20b.md", "\\\\server\\share\\a b.md"),
    ],
)
def test_a_file_uri_names_a_windows_path(uri: str, path: str) -> None:
    assert path_text(uri, windows=True) == path


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "git:/w/a.md?%7B%7D",
        "vscode-notebook-cell:/w/a.ipynb#W0",
        "https://example.org/a.md",
        "",
        "/w/a.md",
        "C:\\w\\a.md",
        "file:",
        "file:///w/%00.md",
        "file://server/share/a.md",
    ],
)
def test_what_is_no_file_of_this_machine_has_no_path(uri: str) -> None:
    assert path_of(uri) is None


def test_schemes_are_compared_in_lower_case() -> None:
    assert (scheme_of("UNTITLED:x"), scheme_of("no scheme")) == ("untitled", None)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1), min_size=1, max_size=4))
def test_a_path_survives_its_uri(parts: list[str]) -> None:
    text = "/" + "/".join(part.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") for part in parts)
    path = Path(text)
    assert path_of(uri_of(path)) == path
    assert uri_of(path).isascii()
