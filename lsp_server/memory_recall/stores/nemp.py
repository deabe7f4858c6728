"""nemp's stores on disk: which files they are from a given place, what they say, whether they still say it.

Reading only: what a recall leaves behind is `recall/nemp_accounting.py`'s. The shapes of the JSON are
`nemp_shapes.py`'s; this module adds the file around it: bytes, encoding, stamp, lines, problems.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memory_recall.environment import Environment, Place
from memory_recall.files.reading import STORE_LIMIT, Stamp, Unreadable, is_unchanged, read_file, stamp_of
from memory_recall.model import Memory, Problem, Provenance, Standing
from memory_recall.stores.nemp_shapes import NempEntry, Oddity, Shape, StoreText, parse_store
from memory_recall.text.positions import LineIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_recall.ranking.lexical import Document

Source = Literal["project", "global"]

_FOLDER = ".nemp"
_STORE = "memories.json"
_LOG = "access.log"
_REPOSITORY_MARKS = (".git", ".hg", ".jj")

_SHOWN_ODDITIES = 50
"""Oddities of one kind reported one by one; a file of 100,000 loose strings is one thing to mend, not 100,000."""

_SHOWN_LINES = 10


class NempPlaces(NamedTuple):
    """The stores that a place sees, None where there is none, and the access log that its reads go to.

    `log` is None where there is neither a project store nor a home. A store is named as soon as something stands at
    its place, readable or not.
    """

    project: Path | None
    global_: Path | None
    log: Path | None


def find_stores(place: Place, environment: Environment) -> NempPlaces:
    """The project store nearest above the place, and the global one.

    Upward from the folder, through the repository root and the workspace folder and no further; the home directory is
    never a project. Where both names lead to one file, only one is returned: the global one where the very folder
    `.nemp` is the home's, else the project's.
    """
    shared = environment.home / _FOLDER / _STORE if environment.home is not None else None
    project = _nearest_store(place, environment)
    if project is not None and shared is not None and _same(project.parent, shared.parent):
        project = None
    if shared is not None and (not _stands_at(shared) or (project is not None and _same(project, shared))):
        shared = None
    logging = project or (environment.home / _FOLDER / _STORE if environment.home is not None else None)
    return NempPlaces(project, shared, logging.parent / _LOG if logging is not None else None)


def _nearest_store(place: Place, environment: Environment) -> Path | None:
    for folder in _searched_folders(place, environment):
        store = folder / _FOLDER / _STORE
        if _stands_at(store):
            return store
    return None


def _searched_folders(place: Place, environment: Environment) -> Iterator[Path]:
    start = Path(os.path.normpath(environment.cwd / place.folder))
    boundary = Path(os.path.normpath(environment.cwd / place.boundary)) if place.boundary is not None else None
    if boundary is not None and not any(_same(folder, boundary) for folder in (start, *start.parents)):
        start = boundary  # a note outside its own workspace: the workspace alone is asked
    for folder in (start, *start.parents):
        if environment.home is not None and _same(folder, environment.home):
            return
        yield folder
        if boundary is not None and _same(folder, boundary):
            return
        if any(_stands_at(folder / mark) for mark in _REPOSITORY_MARKS):
            return


def _same(left: Path, right: Path) -> bool:
    if left == right:
        return True
    try:
        return left.samefile(right)
    except (OSError, ValueError):
        return False


def _stands_at(path: Path) -> bool:
    """Whether something has that name, be it a broken link or a thing that may not be looked at."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


