"""The verb of the project's `.agent` memories: `memory recall`."""

from __future__ import annotations

from memory_recall.faces.cli.budgets import budget_of, takes_budget
from memory_recall.faces.cli.invocation import Invocation, Parser, decimal_number, whole_number
from memory_recall.faces.cli.shelves import shelf_of
from memory_recall.faces.present import results
from memory_recall.recall import agent


def recall(invocation: Invocation) -> int:
    """Answer one recall of this very project's memories; leaves a run record and an inbox message."""
    parser = Parser(
        "memory recall",
        "Recall entries of this project's .agent/memory. Leaves a run record and an inbox message, changes no memory.",
        arguments="<words>",
        example="memory-recall memory recall webhook --type episodic,semantic",
    )
    parser.takes_query()
    parser.takes_project("the project itself; nothing above or beside it is read (default: the working directory)")
    parser.add_argument("--limit", type=whole_number, default=5, metavar="N", help="1 to 50 memories (default 5)")
    parser.add_argument("--type", metavar="TYPES", help="of episodic,semantic,procedural (default: all three)")
    parser.add_argument(
        "--min-confidence", type=decimal_number, default=0.3, metavar="C", help="0 to 1 (default 0.3); unknown is kept"
    )
    parser.add_argument("--scope", metavar="SCOPE", help="user, project, skill, runtime or global (default: all)")
    parser.add_argument("--include-expired", action="store_true", help="also entries whose expiry has passed")
    parser.add_argument("--include-weak", action="store_true", help="also entries that answer too poorly otherwise")
    parser.add_argument("--run-id", metavar="ID", help="name of the run record (default: made from the time)")
    parser.add_argument("--parent", metavar="NAME", help="who is told in the inbox (default: coordinator)")
    parser.add_argument(
        "--notify", default="always", metavar="WHEN", help="always, failures or never (default: always)"
    )
    takes_budget(parser)
    parser.takes_cache()
    options = invocation.parse(parser)
    request = agent.AgentQuery(
        query=invocation.query(options),
        limit=options.limit,
        types=None if options.type is None else tuple(part.strip() for part in options.type.split(",") if part.strip()),
        min_confidence=options.min_confidence,
        scope=options.scope,
        include_expired=options.include_expired,
        include_weak=options.include_weak,
        run_id=options.run_id,
        parent=options.parent,
        notify=options.notify,
        budget=budget_of(invocation, options, results.memory),
    )
    answer = agent.recall(request, invocation.directory(options.project), invocation.env, shelf_of(invocation, options))
    return invocation.answer(options, answer.as_json(), results.memory)
