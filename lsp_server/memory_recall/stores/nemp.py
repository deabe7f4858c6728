"""nemp's stores on disk: what they say, and whether they still say it.

Reading only: what a recall leaves behind is `recall/nemp_accounting.py`'s. The shapes of the JSON are
`nemp_shapes.py`'s; this module adds the file around it: bytes, encoding, stamp, lines, problems.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memory_recall.files.reading import STORE_LIMIT, FileBytes, Stamp, Unreadable, is_unchanged, read_file, stamp_of
from memory_recall.model import Memory, Problem, Provenance, Standing
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.stores.nemp_places import NempPlaces, find_stores, no_store, stands_at
from memory_recall.stores.nemp_shapes import Oddity, Shape, StoreText, parse_store
from memory_recall.stores.nemp_standings import standings_of, successors_in, successors_of
from memory_recall.text.positions import ByteLines, LineIndex

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from memory_recall.ranking.lexical import Document
    from memory_recall.stores.nemp_bytes import StoreBytes
    from memory_recall.stores.nemp_changes import Changed
    from memory_recall.stores.nemp_outlined import OutlineLines, StoreOutlined

Source = Literal["project", "global"]

__all__ = [
    "NempEntry",
    "NempPlaces",
    "NempStore",
    "Source",
    "as_memory",
    "bytes_of",
    "find_stores",
    "is_current",
    "no_store",
    "read_store",
    "store_of_bytes",
]

_SHOWN_ODDITIES = 50
"""Oddities of one kind reported one by one; a file of 100,000 loose strings is one thing to mend, not 100,000."""

_SHOWN_LINES = 10

_FEW = 8
"""One in so many entries of a large store up to which it is cheapest to make each of them."""

OUTLINED = 256 * 1024
"""Bytes from which on a command remembers where the entries of a store begin: where that saves more than it takes."""

LARGE = 2 * 1024 * 1024
"""Bytes from which on a store is held as its bytes: where that has saved the time of importing what it takes."""


class NempStore:
    """One store as it was read. `writable` says whether its text may be changed: it parsed, and it is a store.

    `text` is without byte order mark. `problems` name the file; their lines and columns are those of an editor. Of a
    large store the entries are made when they are taken, and anew each time: what tells two apart is their `number`.
    """

    def __init__(
        self,
        path: Path,
        source: Source,
        content: StoreText | StoreBytes | StoreOutlined,
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

    @property
    def keys(self) -> Sequence[str]:
        """The key of each entry, in the order of the file."""
        return self.content.keys

    def holds(self, data: bytes) -> bool:
        """Whether these are the bytes of the file that was read."""
        if isinstance(self.content, StoreText):
            return self.failure is None and self.shape != "absent" and bytes_of(self, self.text) == data
        return self.bytes_held() == data

    def bytes_held(self) -> bytes | None:
        """The bytes of the file, where they are at hand: those of a large store are."""
        if isinstance(self.content, StoreText):
            return None
        return codecs.BOM_UTF8 + self.content.data if self.has_mark else self.content.data

    def entry(self, number: int) -> NempEntry:
        """The memory of that number."""
        return self.content.entry(number)

    def by_key(self, key: str) -> tuple[NempEntry, ...]:
        """The memories of exactly that name; more than one where the file repeats it."""
        return self.content.named(key)

    @cached_property
    def _lines(self) -> LineIndex | ByteLines | OutlineLines:
        return self.content.lines()

    def excerpts(self, entries: Sequence[NempEntry]) -> Sequence[tuple[str, int, int]]:
        """For each entry a text in which its value, at these offsets, can be changed as in the whole.

        For changes of which nothing is beyond ASCII: `text/json_excerpt.py`.
        """
        if isinstance(self.content, StoreText):
            return [(self.text, entry.start, entry.end) for entry in entries]
        from memory_recall.text.json_excerpt import excerpt_of

        found = [excerpt_of(self.content.data, *self.content.span_of(entry.number)) for entry in entries]
        text = "" if all(found) else self.text
        return [excerpt or (text, entry.start, entry.end) for excerpt, entry in zip(found, entries, strict=True)]

    def place_of(self, entry: NempEntry) -> tuple[int, int]:
        """Line and column, from 1, of the string that is the entry's key."""
        return self._lines.line_column(self.content.key_place(entry))

    def standings_of(self, entry: NempEntry) -> tuple[Standing, ...]:
        """Why an entry of this store may no longer hold; empty for one that does."""
        return standings_of(entry, self._successors)

    def successors_of(self, entry: NempEntry) -> Sequence[str]:
        """The keys of what superseded an entry of this store."""
        return successors_of(entry, self._successors)

    @cached_property
    def _successors(self) -> Mapping[str, Sequence[str]]:
        return successors_in(self.content.linked())

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """What ranking sees of each entry, in the order of `entries`."""
        return tuple(self.documents_at(None))

    def documents_at(self, numbers: Sequence[int] | None) -> Iterator[Document]:
        """The same of the entries of these numbers, which ascend, one at a time; of all where None."""
        from memory_recall.ranking.lexical import Document

        whole = self.content.whole
        is_few = numbers is not None and len(numbers) * _FEW < len(whole.keys)
        if isinstance(whole, StoreText) or is_few:
            entries = whole.entries if numbers is None else map(whole.entry, numbers)
            return (Document(entry.key, entry.text, entry.tags) for entry in entries)
        from memory_recall.stores.nemp_large import documents_of

        return starmap(Document, documents_of(whole, numbers))

    @cached_property
    def digests(self) -> array[int]:
        """A digest of what ranking sees of each entry."""
        from memory_recall.stores.nemp_digests import digests_of

        return digests_of(self.documents_at(None))

    @property
    def is_large(self) -> bool:
        """Whether it is held as its bytes."""
        return not isinstance(self.content.whole, StoreText)

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
                line, column = self._lines.line_column(oddity.offset)
                problems.append(Problem(oddity.code, oddity.message, str(self.path), line, column))
        for code, count in counts.items():
            if count > _SHOWN_ODDITIES:
                more = f"{count - _SHOWN_ODDITIES:,} more entries of this file have the same fault."
                problems.append(Problem(code, more, str(self.path)))
        return tuple(problems)

    def _repeated_keys(self) -> Iterator[Oddity]:
        for entries in self.content.repeated():
            from memory_recall.stores.nemp_faults import named_lines

            lines = [self.place_of(entry)[0] for entry in entries[:_SHOWN_LINES]]
            where = named_lines(lines, len(entries) - len(lines))
            message = (
                f'{len(entries)} memories have the key "{entries[0].key}" ({where}); rename or remove all but one.'
            )
            yield Oddity("duplicate-key", message, self.content.key_place(entries[1]))


