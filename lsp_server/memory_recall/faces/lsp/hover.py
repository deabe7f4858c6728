"""`textDocument/hover`: what a cited memory says, with its provenance. Never counted as a read."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from lsprotocol import types

from memory_recall.faces.lsp.citing import citation_at_once, citation_in_thread
from memory_recall.faces.lsp.lookup import Citation
from memory_recall.faces.lsp.protocol import log_failure
from memory_recall.faces.lsp.session import Session
from memory_recall.faces.lsp.shelves import NeedsReading
from memory_recall.faces.present.hover import hover_text


def hover(session: Session, params: types.HoverParams) -> types.Hover | Coroutine[Any, Any, types.Hover | None] | None:
    """The hover at a position; null where there is nothing, and where looking failed: only the mouse has asked."""
    try:
        return _shown(session, citation_at_once(session, params))
    except NeedsReading:
        return _later(session, params)
    except Exception as failure:
        log_failure(types.TEXT_DOCUMENT_HOVER, failure)
        return None


async def _later(session: Session, params: types.HoverParams) -> types.Hover | None:
    try:
        return _shown(session, await session.workers.run(citation_in_thread(session, params)))
    except Exception as failure:
        log_failure(types.TEXT_DOCUMENT_HOVER, failure)
        return None


def _shown(session: Session, citation: Citation | None) -> types.Hover | None:
    if citation is None:
        return None
    markdown = session.client.hover_markdown
    text = hover_text(
        citation.resolution,
        markdown=markdown,
        workspace=citation.place.boundary,
        home=session.environment.home,
    )
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    reference = citation.reference
    return types.Hover(types.MarkupContent(kind, text), citation.spot.range_of(reference.start, reference.end))
