"""`--budget N`: an answer that takes no more than so many tokens of whoever reads what this command prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memory_recall.faces.cli.invocation import Invocation, Options, Parser, whole_number
from memory_recall.faces.present.terminal import Terminal

if TYPE_CHECKING:
    from memory_recall.recall.budget import Budget


def takes_budget(parser: Parser) -> None:
    """Accept `--budget N`."""
    parser.add_argument(
        "--budget",
        type=whole_number,
        metavar="N",
        help="no more than about N tokens of answer, 20 to 1000000: the best memories, the last one shortened",
    )


def budget_of(
    invocation: Invocation, options: Options, text: Callable[[Mapping[str, Any], Terminal], str]
) -> Budget | None:
    """The budget that was asked for, of what will be printed. Colours are not counted: no model is shown any."""
    if options.budget is None:
        return None
    from memory_recall.recall.budget import Budget

    return Budget(options.budget, lambda shape: invocation.printed(options, shape, text, coloured=False) + "\n")
