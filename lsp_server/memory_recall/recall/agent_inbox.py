"""The message that a recall leaves in `.agent/inbox` for whoever asked for it, in the shape that the project expects.

A project without a schema gets the plain members `kind`, `severity` and `source` beside the common ones. Knows what a
message looks like, not what a recall is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memory_recall.model import Problem
from memory_recall.recall.agent_folders import Refused, check_inside, writable_folder
from memory_recall.recall.agent_inbox_schema import COMMON, PLAIN, InboxSchema, schema_of
from memory_recall.recall.agent_runs import WORKFLOW, timed_name
from memory_recall.text.dates import utc_millis
from memory_recall.text.json_values import dumps

_SUBJECT_LIMIT = 200
_BODY_LIMIT = 4000

_INDEXED = ("message_id", "path", "type", "status", "subject", "updated_at")


@dataclass(frozen=True, slots=True)
class Notice:
    """What is to be told, before it takes the shape of a schema.

    `record` is the run's record relative to the project, with forward slashes; None where none could be written.
    """

    type: Literal["information", "alert"]
    subject: str
    body: str
    run_id: str
    record: str | None

    @property
    def severity(self) -> str:
        """`warn` for an alert, else `info`."""
        return "warn" if self.type == "alert" else "info"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that was written, and what is wrong with it: outside of the index it is still a message."""

    path: Path
    problems: tuple[Problem, ...] = ()


class NotDelivered(Exception):
    """A message that could not be written, as a `Problem`."""

    def __init__(self, cause: Problem) -> None:
        message = f"Nobody was told in the inbox: {cause.message}"
        super().__init__(message)
        self.problem = Problem("inbox-not-written", message, cause.path)


def deliver(project: Path, notice: Notice, recipient: str, now: datetime) -> Delivery:
    """Write the message, then name it in the inbox's index if there is one. Raises `NotDelivered`."""
    from memory_recall.files.writing import NotWritten, create

    schema = schema_of(project)
    message_id = f"IM-{WORKFLOW}-{timed_name(now)}"
    message = message_of(notice, message_id, recipient, now, schema)
    try:
        path = writable_folder(project, "inbox") / f"{message_id}.json"
        create(path, f"{dumps(message, indent=2)}\n".encode())
    except (Refused, NotWritten) as failure:
        raise NotDelivered(failure.problem) from failure
    try:
        problems = (_against(schema, message, path), _name_in_index(project, path, message))
    except Exception as fault:  # the message is there, whatever comes after it
        sentence = (
            f"{path} was written, and then there was an internal fault ({type(fault).__name__}); please report it."
        )
        problems = (Problem("internal", sentence, str(path)), None)
    return Delivery(path, tuple(problem for problem in problems if problem is not None))


def message_of(
    notice: Notice, message_id: str, recipient: str, now: datetime, schema: InboxSchema | None
) -> dict[str, Any]:
    """The message in the shape of a schema, or in the plain shape where the project has none."""
    references = [notice.record] if notice.record is not None else []
    moment = utc_millis(now)
    everything: dict[str, Any] = {
        "schema_version": 1,
        "message_id": message_id,
        "type": notice.type,
        "status": "unread",
        "sender_id": WORKFLOW,
        "recipient_ids": [recipient],
        "subject": notice.subject if schema is None else f"[{notice.severity}] {notice.subject}",
        "body": notice.body,
        "created_at": moment,
        "updated_at": moment,
        "artifact_refs": references,
        "relations": {
            "task_ids": [],
            "mission_ids": [],
            "run_ids": [notice.run_id],
            "queue_ids": [],
            "session_ids": [],
            "artifact_refs": references,
            "worktree_paths": [],
        },
        "kind": notice.type,
        "severity": notice.severity,
        "source": WORKFLOW,
        "run_id": notice.run_id,
    }
    limits = {"subject": _SUBJECT_LIMIT, "body": _BODY_LIMIT}
    if schema is not None:
        limits = {name: schema.longest(name, limit) for name, limit in limits.items()}
        everything["artifact_refs"] = schema.fitting("artifact_refs", references)
        everything["relations"] = schema.fitting_relations(everything["relations"])
        if schema.rules is None and not notice.run_id.startswith("R-"):
            everything["relations"]["run_ids"] = []  # the schemas in use know no other runs
    for name, limit in limits.items():
        everything[name] = _cut(everything[name], limit)
    return {name: everything[name] for name in ((*COMMON, *PLAIN) if schema is None else schema.members)}


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"[:limit]


def _against(schema: InboxSchema | None, message: Mapping[str, Any], path: Path) -> Problem | None:
    """What keeps the message from satisfying the schema, where something does that could not be adapted."""
    breaches = schema.breaches(message) if schema is not None else ()
    if schema is None or not breaches:
        return schema.problem if schema is not None else None
    what = ", ".join(breaches)
    sentence = f"{path} does not satisfy {schema.path}: {what}. Let the schema allow it, or recall with --notify never."
    return Problem("inbox-schema", sentence, str(path))


def _name_in_index(project: Path, path: Path, message: Mapping[str, Any]) -> Problem | None:
    from memory_recall.files.writing import NotWritten, rewrite
    from memory_recall.recall.agent_inbox_index import NotAnIndex, with_message

    index = path.parent / "index.json"
    if not os.path.lexists(index):
        return None
    # By the name of the file, since a project's schema may leave the message itself without its id.
    entry = {**message, "message_id": path.stem, "path": f".agent/inbox/{path.name}"}
    try:
        check_inside(project, index)
        rewrite(index, lambda data: with_message(data, {name: entry[name] for name in _INDEXED if name in entry}))
    except (Refused, NotWritten) as failure:
        reason = failure.problem.message
    except NotAnIndex as failure:
        reason = f"{index} {failure}; mend or remove it."
    else:
        return None
    return Problem("inbox-index-not-written", f"The message lies in {path}, but not in the index: {reason}", str(index))
