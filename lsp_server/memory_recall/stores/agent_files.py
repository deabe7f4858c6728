"""One JSON file under a project's `.agent`: from a path that may be anything to a value, or a `Problem` with a place.

Also the rule of isolation: a path whose symbolic links lead out of the project is never read. Knows nothing of
memories, sessions or messages.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_recall.files.reading import Unreadable, read_file
from memory_recall.model import Problem
from memory_recall.text.json_spans import WHITESPACE, JsonError, value_at, value_start
from memory_recall.text.positions import LineIndex

ENTRY_LIMIT = 1024 * 1024
"""The most bytes that are read of one file: a memory holds at most 4,000 characters of content."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TWO_BYTE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON file as it was read.

    `text` is without a byte order mark, `start` the offset at which the value begins in it. `problems` says what was
    odd about the bytes.
    """

    value: Any
    text: str
    start: int
    problems: tuple[Problem, ...] = ()


class Broken(Exception):
    """A file that holds no JSON value, as a `Problem` with line and column."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read_json(path: Path, real_project: str) -> Document:
    """The JSON in a file of the project.

    Raises `Unreadable` for what is no readable regular file or leads out of the project, `Broken` for what is not JSON.
    """
    if leads_outside(path, real_project):
        raise Unreadable(outside_problem(path))
    return parse_json(read_file(path, limit=ENTRY_LIMIT).data, str(path))


def parse_json(data: bytes, file: str) -> Document:
    """The JSON in the bytes of a file; `file` is its name in problems.

    A byte order mark is skipped. Bytes that are not UTF-8 become U+FFFD and a problem: a damaged letter in a title is
    no reason to lose a memory. Raises `Broken` for everything that is not JSON, `NaN` and `Infinity` included.
    """
    text, problems = _decode(data, file)
    try:
        start = value_start(text)
        value, end = value_at(text, start)
        if text[end:].strip(WHITESPACE):
            raise JsonError("the text goes on after its value has ended", end)
    except JsonError as failure:
        line, column = LineIndex(text).line_column(failure.offset)
        message = f"{file}:{line}:{column} is not valid JSON ({failure.message}); mend or remove it. It was skipped."
        raise Broken(Problem("unreadable", message, file, line, column)) from failure
    return Document(value, text, start, problems)


def leads_outside(path: Path, real_project: str) -> bool:
    """Whether the symbolic links of a path lead out of the project, given the project's own real path."""
    return not is_within(real_path(path), real_project)


def real_path(path: Path) -> str:
    """Where a path leads when all links are followed, as far as it leads anywhere."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a NUL in a path that came out of a URI
        return str(path)


def is_directory(path: Path) -> bool:
    """Whether a path leads to a directory that can be seen."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_within(real: str, real_directory: str) -> bool:
    """Whether a real path is a real directory or lies under it."""
    return real == real_directory or real.startswith(real_directory.rstrip(os.sep) + os.sep)


def outside_problem(path: Path) -> Problem:
    """The problem of a link that is not followed."""
    return Problem(
        "outside-project",
        f"{path} is a symbolic link that leads out of the project; a recall stays inside, so it was not read. "
        "Put a copy there instead.",
        str(path),
    )


def _decode(data: bytes, file: str) -> tuple[str, tuple[Problem, ...]]:
    if data.startswith(_TWO_BYTE_MARKS):
        message = f"{file} is encoded as UTF-16; save it as UTF-8. It was skipped."
        raise Broken(Problem("not-utf8", message, file, 1, 1))
    body = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        return body.decode("utf-8"), ()
    except UnicodeDecodeError as failure:
        text = body.decode("utf-8", "replace")
        line, column = LineIndex(text).line_column(len(body[: failure.start].decode("utf-8")))
        message = (
            f"{file}:{line}:{column} holds bytes that are not UTF-8; they are shown as U+FFFD. Save the file as UTF-8."
        )
        return text, (Problem("not-utf8", message, file, line, column),)
