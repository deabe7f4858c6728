"""What a recall of a project's `.agent` memory means: which entries answer, in which order, and what the run leaves.

The memories are only read. A run that is done leaves one record and, if wanted, one message; neither ever costs the
answer: what could not be written is a problem in it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from memory_recall.environment import Environment
from memory_recall.errors import Cancelled, RecallError
from memory_recall.model import Problem
from memory_recall.recall import agent_continuity, agent_inbox, agent_runs
from memory_recall.recall.agent_continuity import Continuity
from memory_recall.recall.agent_inbox import Notice
from memory_recall.recall.agent_query import AgentQuery, check
from memory_recall.recall.agent_runs import Run
from memory_recall.recall.agent_search import AgentHit, Counts, has_words, search
from memory_recall.recall.budget import Item, Portion, Share, Spent, fitted, settled, trimmed_to
from memory_recall.stores.agent import AgentStore, agent_directory, memory_directory
from memory_recall.stores.agent_files import directory_fault, is_within, leads_outside, real_path, wrong_link
from memory_recall.stores.agent_reading import EntryChanged
from memory_recall.text.untrusted import for_log

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.stores.agent import AnyStore
    from memory_recall.stores.shelf import Shelf

__all__ = ["AgentHit", "AgentQuery", "AgentResult", "Counts", "recall"]

DEFAULT_RECIPIENT = "coordinator"
PARENT_VARIABLE = "MEMORY_RECALL_PARENT"

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The answer. `record` is its `result.json`, `message` the inbox message; None where there is none.

    `ranked_by` is `confidence` (and recency) where the query has no words to search by.
    """

    request: AgentQuery
    run: Run
    counts: Counts
    hits: tuple[AgentHit, ...]
    ranked_by: Literal["relevance", "confidence"]
    continuity: Continuity
    problems: tuple[Problem, ...]
    record: Path | None = None
    message: Path | None = None
    budget: Spent | None = None

    def items(self) -> Sequence[Item]:
        """Its memories for a budget."""
        return [Item(hit.entry.memory_id, hit.content, hit.trimmed is not None) for hit in self.hits]

    def within(self, share: Share) -> AgentResult:
        """The answer with no more than this."""
        hits = tuple(_portion(self.hits[portion.number], portion) for portion in share.portions)
        counts, problems = replace(self.counts, returned=len(hits)), self.problems[: share.problems]
        return replace(self, hits=hits, counts=counts, problems=problems, budget=share.spent)

    def as_json(self) -> dict[str, Any]:
        """`v` and the very object that lies in `result.json`."""
        return {"v": 1, **self.as_record()}

    def as_record(self) -> dict[str, Any]:
        """What `result.json` holds: `budget` only where there was one."""
        shape = {
            **self.run.as_json(),
            **self.request.filters_as_json(),
            "ranked_by": self.ranked_by,
            **self.counts.as_json(),
            "problems": [problem.as_json() for problem in self.problems],
            "continuity": self.continuity.as_json(),
            "memories": [hit.as_json() for hit in self.hits],
        }
        return shape if self.budget is None else {**shape, "budget": self.budget.as_json()}


def _portion(hit: AgentHit, portion: Portion) -> AgentHit:
    return replace(hit, trimmed=trimmed_to(hit.content, portion, hit.trimmed))


def recall(
    request: AgentQuery, project: Path, env: Environment, shelf: Shelf, cancellation: Cancellation | None = None
) -> AgentResult:
    """Recall from the `.agent/memory` of that very project, and leave the record of the run.

    Raises `UsageError` for a request that cannot be meant or names a run that is over (there is no run), `RecallError`
    where there is no `.agent` (nothing is created) and where the run failed (its `error.json` and an alert are written
    first), and `Cancelled` (nothing is left). Who cancels when the record is about to be written is too late.
    """
    check(request)
    project = env.cwd / project
    _check_agent(project)
    if request.run_id is not None:
        agent_runs.check_unused(project, request.run_id)
    run = Run.pending(request.run_id or agent_runs.new_run_id(env.now()), env.now())
    continuity = agent_continuity.look(project, env.now())
    run = run.running(env.now())
    try:
        _check_memory(project)
        store, counts, hits = _found(request, project, env, shelf, cancellation)
    except Cancelled:
        raise
    except RecallError as failure:
        _stop_if_cancelled(cancellation)
        _fail(failure, request, run, project, continuity, env=env)
    except Exception as fault:  # whatever it is, the run must end as failed, and say so
        sentence = f"The recall stopped on an internal fault ({type(fault).__name__}); please report it."
        unforeseen = RecallError("internal", sentence)
        unforeseen.__cause__ = fault
        _fail(unforeseen, request, run, project, continuity, env=env)
    ranked_by: Literal["relevance", "confidence"] = "relevance" if has_words(request) else "confidence"
    problems = (*store.problems_of(request.asked_types), *continuity.problems)
    result = AgentResult(request, run.done("success", env.now()), counts, hits, ranked_by, continuity, problems)
    result = fitted(result, request.budget)
    _stop_if_cancelled(cancellation)
    return _left(result, project, env)


