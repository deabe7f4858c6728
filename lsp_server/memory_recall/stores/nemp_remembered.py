"""Outlines of nemp stores, remembered in the user's cache from one command to the next.

An outline counts for the very bytes that it was made from: for a file of the same stamp and, where that cannot tell (a
file written a moment before it was looked at), of the same checksums. One that is damaged, of another version, or of
other bytes is as good as none; a cache that cannot be written keeps none. No word of a memory is kept, but offsets,
counts and checksums alone.

Layout: checksum of the rest and length of the head (4 bytes each), the head as JSON, the arrays of an `Outline`.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import zlib
from array import array
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, get_args

from memory_recall import __version__
from memory_recall.environment import Environment
from memory_recall.files.reading import STORE_LIMIT, FileBytes, Stamp
from memory_recall.index.cache import Cache, Folder
from memory_recall.records import NamedTuple
from memory_recall.stores.nemp import NempStore, Source, store_of_bytes
from memory_recall.stores.nemp_outline import OFFSET, Outline
from memory_recall.stores.nemp_outlined import StoreOutlined, Whole
from memory_recall.stores.nemp_shapes import Oddity, Shape, StoreText

VERSION = f"{__version__}/1/{sys.byteorder}{array(OFFSET).itemsize}"
"""What must be the same for an outline to count: what passes for a store without fault, and how offsets are kept."""

_NAME = "outline"
_FRONT = 8


class _Kept(NamedTuple):
    """An outline, and the file that it counts for."""

    outline: Outline
    stamp: Stamp

    def counts_for(self, file: FileBytes, data: bytes) -> bool:
        """Whether it was made from the bytes of a file, which are `data` without their mark."""
        same = self.stamp == file.stamp and file.stamp.size == len(file.data)
        return same and (self.stamp.settled or self.outline.fits(data))


class Outlines:
    """The outlines of one command: those that it found, and those that the next one shall find."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._found: list[StoreOutlined] = []

    @classmethod
    def of(cls, environment: Environment) -> Outlines | None:
        """Those in the user's cache; None where there is none."""
        cache = Cache.of(environment)
        return None if cache is None else cls(cache)

    def store_of(self, path: Path, source: Source, file: FileBytes) -> NempStore:
        """The store that a file holds, by its outline if that is remembered."""
        mark = len(codecs.BOM_UTF8) if file.data.startswith(codecs.BOM_UTF8) else 0
        data = file.data[mark:]
        kept = _unpacked(self._folder(path).read(_NAME, limit=STORE_LIMIT))
        if kept is not None and kept.counts_for(file, data):
            content = StoreOutlined(data, kept.outline, _read)
            self._found.append(content)
            return NempStore(path, source, content, file.stamp, has_mark=bool(mark))
        store = store_of_bytes(path, source, file.data, file.stamp)
        if not store.writable or store.problems:
            return store
        content = StoreOutlined(data, None, _read, whole=store.content.whole)
        return NempStore(path, source, content, file.stamp, has_mark=bool(mark))

    def keep(self, store: NempStore) -> None:
        """Remember the outline of a store, if it has one that is not remembered yet."""
        content, stamp = store.content, store.stamp
        if any(content is found for found in self._found):
            self._folder(store.path).note_use(_NAME)
            return
        if not isinstance(content, StoreOutlined) or content.outline is None or stamp is None:
            return
        folder = self._folder(store.path)
        is_first = not os.path.lexists(folder.path)
        if folder.write(_NAME, _packed(_Kept(content.outline, stamp))) and is_first:
            self._cache.sweep()

    def _folder(self, path: Path) -> Folder:
        """A store's folder. Two stores may share a name, and then take turns: the stamp says whose outline it is."""
        origin = str(path)
        return Folder(self._cache.directory, f"nemp-{zlib.crc32(os.fsencode(origin)):08x}", origin)


def _read(data: bytes) -> Whole:
    store = store_of_bytes(Path(), "project", data, None)
    if store.failure is not None:  # it was read before, so that only memory can be lacking
        return StoreText("", "broken", (), {}, (Oddity(store.failure.code, store.failure.message, 0),))
    return store.content.whole


def _packed(kept: _Kept) -> list[bytes]:
    outline = kept.outline
    head = {
        "version": VERSION,
        "stamp": tuple(kept.stamp),
        "shape": outline.shape,
        "stop": outline.stop,
        "is_ascii": outline.is_ascii,
        "spelt_plainly": outline.spelt_plainly,
        "lengths": (len(outline.begins), len(outline.linked), len(outline.checksums), len(outline.lines)),
    }
    arrays = (outline.begins, outline.linked, outline.checksums, outline.lines)
    body = [json.dumps(head).encode("ascii"), *(array(OFFSET, numbers).tobytes() for numbers in arrays)]
    checksum = 0
    for piece in body:
        checksum = zlib.crc32(piece, checksum)
    return [checksum.to_bytes(4, "little"), len(body[0]).to_bytes(4, "little"), *body]


def _unpacked(data: bytes | None) -> _Kept | None:
    """What was packed; None of what is damaged or of another version."""
    if data is None or len(data) < _FRONT:
        return None
    checksum, end = int.from_bytes(data[:4], "little"), _FRONT + int.from_bytes(data[4:_FRONT], "little")
    if zlib.crc32(memoryview(data)[_FRONT:]) != checksum:
        return None
    try:
        head = json.loads(data[_FRONT:end])
        return _kept(head, data[end:]) if head["version"] == VERSION else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _kept(head: dict[str, Any], body: bytes) -> _Kept | None:
    numbers = array(OFFSET, body)
    ends = list(accumulate(head["lengths"]))
    begins, linked, checksums, lines = (numbers[start:end] for start, end in pairwise((0, *ends)))
    shape: Shape = head["shape"]
    outline = Outline(shape, begins, head["stop"], linked, head["is_ascii"], head["spelt_plainly"], checksums, lines)
    return _Kept(outline, Stamp(*head["stamp"])) if shape in get_args(Shape) and outline.is_whole else None
