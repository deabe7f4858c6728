"""File URIs and paths: the one place that knows how a client spells a file.

`file:///c%3A/notes`, `file:///C:/notes`, `file://server/share`, spaces, `%23` and `%25`, bytes that are not UTF-8.
Which folder a file belongs to, and in whose spelling it is answered, is decided in `folders`. Nothing else touches
`file:`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

EXAMPLE = "file:///path/of/a/note.md"
"""A URI to show in a message."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_DRIVE = re.compile(r"/[A-Za-z]:(?=[/\\]|$)")
_WINDOWS = os.name == "nt"


def scheme_of(uri: str) -> str | None:
    """The scheme in lower case; None for text that is no URI, such as a bare path."""
    match = _SCHEME.match(uri)
    return match.group(1).lower() if match else None


def path_of(uri: str) -> Path | None:
    """The absolute path that a `file:` URI names; None for every other scheme and for a file of another machine."""
    path = path_text(uri, windows=_WINDOWS)
    return Path(path) if path is not None else None


def path_text(uri: str, *, windows: bool) -> str | None:
    """As `path_of`, as text and for either kind of system. A fragment or query is no part of a path."""
    if scheme_of(uri) != "file":
        return None
    rest = re.split(r"[?#]", uri[len("file:") :], maxsplit=1)[0]
    if windows:
        rest = rest.replace("\\", "/")
    authority = ""
    if rest.startswith("//"):
        authority, _, remainder = rest[2:].partition("/")
        rest = f"/{remainder}"
    path = _decoded(rest, windows=windows)
    if not path.startswith("/") or "\0" in path:
        return None
    if authority.lower() == "localhost":
        authority = ""
    if not windows:
        return None if authority else f"/{path.lstrip('/')}"
    if authority:
        return f"//{authority}{path}".replace("/", "\\")
    if _DRIVE.match(path):  # the drive in one spelling, because clients send c%3A and C: for the same one
        path = f"{path[1].upper()}{path[2:]}"
    return path.replace("/", "\\")


def uri_of(path: Path) -> str:
    """The `file:` URI of an absolute path, everything but unreserved characters and slashes escaped."""
    text = path.as_posix()
    if text.startswith("//"):  # \\server\share
        return f"file:{quoted(text)}"
    return f"file://{quoted(text if text.startswith('/') else f'/{text}')}"


def quoted(path: str) -> str:
    """A path with slashes as the path of a URI."""
    try:
        encoded = path.encode("utf-8", "surrogatepass") if _WINDOWS else os.fsencode(path)
    except UnicodeEncodeError:  # half of a character that no file of this system can have in its name
        encoded = path.encode("utf-8", "replace")
    return quote_from_bytes(encoded, safe="/")


def _decoded(path: str, *, windows: bool) -> str:
    data = unquote_to_bytes(path.encode("utf-8", "surrogatepass"))
    return data.decode("utf-8", "replace") if windows else data.decode("utf-8", "surrogateescape")
