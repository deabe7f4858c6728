"""What the client can do, read once at initialize, and what the server says it can do in return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lsprotocol import types

from memory_recall.text.positions import DEFAULT_ENCODING, ENCODINGS, Encoding


class Client(NamedTuple):
    """The capabilities of the client that change an answer.

    `encoding`: what its columns count; its own order of preference decides.
    `names_encodings`: whether it knows of encodings at all. `hover_markdown`: whether it prefers Markdown in a hover.
    `definition_links`: whether it understands `LocationLink`.
    """

    encoding: Encoding = DEFAULT_ENCODING
    names_encodings: bool = False
    hover_markdown: bool = False
    definition_links: bool = False

    @classmethod
    def of(cls, capabilities: object) -> Client:
        """The client that announced these capabilities.

        Read leniently from the JSON: a client with an unknown or mistyped ability somewhere else is still served.
        """
        offered = _list_at(capabilities, "general", "positionEncodings")
        formats = _list_at(capabilities, "textDocument", "hover", "contentFormat")
        preferred = next((one for one in formats if one in ("markdown", "plaintext")), "plaintext")
        return cls(
            encoding=next((known for one in offered for known in ENCODINGS if one == known), DEFAULT_ENCODING),
            names_encodings=bool(offered),
            hover_markdown=preferred == "markdown",
            definition_links=_at(capabilities, "textDocument", "definition", "linkSupport") is True,
        )


def _at(value: object, *names: str) -> object:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _list_at(value: object, *names: str) -> list[str]:
    found = _at(value, *names)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def server_capabilities(client: Client, advertised_commands: Sequence[str]) -> types.ServerCapabilities:
    """What the server offers. It never names an encoding to a client that offered none."""
    return types.ServerCapabilities(
        position_encoding=types.PositionEncodingKind(client.encoding) if client.names_encodings else None,
        text_document_sync=types.TextDocumentSyncOptions(
            open_close=True, change=types.TextDocumentSyncKind.Incremental
        ),
        hover_provider=True,
        definition_provider=True,
        execute_command_provider=types.ExecuteCommandOptions(commands=list(advertised_commands)),
        workspace=types.WorkspaceOptions(
            workspace_folders=types.WorkspaceFoldersServerCapabilities(supported=True, change_notifications=True)
        ),
    )
