"""The verbs of Coven: `coven recall`, `coven open`. No message here repeats what was asked."""

from __future__ import annotations

from pathlib import Path

from memory_recall.errors import UsageError
from memory_recall.faces.cli.budgets import budget_of, takes_budget
from memory_recall.faces.cli.invocation import Invocation, Options, Parser, whole_number
from memory_recall.faces.present import results
from memory_recall.recall import coven


def recall(invocation: Invocation) -> int:
    """Answer one recall of verified claims, read-only."""
    parser = Parser(
        "coven recall",
        "Recall attested claims of ~/.coven/memory through the coven-memory program, which is shown a copy.\n"
        "Nothing of Coven's and nothing of the project is changed; the program keeps its model in the user's cache\n"
        "directory, or in $FASTEMBED_CACHE_DIR.",
        arguments="<words>",
        example="memory-recall coven recall gateway timeout --since 2026-06-01",
        discreet=True,
    )
    parser.takes_query()
    parser.add_argument("--familiar", default="coven", metavar="NAME", help="whose documents (default: coven)")
    parser.add_argument("-k", type=whole_number, default=5, metavar="N", help="1 to 20 claims (default 5)")
    parser.add_argument("--since", metavar="DATE", help="promoted then or later; a date covers its whole UTC day")
    parser.add_argument("--until", metavar="DATE", help="promoted then or earlier")
    parser.add_argument(
        "--include-unverified", action="store_true", help="also claims that were changed or whose attestation is gone"
    )
    parser.add_argument(
        "--binary", metavar="PATH", help="the coven-memory program (default: $COVEN_MEMORY_BIN, else on PATH)"
    )
    _takes_familiar_root(parser)
    takes_budget(parser)
    options = invocation.parse(parser)
    request = coven.CovenQuery(
        query=invocation.query(options),
        familiar=options.familiar,
        k=options.k,
        since=options.since,
        until=options.until,
        verified_only=not options.include_unverified,
        binary=_binary(options),
        familiar_root=_familiar_root(options),
        budget=budget_of(invocation, options, results.coven),
    )
    return invocation.answer(options, coven.recall(request, invocation.env).as_json(), results.coven)


def open_source(invocation: Invocation) -> int:
    """Show the source that a claim was drawn from."""
    parser = Parser(
        "coven open",
        "Open the source a claim was drawn from, or say why only its reference can be given.",
        arguments="<ULID>",
        example="memory-recall coven open 01J4K9R81M6D92TX6D4E7R31VZ --familiar-root ~/familiars/sage",
        discreet=True,
    )
    parser.takes_query("the ULID or coven:ULID")
    _takes_familiar_root(parser)
    options = invocation.parse(parser)
    ulid = invocation.reference(options, "claim: give its ULID")
    opened = coven.open_source(ulid, invocation.env, _familiar_root(options))
    return invocation.answer(options, opened.as_json(), results.opened_source)


def _binary(options: Options) -> str | None:
    if options.binary == "":  # which would be the one on PATH
        raise UsageError("--binary is empty; name the coven-memory program, or leave the option out.")
    binary: str | None = options.binary
    return binary


def _takes_familiar_root(parser: Parser) -> None:
    parser.add_argument(
        "--familiar-root",
        metavar="DIR",
        help="the familiar's workspace, against which references are resolved (default: $COVEN_FAMILIAR_ROOT)",
    )


def _familiar_root(options: Options) -> Path | None:
    if options.familiar_root == "":  # as a path that would be the working directory
        raise UsageError("--familiar-root is empty; name the familiar's workspace, or leave the option out.")
    return None if options.familiar_root is None else Path(options.familiar_root)
