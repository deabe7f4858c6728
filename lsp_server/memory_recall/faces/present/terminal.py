"""The terminal as the texts for people see it: colour or none, and how a path is written there.

Colour comes from termcolor, which is imported only where there is a terminal to colour; it honours NO_COLOR.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from memory_recall.records import NamedTuple
from memory_recall.text.untrusted import for_terminal


class Terminal(NamedTuple):
    """Where a text appears. `coloured` is whether it is a terminal at all; NO_COLOR and the like still decide."""

    cwd: Path
    home: Path | None = None
    coloured: bool = False

    def strong(self, text: str) -> str:
        """The name of a memory."""
        return self._paint(text, None, "bold")

    def faint(self, text: str) -> str:
        """What stands beside an answer: where it comes from, what was left out."""
        return self._paint(text, None, "dark")

    def warning(self, text: str) -> str:
        """A problem, or a reason why a memory may no longer hold."""
        return self._paint(text, "yellow")

    def good(self, text: str) -> str:
        """Something that was checked and holds."""
        return self._paint(text, "green")

    def _paint(self, text: str, colour: str | None, *attributes: str) -> str:
        if not self.coloured or not text:
            return text
        from termcolor import colored

        return colored(text, colour, attrs=attributes)

    def path(self, path: str | Path) -> str:
        """A path as short as it can be written here and still be opened: relative, from `~`, or whole."""
        written = str(path)
        shown = _below(written, str(self.cwd))
        if shown is None and self.home is not None:
            from_home = _below(written, str(self.home))
            shown = None if from_home is None else os.path.join("~", from_home)  # noqa: PTH118 - text, not a path
        return for_terminal(written if shown is None else shown, single_line=True)

    def shortened(self, text: str) -> str:
        """A text whose paths below the working directory or the home are written from there."""
        text = _without(str(self.cwd), text)
        return text if self.home is None else _without(str(self.home), text, f"~{os.sep}")

    def place(self, path: object, line: object = None, column: object = None) -> str:
        """`path:line:column`, as far as they are known."""
        if path is None:
            return ""
        numbers = [for_terminal(str(number), single_line=True) for number in (line, column) if number is not None]
        return ":".join([self.path(str(path)), *numbers])


def _below(path: str, directory: str) -> str | None:
    if directory == os.sep:  # from the root, everything is as short with the separator before it
        return None
    parent = directory if directory.endswith(os.sep) else directory + os.sep
    return path[len(parent) :] if path.startswith(parent) else None


def _without(directory: str, text: str, instead: str = "") -> str:
    """A text in which no path begins with a directory: not one within a longer path, whose rest were another path."""
    if directory == os.sep or directory not in text:
        return text
    return re.sub(rf"(?<![\w.~/\\-]){re.escape(directory + os.sep)}", lambda _: instead, text)
