"""The citation at a position that a client asks about, at once or in a thread. What hover and definition share."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from memory_recall.cancellation import Cancellation
from memory_recall.faces.lsp.documents import read_spot
from memory_recall.faces.lsp.lookup import Citation
from memory_recall.faces.lsp.session import Session
from memory_recall.faces.lsp.shelves import NeedsReading

Asked = types.HoverParams | types.DefinitionParams


def citation_at_once(session: Session, asked: Asked) -> Citation | None:
    """The citation, where looking is enough. Raises `NeedsReading` where a note or a store must be read first."""
    uri = asked.text_document.uri
    document = session.documents.opened(uri)
    if document is None:
        raise NeedsReading
    spot = document.spot(asked.position)
    return None if spot is None else session.lookup.glance(session.place_of(uri), spot)


def citation_in_thread(session: Session, asked: Asked) -> Callable[[Cancellation], Citation | None]:
    """The same as a piece of work. What it needs of the session is taken now: the note may change meanwhile."""
    uri = asked.text_document.uri
    place = session.place_of(uri)
    document = session.documents.opened(uri)
    open_spot = document.spot(asked.position) if document is not None else None

    def work(cancellation: Cancellation) -> Citation | None:
        spot = open_spot if document is not None else read_spot(uri, asked.position, session.client.encoding)
        return None if spot is None else session.lookup.look(place, spot, cancellation)

    return work
