"""Peers whose search is a rule in a few lines, written anew from what their sources and documentation say.

Owns three rules: of Nemp's recall command, of cortex-agent's memory recall and of the MCP reference server's
`search_nodes`. None of their code is here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.subjects import Document

_CORTEX_SEPARATOR = re.compile(r"[^a-z0-9\u4e00-\u9fff_]+")
_TAG, _TITLE, _CONTENT = 0.5, 0.4, 0.3


class Nemp:
    """Nemp's `/nemp:recall` (commands/recall.md at 5f3e48a), its phases 1 to 3.

    A key that is the question ends the search. Else keys that contain the whole question come first, then values by
    how many of the question's words they contain, also inside other words. Nemp is a command that a model carries out,
    not a program: this is its text taken by the letter. Phase 4, a fixed table of related words for when nothing was
    found, is left out.
    """

    name = "Nemp, word count"

    def __init__(self) -> None:
        self._entries: list[tuple[str, str]] = []

    def index(self, documents: Sequence[Document]) -> None:
        self._entries = [(document.key, document.text.lower()) for document in documents]

    def search(self, query: str, depth: int) -> list[int]:
        exact = [number for number, (key, _) in enumerate(self._entries) if key and key == query]
        if exact:
            return exact[:depth]
        whole = query.lower()
        in_key = [number for number, (key, _) in enumerate(self._entries) if whole in key.lower()]
        words = set(re.findall(r"\w+", whole))
        counts = [(sum(word in value for word in words), number) for number, (_, value) in enumerate(self._entries)]
        in_value = [n for count, n in sorted(counts, key=lambda pair: -pair[0]) if count and n not in in_key]
        return (in_key + in_value)[:depth]


class CortexAgent:
    """cortex-agent's `memory recall` (0fa441b): a weight for each word of the question in the tags, title and text.

    Words are counted as often as the question has them. Nothing is held back: what shares no word ranks by confidence
    and recency, which are equal here, so by its place in the store.
    """

    name = "cortex-agent, set overlap"

    def __init__(self) -> None:
        self._entries: list[tuple[set[str], set[str], set[str]]] = []

    def index(self, documents: Sequence[Document]) -> None:
        self._entries = [
            (
                set(_cortex_words(" ".join(document.tags))),
                set(_cortex_words(f"{document.key} {document.title}")),
                set(_cortex_words(document.text)),
            )
            for document in documents
        ]

    def search(self, query: str, depth: int) -> list[int]:
        words = _cortex_words(query)
        scores = [
            sum(_TAG * (word in tags) + _TITLE * (word in title) + _CONTENT * (word in content) for word in words)
            for tags, title, content in self._entries
        ]
        return sorted(range(len(scores)), key=lambda number: -scores[number])[:depth]


class McpReference:
    """`search_nodes` of the MCP reference memory server: the whole question as a substring, in the store's order."""

    name = "MCP reference, substring"

    def __init__(self) -> None:
        self._texts: list[str] = []

    def index(self, documents: Sequence[Document]) -> None:
        self._texts = [document.flat().lower() for document in documents]

    def search(self, query: str, depth: int) -> list[int]:
        whole = query.lower()
        return [number for number, text in enumerate(self._texts) if whole in text][:depth]


def _cortex_words(text: str) -> list[str]:
    return [word for word in _CORTEX_SEPARATOR.split(text.lower()) if word]
