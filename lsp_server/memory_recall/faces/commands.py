"""The one table of commands: what is advertised, handled, documented and tested is read from here.

A command has an id, a title for a palette, its options and what runs it. The table knows the core and no editor; who
asks gives it the arguments as they came and the surroundings. `command_docs` writes `docs/commands.md` from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment, Place
from memory_recall.errors import UsageError
from memory_recall.stores.shelf import Shelf
from memory_recall.text.untrusted import for_log

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic.fields import FieldInfo

    from memory_recall.faces.command_options import Options
    from memory_recall.recall.budget import Budget

NAMESPACE = "memoryRecall"
_SHOWN = 40


class Surroundings(NamedTuple):
    """Where a command runs, and for whom. `agent` is the name for the access log; None means the environment's."""

    place: Place
    environment: Environment
    shelf: Shelf
    cancellation: Cancellation
    agent: str | None = None


class Command(NamedTuple):
    """One command.

    `verb` is its id without the namespace. `positional` is the option that a bare text means, if one is. `options` is
    the name of its model in `command_options`. `run` takes the parsed options and returns a JSON object.
    `starts_process` says of parsed options whether it will start a process and wait for it, for many seconds perhaps;
    `records` whether it leaves something behind, and may have to wait for another writer.
    """

    verb: str
    title: str
    about: str
    options: str
    positional: str | None
    run: Callable[[Any, Surroundings], dict[str, Any]]
    returns: str
    starts_process: Callable[[Any], bool] = lambda _: False
    records: Callable[[Any], bool] = lambda _: False

    @property
    def id(self) -> str:
        """The id without any prefix: `memoryRecall.nemp.recall`."""
        return f"{NAMESPACE}.{self.verb}"

    @property
    def model(self) -> type[Options]:
        """The model of its options."""
        from memory_recall.faces import command_options

        model: type[Options] = getattr(command_options, self.options)
        return model

    def parse(self, arguments: Sequence[Any] | None) -> Options:
        """The options in the arguments of a request. Raises `UsageError` with a sentence for anything else."""
        from pydantic import ValidationError

        known = options_of(self)
        given = {
            name: value for name, value in self._given(arguments).items() if value is not None or name not in known
        }
        try:
            return self.model.model_validate(given)
        except ValidationError as failure:
            raise UsageError(_complaint(self, failure)) from None

    def execute(self, options: Options, surroundings: Surroundings) -> dict[str, Any]:
        """Run it. The answer is one JSON object with `v` first."""
        return {"v": 1, **self.run(options, surroundings)}

    def _given(self, arguments: Sequence[Any] | None) -> dict[str, Any]:
        match list(arguments or ()):
            case [] | [None]:
                return {}
            case [dict() as options]:
                return options
            case [str() as text] if self.positional is not None:
                return {self.positional: text}
        bare = f", or a bare text as its {self.positional}" if self.positional else ""
        raise UsageError(f"{self.id} takes one object of options{bare}.")


def _budget(options: Any) -> Budget | None:
    """The budget of a command: of its result, as JSON on one line."""
    if options.budget is None:
        return None
    from memory_recall.recall.budget import Budget

    return Budget(options.budget)


def _nemp_recall(options: Any, at: Surroundings) -> dict[str, Any]:
    from memory_recall.recall.nemp import NempQuery, recall

    request = NempQuery(
        query=options.query, limit=options.limit, record=options.record, agent=at.agent, budget=_budget(options)
    )
    return recall(request, at.place, at.environment, at.shelf, at.cancellation).as_json()


def _memory_recall(options: Any, at: Surroundings) -> dict[str, Any]:
    from memory_recall.recall.agent import AgentQuery, recall

    request = AgentQuery(
        query=options.query,
        limit=options.limit,
        types=options.type,
        min_confidence=options.min_confidence,
        scope=options.scope,
        include_expired=options.include_expired,
        include_weak=options.include_weak,
        notify=options.notify,
        budget=_budget(options),
    )
    return recall(request, at.place.project, at.environment, at.shelf, at.cancellation).as_json()


def _coven_recall(options: Any, at: Surroundings) -> dict[str, Any]:
    from memory_recall.recall.coven import CovenQuery, recall

    request = CovenQuery(
        query=options.query,
        familiar=options.familiar,
        k=options.k,
        since=options.since,
        until=options.until,
        verified_only=options.verified_only,
        budget=_budget(options),
    )
    return recall(request, at.environment, at.cancellation).as_json()


def _search(options: Any, at: Surroundings) -> dict[str, Any]:
    from memory_recall.recall.everywhere import SearchQuery, search

    request = SearchQuery(
        query=options.query,
        limit=options.limit,
        with_coven=options.with_coven,
        include_weak=options.include_weak,
        budget=_budget(options),
    )
    return search(request, at.place, at.environment, at.shelf, at.cancellation).as_json()


def _show(options: Any, at: Surroundings) -> dict[str, Any]:
    from memory_recall.catalogue import Catalogue

    if not options.reference.strip():
        raise UsageError("The reference is empty; give a key, a MEM- id or a ULID.")
    return Catalogue(at.place, at.environment, at.shelf).resolve(options.reference).as_json()