def read_store(
    path: Path,
    source: Source,
    *,
    limit: int = STORE_LIMIT,
    earlier: NempStore | None = None,
    outlined: Callable[[Path, Source, FileBytes], NempStore] | None = None,
) -> NempStore:
    """The store in that file. Never raises: what cannot be read is an empty store with a problem.

    A file that is not there is an empty store without one (a dangling link has one). What an `earlier` reading of the
    same file has found, and still holds, is taken over; that very store comes back where nothing has changed.
    `outlined` is asked for a store that is large enough to be remembered.
    """
    try:
        file = read_file(path, limit=limit)
    except Unreadable as unreadable:
        failure = unreadable.problem
        nothing = StoreText("", "absent" if unreadable.missing else "broken", (), {}, ())
        if unreadable.missing and stands_at(path):
            failure = Problem("dangling-link", f"{path} is a link to nothing; mend or remove it.", str(path))
        elif unreadable.missing:
            return NempStore(path, source, nothing, None)
        if failure.code == "too-large":
            from memory_recall.stores.nemp_faults import too_large

            failure = too_large(path, limit)
        return NempStore(path, source, nothing, stamp_of(path), failure=failure)
    if earlier is None:
        if outlined is not None and len(file.data) >= OUTLINED:
            return outlined(path, source, file)
        return store_of_bytes(path, source, file.data, file.stamp)
    if earlier.holds(file.data):
        earlier.stamp = file.stamp
        return earlier
    return store_after_change(earlier, file.data, file.stamp)


