"""What a recall of a project's `.agent` memory means: which entries answer, in which order, and what the run leaves.

The memories are only read. A run that is done leaves one record and, if wanted, one message; neither ever costs the
answer: what could not be written is a problem in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from memory_recall.environment import Environment
from memory_recall.errors import Cancelled, RecallError
from memory_recall.model import Problem
from memory_recall.recall import agent_continuity, agent_inbox, agent_runs
from memory_recall.recall.agent_continuity import Continuity
from memory_recall.recall.agent_inbox import Notice
from memory_recall.recall.agent_query import AgentQuery, check
from memory_recall.recall.agent_runs import Run
from memory_recall.recall.agent_search import AgentHit, Counts, search
from memory_recall.stores.agent import MEMORY_TYPES, AgentStore, agent_directory, memory_directory
from memory_recall.stores.agent_files import is_directory, leads_outside, real_path
from memory_recall.text.untrusted import for_log

if TYPE_CHECKING:
    from memory_recall.cancellation import Cancellation
    from memory_recall.stores.shelf import Shelf

__all__ = ["AgentHit", "AgentQuery", "AgentResult", "Counts", "recall"]

DEFAULT_RECIPIENT = "coordinator"
PARENT_VARIABLE = "MEMORY_RECALL_PARENT"


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The answer. `record` is its `result.json`, `message` the inbox message; None where there is none."""

    request: AgentQuery
    run: Run
    counts: Counts
    hits: tuple[AgentHit, ...]
    continuity: Continuity
    problems: tuple[Problem, ...]
    record: Path | None = None
    message: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """`v` and the very object that lies in `result.json`."""
        return {"v": 1, **self.as_record()}

    def as_record(self) -> dict[str, Any]:
        """What `result.json` holds."""
        return {
            **self.run.as_json(),
            **self.request.filters_as_json(),
            **self.counts.as_json(),
            "problems": [problem.as_json() for problem in self.problems],
            "continuity": self.continuity.as_json(),
            "memories": [hit.as_json() for hit in self.hits],
        }


def recall(
    request: AgentQuery, project: Path, env: Environment, shelf: Shelf, cancellation: Cancellation | None = None
) -> AgentResult:
    """Recall from the `.agent/memory` of that very project, and leave the record of the run.

    Raises `UsageError` for a request that cannot be meant (there is no run), `RecallError` where there is no `.agent`
    (nothing is created) and where the run failed (its `error.json` and an alert are written first), and `Cancelled`
    (nothing is left).
    """
    check(request)
    project = env.cwd / project
    _check_agent(project)
    run = Run.pending(request.run_id or agent_runs.new_run_id(env.now()), env.now())
    continuity = agent_continuity.look(project, env.now())
    run = run.running(env.now())
    try:
        _check_memory(project)
        store = shelf.agent(project, cancellation)
        counts, hits = search(request, store, env.now(), cancellation)
    except Cancelled:
        raise
    except RecallError as failure:
        _fail(failure, request, run, project, env=env)
    except Exception as fault:  # whatever it is, the run must end as failed, and say so
        sentence = f"The recall stopped on an internal fault ({type(fault).__name__}); please report it."
        _fail(RecallError("internal", sentence), request, run, project, env=env, fault=fault)
    problems = (*_problems_of(store, request), *continuity.problems)
    result = AgentResult(request, run.done("success", env.now()), counts, hits, continuity, problems)
    return _left(result, project, env)


def _check_agent(project: Path) -> None:
    agent = agent_directory(project)
    if not is_directory(agent):
        raise RecallError(
            "agent-missing",
            f"{project} has no .agent directory, so there is nothing to recall and nothing was created; run this in "
            "the project that has one, or name that with --project.",
        )
    if leads_outside(agent, real_path(project)):
        raise RecallError(
            "agent-outside",
            f"{agent} is a symbolic link that leads out of the project, and a recall stays inside; name the project "
            "that it leads to with --project.",
        )


