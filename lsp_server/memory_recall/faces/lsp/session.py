"""What one client and this server share: its abilities, its folders, its open notes, and the stores read for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from memory_recall.environment import Environment, Place
from memory_recall.faces.lsp.client import Client
from memory_recall.faces.lsp.documents import Documents
from memory_recall.faces.lsp.folders import Folder, Folders
from memory_recall.faces.lsp.lookup import Lookup
from memory_recall.faces.lsp.settings import Settings
from memory_recall.faces.lsp.shelves import SharedShelf
from memory_recall.faces.lsp.uris import uri_of
from memory_recall.faces.lsp.work import Workers
from memory_recall.index.cache import Cache
from memory_recall.index.indexing import Indexing


class Session(NamedTuple):
    """One session, from `initialize` to its end. Its parts change; which parts it has does not.

    `complaints` are sentences on settings that could not be used, `prepared` the places whose stores are being read
    ahead of the first question.
    """

    environment: Environment
    workers: Workers
    client: Client
    settings: Settings
    complaints: tuple[str, ...]
    folders: Folders
    documents: Documents
    shelf: SharedShelf
    lookup: Lookup
    prepared: set[Place]

    @classmethod
    def of(cls, params: dict[str, Any], environment: Environment, workers: Workers) -> Session:
        """The session that an `initialize` begins, whatever the client left out or spelt its own way."""
        client = Client.of(params.get("capabilities"))
        settings, complaints = Settings.parse(params.get("initializationOptions"))
        cache = Cache.of(environment) if settings.cache else None
        shelf = SharedShelf(Indexing(cache, follow=True))
        return cls(
            environment=environment,
            workers=workers,
            client=client,
            settings=settings,
            complaints=complaints,
            folders=Folders(_folders_of(params)),
            documents=Documents(client.encoding),
            shelf=shelf,
            lookup=Lookup(environment, shelf),
            prepared=set(),
        )

    def prepare(self, uri: str) -> None:
        """A note was opened: have read, once a place, what it is likely to cite. Nobody waits for that."""
        place = self.place_of(uri)
        if place not in self.prepared:
            self.prepared.add(place)
            self.workers.start(lambda cancellation: self.lookup.prepare(place, cancellation))

    def place_of(self, uri: str) -> Place:
        """Where a note or a directory stands; what is no file, with no folder open, where the server was started.

        Remembered, as far as it is a matter of folders: a mouse over a note asks again and again.
        """
        return self.folders.place_of_note(uri) or Place(self.environment.cwd)


def _folders_of(params: dict[str, Any]) -> list[Folder]:
    """The workspace folders; from older clients, the root as URI or as path; none in single-file mode."""
    given = params.get("workspaceFolders")
    root, path = params.get("rootUri"), params.get("rootPath")
    named: list[tuple[object, object]] = []
    if isinstance(given, list) and given:
        named = [(one.get("uri"), one.get("name")) for one in given if isinstance(one, dict)]
    elif isinstance(root, str):
        named = [(root, None)]
    elif isinstance(path, str) and Path(path).is_absolute():
        named = [(uri_of(Path(path)), None)]
    opened = [
        Folder.opened(uri, name if isinstance(name, str) else None) for uri, name in named if isinstance(uri, str)
    ]
    return [folder for folder in opened if folder is not None]