class NempStore:
    """One store as it was read. `writable` says whether its text may be changed: it parsed, and it is a store.

    `text` is without byte order mark. `problems` name the file; their lines and columns are those of an editor.
    """

    def __init__(
        self,
        path: Path,
        source: Source,
        content: StoreText,
        stamp: Stamp | None,
        *,
        has_mark: bool = False,
        failure: Problem | None = None,
    ) -> None:
        self.path = path
        self.source: Source = source
        self.content = content
        self.stamp = stamp
        self.has_mark = has_mark
        self.failure = failure

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.content.text

    @property
    def shape(self) -> Shape:
        """How the file holds its entries."""
        return self.content.shape

    @property
    def entries(self) -> Sequence[NempEntry]:
        """All memories, in the order of the file."""
        return self.content.entries

    @property
    def writable(self) -> bool:
        """Whether an entry may be changed in it."""
        return self.shape not in ("broken", "absent")

    def by_key(self, key: str) -> tuple[NempEntry, ...]:
        """The memories of exactly that name; more than one where the file repeats it."""
        return self.content.by_key.get(key, ())

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)

    def place_of(self, entry: NempEntry) -> tuple[int, int]:
        """Line and column, from 1, of the string that is the entry's key."""
        return self.lines.line_column(entry.key_offset)

    @cached_property
    def documents(self) -> Sequence[Document]:
        """What ranking sees of each entry, in the order of `entries`."""
        from memory_recall.ranking.lexical import Document

        return tuple(Document(entry.key, entry.text, entry.tags) for entry in self.entries)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is broken or ambiguous in the file, in the order of the text."""
        if self.failure is not None:
            return (self.failure,)
        oddities = sorted((*self.content.oddities, *self._repeated_keys()), key=lambda oddity: oddity.offset)
        counts: dict[str, int] = {}
        problems = []
        for oddity in oddities:
            counts[oddity.code] = counts.get(oddity.code, 0) + 1
            if counts[oddity.code] <= _SHOWN_ODDITIES:
                line, column = self.lines.line_column(oddity.offset)
                problems.append(Problem(oddity.code, oddity.message, str(self.path), line, column))
        for code, count in counts.items():
            if count > _SHOWN_ODDITIES:
                more = f"{count - _SHOWN_ODDITIES:,} more entries of this file have the same fault."
                problems.append(Problem(code, more, str(self.path)))
        return tuple(problems)

    def _repeated_keys(self) -> Iterator[Oddity]:
        if len(self.content.by_key) == len(self.content.entries):
            return
        for key, entries in self.content.by_key.items():
            if len(entries) > 1:
                lines = [str(self.place_of(entry)[0]) for entry in entries[:_SHOWN_LINES]]
                more = len(entries) - len(lines)
                named = f"{', '.join(lines)} and {more} more" if more else f"{', '.join(lines[:-1])} and {lines[-1]}"
                message = f'{len(entries)} memories have the key "{key}" (lines {named}); rename or remove all but one.'
                yield Oddity("duplicate-key", message, entries[1].key_offset)


def read_store(path: Path, source: Source, *, limit: int = STORE_LIMIT) -> NempStore:
    """The store in that file. Never raises: what cannot be read is an empty store with a problem.

    A file that is not there is an empty store without one (a dangling link has one).
    """
    try:
        file = read_file(path, limit=limit)
    except Unreadable as unreadable:
        failure = unreadable.problem
        nothing = StoreText("", "absent" if unreadable.missing else "broken", (), {}, ())
        if unreadable.missing and _stands_at(path):
            failure = Problem("dangling-link", f"{path} is a link to nothing; mend or remove it.", str(path))
        elif unreadable.missing:
            return NempStore(path, source, nothing, None)
        return NempStore(path, source, nothing, stamp_of(path), failure=failure)
    return store_of_bytes(path, source, file.data, file.stamp)


def store_of_bytes(path: Path, source: Source, data: bytes, stamp: Stamp | None) -> NempStore:
    """The store that a file holds if these are its bytes. Never raises."""
    has_mark = data.startswith(codecs.BOM_UTF8)
    content = data[len(codecs.BOM_UTF8) :] if has_mark else data
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        failure = _not_utf8(path, content, error.start)
        return NempStore(path, source, StoreText("", "broken", (), {}, ()), stamp, failure=failure)
    if "\0" in text[:4]:
        failure = _not_utf8(path, content, 0)
        return NempStore(path, source, StoreText("", "broken", (), {}, ()), stamp, failure=failure)
    return NempStore(path, source, parse_store(text), stamp, has_mark=has_mark)


def bytes_of(store: NempStore, text: str) -> bytes:
    """The bytes of a file that keeps the store's encoding and byte order mark and says `text`."""
    return (codecs.BOM_UTF8 if store.has_mark else b"") + text.encode("utf-8")


def _not_utf8(path: Path, content: bytes, offset: int) -> Problem:
    before = content[:offset].decode("utf-8")
    line, column = LineIndex(before).line_column(len(before))
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content[:4]
    found = "This file seems to be UTF-16" if wide else f"Byte {offset + 1} of this file is not UTF-8"
    return Problem(
        "not-utf-8", f"{found}; save it as UTF-8. Until then it is neither read nor written.", str(path), line, column
    )


def is_current(store: NempStore) -> bool:
    """Whether the file is still the one that was read."""
    return is_unchanged(store.path, store.stamp)


def as_memory(store: NempStore, entry: NempEntry) -> Memory:
    """An entry as search, hover and `show` see it."""
    line, column = store.place_of(entry)
    return Memory(
        system="nemp",
        id=entry.key,
        title=entry.key,
        text=entry.text,
        provenance=Provenance(
            system="nemp",
            source=store.source,
            path=store.path,
            line=line,
            column=column,
            author=entry.agent_id,
            created=entry.created,
            updated=entry.updated,
            confidence=_confidence(entry.confidence),
        ),
        tags=entry.tags,
        standings=standings_of(entry),
        fields=entry.raw,
    )


def standings_of(entry: NempEntry) -> tuple[Standing, ...]:
    """Why a memory may no longer hold, by its own links and vitality."""
    links: Mapping[str, Any] = entry.links if isinstance(entry.links, dict) else {}
    standings = []
    successors = _names(links.get("superseded_by"))
    if successors:
        message = f"It is superseded by {_quoted(successors)}."
        standings.append(Standing("superseded", message, successors[0]))
    conflicts = _names(links.get("conflicts"))
    if conflicts:
        standings.append(Standing("conflicting", f"It conflicts with {_quoted(conflicts)}."))
    if isinstance(entry.vitality, dict) and entry.vitality.get("state") == "extinct":
        standings.append(Standing("extinct", "Its vitality has run out (extinct): nobody has used it for long."))
    return tuple(standings)


def _names(written: object) -> list[str]:
    listed = written if isinstance(written, list) else [written]
    return [name for name in listed if isinstance(name, str) and name]


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _confidence(written: object) -> float | str | None:
    score = written.get("score") if isinstance(written, dict) else written
    if isinstance(score, bool) or not isinstance(score, int | float | str):
        return None
    return score
