"""argparse as this command line uses it: no exit, no abbreviations, a fixed width. Imported where an option was typed.

Knows declarations as plain data, no verb and no sentence: what is wrong is told to whoever asked.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn


class ArgumentParser(argparse.ArgumentParser):
    """An argparse parser of the declared arguments; `complain` raises for what it finds wrong."""

    def __init__(
        self,
        prog: str,
        *,
        usage: str,
        description: str,
        epilog: str,
        declared: Sequence[tuple[tuple[str, ...], Mapping[str, Any]]],
        complain: Callable[[str], NoReturn],
    ) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=_HelpLayout,
            add_help=False,
            allow_abbrev=False,
        )
        self._complain = complain
        for names, settings in declared:
            self.add_argument(*names, **{"help": argparse.SUPPRESS, **settings})

    def error(self, message: str) -> NoReturn:
        """What argparse calls for a mistake."""
        self._complain(message)

    def read(self, arguments: Sequence[str]) -> tuple[SimpleNamespace, list[str]]:
        """The options, words between them included, and what was not understood."""
        options = SimpleNamespace()
        _, unknown = self.parse_known_intermixed_args(list(arguments), options)
        return options, unknown


class _HelpLayout(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        # A fixed width: asking the terminal for its own imports shutil, for which nobody need wait.
        super().__init__(prog, max_help_position=30, width=100)