def _check_memory(project: Path) -> None:
    memory = memory_directory(project)
    if not is_directory(memory):
        raise RecallError(
            "memory-missing",
            f"{memory} is not there, so there is nothing to recall; make the directory, or save a first memory.",
        )
    if leads_outside(memory, real_path(project)):
        raise RecallError(
            "memory-outside",
            f"{memory} is a symbolic link that leads out of the project, and a recall stays inside; name the project "
            "that it leads to with --project.",
        )


def _problems_of(store: AgentStore, request: AgentQuery) -> tuple[Problem, ...]:
    """The store's problems, but for those of files of a type that was not asked for."""
    memory = memory_directory(store.project)
    unasked = {str(memory / type_) for type_ in MEMORY_TYPES if type_ not in request.asked_types}
    return tuple(
        problem
        for problem in store.problems
        if problem.path is None or not {problem.path, str(Path(problem.path).parent)} & unasked
    )


def _left(result: AgentResult, project: Path, env: Environment) -> AgentResult:
    """The answer after its record and its message were written, with a problem for each that was not."""
    try:
        path = agent_runs.record(project, result.run.run_id, "result.json", result.as_record())
        result = replace(result, record=path)
    except agent_runs.NotRecorded as failure:
        result = replace(result, problems=(*result.problems, failure.problem))
    if result.request.notify != "always":
        return result
    message, problem = _tell(_good_news(result, project), result.request, project, env)
    result = replace(result, message=message)
    if problem is None:
        return result
    result = replace(result, problems=(*result.problems, problem))
    if result.record is not None:  # the record is to say the same as the answer
        try:
            agent_runs.amend(result.record, result.as_record())
        except agent_runs.NotRecorded as failure:
            result = replace(result, problems=(*result.problems, failure.problem))
    return result


def _fail(
    failure: RecallError,
    request: AgentQuery,
    run: Run,
    project: Path,
    *,
    env: Environment,
    fault: Exception | None = None,
) -> NoReturn:
    """End the run as failed: its record, then an alert, then the error itself, which says what could not be written."""
    run = run.done("failed", env.now())
    content = {
        **run.as_json(),
        "error_code": failure.code,
        "error_message": failure.message,
        "recoverable": True,
        **request.filters_as_json(),
    }
    sentences = [failure.message]
    record = None
    try:
        path = agent_runs.record(project, run.run_id, "error.json", content)
        record = _relative(path, project)
        sentences.append(f"The run is recorded in {record}.")
    except agent_runs.NotRecorded as unrecorded:
        sentences.append(unrecorded.problem.message)
    if request.notify != "never":
        subject = f"{agent_runs.WORKFLOW} failed: {failure.code}"
        body = "\n".join((failure.message, "", *_trace(run, record), f"Query: {for_log(request.query)}"))
        _, problem = _tell(Notice("alert", subject, body, run.run_id, record), request, project, env)
        if problem is not None:
            sentences.append(problem.message)
    raise RecallError(failure.code, " ".join(sentences)) from (fault or failure)


def _tell(notice: Notice, request: AgentQuery, project: Path, env: Environment) -> tuple[Path | None, Problem | None]:
    recipient = (request.parent or env.variable(PARENT_VARIABLE) or "").strip() or DEFAULT_RECIPIENT
    try:
        delivery = agent_inbox.deliver(project, notice, recipient, env.now())
    except agent_inbox.NotDelivered as failure:
        return None, failure.problem
    return delivery.path, delivery.problem


def _good_news(result: AgentResult, project: Path) -> Notice:
    record = None if result.record is None else _relative(result.record, project)
    counts = result.counts
    found = "1 memory" if counts.returned == 1 else f"{counts.returned} memories"
    about = f' for "{for_log(result.request.query)}"' if result.request.query.strip() else ""
    left_out = counts.expired_skipped + counts.low_confidence_skipped + counts.scope_filtered_skipped
    lines = [
        f"{found} returned, {counts.matched} matched, {counts.scanned} scanned, {left_out} left out by filters.",
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
