"""The verbs of nemp: `nemp recall`, `nemp recount`."""

from __future__ import annotations

from memory_recall.faces.cli.budgets import budget_of, takes_budget
from memory_recall.faces.cli.invocation import Invocation, Parser, whole_number
from memory_recall.faces.cli.shelves import announcing
from memory_recall.faces.present import results
from memory_recall.index.indexing import Indexing
from memory_recall.recall import nemp
from memory_recall.stores.shelf import Shelf

_PROJECT = "where the search for a project's .nemp begins (default: the working directory)"


def recall(invocation: Invocation) -> int:
    """Answer one nemp recall and account for it."""
    parser = Parser(
        "nemp recall",
        "Recall nemp memories: the exact key, else keys and values that match. What is returned counts as read.",
        arguments="<key or words>",
        example="memory-recall nemp recall auth-flow",
    )
    parser.takes_query()
    parser.takes_project(_PROJECT)
    parser.add_argument("--limit", type=whole_number, default=10, metavar="N", help="1 to 50 memories (default 10)")
    parser.add_argument("--no-record", action="store_true", help="look without counting it as a read")
    parser.add_argument("--agent", metavar="NAME", help="who reads (default: $CLAUDE_AGENT_NAME, else main)")
    takes_budget(parser)
    parser.takes_cache()
    options = invocation.parse(parser)
    request = nemp.NempQuery(
        query=invocation.query(options),
        limit=options.limit,
        record=not options.no_record,
        agent=options.agent,
        budget=budget_of(invocation, options, results.nemp),
    )
    indexing = Indexing(announce=announcing(invocation))
    shelf = Shelf(indexing, remembering=None if options.no_cache else invocation.env)
    answer = nemp.recall(request, invocation.place(options), invocation.env, shelf)
    code = invocation.answer(options, answer.as_json(), results.nemp)
    shelf.remember()
    return code


def recount(invocation: Invocation) -> int:
    """Recompute the read windows from the access log."""
    parser = Parser(
        "nemp recount",
        "Recompute reads_7d and reads_30d of each nemp memory from the access log, and say what changed.",
        arguments="",
        example="memory-recall nemp recount",
    )
    parser.takes_project(_PROJECT)
    options = invocation.parse(parser)
    from memory_recall.recall import nemp_recount

    answer = nemp_recount.recount(invocation.place(options), invocation.env, Shelf())
    return invocation.answer(options, answer.as_json(), results.recount)
