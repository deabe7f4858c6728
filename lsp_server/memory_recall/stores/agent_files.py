"""What lies under a project's `.agent`: directories and JSON files that may be anything, as values or as problems.

Also the rule of isolation: a path whose symbolic links lead out of the project is never read. Knows nothing of
memories, sessions or messages.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_recall.files.reading import Unreadable, read_file
from memory_recall.model import Problem
from memory_recall.text.json_spans import WHITESPACE, JsonError, value_at, value_start
from memory_recall.text.positions import LineIndex

ENTRY_LIMIT = 1024 * 1024
"""The most bytes that are read of one file: a memory holds at most 4,000 characters of content."""

SHOWN_PROBLEMS = 50
"""Problems of one kind that are told one by one; a directory of 2,000 broken files is one thing to mend, not 2,000."""

OUTSIDE = "outside-project"
"""The code of the problem of a link that leads out of the project."""

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


@dataclass(frozen=True, slots=True)
class DirectoryFault:
    """Why there is no directory to be read at a path: a phrase about it, and what to do.

    `missing` is true where there is nothing at all, which for most directories is no fault.
    """

    path: Path
    phrase: str
    remedy: str
    missing: bool = False

    def sentence(self, consequence: str) -> str:
        """One sentence that names the path, what follows, and the remedy."""
        return f"{self.path} {self.phrase}, so {consequence}; {self.remedy}."

    @property
    def problem(self) -> Problem:
        """The fault as the problem of an answer that is given without what lies there."""
        return Problem("unreadable", self.sentence("what lies there is missing from this answer"), str(self.path))


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
        raise Unreadable(outside_problem(path, real_project))
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


def directory_fault(path: Path) -> DirectoryFault | None:
    """Why a path leads to no directory whose files can be reached; None where it leads to one."""
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            return DirectoryFault(path, "is not a directory", "move it away")
        os.lstat(os.path.join(path, "."))  # noqa: PTH118 - a `Path` drops the dot, which only who may enter can look at
    except ValueError:  # a NUL in a path that came out of a URI
        return DirectoryFault(path, "is not there", "name one that is", missing=True)
    except OSError as failure:
        return unlistable(path, failure)
    return None


def files_in(directory: Path, real_project: str, problems: list[Problem]) -> list[os.DirEntry[str]]:
    """What lies in a directory of the project, in no order; nothing where there is no directory.

    One that cannot be read is added to the problems: it must not count as empty.
    """
    if leads_outside(directory, real_project):
        problems.append(outside_problem(directory, real_project))
        return []
    fault = directory_fault(directory)
    if fault is None:
        try:
            with os.scandir(directory) as listing:
                return list(listing)
        except OSError as failure:
            fault = unlistable(directory, failure)
    if not fault.missing:
        problems.append(fault.problem)
    return []


def unlistable(path: Path, failure: OSError) -> DirectoryFault:
    """Why a path could not be looked at, or a directory not be listed, as far as the system says."""
    match failure.errno:
        case errno.ENOENT | errno.ENOTDIR if os.path.lexists(path):
            return DirectoryFault(path, "is a symbolic link to nothing", "mend or remove it")
        case errno.ENOENT | errno.ENOTDIR:
            return DirectoryFault(path, "is not there", "make the directory", missing=True)
        case errno.ELOOP:
            return DirectoryFault(path, "is a loop of symbolic links", "mend or remove the link")
        case errno.EACCES | errno.EPERM:
            return DirectoryFault(path, "may not be read by this user", "check its permissions")
    reason = os.strerror(failure.errno) if failure.errno else "unknown reason"
    return DirectoryFault(path, f"cannot be read ({reason})", "see to that and try again")


def capped(problems: Iterable[Problem], directory: Path) -> tuple[Problem, ...]:
    """The problems without the many of one kind that come after the first, which are counted instead."""
    counts: dict[str, int] = {}
    shown = []
    for problem in problems:
        counts[problem.code] = counts.get(problem.code, 0) + 1
        if counts[problem.code] <= SHOWN_PROBLEMS:
            shown.append(problem)
    for code, count in counts.items():
        if count > SHOWN_PROBLEMS:
            message = f"{count - SHOWN_PROBLEMS:,} more problems of this kind ({code}) in {directory} are not listed."
            shown.append(Problem(code, message, str(directory)))
    return tuple(shown)


def is_within(real: str, real_directory: str) -> bool:
    """Whether a real path is a real directory or lies under it."""
    return real == real_directory or real.startswith(real_directory.rstrip(os.sep) + os.sep)


def outside_problem(path: Path, real_project: str) -> Problem:
    """The problem of a link that is not followed. It names the link, which may be a directory above the path."""
    link = wrong_link(path, lambda real: is_within(real, real_project))
    return Problem(
        OUTSIDE,
        f"{link} is a symbolic link that leads out of the project; a recall stays inside, so it was not read. "
        "Put a copy there instead.",
        str(link),
    )


def wrong_link(path: Path, is_right: Callable[[str], bool]) -> Path:
    """Of a path that leads to a wrong place, the part that leads there: its lowest parent is in a right one."""
    for parent in path.parents:
        if is_right(real_path(parent)):
            break
        path = parent
    return path


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
