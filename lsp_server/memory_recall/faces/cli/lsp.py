"""The verb `lsp`: hands this process over to the language server."""

from __future__ import annotations

from memory_recall.faces.cli.invocation import Invocation, Parser


def lsp(invocation: Invocation) -> int:
    """Serve the Language Server Protocol on standard input and output until the client says exit."""
    parser = Parser(
        "lsp",
        "The language server: hover and definition on memory references, and every recall as a command.\n"
        "It speaks on standard input and output. Flags that editors add of themselves, such as --stdio, mean nothing.",
        arguments="",
        example="memory-recall lsp",
        has_json=False,
    )
    parser.add_argument(
        "--log-level", metavar="LEVEL", help="error, warning (default), info or debug; to standard error"
    )
    if {"-h", "--help"} & set(invocation.arguments):
        invocation.parse(parser)
    from memory_recall.faces.lsp.main import main

    return main(invocation.arguments)
