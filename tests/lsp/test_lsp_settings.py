"""Settings as clients send them: defaults, mistakes, and what is said about them."""

from __future__ import annotations

import pytest

from memory_recall.faces.lsp.execute import advertised, prefix_of
from memory_recall.faces.lsp.settings import SETTINGS, Settings


def test_every_field_has_a_name_for_clients() -> None:
    assert {setting.field for setting in SETTINGS.values()} == set(Settings._fields)


@pytest.mark.parametrize("given", [None, {}, {"commandPrefix": None, "agentName": None}])
def test_nothing_given_means_the_defaults(given: object) -> None:
    assert Settings.parse(given) == (Settings(), ())


@pytest.mark.parametrize("name", ["memoryRecall", "memory-recall"])
def test_settings_may_stand_under_the_name_of_the_server(name: str) -> None:
    own = {"agentName": "vscode", "advertiseCommands": False}
    assert Settings.parse({name: own}) == (Settings(agent_name="vscode", advertise_commands=False), ())
    assert Settings.parse({name: None}) == (Settings(), ())
    settings, complaints = Settings.parse({name: {"nosuch": 1}, "agentName": "vim"})
    assert settings == Settings(agent_name="vim")
    assert "no setting 'nosuch'" in complaints[0]
    assert "no setting" in Settings.parse({name: 5})[1][0]


@pytest.mark.parametrize(("given", "meant"), [(0, False), ("false", False), ("True", True), (1, True), (0.0, False)])
def test_yes_and_no_are_taken_as_commands_take_them(given: object, meant: bool) -> None:
    assert Settings.parse({"advertiseCommands": given}) == (Settings(advertise_commands=meant), ())


@pytest.mark.parametrize("given", [2, "no", [], "0"])
def test_what_is_neither_yes_nor_no_is_told(given: object) -> None:
    assert len(Settings.parse({"advertiseCommands": given})[1]) == 1
    assert Settings.parse({"agentName": 1})[1] == ("The setting 'agentName' must be a text; its default is in force.",)


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
