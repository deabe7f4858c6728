"""What is said of a nemp store's file that cannot be read as it is, or repeats itself: sentences, and where."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path

from memory_recall.files.reading import stamp_of
from memory_recall.model import Problem
from memory_recall.text.positions import LineIndex


def named_lines(lines: Sequence[int], more: int) -> str:
    """`lines 2, 4 and 7`, `twice on line 1`; `more` is how many memories stand on further lines."""
    distinct = [str(line) for line in dict.fromkeys(lines)]
    if more and len(distinct) == 1:
        return f"{len(lines)} times on line {distinct[0]}, and {more} more"
    if more:
        return f"lines {', '.join(distinct)} and {more} more"
    if len(distinct) == 1:
        return f"{'twice' if len(lines) == 2 else f'{len(lines)} times'} on line {distinct[0]}"
    return f"lines {', '.join(distinct[:-1])} and {distinct[-1]}"


def too_large(path: Path, limit: int) -> Problem:
    """The problem of a file that has more bytes than are read."""
    stamp = stamp_of(path)
    size = f"is {stamp.size:,} bytes large" if stamp is not None and stamp.size > limit else "grew too large"
    remedy = f"no more than {limit:,} bytes of a store are read. Move what is no memory into other files."
    message = f"{path} {size}; {remedy}"
    return Problem("too-large", message, str(path))


def not_utf8(path: Path, content: bytes, offset: int) -> Problem:
    """The problem of bytes that are no UTF-8, the first of them at an offset."""
    before = content[:offset].decode("utf-8")
    line, column = LineIndex(before).line_column(len(before))
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content[:4]
    found = "This file seems to be UTF-16" if wide else f"Byte {offset + 1} of this file is not UTF-8"
    return Problem(
        "not-utf-8", f"{found}; save it as UTF-8. Until then it is neither read nor written.", str(path), line, column
    )