def _found(
    request: AgentQuery, project: Path, env: Environment, shelf: Shelf, cancellation: Cancellation | None
) -> tuple[AnyStore, Counts, tuple[AgentHit, ...]]:
    """What the store says at one moment. An index whose entries are written to meanwhile is asked again; in the end,
    the entries are held in memory, where they cannot change.
    """
    for _ in range(_ATTEMPTS):
        store = shelf.agent(project, cancellation)
        if isinstance(store, AgentStore):
            return store, *search(request, store, env.now(), cancellation)
        from memory_recall.recall import agent_columns

        try:
            return store, *agent_columns.search(request, store, env.now(), cancellation)
        except EntryChanged:
            store.doubt()
    held = shelf.held_agent(project, cancellation)
    return held, *search(request, held, env.now(), cancellation)


def _stop_if_cancelled(cancellation: Cancellation | None) -> None:
    if cancellation is not None:
        cancellation.check()


def _check_agent(project: Path) -> None:
    agent = agent_directory(project)
    if leads_outside(agent, real_path(project)):
        raise _outside("agent-outside", agent, project)
    fault = directory_fault(agent)
    if fault is not None and fault.missing:
        raise RecallError(
            "agent-missing",
            f"{project} has no .agent directory, so there is nothing to recall and nothing was created; run this in "
            "the project that has one, or name that (with --project, in an editor with `workspace`).",
        )
    if fault is not None:
        raise RecallError("agent-unreadable", fault.sentence("nothing can be recalled and nothing was created"))


def _check_memory(project: Path) -> None:
    memory = memory_directory(project)
    if leads_outside(memory, real_path(project)):
        raise _outside("memory-outside", memory, project)
    fault = directory_fault(memory)
    if fault is not None and fault.missing:
        raise RecallError(
            "memory-missing",
            f"{memory} is not there, so there is nothing to recall; make the directory, or save a first memory.",
        )
    if fault is not None:
        raise RecallError("memory-unreadable", fault.sentence("nothing can be recalled"))


def _outside(code: str, directory: Path, project: Path) -> RecallError:
    real_project = real_path(project)
    link = wrong_link(directory, lambda real: is_within(real, real_project))
    return RecallError(
        code,
        f"{link} is a symbolic link that leads out of the project, and a recall stays inside; name the project that it "
        "leads to (with --project, in an editor with `workspace`).",
    )


def _left(result: AgentResult, project: Path, env: Environment) -> AgentResult:
    """The answer after its record and its message were written, with a problem for each that was not."""
    record, unrecorded = _recorded(result.run, "result.json", result.as_record(), project)
    result = replace(result, record=record)
    if unrecorded is not None:
        result = _with(result, unrecorded.problem)
    if result.request.notify != "always":
        return result
    message, problems = _tell(_good_news(result, project), result.request, project, env)
    result = _with(replace(result, message=message), *problems)
    if problems and record is not None:  # the record is to say the same as the answer
        try:
            agent_runs.amend(record, result.as_record())
        except agent_runs.NotAmended as failure:
            result = _with(result, failure.problem)
    return result


def _with(result: AgentResult, *problems: Problem) -> AgentResult:
    """The answer with more problems, which take their room from what else is told within the budget."""
    if not problems:
        return result
    return settled(replace(result, problems=(*result.problems, *problems)), result.request.budget)


