"""The peers of the quality benchmark: the rules written anew do what their sources say, and what is absent is named."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from benchmarks import peers
from benchmarks.peers_npm import NpmMemoryServer
from benchmarks.peers_published import CortexAgent, McpReference, Nemp
from benchmarks.subjects import Document, Subject, Unavailable

DOCUMENTS = [
    Document("deploy-target", "Everything runs on fly.io since May", ("hosting",)),
    Document("auth", "Login by magic link, no passwords", ("auth-flow",), title="Who may enter"),
    Document("auth-flow", "Sessions in Redis; links expire"),
]


def searched(subject: Subject, query: str, documents: Sequence[Document] = DOCUMENTS) -> list[int]:
    subject.index(documents)
    return subject.search(query, 10)


def test_nemp_stops_at_an_exact_key() -> None:
    assert searched(Nemp(), "auth") == [1]


def test_nemp_puts_keys_that_contain_the_question_first_then_counts_words() -> None:
    assert searched(Nemp(), "Auth-") == [2]
    assert searched(Nemp(), "redis login link") == [1, 2]


def test_cortex_agent_weighs_tags_over_title_over_text_and_holds_nothing_back() -> None:
    assert searched(CortexAgent(), "flow") == [1, 2, 0]
    assert searched(CortexAgent(), "enter redis redis") == [2, 1, 0]
    assert searched(CortexAgent(), "elephants") == [0, 1, 2]


def test_the_reference_server_wants_the_whole_question_verbatim() -> None:
    assert searched(McpReference(), "MAGIC LINK") == [1]
    assert searched(McpReference(), "link magic") == []


LIBRARIES: list[tuple[Callable[[], Subject], str]] = [
    (peers.Fts5, "sqlite3"),
    (peers.Rapidfuzz, "rapidfuzz"),
    (peers.Bm25s, "bm25s"),
    (peers.Tantivy, "tantivy"),
]


@pytest.mark.parametrize(("kind", "module"), LIBRARIES)
def test_a_library_finds_the_memory(kind: Callable[[], Subject], module: str) -> None:
    pytest.importorskip(module)
    subject = kind()
    assert searched(subject, "where do the sessions expire?")[0] == 2
    assert searched(subject, "fly.io: (hosting)")[0] == 0, "and takes a new store in place of the old"


def test_a_question_with_an_absent_word_finds_nothing_with_all_words() -> None:
    assert searched(peers.Fts5AllWords(), "magic link") == [1]
    assert searched(peers.Fts5AllWords(), "magic elephants") == []


@pytest.mark.parametrize("query", ["", "?", "what is it", '"unbalanced', "a-b:c*"])
def test_odd_questions_break_no_peer(query: str) -> None:
    for peer in peers.available([peers.Fts5, peers.Fts5AllWords, peers.Bm25s, peers.Tantivy, peers.Rapidfuzz]):
        if not isinstance(peer, Unavailable):
            assert set(searched(peer, query)) <= {0, 1, 2}


def test_what_is_not_installed_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    (told,) = peers.available([peers.Bm25s])
    assert isinstance(told, Unavailable)
    assert "bm25s is not installed: pip install" in str(told)


def test_without_node_the_npm_server_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", {}.get)
    (told,) = peers.available([NpmMemoryServer])
    assert str(told) == "npm server-memory: node is not on the PATH"
