"""The schema that a project's inbox carries, and what a message must be like to satisfy it.

Two closed schemas for messages are in use, and no message satisfies both; projects change either, or have one of their
own. Knows schemas, not what a message is about, and writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_recall.files.reading import Unreadable
from memory_recall.model import Problem
from memory_recall.stores.agent import agent_directory
from memory_recall.stores.agent_files import Broken, read_json, real_path
from memory_recall.text.json_rules import Rules

FOLDERS = ("inbox", "schemas", "")
"""Where under `.agent` a schema is looked for, nearest to the inbox first."""
WITH_RELATIONS, WITHOUT_RELATIONS = "inbox-message.schema.json", "inbox.schema.json"

COMMON = (
    "schema_version", "message_id", "type", "status", "sender_id", "recipient_ids", "subject", "body", "created_at",
    "updated_at",
)  # fmt: skip
RELATIONS = ("artifact_refs", "relations")
PLAIN = ("kind", "severity", "source", "run_id")
"""The members that say the same without a schema, which has `type`, `sender_id` and the subject for them."""


@dataclass(frozen=True, slots=True)
class InboxSchema:
    """A schema as its file holds it. `rules` is None, and `problem` says why, where it could not be read."""

    path: Path
    rules: Rules | None
    problem: Problem | None = None

    @property
    def members(self) -> tuple[str, ...]:
        """The members of a message: all that may be told of those that the schema knows.

        A schema that cannot be read, or says nothing of messages, still says by its name which of the two it is.
        """
        if self.rules is None or not self.rules.names & set(COMMON):
            return (*COMMON, *RELATIONS) if self.path.name == WITH_RELATIONS else COMMON
        known = self.rules.names
        return tuple(
            name
            for name in (*COMMON, *RELATIONS, *PLAIN)
            if self.rules.allows(name) and (name in COMMON or name in known)
        )

    def longest(self, name: str, limit: int) -> int:
        """How many characters a text may have, `limit` at most."""
        allowed = None if self.rules is None else self.rules.of(name).longest
        return limit if allowed is None else min(limit, allowed)

    def fitting(self, name: str, items: list[str]) -> list[str]:
        """The items that a list of that name may hold."""
        return items if self.rules is None else _fitting(self.rules.of(name), items)

    def fitting_relations(self, relations: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """The relations that a message may name, each with the items that it may hold."""
        if self.rules is None:
            return dict(relations)
        rules = self.rules.of("relations")
        return {name: _fitting(rules.of(name), items) for name, items in relations.items() if rules.allows(name)}

    def breaches(self, message: Mapping[str, Any]) -> tuple[str, ...]:
        """What a message breaks of the schema, as phrases."""
        return () if self.rules is None else self.rules.breaches(message)


def schema_of(project: Path) -> InboxSchema | None:
    """The inbox schema that a project carries; the one nearest to the inbox where it carries several. Never raises."""
    for folder in FOLDERS:
        for name in (WITH_RELATIONS, WITHOUT_RELATIONS):
            path = agent_directory(project) / folder / name
            if os.path.lexists(path):
                return _read(path, project)
    return None


def _read(path: Path, project: Path) -> InboxSchema:
    try:
        value = read_json(path, real_path(project)).value
    except (Unreadable, Broken) as failure:
        return InboxSchema(path, None, _unread(path, failure.problem.message))
    if isinstance(value, dict):
        return InboxSchema(path, Rules(value))
    return InboxSchema(path, None, _unread(path, f"{path} holds no JSON Schema; mend or remove it."))


def _unread(path: Path, reason: str) -> Problem:
    return Problem("inbox-schema", f"The inbox schema was not read, and was judged by its name: {reason}", str(path))


def _fitting(rules: Rules, items: list[str]) -> list[str]:
    return [item for item in items if not rules.items.breaches(item)]
