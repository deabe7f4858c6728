"""Hovers and definitions, end to end, from clients that count in UTF-8, UTF-16 and UTF-32."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types
from pytest_lsp import LanguageClient, make_test_lsp_client
from stores_of_a_world import CLAIM, MEMORY_ID, NEWER_CLAIM, Stores, write_stores

from worlds import World

Connect = Callable[..., Awaitable[LanguageClient]]
UNITS = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


@pytest.fixture
def stores(world: World) -> Stores:
    return write_stores(world)


@pytest_asyncio.fixture
async def connect(variables: dict[str, str], world: World) -> AsyncIterator[Connect]:
    """`await connect(encoding=..., folders=...)`: an initialized client that refuses what it did not announce."""
    clients: list[LanguageClient] = []

    async def begin(
        encoding: str | None = None,
        folders: list[str] | None = None,
        *,
        markdown: bool = True,
        links: bool = False,
    ) -> LanguageClient:
        client = make_test_lsp_client()
        await client.start_io(sys.executable, "-P", "-m", "memory_recall.faces.lsp.main", env=variables)
        clients.append(client)
        kinds = [types.MarkupKind.Markdown, types.MarkupKind.PlainText]
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=[encoding]) if encoding else None,
            text_document=types.TextDocumentClientCapabilities(
                hover=types.HoverClientCapabilities(content_format=kinds if markdown else kinds[::-1]),
                definition=types.DefinitionClientCapabilities(link_support=links),
            ),
        )
        uris = [world.project.as_uri()] if folders is None else folders
        opened = [types.WorkspaceFolder(uri, uri.rsplit("/", 1)[-1]) for uri in uris]
        await client.initialize_session(types.InitializeParams(capabilities, workspace_folders=opened))
        return client

    yield begin
    for client in clients:
        assert client.messages == []
        await asyncio.wait_for(client.shutdown_session(), 20)
        await client.stop()


def opened(client: LanguageClient, uri: str, text: str) -> None:
    document = types.TextDocumentItem(uri, types.LanguageKind.Markdown, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))


async def hovered(client: LanguageClient, uri: str, line: int, character: int) -> types.Hover | None:
    where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    return await client.text_document_hover_async(where)


async def defined(client: LanguageClient, uri: str, line: int, character: int) -> object:
    where = types.DefinitionParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    return await client.text_document_definition_async(where)


def text_of(hover: types.Hover | None) -> str:
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    return hover.contents.value


def note_of(world: World) -> str:
    return (world.project / "notes" / "a.md").as_uri()


LINES = (
    "🚀 é 部署 then auth-flow here",
    "ب [[nemp:部署流程]] 🚀",
    "one\u2028two\x0cthree\x85`auth-flow` four",
    f"\tsee {MEMORY_ID}",
    f"claim {CLAIM}.",
    "e\u0301🏳️‍🌈 nemp:db.url",
)
CITED = ("auth-flow", "[[nemp:部署流程]]", "auth-flow", MEMORY_ID, CLAIM, "nemp:db.url")
SAID = ("JWT access tokens", "先迁移", "JWT access tokens", "Five times", "times out after 30 s", '"port": 5432')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.usefixtures("stores")
async def test_every_system_is_hovered_in_the_clients_units(connect: Connect, world: World, encoding: str) -> None:
    client = await connect(encoding)
    units = UNITS[encoding]
    for name, line_end in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):
        uri = (world.project / f"{name}.md").as_uri()
        opened(client, uri, line_end.join(LINES))
        for number, (line, cited, said) in enumerate(zip(LINES, CITED, SAID, strict=True)):
            start = line.index(cited)
            first, last = units(line[:start]), units(line[: start + len(cited)])
            for character in (first, last - 1):
                hover = await hovered(client, uri, number, character)
                assert said in text_of(hover)
                assert hover is not None
                assert hover.range == types.Range(types.Position(number, first), types.Position(number, last))
            if line[start - 1] != "`":
                assert await hovered(client, uri, number, first - 1) is None


async def test_a_hover_shows_value_and_provenance(connect: Connect, world: World, stores: Stores) -> None:
    client, uri = await connect(), note_of(world)
    opened(client, uri, f"auth-flow {MEMORY_ID} {CLAIM} deploy_v1")
    text = text_of(await hovered(client, uri, 0, 3))
    assert "```text\nJWT access tokens, refreshed\n```" in text
    for part in ("`procedure`", "`62 (active)`", "`0.91`", "`backend`", "`2026-02-02T00:00:00Z`"):
        assert part in text
    assert re.search(r"Source: `\.nemp/memories\.json:\d+`", text)
    assert re.search(r"Shadows the one in the `global` store: `Okta` \(`~/\.nemp/memories\.json:\d+`\)", text)
    memory = text_of(await hovered(client, uri, 0, 12))
    assert "`Webhook retries`" in memory
    assert "⚠" in memory
    assert "`2026-01-01`" in memory
    claim = text_of(await hovered(client, uri, 0, 35))
    assert NEWER_CLAIM in claim
    assert "Attested by" in claim
    assert "deploy_v2" in text_of(await hovered(client, uri, 0, len(f"auth-flow {MEMORY_ID} {CLAIM} d")))


async def test_a_hover_records_nothing(connect: Connect, world: World, stores: Stores) -> None:
    before = {path: path.read_bytes() for path in world.home.parent.rglob("*") if path.is_file()}
    client, uri = await connect(), note_of(world)
    opened(client, uri, f"auth-flow {CLAIM} {MEMORY_ID}")
    for character in (3, 15, 40):
        assert await hovered(client, uri, 0, character) is not None
    await defined(client, uri, 0, 3)
    assert before == {path: path.read_bytes() for path in world.home.parent.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("stores")
async def test_plain_text_for_a_client_that_prefers_it(connect: Connect, world: World) -> None:
    client, uri = await connect(markdown=False), note_of(world)
    opened(client, uri, "auth-flow")
    hover = await hovered(client, uri, 0, 0)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind == types.MarkupKind.PlainText
    assert "JWT access tokens, refreshed\n" in hover.contents.value
    assert "`" not in hover.contents.value


async def test_a_store_that_cannot_be_read_is_named_where_another_answers(
    connect: Connect, world: World, stores: Stores
) -> None:
    client, uri = await connect(markdown=False), note_of(world)
    opened(client, uri, "auth-flow [[nemp:nowhere]]")
    assert "JWT" in text_of(await hovered(client, uri, 0, 0))
    stores.nemp.write_text('{"memories": [')
    for _ in range(2):  # read in a thread, and then looked at
        text = text_of(await hovered(client, uri, 0, 0))
        assert "Okta" in text
        assert "\n⚠ .nemp/memories.json:1:15" in text
    assert "⚠ .nemp/memories.json:1:15" in text_of(await hovered(client, uri, 0, 15))


async def test_a_line_too_long_to_look_at_is_looked_at_elsewhere(
    connect: Connect, world: World, stores: Stores
) -> None:
    client, uri = await connect(), note_of(world)
    opened(client, uri, "auth-flow " + "a-b c.d " * 100_000 + "deploy_v2")
    for _ in range(2):
        assert "JWT" in text_of(await hovered(client, uri, 0, 0))
        assert "Fly.io" in text_of(await hovered(client, uri, 0, 800_012))


@pytest.mark.usefixtures("stores")
async def test_an_explicit_reference_to_nothing_says_so_and_what_comes_near(connect: Connect, world: World) -> None:
    client, uri = await connect(), note_of(world)
    opened(client, uri, "[[nemp:auth-flo]] unknown-words `nope`")
    text = text_of(await hovered(client, uri, 0, 4))
    assert text.startswith("Nothing is known under **`nemp:auth-flo`** here.")
    assert "Did you mean **`auth-flow`**?" in text
    for character in (18, 20, 34):
        assert await hovered(client, uri, 0, character) is None


@pytest.mark.usefixtures("stores")
async def test_a_change_in_the_store_shows_at_the_next_hover(connect: Connect, world: World) -> None:
    client, uri = await connect(), note_of(world)
    opened(client, uri, "commit-style")
    for value in ("imperative", "past tense", "none at all"):
        world.write("home/.nemp/memories.json", {"commit-style": value})
        assert value in text_of(await hovered(client, uri, 0, 0))
    (world.home / ".nemp" / "memories.json").unlink()
    assert await hovered(client, uri, 0, 0) is None


@pytest.mark.usefixtures("stores")
async def test_an_open_note_beats_the_file_and_an_unopened_one_is_read(connect: Connect, world: World) -> None:
    client, uri = await connect(), note_of(world)
    world.write("project/notes/a.md", "\ufeffnothing\r\n部 auth-flow")
    assert text_of(await hovered(client, uri, 1, 3))
    opened(client, uri, "commit-style")
    assert "imperative" in text_of(await hovered(client, uri, 0, 0))
    changes = [
        types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 6)), "🚀 auth"),
        types.TextDocumentContentChangePartial(types.Range(types.Position(0, 8), types.Position(0, 13)), "flow"),
    ]
    document = types.VersionedTextDocumentIdentifier(version=2, uri=uri)
    client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))
    assert "JWT" in text_of(await hovered(client, uri, 0, 4))
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    assert await hovered(client, uri, 0, 0) is None


@pytest.mark.usefixtures("stores")
async def test_nothing_is_said_where_there_is_nothing_to_read(connect: Connect, world: World) -> None:
    client = await connect()
    world.write("project/latin.md", "auth-flow café".encode("latin-1"))
    for uri in ("untitled:x", (world.project / "latin.md").as_uri(), (world.project / "no.md").as_uri(), "git:/a"):
        assert await hovered(client, uri, 0, 2) is None
        assert await defined(client, uri, 0, 2) is None
    opened(client, "untitled:x", "see auth-flow")
    assert "JWT" in text_of(await hovered(client, "untitled:x", 0, 5))
    assert await hovered(client, "untitled:x", 7, 0) is None
    assert await hovered(client, "untitled:x", 0, 999) is not None, "past the end of a line means its end"


async def test_each_folder_answers_from_its_own_stores(connect: Connect, world: World, tmp_path: Path) -> None:
    for name in ("one", "two"):
        world.write(f"{name}/.nemp/memories.json", {"the-key": f"value of {name}"})
    client = await connect(folders=[(tmp_path / "one").as_uri(), (tmp_path / "two").as_uri()])
    for name in ("two", "one"):
        uri = (tmp_path / name / "deep" / "a.md").as_uri()
        opened(client, uri, "the-key")
        assert f"value of {name}" in text_of(await hovered(client, uri, 0, 0))
    closed = types.WorkspaceFolder((tmp_path / "two").as_uri(), "two")
    event = types.WorkspaceFoldersChangeEvent(added=[], removed=[closed])
    client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    opened(client, "untitled:x", "the-key")
    assert "value of one" in text_of(await hovered(client, "untitled:x", 0, 0))


async def test_a_store_above_the_workspace_is_never_looked_at(connect: Connect, world: World, tmp_path: Path) -> None:
    world.write("one/.nemp/memories.json", {"the-key": "above"})
    (tmp_path / "one" / "inner").mkdir()
    client = await connect(folders=[(tmp_path / "one" / "inner").as_uri()])
    uri = (tmp_path / "one" / "inner" / "a.md").as_uri()
    opened(client, uri, "the-key")
    assert await hovered(client, uri, 0, 0) is None


async def test_a_definition_is_the_records_own_line(connect: Connect, world: World, stores: Stores) -> None:
    client, uri = await connect("utf-16"), note_of(world)
    opened(client, uri, f"auth-flow 部署流程 [[nemp:部署流程]] {MEMORY_ID} commit-style")
    found = await defined(client, uri, 0, 3)
    assert isinstance(found, list)
    assert [location.uri for location in found] == [stores.nemp.as_uri()], "the shadowed one is not meant"
    assert named_at(stores.nemp, found[0].range) == '"auth-flow"'
    found = await defined(client, uri, 0, 20)
    assert isinstance(found, list)
    assert named_at(stores.nemp, found[0].range) == '"部署流程"'
    found = await defined(client, uri, 0, 35)
    assert isinstance(found, list)
    assert found[0].uri == stores.memory.as_uri()
    found = await defined(client, uri, 0, len(f"auth-flow 部署流程 [[nemp:部署流程]] {MEMORY_ID} c"))
    assert isinstance(found, list)
    assert named_at(stores.shared, found[0].range) == '"commit-style"'
    assert await defined(client, uri, 0, 9 + 2) is None


def named_at(path: Path, where: types.Range) -> str:
    assert where.start.line == where.end.line
    line = path.read_text(encoding="utf-8").split("\n")[where.start.line].encode("utf-16-le")
    return line[where.start.character * 2 : where.end.character * 2].decode("utf-16-le")


async def test_a_definition_is_a_link_for_a_client_that_knows_links(
    connect: Connect, world: World, stores: Stores
) -> None:
    client, uri = await connect(links=True), note_of(world)
    opened(client, uri, "see [[nemp:auth-flow]]")
    found = await defined(client, uri, 0, 8)
    assert isinstance(found, list)
    link = found[0]
    assert isinstance(link, types.LocationLink)
    assert link.target_uri == stores.nemp.as_uri()
    assert link.origin_selection_range == types.Range(types.Position(0, 4), types.Position(0, 22))


@pytest.mark.usefixtures("stores")
async def test_a_definition_is_spelt_as_the_client_spells_the_folder(
    connect: Connect, world: World, tmp_path: Path
) -> None:
    (tmp_path / "a link").symlink_to(world.project)
    folder = f"{tmp_path.as_uri()}/a link"
    client = await connect(folders=[folder])
    opened(client, f"{folder}/a.md", "auth-flow")
    found = await defined(client, f"{folder}/a.md", 0, 0)
    assert isinstance(found, list)
    assert found[0].uri == f"{folder}/.nemp/memories.json"
