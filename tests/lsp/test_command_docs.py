"""One table of commands: what it says is what is advertised, handled and documented."""

from __future__ import annotations

import re

import pytest

from memory_recall.faces.command_docs import documentation
from memory_recall.faces.commands import COMMANDS, Command, expectation, find, options_of
from memory_recall.faces.lsp.execute import advertised
from memory_recall.faces.lsp.settings import SETTINGS, Settings
from worlds import REPOSITORY

DOCUMENT = REPOSITORY / "docs" / "commands.md"


def test_the_documentation_is_current() -> None:
    current = DOCUMENT.read_text(encoding="utf-8") == documentation()
    assert current, "run: python -m memory_recall.faces.command_docs > docs/commands.md"


def test_advertised_handled_and_documented_are_the_same() -> None:
    documented = re.findall(r"^## `(.+)`$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    handled = [name for name in documented if find(name) is not None]
    assert advertised(Settings()) == documented == handled == [command.id for command in COMMANDS]


def test_every_setting_is_documented() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in SETTINGS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.verb)
def test_every_option_says_what_it_expects_and_what_it_is_about(command: Command) -> None:
    for name, field in options_of(command).items():
        assert re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name), "a client writes camelCase"
        assert expectation(field) != "another value"
        assert field.description
    assert command.positional is None or command.positional in options_of(command)
    assert command.title
    assert command.about
    assert command.returns


def test_the_commands_of_the_contract_are_all_there() -> None:
    assert {command.id: set(options_of(command)) - {"uri", "workspace"} for command in COMMANDS} == {
        "memoryRecall.nemp.recall": {"query", "limit", "record", "budget"},
        "memoryRecall.memory.recall": {
            "query",
            "limit",
            "type",
            "minConfidence",
            "scope",
            "includeExpired",
            "includeWeak",
            "notify",
            "budget",
        },
        "memoryRecall.coven.recall": {"query", "familiar", "k", "since", "until", "verifiedOnly", "budget"},
        "memoryRecall.search": {"query", "limit", "withCoven", "includeWeak", "budget"},
        "memoryRecall.show": {"reference"},
        "memoryRecall.status": set(),
    }
