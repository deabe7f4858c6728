"""The settings of the language server: names, defaults, and what is done with a bad one.

They come as `initializationOptions` and, later, by `workspace/configuration` in the same shape. A bad value never stops
a session: its default holds, and the mistake is said once in the log. Parsed by hand and not by pydantic, which would
add its start-up time to every opening of an editor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from memory_recall.faces.flags import flag
from memory_recall.text.untrusted import for_log

_SHOWN = 60

_SECTIONS = ("memoryRecall", "memory-recall")
"""Names under which clients send the settings of one server among those of others."""


class Settings(NamedTuple):
    """Every setting, with its default.

    `command_prefix` stands before each command id, so that two servers in one window do not clash (fixed at
    initialize). `advertise_commands` false names no command to a client that registers its own; they are handled all
    the same. `agent_name` is the agent of a recorded read; None means `$CLAUDE_AGENT_NAME`, else `main`. `cache` false
    has no index kept between two sessions.
    """

    command_prefix: str = ""
    advertise_commands: bool = True
    agent_name: str | None = None
    cache: bool = True

    @classmethod
    def parse(cls, given: object) -> tuple[Settings, tuple[str, ...]]:
        """The settings in a client's object, and a sentence for each thing in it that could not be used."""
        if given is None:
            return cls(), ()
        if not isinstance(given, dict):
            return cls(), ("The settings must be one object; the defaults are in force.",)
        values: dict[str, Any] = {}
        complaints: list[str] = []
        for name, value in _flat(given).items():
            setting = SETTINGS.get(name)
            if setting is None:
                complaints.append(
                    f"There is no setting {_shown(name)!r}; it was ignored. Known: {', '.join(SETTINGS)}."
                )
            elif value is None:
                continue
            elif not isinstance(meant := flag(value) if setting.kind is bool else value, setting.kind):
                complaints.append(f"The setting {name!r} must be {setting.expected}; its default is in force.")
            else:
                values[setting.field] = meant
        return cls(**values), tuple(complaints)


class Setting(NamedTuple):
    """One setting as a client writes it. `expected` and `about` are words for messages and documentation."""

    field: str
    kind: type
    expected: str
    default: str
    about: str


SETTINGS = {
    "commandPrefix": Setting(
        "command_prefix",
        str,
        "a text",
        '`""`',
        "Stands before each id, joined by a dot: with `left`, `left.memoryRecall.search`. A prefix that ends in a sign "
        "of its own, such as `left-`, is joined as it is. Ids without the prefix are then not handled.",
    ),
    "advertiseCommands": Setting(
        "advertise_commands",
        bool,
        "true or false",
        "`true`",
        "With `false` no id is advertised, for a client that registers its own. All are handled.",
    ),
    "agentName": Setting(
        "agent_name",
        str,
        "a text",
        "`$CLAUDE_AGENT_NAME`, else `main`",
        "The agent that the access log names for a recorded read.",
    ),
    "cache": Setting(
        "cache",
        bool,
        "true or false",
        "`true`",
        "With `false`, or with `MEMORY_RECALL_NO_CACHE` set, no index of large stores is kept in the user's cache "
        "directory between two sessions.",
    ),
}


def _flat(given: dict[Any, Any]) -> dict[Any, Any]:
    """The settings themselves, where they stand in an object of the server's name."""
    flat: dict[Any, Any] = {}
    for name, value in given.items():
        is_section = name in _SECTIONS and (value is None or isinstance(value, dict))
        flat.update((value or {}) if is_section else {name: value})
    return flat


def _shown(name: object) -> str:
    return for_log(str(name))[:_SHOWN]
