"""The verbs that look at every system and record nothing: `search`, `show`."""

from __future__ import annotations

from memory_recall.faces.cli.budgets import budget_of, takes_budget
from memory_recall.faces.cli.invocation import Invocation, Parser, whole_number
from memory_recall.faces.cli.shelves import shelf_of
from memory_recall.faces.present import records, results

_PROJECT = "the project whose stores are meant (default: the working directory)"


def search(invocation: Invocation) -> int:
    """Search all stores that are present."""
    from memory_recall.recall import everywhere

    parser = Parser(
        "search",
        "Search every store in sight and fold near-duplicates. Browsing: nothing is recorded anywhere.",
        arguments="<words>",
        example="memory-recall search package manager --limit 5",
        discreet=True,  # with --with-coven the words are a Coven query
    )
    parser.takes_query()
    parser.takes_project(_PROJECT)
    parser.add_argument("--limit", type=whole_number, default=10, metavar="N", help="1 to 50 memories (default 10)")
    parser.add_argument("--with-coven", action="store_true", help="also ask Coven; the query then reaches its program")
    parser.add_argument("--familiar", metavar="NAME", help="whose Coven documents, with --with-coven (default: coven)")
    parser.add_argument("--include-weak", action="store_true", help="also memories that answer too poorly otherwise")
    takes_budget(parser)
    parser.takes_cache()
    options = invocation.parse(parser)
    if options.familiar is not None and not options.with_coven:
        raise parser.mistake("--familiar is about Coven, which takes part only with --with-coven")
    request = everywhere.SearchQuery(
        query=invocation.query(options),
        limit=options.limit,
        with_coven=options.with_coven,
        familiar="coven" if options.familiar is None else options.familiar,
        include_weak=options.include_weak,
        budget=budget_of(invocation, options, results.search),
    )
    answer = everywhere.search(request, invocation.place(options), invocation.env, shelf_of(invocation, options))
    return invocation.answer(options, answer.as_json(), results.search)


def show(invocation: Invocation) -> int:
    """Show one full record and its provenance."""
    from memory_recall.catalogue import Catalogue

    parser = Parser(
        "show",
        "Show the full record of a nemp key, a MEM- id or a ULID, and where it comes from. Nothing is recorded.",
        arguments="<key | MEM-id | ULID>",
        example="memory-recall show nemp:auth-flow",
    )
    parser.takes_query("the reference")
    parser.takes_project(_PROJECT)
    parser.takes_cache()
    options = invocation.parse(parser)
    reference = invocation.reference(options, "record: a nemp key, a MEM- id or a ULID")
    catalogue = Catalogue(invocation.place(options), invocation.env, shelf_of(invocation, options))
    resolution = catalogue.resolve(reference)
    return invocation.answer(options, resolution.as_json(), records.show)
