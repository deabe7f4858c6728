"""Settings as clients send them: defaults, mistakes, and what is said about them."""

from __future__ import annotations

from dataclasses import fields

import pytest

from memory_recall.faces.lsp.execute import advertised, prefix_of
from memory_recall.faces.lsp.settings import SETTINGS, Settings


def test_every_field_has_a_name_for_clients() -> None:
    assert {setting.field for setting in SETTINGS.values()} == {field.name for field in fields(Settings)}


@pytest.mark.parametrize("given", [None, {}, {"commandPrefix": None, "agentName": None}])
def test_nothing_given_means_the_defaults(given: object) -> None:
    assert Settings.parse(given) == (Settings(), ())


def test_good_settings_are_taken_beside_bad_ones() -> None:
    settings, complaints = Settings.parse({"agentName": "vscode", "advertiseCommands": "no", "nosuch\n": 1})
    assert settings == Settings(agent_name="vscode")
    assert len(complaints) == 2
    assert "'advertiseCommands' must be true or false" in complaints[0]
    assert "no setting 'nosuch\\\\n'" in complaints[1]


@pytest.mark.parametrize("given", [[], "x", 5, True])
def test_settings_that_are_no_object_are_refused_whole(given: object) -> None:
    settings, complaints = Settings.parse(given)
    assert settings == Settings()
    assert len(complaints) == 1


@pytest.mark.parametrize(
    ("given", "prefix"),
    [("", ""), ("left", "left."), ("left.", "left."), ("left-", "left-"), ("窗口", "窗口."), ("a:", "a:")],
)
def test_a_prefix_is_joined_by_one_sign(given: str, prefix: str) -> None:
    assert prefix_of(Settings(command_prefix=given)) == prefix


def test_commands_are_advertised_with_their_prefix_or_not_at_all() -> None:
    assert all(name.startswith("left.memoryRecall.") for name in advertised(Settings(command_prefix="left")))
    assert advertised(Settings(advertise_commands=False)) == []
