"""Misspelt words: which word of a store somebody may have meant.

Conservative, because a wrong guess is an answer to a question that nobody asked: short words are never guessed at, few
edits are allowed, and only words that the store really has are offered. Knows no store itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memory_recall.cancellation import Cancellation
from memory_recall.ranking.lexical import Document
from memory_recall.text import tokens

SHORTEST = 4
"""Letters of the shortest word that is guessed at: with three, nearly everything is one edit from something."""
_MOST_WORDS = 32
"""Words of the longest question that is guessed at. Nobody misspells every word of a page."""
_CHECK_EVERY = 1_000


def edits_allowed(length: int) -> int:
    """How many edits a misspelt word of that length may be away from the right one.

    An edit is a letter more, a letter less, another letter, or two neighbours swapped.
    """
    return 0 if length < SHORTEST else 1 if length < 8 else 2 if length < 12 else 3


def closest(word: str, vocabulary: Iterable[str], limit: int = 3, cutoff: int | None = None) -> list[str]:
    """The entries of a vocabulary that `word` may be a misspelling of, nearest first, then in the order given.

    Words or whole names; case, accents and width do not count. `cutoff` is the most edits allowed, by the word's length
    where it is None. A word of up to five letters must begin with the right letter or have its first two swapped.
    """
    candidates = list(dict.fromkeys(vocabulary))
    normalised = [tokens.normalise(candidate) for candidate in candidates]
    plausible = distances(tokens.normalise(word), normalised, cutoff)
    plausible.sort(key=lambda found: (found[1], found[0]))
    return [candidates[index] for index, _ in plausible[:limit]]


def distances(word: str, vocabulary: Sequence[str], cutoff: int | None = None) -> list[tuple[int, int]]:
    """Where in a vocabulary the words are that `word` may misspell, and how many edits away. All are normalised."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    allowed = edits_allowed(len(word)) if cutoff is None else cutoff
    found = process.extract(word, vocabulary, scorer=OSA.distance, processor=None, score_cutoff=allowed, limit=None)
    return [
        (index, int(distance)) for other, distance, index in found if not distance or _begins_alike(word, str(other))
    ]


def corrected_query(query: str, documents: Sequence[Document], *, cancellation: Cancellation | None = None) -> str:
    """The words (or stems) of the documents that the query's words are misspellings of; empty where they are none.

    For a query of which no word was found. At least half of its words must be near to words of the documents: a single
    near word in a longer question is chance. A page is no query. Raises `Cancelled`.
    """
    vocabulary: list[str] = []

    def nearest(word: str) -> str | None:
        if not vocabulary:
            known = words_of(documents, cancellation)
            # With the stems as well: "tokne" is one edit from token, and two from the tokens that the text has.
            vocabulary.extend(one for one in dict.fromkeys((*known, *tokens.stems(known))) if is_guessable(one))
        return next(iter(closest(word, vocabulary, limit=1)), None)

    return corrected_by(query, nearest)


def corrected_by(query: str, nearest: Callable[[str], str | None]) -> str:
    """As `corrected_query`, where `nearest` finds the word or stem that a word is most likely a misspelling of."""
    asked = list(dict.fromkeys(word for word in tokens.words(query) if word not in tokens.STOP_WORDS))
    guessable = [word for word in asked if is_guessable(word)]
    if not guessable or 2 * len(guessable) < len(asked) or len(asked) > _MOST_WORDS:
        return ""
    corrections = [found for word in guessable if (found := nearest(word)) is not None]
    return " ".join(corrections) if 2 * len(corrections) >= len(asked) else ""


def words_of(documents: Sequence[Document], cancellation: Cancellation | None = None) -> list[str]:
    """The distinct words of documents, without stop words, sorted."""
    pieces: set[str] = set()
    for count, (title, text, tags) in enumerate(documents):
        if cancellation is not None and not count % _CHECK_EVERY:
            cancellation.check()
        pieces.update(title.split(), text.split(), *(tag.split() for tag in tags))
    words: set[str] = set()
    for count, piece in enumerate(pieces):
        if cancellation is not None and not count % _CHECK_EVERY:
            cancellation.check()
        words.update(tokens.words(piece))
    return sorted(words - tokens.STOP_WORDS)


def is_guessable(word: str) -> bool:
    """Whether it is a word of letters: numbers and pairs of Chinese characters have no misspellings, only others."""
    return len(word) >= SHORTEST and word.isalpha()


def _begins_alike(asked: str, other: str) -> bool:
    if len(asked) > 5 or asked[:1] == other[:1]:
        return True
    return asked[:2] == other[1::-1]
