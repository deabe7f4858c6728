"""What a session begins with, whatever a client leaves out of `initialize` or spells its own way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_recall.faces.lsp.client import Client, server_capabilities
from memory_recall.faces.lsp.session import Session
from memory_recall.faces.lsp.work import Workers
from worlds import World


def session(world: World, params: dict[str, Any]) -> Session:
    return Session.of(params, world.env, Workers())


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-16"], "utf-16"),
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-32", "utf-8", "utf-16"], "utf-32"),
        (["utf-7", 5, "utf-8"], "utf-8"),
        (["utf-7"], "utf-16"),
    ],
)
def test_the_encoding_is_the_first_of_the_clients_that_is_known(offered: list[Any], chosen: str) -> None:
    client = Client.of({"general": {"positionEncodings": offered}})
    named = server_capabilities(client, []).position_encoding
    assert client.encoding == chosen
    assert named is not None
    assert named.value == chosen


@pytest.mark.parametrize("capabilities", [None, {}, [], {"general": None}, {"general": {"positionEncodings": "utf-8"}}])
def test_a_client_that_names_no_encoding_is_told_none(capabilities: object) -> None:
    client = Client.of(capabilities)
    assert client == Client()
    assert server_capabilities(client, []).position_encoding is None


@pytest.mark.parametrize(
    ("formats", "markdown"),
    [
        (["markdown", "plaintext"], True),
        (["plaintext", "markdown"], False),
        (["html", "markdown"], True),
        ([], False),
        (None, False),
    ],
)
def test_a_hover_has_the_format_that_the_client_prefers(formats: object, markdown: bool) -> None:
    assert Client.of({"textDocument": {"hover": {"contentFormat": formats}}}).hover_markdown is markdown


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"rootUri": None, "rootPath": None, "workspaceFolders": None},
        {"workspaceFolders": []},
        {"rootUri": "vscode-vfs://github/a/b"},
        {"rootPath": "relative"},
        {"workspaceFolders": [5, {}, {"uri": None}, {"uri": "untitled:x"}]},
        {"capabilities": "none", "initializationOptions": "text", "trace": "loud", "processId": "one"},
    ],
)
def test_a_session_needs_no_folder(world: World, params: dict[str, Any]) -> None:
    assert session(world, params).folders.all == ()


def test_older_clients_name_a_root(world: World) -> None:
    for params in ({"rootUri": world.project.as_uri()}, {"rootPath": str(world.project), "workspaceFolders": []}):
        assert [folder.path for folder in session(world, params).folders.all] == [world.project]


def test_folders_win_over_the_root(world: World) -> None:
    params = {
        "rootUri": world.home.as_uri(),
        "workspaceFolders": [{"uri": world.project.as_uri(), "name": "The Project"}],
    }
    assert [(folder.path, folder.name) for folder in session(world, params).folders.all] == [
        (Path(world.project), "The Project")
    ]
