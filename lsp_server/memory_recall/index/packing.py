"""Arrays in one piece of bytes: their layout, and that no damage to it goes unnoticed.

Knows neither where they lie nor what the arrays mean. All of it is checksummed (CRC-32, which reads 50 MB in 30
ms), and every array must lie within it; so a damaged file raises `Damaged` and never becomes an answer.

Layout: a head of fixed size (magic, length and checksum of the table, checksum of the body), the table as JSON
(`{version, facts, arrays: [[name, type, shape, offset]], length}`), the body, in which every array begins at a multiple
of 64 bytes.
"""

from __future__ import annotations

import json
import math
import struct
import sys
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_recall.index.cache import Buffer

_HEAD = struct.Struct("<8sIIQ")
_MAGIC = b"MRindex\x01"
_ALIGNMENT = 64
_TYPES = frozenset({"|b1", "|u1", "|i1", *(f"<{kind}{size}" for kind in "uif" for size in (2, 4, 8))})

Arrays = Mapping[str, NDArray[Any]]


class Damaged(Exception):
    """Bytes that are no packing of this version: cut off, changed, or of another program."""


class Packing(NamedTuple):
    """What was packed: small facts as JSON has them, and arrays that cannot be written into."""

    facts: Mapping[str, Any]
    arrays: Arrays


def packed(version: str, facts: Mapping[str, Any], arrays: Arrays) -> list[bytes]:
    """The pieces whose concatenation `unpacked` reads again. Byte order and types are the machine's own."""
    table: list[tuple[str, str, tuple[int, ...], int]] = []
    body: list[bytes] = []
    offset = checksum = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        padding = bytes(-len(data) % _ALIGNMENT)
        table.append((name, array.dtype.str, array.shape, offset))
        for piece in (data, padding):
            checksum = zlib.crc32(piece, checksum)
        body += (data, padding)
        offset += len(data) + len(padding)
    about = {"version": _version(version), "facts": dict(facts), "arrays": table, "length": offset}
    head = json.dumps(about, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    head += b" " * (-(_HEAD.size + len(head)) % _ALIGNMENT)
    return [_HEAD.pack(_MAGIC, len(head), zlib.crc32(head), checksum), head, *body]


def unpacked(data: Buffer, version: str) -> Packing:
    """What `packed` was given, the arrays as views of the bytes. Raises `Damaged`."""
    table, start = _table(data, version)
    try:
        length, entries, facts = table["length"], table["arrays"], table["facts"]
        if start + length != len(data):
            raise Damaged("it is not as long as it should be")
        arrays = {name: _array(memoryview(data)[start:], *place) for name, *place in entries}
    except (KeyError, TypeError, ValueError, OverflowError) as failure:
        raise Damaged("its table cannot be read") from failure
    if zlib.crc32(memoryview(data)[start:]) != table["checksum"]:
        raise Damaged("its checksum is wrong")
    return Packing(facts, arrays)


def _table(data: Buffer, version: str) -> tuple[dict[str, Any], int]:
    if len(data) < _HEAD.size:
        raise Damaged("it is cut off")
    magic, length, checksum, body_checksum = _HEAD.unpack_from(data)
    start = _HEAD.size + length
    written = data[_HEAD.size : start]
    if magic != _MAGIC or len(written) != length or zlib.crc32(written) != checksum:
        raise Damaged("it is cut off, or no index")
    try:
        table = json.loads(written)
    except ValueError as failure:
        raise Damaged("its table cannot be read") from failure
    if not isinstance(table, dict) or table.get("version") != _version(version):
        raise Damaged("it was made by another version")
    return {**table, "checksum": body_checksum}, start


def _array(body: memoryview, kind: str, shape: Sequence[int], offset: int) -> NDArray[Any]:
    if kind not in _TYPES or not all(type(side) is int and side >= 0 for side in shape) or type(offset) is not int:
        raise Damaged("its table names an array that cannot be")
    dtype, count = np.dtype(kind), math.prod(shape)
    if offset < 0 or offset + count * dtype.itemsize > len(body):
        raise Damaged("its table names an array that lies outside of it")
    return np.frombuffer(body, dtype, count, offset).reshape(shape)


def _version(version: str) -> str:
    return f"{version}/{sys.byteorder}"


def texts_packed(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Texts as their bytes one after the other, and where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.uint64).astype(np.uint32)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def text_at(data: NDArray[np.uint8], ends: NDArray[np.uint32], number: int) -> str:
    """One of the texts of `texts_packed`."""
    start = int(ends[number - 1]) if number else 0
    return data[start : int(ends[number])].tobytes().decode("utf-8", "surrogatepass")
