"""Arrays in one piece of bytes: what was packed is unpacked, and no damage goes unnoticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.index.packing import Damaged, packed, text_at, texts_packed, unpacked

ARRAYS = {
    "numbers": np.arange(7, dtype=np.uint32),
    "none": np.empty(0, np.float64),
    "table": np.array([[1.5, -2.0], [0.0, 3.0]], np.float16),
    "mask": np.array([True, False]),
}
WHOLE = b"".join(packed("v1", {"names": ["a", "ü\udc80"]}, ARRAYS))


def test_what_was_packed_is_unpacked() -> None:
    facts, arrays = unpacked(WHOLE, "v1")
    assert facts == {"names": ["a", "ü\udc80"]}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        assert not arrays[name].flags.writeable


def test_arrays_that_do_not_lie_in_a_row_are_packed_as_if_they_did() -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4).T[::2]
    np.testing.assert_array_equal(unpacked(b"".join(packed("v", {}, {"a": array})), "v").arrays["a"], array)


def test_another_version_is_not_read() -> None:
    with pytest.raises(Damaged, match="another version"):
        unpacked(WHOLE, "v2")


@pytest.mark.parametrize("length", [0, 1, 23, 24, 63, 64, 100, len(WHOLE) - 64, len(WHOLE) - 1])
def test_what_is_cut_off_is_not_read(length: int) -> None:
    with pytest.raises(Damaged):
        unpacked(WHOLE[:length], "v1")


def test_what_goes_on_is_not_read() -> None:
    with pytest.raises(Damaged):
        unpacked(WHOLE + b"\0", "v1")


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_no_changed_byte_goes_unnoticed(at: int, change: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[at] ^= change
    with pytest.raises(Damaged):
        unpacked(bytes(damaged), "v1")


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_damaged_and_nothing_worse(data: bytes) -> None:
    for bytes_ in (data, WHOLE[:24] + data, WHOLE[:8] + data):
        with pytest.raises(Damaged):
            unpacked(bytes_, "v1")


@pytest.mark.parametrize(
    "entry",
    [
        ["a", "<u4", [2], -4],
        ["a", "<u4", [2], 60],
        ["a", "<u4", [-1], 0],
        ["a", "<u4", [2.0], 0],
        ["a", "|O", [1], 0],
        ["a", "<u4", [2**62, 2**62], 0],
        ["a"],
        None,
    ],
)
def test_a_table_that_leads_outside_is_damaged(entry: object) -> None:
    """Also where somebody took the trouble to make the checksums right."""
    import json
    import struct
    import sys
    import zlib

    body = bytes(64)
    table = {"version": f"v1/{sys.byteorder}", "facts": {}, "arrays": [entry], "length": 64}
    head = json.dumps(table).encode()
    data = struct.pack("<8sIIQ", WHOLE[:8], len(head), zlib.crc32(head), zlib.crc32(body)) + head + body
    with pytest.raises(Damaged):
        unpacked(data, "v1")


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=5), max_size=8))
def test_texts_are_found_again(texts: list[str]) -> None:
    data, ends = texts_packed(texts)
    assert [text_at(data, ends, number) for number in range(len(texts))] == texts
