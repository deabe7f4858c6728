"""The message that a recall leaves in `.agent/inbox` for whoever asked for it, in the shape that the project expects.

Two closed schemas for messages are in use, and no message satisfies both; a project without either gets the plain
members `kind`, `severity` and `source` beside the common ones. Knows what a message looks like, not what a recall is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memory_recall.files.reading import Unreadable
from memory_recall.model import Problem
from memory_recall.recall.agent_folders import Refused, check_inside, writable_folder
from memory_recall.recall.agent_runs import WORKFLOW, timed_name
from memory_recall.stores.agent import agent_directory
from memory_recall.stores.agent_files import Broken, read_json, real_path
from memory_recall.text.dates import utc_millis
from memory_recall.text.json_values import dumps

_SUBJECT_LIMIT = 200
_BODY_LIMIT = 4000

_SCHEMA_FOLDERS = ("inbox", "schemas", "")
_SCHEMA_WITH_RELATIONS = "inbox-message.schema.json"
_SCHEMA_WITHOUT = "inbox.schema.json"

_COMMON = (
    "schema_version", "message_id", "type", "status", "sender_id", "recipient_ids", "subject", "body", "created_at",
    "updated_at",
)  # fmt: skip
_RELATIONS = (*_COMMON, "artifact_refs", "relations")
_PLAIN = (*_COMMON, "kind", "severity", "source", "run_id")
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
    """A message that was written, and what went wrong afterwards: a message outside of the index is still a message."""

    path: Path
    problem: Problem | None = None


class NotDelivered(Exception):
    """A message that could not be written, as a `Problem`."""

    def __init__(self, cause: Problem) -> None:
        message = f"Nobody was told in the inbox: {cause.message}"
        super().__init__(message)
        self.problem = Problem("inbox-not-written", message, cause.path)


def deliver(project: Path, notice: Notice, recipient: str, now: datetime) -> Delivery:
    """Write the message, then name it in the inbox's index if there is one. Raises `NotDelivered`."""
    from memory_recall.files.writing import NotWritten, create

    message = message_of(notice, recipient, now, _schema_of(project))
    try:
        path = writable_folder(project, "inbox") / f"{message['message_id']}.json"
        create(path, f"{dumps(message, indent=2)}\n".encode())
    except (Refused, NotWritten) as failure:
        raise NotDelivered(failure.problem) from failure
    return Delivery(path, _name_in_index(project, path, message))


@dataclass(frozen=True, slots=True)
class Schema:
    """What the project's own schema says of a message. `members` is None where it could not be read."""

    with_relations: bool
    members: Mapping[str, Any] | None = None


def message_of(notice: Notice, recipient: str, now: datetime, schema: Schema | None) -> dict[str, Any]:
    """The message in the shape of a schema, or in the plain shape where the project has none."""
    references = [notice.record] if notice.record is not None else []
    moment = utc_millis(now)
    everything: dict[str, Any] = {
        "schema_version": 1,
        "message_id": f"IM-{WORKFLOW}-{timed_name(now)}",
        "type": notice.type,
        "status": "unread",
        "sender_id": WORKFLOW,
        "recipient_ids": [recipient],
        "subject": _cut(notice.subject if schema is None else f"[{notice.severity}] {notice.subject}", _SUBJECT_LIMIT),
        "body": _cut(notice.body, _BODY_LIMIT),
        "created_at": moment,
        "updated_at": moment,
        "artifact_refs": references,
        "relations": {
            "task_ids": [],
            "mission_ids": [],
            # The schemas know run ids that begin with R-; a caller may have named the run otherwise.
            "run_ids": [notice.run_id] if notice.run_id.startswith("R-") else [],
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
    return {name: everything[name] for name in _members_for(schema)}


def _members_for(schema: Schema | None) -> tuple[str, ...]:
    if schema is None:
        return _PLAIN
    if schema.members is None:
        return _RELATIONS if schema.with_relations else _COMMON
    allowed = schema.members
    return tuple(name for name in (*_RELATIONS, *_PLAIN[len(_COMMON) :]) if name in allowed)


def _schema_of(project: Path) -> Schema | None:
    """The inbox schema that the project carries; the one nearest to the inbox where it carries several."""
    for folder in _SCHEMA_FOLDERS:
        for name in (_SCHEMA_WITH_RELATIONS, _SCHEMA_WITHOUT):
            path = agent_directory(project) / folder / name
            if os.path.lexists(path):
                return _read_schema(path, project)
    return None


def _read_schema(path: Path, project: Path) -> Schema:
    """A schema that cannot be read still says by its name which of the two it is."""
    named = path.name == _SCHEMA_WITH_RELATIONS
    try:
        value = read_json(path, real_path(project)).value
    except (Unreadable, Broken):
        return Schema(named)
    members = value.get("properties") if isinstance(value, dict) else None
    if not isinstance(members, dict) or not set(_COMMON) & set(members):
        return Schema(named)
    return Schema("artifact_refs" in members, members)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _name_in_index(project: Path, path: Path, message: Mapping[str, Any]) -> Problem | None:
    from memory_recall.files.writing import NotWritten, rewrite
    from memory_recall.recall.agent_inbox_index import NotAnIndex, with_message

    index = path.parent / "index.json"
    if not os.path.lexists(index):
        return None
    entry = {**message, "path": f".agent/inbox/{path.name}"}
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
