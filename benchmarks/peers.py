"""The peers that run in this process: libraries that people search memories with, each as its documentation shows it.

Owns one subject a library. Each imports its library when it is made and is `Unavailable` where that is not installed
(`pip install -e '.[bench]'`). All get a memory as one text and English stemmers; those that take a stop list get ours,
which is worth 4 to 5 points of R@5 on LoCoMo to tantivy and bm25s over their own: peers stand here at their best.
"""

from __future__ import annotations

import importlib
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.peers_npm import NpmMemoryServer
from benchmarks.peers_published import CortexAgent, McpReference, Nemp
from benchmarks.subjects import Document, Subject, Unavailable
from memory_recall.text.tokens import STOP_WORDS

_WORD = re.compile(r"\w+")


class Fts5:
    """SQLite's full text search with the Porter stemmer, ranked by its `bm25()`.

    A question is put as any of its words. The words are quoted, since a bare question mark or hyphen is a syntax error.
    """

    name = "SQLite FTS5, any word"

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:")
        try:
            self._connection.execute("CREATE VIRTUAL TABLE memory USING fts5(text, tokenize='porter unicode61')")
        except sqlite3.OperationalError as error:
            raise Unavailable(f"this Python's SQLite has no FTS5 ({error})") from error

    def index(self, documents: Sequence[Document]) -> None:
        self._connection.execute("DELETE FROM memory")
        rows = ((number, document.flat()) for number, document in enumerate(documents))
        self._connection.executemany("INSERT INTO memory(rowid, text) VALUES (?, ?)", rows)

    def search(self, query: str, depth: int) -> list[int]:
        match = self.match(query)
        if not match:
            return []
        statement = "SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY bm25(memory) LIMIT ?"
        return [row[0] for row in self._connection.execute(statement, (match, depth))]

    def match(self, query: str) -> str:
        """The query in FTS5's language; empty where it has no word."""
        return " OR ".join(f'"{word}"' for word in _asked_words(query))


class Fts5AllWords(Fts5):
    """As most programs use it: the words of the question one after another, which FTS5 reads as AND."""

    name = "SQLite FTS5, all words"

    def match(self, query: str) -> str:
        return " ".join(f'"{word}"' for word in _WORD.findall(query))


class Bm25s:
    """bm25s with the Snowball stemmer and its defaults: Lucene's BM25, k1 1.5, b 0.75."""

    name = "bm25s, stemmed"

    def __init__(self) -> None:
        self._library = _library("bm25s")
        self._stemmer = _library("Stemmer").Stemmer("english")
        self._retriever: Any = None
        self._count = 0

    def index(self, documents: Sequence[Document]) -> None:
        self._retriever = self._library.BM25()
        self._count = len(documents)
        self._retriever.index(self._tokens([document.flat() for document in documents]), show_progress=False)

    def search(self, query: str, depth: int) -> list[int]:
        found = self._retriever.retrieve(self._tokens([query]), k=min(depth, self._count), show_progress=False)
        return [
            int(index) for index, score in zip(found.documents[0], found.scores[0], strict=True) if float(score) > 0
        ]

    def _tokens(self, texts: Sequence[str]) -> Any:
        return self._library.tokenize(texts, stopwords=sorted(STOP_WORDS), stemmer=self._stemmer, show_progress=False)


class Tantivy:
    """tantivy (the Lucene of Rust) with its tokeniser `en_stem` and its query parser, told to be lenient."""

    name = "tantivy, en_stem"

    def __init__(self) -> None:
        self._library = _library("tantivy")
        self._index: Any = None
        self._searcher: Any = None

    def index(self, documents: Sequence[Document]) -> None:
        builder = self._library.SchemaBuilder()
        builder.add_integer_field("number", stored=True)
        builder.add_text_field("text", tokenizer_name="en_stem")
        self._index = self._library.Index(builder.build())
        writer = self._index.writer(num_threads=1)
        for number, document in enumerate(documents):
            writer.add_document(self._library.Document(number=number, text=document.flat()))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, query: str, depth: int) -> list[int]:
        # Words alone: colons, brackets and minus signs would be operators.
        parsed, _ = self._index.parse_query_lenient(" ".join(_asked_words(query)), ["text"])
        hits = self._searcher.search(parsed, depth).hits
        return [int(self._searcher.doc(address)["number"][0]) for _, address in hits]


class Rapidfuzz:
    """rapidfuzz's `token_set_ratio` of the question with each text, no cut-off."""

    name = "rapidfuzz, token_set_ratio"

    def __init__(self) -> None:
        self._process = _library("rapidfuzz.process")
        self._scorer = _library("rapidfuzz.fuzz").token_set_ratio
        self._prepare = _library("rapidfuzz.utils").default_process
        self._texts: list[str] = []

    def index(self, documents: Sequence[Document]) -> None:
        self._texts = [self._prepare(document.flat()) for document in documents]

    def search(self, query: str, depth: int) -> list[int]:
        found = self._process.extract(self._prepare(query), self._texts, scorer=self._scorer, limit=depth)
        return [index for _, score, index in found if score > 0]


PEERS: tuple[Callable[[], Subject], ...] = (
    Tantivy,
    Fts5,
    Bm25s,
    Nemp,
    CortexAgent,
    Rapidfuzz,
    Fts5AllWords,
    McpReference,
    NpmMemoryServer,
)
"""The strongest first."""


def available(kinds: Sequence[Callable[[], Subject]] = PEERS) -> Iterator[Subject | Unavailable]:
    """Each peer that can run here, or why it cannot."""
    for kind in kinds:
        try:
            yield kind()
        except Unavailable as reason:
            yield Unavailable(f"{getattr(kind, 'name', kind)}: {reason}")


def _asked_words(query: str) -> list[str]:
    return [word for word in _WORD.findall(query) if word.casefold() not in STOP_WORDS]


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unavailable(f"{name} is not installed: pip install -e '.[bench]'") from error