def _status(options: Any, at: Surroundings) -> dict[str, Any]:  # noqa: ARG001
    from memory_recall.faces.status import status

    return status(at.place, at.environment, at.shelf)


COMMANDS: tuple[Command, ...] = (
    Command(
        "nemp.recall",
        "Recall a Nemp Memory",
        "What the project's and the global nemp store say. The read is accounted for: one line in the access log, and "
        "the vitality of each memory returned.",
        "NempRecallOptions",
        "query",
        _nemp_recall,
        "`query`, `match` (exact, partial, value, related or none), `count`, `memories` (`key`, `value`, `source`, "
        "`path`, `line`, `agent_id`, `created`, `updated`, `type`, `confidence`, `vitality`, `links`, `tags`, `score`, "
        "`recorded`), `shadowed`, `problems`, `budget` where one was given.",
        records=lambda options: bool(options.record),
    ),
    Command(
        "memory.recall",
        "Recall a Project Memory",
        "What the project's `.agent/memory` says. Leaves a run record and, where asked, a message in the inbox; memory "
        "itself is only read.",
        "MemoryRecallOptions",
        "query",
        _memory_recall,
        "the run's `result.json`: `run_id`, `status`, `states`, `query`, the filters and what each left out, "
        "`held_back`, `continuity`, `memories` (`memory_id`, `type`, `title`, `content`, `tags`, `confidence`, "
        "`score`, `created_at`, `path`), `problems`, `budget` where one was given.",
        records=lambda _: True,
    ),
    Command(
        "coven.recall",
        "Recall a Coven Claim",
        "Verified, attested claims, found by the `coven-memory` binary in a private copy of its index. Read-only by "
        "construction; the query goes to the binary and nowhere else.",
        "CovenRecallOptions",
        "query",
        _coven_recall,
        "`hits` (`ulid`, `title`, `type`, `memory_type`, `snippet`, `score`, `attested_by`, `attestation_type`, "
        "`promoted_at`, `superseded_by`, `confidence`, `source_context`), `count`, `queried_at`, `manifest_hash`, "
        "`dropped`, `dropped_reasons`, `budget` where one was given.",
        starts_process=lambda _: True,
    ),
    Command(
        "search",
        "Search All Memories",
        "All stores that are present, in one ranked list, near-duplicates folded together. It is browsing: nothing is "
        "recorded anywhere.",
        "SearchOptions",
        "query",
        _search,
        "`query`, `match`, `count`, `hits` (`system`, `id`, `title`, `text`, `score`, `provenance`, `also`), "
        "`omitted`, `held_back`, `problems`, `budget` where one was given.",
        starts_process=lambda options: bool(options.with_coven),
    ),
    Command(
        "show",
        "Show a Memory and Its Provenance",
        "The full record of one reference, and where it comes from. Records nothing.",
        "ShowOptions",
        "reference",
        _show,
        "`reference`, `records` (`system`, `id`, `title`, `text`, `tags`, `standings`, `provenance`, `fields`), "
        "`suggestions` where there is no record, `problems`.",
    ),
    Command(
        "status",
        "Show the State of All Memory Stores",
        "Which stores are seen from here, how much is in them, and what is wrong with them.",
        "StatusOptions",
        None,
        _status,
        "`versions`, `place`, `stores` (`system`, `source`, `path`, `exists`, `count`), `problems`, `index`.",
    ),
)


def find(command_id: str) -> Command | None:
    """The command of that id, without any prefix."""
    return next((command for command in COMMANDS if command.id == command_id), None)


def _complaint(command: Command, failure: ValidationError) -> str:
    """One sentence on the first mistake: the field, and what is expected there. Never the value: it may be a query."""
    mistake = failure.errors(include_url=False, include_context=False, include_input=False)[0]
    name = for_log(str(mistake["loc"][0]))[:_SHOWN] if mistake["loc"] else "its options"
    fields = options_of(command)
    if mistake["type"] == "extra_forbidden":
        return f"{command.id} has no option `{name}`; it knows {', '.join(fields)}."
    field = fields.get(name)
    expected = expectation(field) if field is not None else "one object of options"
    if mistake["type"] == "missing":
        return f"{command.id} needs `{name}`: {expected}."
    return f"`{name}` of {command.id} must be {expected}."


def options_of(command: Command) -> dict[str, FieldInfo]:
    """The options by the name that a client uses: the command's own first, then those that all have."""
    from memory_recall.faces.command_options import Options

    named = {field.alias or name: field for name, field in command.model.model_fields.items()}
    shared = [field.alias or name for name, field in Options.model_fields.items()]
    return {name: named[name] for name in [*(name for name in named if name not in shared), *shared]}


def expectation(field: FieldInfo) -> str:
    """What a value of that option must be, as words that follow "must be"."""
    extra = field.json_schema_extra
    return str(extra["expected"]) if isinstance(extra, dict) else "another value"
