"""Memory that was freed and that the C library keeps, given back to the system."""

from __future__ import annotations

import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_HELD_BACK = 8 << 20
_APART = 1 << 20


def hold_back_little() -> None:
    """Have the C library keep 8 MB at most of what is free, and give every piece of 1 MB a place of its own.

    Without being told, it keeps twice as much as the largest piece that was ever freed: of a store of 90 MB, 64 MB.
    """
    import ctypes

    limit = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if limit is not None:
        limit(_MMAP_THRESHOLD, _APART)
        limit(_TRIM_THRESHOLD, _HELD_BACK)


def give_back_memory() -> None:
    """Let the system have what is free again: the C library would keep half as much as it holds."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
