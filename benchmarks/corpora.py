"""Collections with known answers: reading them, merging them, and what must hold for the corpus that ships here.

Owns the two forms of a collection file (corpus/README.md describes ours) and the checks of a corpus. Knows no ranking
and no measure.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import Stemmer

from benchmarks.subjects import Document

CORPUS = Path(__file__).resolve().parent / "corpus"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "bench"
COLLECTIONS = ("locomo-dev.json", "cranfield.json")
UNANSWERABLE_CATEGORY = 5
"""LoCoMo's questions that have no answer. Its authors list evidence for them all the same, so they are left out."""

SPLITS = ("dev", "held-out")
ANSWERABLE_KINDS = (
    "exact-key",
    "partial-key",
    "value-words",
    "question",
    "paraphrase",
    "typo",
    "inflection",
    "script",
    "mixed-language",
    "identifier-spelling",
    "several",
    "superseded",
    "scope",
    "number",
    "error-paste",
)
UNANSWERABLE_KINDS = ("nonsense", "off-topic", "off-topic-shared-word", "near-miss", "gibberish", "stop-words")
TYPES = ("fact", "decision", "procedure", "preference", "episodic", "bug")
SCOPES = ("project", "global", "user", "team")
SYSTEMS = ("nemp", "agent", "coven")

# Words that questions share with every text. A list of the corpus's own: what the ranking under test ignores is its
# affair, and must not decide which label a query gets.
_COMMON_WORDS = """
    a about after all an and any are as at be been but by can could did do does for from get gets had has have he her
    here him his how i if in into is it its let may me more most must my need no not of off on one or our out over own
    s she should so some t than that the their them then there these they this those through to too two under up us
    use used uses very was we were what when where which while who whom whose why will with without would you your
    comment de des elle en est et il la le les que quel quelle qué se un una une ist das den der des die es ein eine
    für im in mit und von was wer wie wird el las los por wann
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_HAN = re.compile("[\u3400-\u9fff]{2,}")
_STEMMER = Stemmer.Stemmer("english")


class Query(NamedTuple):
    """A question, and the indices of the memories that answer it: none where nothing does.

    `unwanted` are indices that must not come before the first relevant one. `split` is empty where a collection has no
    halves.
    """

    text: str
    kind: str
    relevant: frozenset[int]
    unwanted: frozenset[int]
    split: str


class Store(NamedTuple):
    """Memories that are searched together, and the questions put to them."""

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]


class Collection(NamedTuple):
    """Stores whose figures are reported together."""

    name: str
    stores: tuple[Store, ...]


def corpus_files(folder: Path = CORPUS) -> list[Path]:
    """The worlds of our own corpus, by name."""
    return sorted(folder.glob("*.json"))


def read_corpus(files: Iterable[Path]) -> Collection:
    """Our own corpus: each file a world, each world a store."""
    return Collection("corpus", tuple(_world(json.loads(path.read_text(encoding="utf-8"))) for path in files))


def read(path: Path) -> Collection:
    """A collection file of either form: a world of our corpus (an object), or a list of stores."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, dict):
        return Collection(path.stem, (_world(content),))
    return Collection(path.stem, tuple(map(_listed_store, content)))


def merged(collection: Collection) -> Collection:
    """The same collection as one store: each question has to find its answer among everybody's memories."""
    documents: list[Document] = []
    queries: list[Query] = []
    for store in collection.stores:
        first = len(documents)
        documents += [
            document._replace(superseded_by=None if document.superseded_by is None else document.superseded_by + first)
            for document in store.documents
        ]
        queries += [
            query._replace(
                relevant=frozenset(index + first for index in query.relevant),
                unwanted=frozenset(index + first for index in query.unwanted),
            )
            for query in store.queries
        ]
    return Collection(f"{collection.name}, merged", (Store("merged", tuple(documents), tuple(queries)),))


def in_split(collection: Collection, split: str) -> Collection:
    """The collection with the questions of one half; `all` and questions without halves stay."""
    if split == "all":
        return collection
    return collection._replace(
        stores=tuple(
            store._replace(queries=tuple(query for query in store.queries if query.split in ("", split)))
            for store in collection.stores
        )
    )


def split_of(query: str) -> str:
    """The half a question belongs to: by a hash of its words, so that a question lies in one half in every world."""
    return SPLITS[hashlib.sha256(query.encode()).digest()[0] % 2]


