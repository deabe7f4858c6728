"""The verb `lsp`: hands this process over to the language server."""

from __future__ import annotations

from memory_recall.faces.cli.invocation import Invocation, Parser


def lsp(invocation: Invocation) -> int:
    """Serve the Language Server Protocol on standard input and output until the client says exit."""
    parser = Parser(
        "lsp",
        "The language server: hover and definition on memory references, and every recall as a command.",
        arguments="",
        example="memory-recall lsp",
    )
    parser.add_argument("--stdio", action="store_true", help="the only transport; accepted because editors pass it")
    parser.add_argument("--clientProcessId", metavar="PID", help="accepted because editors pass it")
    invocation.parse(parser)
    from memory_recall.faces.lsp.main import main

    return main()
