"""The workspace folders: which one holds a file, which project a question is about, and how a file is spelt back.

A client may know a folder by another path than the disk does (a symbolic link, a drive in lower case). Files are
matched by both, and answered in the client's own spelling, because an editor takes a second spelling for a second file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory_recall.environment import Place
from memory_recall.faces.lsp.uris import path_of, quoted, uri_of

_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder as the client has opened it: its URI as sent, its name, its path, and where that path really leads."""

    uri: str
    name: str
    path: Path
    real: Path = field(compare=False)

    @classmethod
    def opened(cls, uri: str, name: str | None = None) -> Folder | None:
        """The folder of a URI; None where the URI names no directory of this machine's file system."""
        path = path_of(uri)
        if path is None:
            return None
        plain = _plain(path)
        is_root = plain.parent == plain
        return cls(uri if is_root else uri.rstrip("/"), name or plain.name, plain, _real(plain))


class Folders:
    """The folders that are open, in the client's order. Changed only on the event loop."""

    def __init__(self, folders: Iterable[Folder] = ()) -> None:
        self._folders: tuple[Folder, ...] = tuple(folders)
        self._places: dict[str, Place | None] = {}

    @property
    def all(self) -> Sequence[Folder]:
        """Every open folder."""
        return self._folders

    @property
    def first(self) -> Folder | None:
        """The folder that is meant where nothing names one."""
        return self._folders[0] if self._folders else None

    def change(self, *, added: Iterable[Folder], removed: Iterable[str]) -> None:
        """Take in what the client opened and, by URI, what it closed."""
        closed = {folder.path for folder in map(Folder.opened, removed) if folder is not None}
        kept = [folder for folder in self._folders if folder.path not in closed]
        self._folders = (*kept, *(folder for folder in added if folder not in kept))
        self._places.clear()

    def holding(self, path: Path) -> Folder | None:
        """The innermost folder that holds a path: by the path as it is spelt, else by where it really leads."""
        plain = _plain(path)
        spelt = _innermost((folder, folder.path) for folder in self._folders if plain.is_relative_to(folder.path))
        if spelt is not None or not self._folders:
            return spelt
        real = _real(plain)
        return _innermost((folder, folder.real) for folder in self._folders if real.is_relative_to(folder.real))

    def named(self, name: str) -> Folder | None:
        """The folder that a client means by its URI, its path or its name."""
        path = path_of(name) or (Path(name) if Path(name).is_absolute() else None)
        if path is None:
            return next((folder for folder in self._folders if folder.name == name), None)
        plain, real = _plain(path), _real(path)
        return next((folder for folder in self._folders if plain == folder.path or real == folder.real), None)

    def place_of_note(self, uri: str) -> Place | None:
        """As `place_of`, remembered: a mouse over a note asks again and again."""
        if uri not in self._places:
            if len(self._places) >= _REMEMBERED:
                self._places.clear()
            self._places[uri] = self.place_of(uri)
        return self._places[uri]

    def place_of(self, uri: str) -> Place | None:
        """Where a note or a directory stands; None for what is no file and has no folder to belong to.

        What is no file (an untitled note) belongs to the first folder.
        """
        path = path_of(uri)
        if path is None:
            return None if self.first is None else Place(self.first.path, self.first.path)
        plain = _plain(path)
        base = plain if os.path.isdir(plain) else plain.parent  # noqa: PTH112 - never raises, however long the name
        folder = self.holding(path)
        return Place(base) if folder is None else Place(_inside(folder, base) or folder.path, folder.path)

    def spelling_of(self, path: Path) -> str:
        """The URI of a file as the client would spell it: under its own folder's URI where the file is in one."""
        folder = self.holding(path)
        inside = None if folder is None else _inside(folder, _plain(path))
        if folder is None or inside is None:
            return uri_of(path)
        separator = "" if folder.uri.endswith("/") else "/"
        return f"{folder.uri}{separator}{quoted(inside.relative_to(folder.path).as_posix())}"


def _plain(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):  # no path of this system, such as one with a null character
        return path


def _inside(folder: Folder, plain: Path) -> Path | None:
    """The path as it is spelt under that folder; None for one that is not in it."""
    if plain.is_relative_to(folder.path):
        return plain
    real = _real(plain)
    return folder.path / real.relative_to(folder.real) if real.is_relative_to(folder.real) else None


def _innermost(candidates: Iterable[tuple[Folder, Path]]) -> Folder | None:
    best = max(candidates, key=lambda candidate: len(candidate[1].parts), default=None)
    return None if best is None else best[0]