def content_words(memories: Iterable[Mapping[str, Any]]) -> set[str]:
    """The content words of memories of the corpus: their English stems; pairs of Han characters."""
    fields = ("key", "title", "text")
    return set(
        chain.from_iterable(
            _content_words(text)
            for memory in memories
            for text in (*(memory.get(name, "") for name in fields), *memory["tags"])
        )
    )


def shared_words(query: str, told: set[str]) -> set[str]:
    """The content words of a query that memories have as well."""
    return told.intersection(_content_words(query))


def problems(world: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a world of the corpus, a sentence each; nothing where it is sound."""
    ids = [memory["id"] for memory in world["memories"]]
    known = set(ids)
    told = content_words(world["memories"])
    yield from (f"The id {id_} is used twice." for id_ in _repeated(ids))
    yield from (f"Two memories say the same: {text!r}." for text in _repeated(m["text"] for m in world["memories"]))
    yield from (f"The query {text!r} is asked twice." for text in _repeated(q["query"] for q in world["queries"]))
    for memory in world["memories"]:
        yield from _memory_problems(memory, known)
    for query in world["queries"]:
        yield from _query_problems(query, known)
        if query["kind"] in ("nonsense", "off-topic", "off-topic-shared-word"):
            shares = bool(shared_words(query["query"], told))
            if shares != (query["kind"] == "off-topic-shared-word"):
                yield f"The label {query['kind']} of {query['query']!r} is wrong: shares a word is {shares}."


def _memory_problems(memory: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    name = memory["id"]
    if not memory["text"].strip() or not memory["key"].strip():
        yield f"{name} is empty."
    for field, allowed in (("type", TYPES), ("scope", SCOPES), ("system", SYSTEMS)):
        if memory[field] not in allowed:
            yield f"{name} has an unknown {field}: {memory[field]}."
    if not re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", memory["created"]):
        yield f"{name} was created on no day: {memory['created']}."
    if memory.get("superseded_by", name) not in known or memory.get("superseded_by") == name:
        yield f"{name} is superseded by what does not exist."


def _query_problems(query: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    text, kind = query["query"], query["kind"]
    named = [*query["relevant"], *query["not"]]
    if kind not in ANSWERABLE_KINDS + UNANSWERABLE_KINDS:
        yield f"{text!r} is of an unknown kind: {kind}."
    if (kind in ANSWERABLE_KINDS) != bool(query["relevant"]):
        yield f"{text!r} is {kind} and has {len(query['relevant'])} answers."
    yield from (f"{text!r} names {id_}, which does not exist." for id_ in named if id_ not in known)
    yield from (f"{text!r} names {id_} twice." for id_ in _repeated(named))
    if query["split"] != split_of(text):
        yield f"{text!r} lies in the wrong half."


def _repeated(items: Iterable[str]) -> set[str]:
    ordered = sorted(items)
    return {first for first, second in pairwise(ordered) if first == second}


def _content_words(text: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    for word in re.findall(r"\w+", folded):
        yield from (first + second for run in _HAN.findall(word) for first, second in pairwise(run))
        if word not in _COMMON:
            yield _STEMMER.stemWord(word)


def _world(content: Mapping[str, Any]) -> Store:
    memories: Sequence[Mapping[str, Any]] = content["memories"]
    index = {memory["id"]: number for number, memory in enumerate(memories)}
    documents = tuple(
        Document(
            memory["key"],
            memory["text"],
            tuple(memory["tags"]),
            title=memory.get("title", ""),
            superseded_by=index[memory["superseded_by"]] if "superseded_by" in memory else None,
        )
        for memory in memories
    )
    queries = tuple(
        Query(
            query["query"],
            query["kind"],
            frozenset(index[id_] for id_ in query["relevant"]),
            frozenset(index[id_] for id_ in query["not"]),
            query["split"],
        )
        for query in content["queries"]
    )
    return Store(content["name"], documents, queries)


def _listed_store(content: Mapping[str, Any]) -> Store:
    documents = tuple(Document("", text) for text in content["memories"])
    queries = tuple(
        Query(query["query"], str(query["category"]), frozenset(query["relevant"]), frozenset(), "")
        for query in content["queries"]
        if query["relevant"] and query["category"] != UNANSWERABLE_CATEGORY
    )
    return Store(content["name"], documents, queries)