def store_of_bytes(path: Path, source: Source, data: bytes, stamp: Stamp | None) -> NempStore:
    """The store that a file holds if these are its bytes. Never raises."""
    has_mark = data.startswith(codecs.BOM_UTF8)
    content = data[len(codecs.BOM_UTF8) :] if has_mark else data
    large = _large(content) if len(content) >= LARGE else None
    if large is not None:
        return NempStore(path, source, large, stamp, has_mark=has_mark)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _undecoded(path, source, content, stamp, error.start)
    if "\0" in text[:4]:
        return _undecoded(path, source, content, stamp, 0)
    return NempStore(path, source, parse_store(text), stamp, has_mark=has_mark)


def _undecoded(path: Path, source: Source, content: bytes, stamp: Stamp | None, offset: int) -> NempStore:
    from memory_recall.stores.nemp_faults import not_utf8

    failure = not_utf8(path, content, offset)
    return NempStore(path, source, StoreText("", "broken", (), {}, ()), stamp, failure=failure)


def store_after_change(earlier: NempStore, data: bytes, stamp: Stamp | None) -> NempStore:
    """The store that the file holds by now, which differs little from an earlier one. Never raises."""
    has_mark = data.startswith(codecs.BOM_UTF8)
    if not isinstance(earlier.content, StoreText) and len(data) >= LARGE:
        from memory_recall.stores.nemp_changes import after_change
        from memory_recall.stores.nemp_outlined import StoreOutlined
        from memory_recall.text.json_bytes import Unsure

        try:
            if isinstance(earlier.content, StoreOutlined):
                raise Unsure
            changed = after_change(earlier.content, data[len(codecs.BOM_UTF8) :] if has_mark else data)
        except Unsure:
            pass
        else:
            return _changed(earlier, changed, stamp, has_mark=has_mark)
    return store_of_bytes(earlier.path, earlier.source, data, stamp)


def store_after_edit(store: NempStore, values: Mapping[int, str]) -> tuple[NempStore, bytes]:
    """A large store in which the values of some entries, by number, are replaced; and the bytes of its file.

    Where it is on the disk one day is for the writer to say: the store has no stamp.
    """
    from memory_recall.stores.nemp_outlined import StoreOutlined

    assert not isinstance(store.content, StoreText)
    if isinstance(store.content, StoreOutlined):
        edited = NempStore(store.path, store.source, store.content.edited(values), None, has_mark=store.has_mark)
        return edited, edited.bytes_held() or b""
    from memory_recall.stores.nemp_changes import after_edit
    from memory_recall.text.json_bytes import Unsure

    old, position = store.content, 0
    whole_old = memoryview(old.data)
    pieces: list[bytes | memoryview] = []
    growths: list[tuple[int, int]] = []
    for number in sorted(values):
        start, end = old.found.starts[number], old.found.ends[number]
        written = values[number].encode("utf-8")
        pieces += (whole_old[position:start], written)
        growths.append((number, len(written) - (end - start)))
        position = end
    data = b"".join((*pieces, whole_old[position:]))
    whole = codecs.BOM_UTF8 + data if store.has_mark else data
    try:
        return _changed(store, after_edit(old, data, growths), None, has_mark=store.has_mark), whole
    except Unsure:
        return store_of_bytes(store.path, store.source, whole, None), whole


def _changed(earlier: NempStore, changed: Changed, stamp: Stamp | None, *, has_mark: bool) -> NempStore:
    store = NempStore(earlier.path, earlier.source, changed.content, stamp, has_mark=has_mark)
    digests: array[int] | None = earlier.__dict__.get("digests")
    if digests is not None and changed.is_small:
        from memory_recall.stores.nemp_digests import digests_after

        store.__dict__["digests"] = digests_after(digests, changed)
    return store


def _large(content: bytes) -> StoreBytes | None:
    """A large store without its entries parsed; None where it is of a kind that only parsing can tell about."""
    from memory_recall.stores.nemp_large import read_large
    from memory_recall.text.json_bytes import Unsure

    try:
        return read_large(content)
    except Unsure:
        return None


def bytes_of(store: NempStore, text: str) -> bytes:
    """The bytes of a file that keeps the store's encoding and byte order mark and says `text`."""
    return (codecs.BOM_UTF8 if store.has_mark else b"") + text.encode("utf-8")


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
        standings=store.standings_of(entry),
        fields=entry.raw,
    )


def _confidence(written: object) -> float | str | None:
    score = written.get("score") if isinstance(written, dict) else written
    if isinstance(score, bool) or not isinstance(score, int | float | str):
        return None
    return score