def _fail(
    failure: RecallError, request: AgentQuery, run: Run, project: Path, continuity: Continuity, *, env: Environment
) -> NoReturn:
    """End the run as failed: its record, then an alert, then the error itself, which says what became of them."""
    run = run.done("failed", env.now())
    content = {
        **run.as_json(),
        "error_code": failure.code,
        "error_message": failure.message,
        "recoverable": True,
        **request.filters_as_json(),
        "problems": [problem.as_json() for problem in continuity.problems],
        "continuity": continuity.as_json(),
    }
    path, unrecorded = _recorded(run, "error.json", content, project)
    record = None if path is None else _relative(path, project)
    aftermath = [
        f"the run is recorded in {record}"
        if unrecorded is None
        else f"the run left no record ({_in_brackets(unrecorded.cause, project)})"
    ]
    if request.notify != "never":
        subject = f"{agent_runs.WORKFLOW} failed: {failure.code}"
        body = "\n".join((failure.message, "", *_trace(run, record), f"Query: {for_log(request.query)}"))
        message, problems = _tell(Notice("alert", subject, body, run.run_id, record), request, project, env)
        if message is None:
            aftermath.append(f"nobody was told in the inbox ({_in_brackets(problems[0], project)})")
    sentence = f"{failure.message.removesuffix('.')}; {' and '.join(aftermath)}."
    raise RecallError(failure.code, sentence) from failure


def _in_brackets(problem: Problem, project: Path) -> str:
    """The reason in a problem as a part of another sentence, which has named the project already."""
    return problem.message.replace(f"{project}{os.sep}", "").removesuffix(".")


def _recorded(
    run: Run, name: agent_runs.RecordName, content: dict[str, Any], project: Path
) -> tuple[Path | None, agent_runs.NotRecorded | None]:
    """Where the record of a run lies, or why there is none. Never raises."""
    try:
        return agent_runs.record(project, run.run_id, name, content), None
    except agent_runs.NotRecorded as failure:
        return None, failure
    except Exception as fault:  # no fault of ours in writing a record may cost the answer
        return None, agent_runs.NotRecorded(_internal(fault))


def _tell(
    notice: Notice, request: AgentQuery, project: Path, env: Environment
) -> tuple[Path | None, tuple[Problem, ...]]:
    """Where the message lies, and what is wrong with it; or None, and first of all why there is none. Never raises."""
    recipient = (request.parent or env.variable(PARENT_VARIABLE) or "").strip() or DEFAULT_RECIPIENT
    try:
        delivery = agent_inbox.deliver(project, notice, recipient, env.now())
    except agent_inbox.NotDelivered as failure:
        return None, (failure.problem,)
    except Exception as fault:  # no fault of ours in writing a message may cost the answer
        return None, (agent_inbox.NotDelivered(_internal(fault)).problem,)
    return delivery.path, delivery.problems


def _internal(fault: Exception) -> Problem:
    return Problem("internal", f"there was an internal fault ({type(fault).__name__}); please report it.")


def _good_news(result: AgentResult, project: Path) -> Notice:
    record = None if result.record is None else _relative(result.record, project)
    counts = result.counts
    found = "1 memory" if counts.returned == 1 else f"{counts.returned} memories"
    about = f' for "{for_log(result.request.query)}"' if result.ranked_by == "relevance" else ""
    left_out = counts.expired_skipped + counts.low_confidence_skipped + counts.scope_filtered_skipped
    weak = f", {counts.held_back} too weak" if counts.held_back else ""
    lines = [
        f"{found} returned, {counts.matched} matched{weak}, {counts.scanned} scanned, {left_out} left out by filters.",
        "",
        *_trace(result.run, record),
        *([""] if result.hits else []),
        *(f"- {for_log(hit.entry.memory_id)}: {for_log(hit.entry.title or '')}" for hit in result.hits),
    ]
    subject = f"{agent_runs.WORKFLOW}: {found}{about}"
    return Notice("information", subject, "\n".join(lines), result.run.run_id, record)


def _trace(run: Run, record: str | None) -> tuple[str, ...]:
    return (f"Run: {run.run_id}", f"Record: {record or 'none could be written'}")


def _relative(path: Path, project: Path) -> str:
    return path.relative_to(project).as_posix()
