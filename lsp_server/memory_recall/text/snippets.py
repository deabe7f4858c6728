"""The part of a long text that is worth a line: where a question's words stand.

Pure functions of text to text. What comes out is as untrusted as what went in.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from memory_recall.text import tokens

ELLIPSIS = "…"
_LOOKED_AT = 200_000
"""Code points of a text that are searched for the words; a snippet of what lies beyond is not worth its time."""
_PIECE = re.compile(r"\S+")
_PUNCTUATION = ".,;:!?()[]{}<>\"'`*"


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    words: frozenset[str]


def snippet(text: str, words: Collection[str], width: int = 240) -> str:
    """At most `width` code points of the text, on one line, around the place that has most of the words.

    `words` are stems, as in `Score.words`. Cut between words where there are any, and marked with an ellipsis where
    something is left out. A text that fits is returned whole (its white space folded); one without the words, from its
    beginning.
    """
    line = " ".join(text[:_LOOKED_AT].split())
    complete = len(text) <= _LOOKED_AT
    if complete and len(line) <= width:
        return line
    start = _best_start(_mentions(line, frozenset(words)), width)
    return _cut(line, start, width, complete)


def shortened(text: str, width: int) -> str:
    """The beginning of a text, at most `width` code points; where it is cut, it ends at a word and an ellipsis."""
    if len(text) <= width:
        return text
    return text[: _end_of_word(text, 0, max(0, width - 1))].rstrip() + ELLIPSIS


def _mentions(line: str, words: frozenset[str]) -> list[_Mention]:
    if not words:
        return []
    seen: dict[str, frozenset[str]] = {}
    mentions: list[_Mention] = []
    initials = {word[:1] for word in words}
    for match in _PIECE.finditer(line):
        piece = match.group()
        if not piece.isascii() and len(piece) > 2:  # a whole sentence may be one piece: find the place in it
            mentions += _mentions_inside(piece, match.start(), words)
            continue
        found = seen.get(piece)
        if found is None:
            found = seen[piece] = _found_in(piece, words, initials)
        if found:
            mentions.append(_Mention(match.start(), match.end(), found))
    return mentions


def _found_in(piece: str, words: frozenset[str], initials: Collection[str]) -> frozenset[str]:
    """The words that a piece of ASCII has. Most have none, which a plain word's first letter tells: stems keep it."""
    bare = piece.strip(_PUNCTUATION)
    if bare.isalpha() and (bare.islower() or bare.istitle()) and bare[0].lower() not in initials:
        return frozenset()
    return words.intersection(tokens.stems(tokens.terms(piece)))


def _mentions_inside(piece: str, offset: int, words: frozenset[str]) -> list[_Mention]:
    found = words.intersection(tokens.stems(tokens.terms(piece)))
    lowered = piece.lower()
    mentions = []
    for word in found:
        place = lowered.find(word) if len(lowered) == len(piece) else -1
        start = offset + max(0, place)
        mentions.append(_Mention(start, start + (len(word) if place >= 0 else len(piece)), frozenset((word,))))
    return sorted(mentions, key=lambda mention: mention.start)


def _best_start(mentions: list[_Mention], width: int) -> int:
    """Where to begin: the first window that holds the most distinct words, with a third of it as a lead-in."""
    room = width - 2
    best, best_count = 0, 0
    most = len(frozenset[str]().union(*(mention.words for mention in mentions)))
    for number, first in enumerate(mentions):
        if best_count == most:
            break
        inside: set[str] = set()
        last = first
        for mention in mentions[number : number + room]:
            if mention.end - first.start > room:
                break
            inside |= mention.words
            last = mention
        if len(inside) > best_count:
            best_count = len(inside)
            spare = room - (last.end - first.start)
            best = max(0, first.start - min(spare // 2, width // 3))
    return best


def _cut(line: str, start: int, width: int, complete: bool) -> str:
    start = max(0, min(start, len(line) - width)) if complete else start
    if start:
        start = _start_of_word(line, start, width)
    room = width - bool(start)
    end = len(line) if complete and len(line) - start <= room else _end_of_word(line, start, start + room - 1)
    before = ELLIPSIS if start else ""
    after = "" if complete and end == len(line) else ELLIPSIS
    return before + line[start:end].strip() + after


def _start_of_word(line: str, start: int, width: int) -> int:
    """The next beginning of a word, unless that is far: then in the middle of a long one (or of unspaced script)."""
    if line[start - 1] == " ":
        return start
    space = line.find(" ", start, start + min(width // 4, 24))
    return space + 1 if space >= 0 else start


def _end_of_word(text: str, start: int, end: int) -> int:
    if end >= len(text):
        return len(text)
    if text[end].isspace():
        return end
    nearest = max(start, end - 24)
    for place in range(end - 1, nearest, -1):
        if text[place].isspace():
            return place
    return end
