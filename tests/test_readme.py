"""What the README tells people to type exists, and what it shows is well-formed."""

from __future__ import annotations

import json
import re
import shlex
import tomllib

import pytest

from memory_recall.faces.cli.main import VERBS
from worlds import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
SCRIPTS = set(PROJECT["project"]["scripts"])


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [block for name, block in fenced if name == language]


def test_it_opens_with_what_it_is_for_a_hover_and_the_two_commands() -> None:
    opening, hover, commands = README.split("```")[0], README.split("```")[1], README.split("```")[3]
    assert opening.startswith("# memory-recall\n")
    assert "╭" in hover
    assert [line.split("#")[0].strip() for line in commands.strip().split("\n")] == ["make demo", "make test"]


@pytest.mark.parametrize("name", VERBS, ids=" ".join)
def test_every_verb_is_there(name: tuple[str, ...]) -> None:
    assert f"memory-recall {' '.join(name)}" in README


def test_every_command_line_names_a_verb_that_there_is() -> None:
    lines = [line for block in blocks("") for line in block.split("\n") if line.startswith("memory-recall ")]
    assert lines
    for line in lines:
        words = shlex.split(line.split("#")[0])[1:]
        assert any(tuple(words[: len(name)]) == name for name in VERBS), line


def test_every_make_word_is_a_target() -> None:
    targets = set(re.findall(r"^(\w+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test", "lint", "bench"} <= targets
    assert set(re.findall(r"^make (\w+)", README, re.MULTILINE)) <= targets


def test_the_settings_for_editors_are_well_formed_and_start_our_server() -> None:
    (helix,) = (tomllib.loads(block) for block in blocks("toml"))
    server = helix["language-server"]["memory-recall"]
    assert (server["command"] in SCRIPTS, server["args"]) == (True, ["lsp"])
    (code,) = (json.loads("{" + block + "}") for block in blocks("json"))
    assert (code["glspc.server.command"] in SCRIPTS, code["glspc.server.commandArguments"]) == (True, ["lsp"])
    plugin, servers = (json.loads(text) for text in re.findall(r"^echo '(.*)' > ", README, re.MULTILINE))
    assert plugin["name"] == "memory-recall"
    assert servers["memory-recall"]["command"] in SCRIPTS
    (neovim,) = blocks("lua")
    assert "'memory-recall', 'lsp'" in neovim


@pytest.mark.parametrize("target", re.findall(r"\]\((?!https?:)([^)]+)\)", README))
def test_every_link_leads_to_a_file(target: str) -> None:
    assert (REPOSITORY / target).is_file()
