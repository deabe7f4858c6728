"""Whether two memories say the same, so that one answer can stand for both.

Careful, because folding hides: memories that differ in a number or a negation say different things, however many words
they share, and two short values say nothing of each other. Knows no store and no ranking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_recall.model import Memory
from memory_recall.text import tokens

SIMILARITY = 0.9
"""The share of common words (Jaccard) from which on two texts say the same."""
FEWEST_WORDS = 4
"""Shorter texts (`5`, `true`, `bun`) say the same only about the same thing: under the same title."""
_COMPARED = 20_000
"""Code points of a text that are compared; longer ones must be equal."""

_WORDS_THAT_TURN = """
    not no never none nor neither without cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt
    couldnt mustnt hasnt havent hadnt instead except unless only always before after more less than enable enabled
    disable disabled allow allowed deny denied forbid forbidden true false on off
"""
_TURNING = frozenset(_WORDS_THAT_TURN.split())
_TURNING_CHARACTERS = frozenset("不没沒无無非未别勿禁")
"""Words, and characters of Chinese and Japanese words, that turn the meaning of a sentence round."""


_PIECES = re.compile("[a-z0-9]+")
_HUMP = re.compile("[a-z][A-Z]")
_PREFIX = 3
_ALIKE_AT_FIRST_SIGHT = 0.6
"""The share of common beginnings of words below which two texts cannot share `SIMILARITY` of their stems."""


def groups(memories: Sequence[Memory]) -> list[list[int]]:
    """The numbers of memories that say the same, in the order of the first of each group; each memory is in one."""
    found: list[list[int]] = []
    sketches: list[frozenset[str] | None] = []
    texts: dict[int, Text] = {}

    def text_of(number: int) -> Text:
        if number not in texts:
            texts[number] = Text.of(memories[number])
        return texts[number]

    for number, memory in enumerate(memories):
        sketch = _sketch(memory.text)
        for group, other in zip(found, sketches, strict=True):
            if _may_be_alike(sketch, other) and say_the_same(text_of(number), text_of(group[0])):
                group.append(number)
                break
        else:
            found.append([number])
            sketches.append(sketch)
    return found


def _sketch(text: str) -> frozenset[str] | None:
    """The beginnings of the words of a text, which nearly every stem keeps; None for a text of which that is not true.

    Nor for one so short that a single word decides (`dying` and `die` are one stem).
    """
    if not text.isascii() or len(text) > _COMPARED or _HUMP.search(text):
        return None
    pieces = _PIECES.findall(text.lower())
    return frozenset([piece[:_PREFIX] for piece in pieces]) if len(pieces) > 2 * FEWEST_WORDS else None


def _may_be_alike(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    if one is None or other is None:
        return True
    most = _ALIKE_AT_FIRST_SIGHT * max(len(one), len(other))
    return min(len(one), len(other)) >= most and len(one & other) >= most


@dataclass(frozen=True, slots=True)
class Text:
    """What is compared of a memory: the stems of its words as a sequence and as a set, and what must be equal."""

    title: tuple[str, ...]
    sequence: tuple[str, ...]
    stems: frozenset[str]
    decisive: frozenset[str]
    whole: bool
    successors: frozenset[str]
    name: tuple[str, str]

    @classmethod
    def of(cls, memory: Memory) -> Text:
        """The text of a memory, prepared once for many comparisons."""
        words = tokens.words(memory.text[:_COMPARED])
        sequence = tuple(tokens.stems(words))
        return cls(
            title=tuple(tokens.stems(tokens.words(memory.title))),
            sequence=sequence,
            stems=frozenset(sequence),
            decisive=frozenset(word for word in words if _is_decisive(word)),
            whole=len(memory.text) <= _COMPARED,
            successors=frozenset(standing.successor for standing in memory.standings if standing.successor),
            name=(memory.system, memory.id),
        )


def say_the_same(one: Text, other: Text) -> bool:
    """Whether two texts are equal but for case, punctuation and endings, or nearly so.

    Never a memory and the one that superseded it.
    """
    if one.name[1] in other.successors or other.name[1] in one.successors:
        return False
    if len(one.sequence) < FEWEST_WORDS or len(other.sequence) < FEWEST_WORDS:
        return one.sequence == other.sequence and one.title == other.title
    if one.sequence == other.sequence:
        return one.whole == other.whole
    if not (one.whole and other.whole) or one.decisive != other.decisive:
        return False
    return len(one.stems & other.stems) >= SIMILARITY * len(one.stems | other.stems)


def _is_decisive(word: str) -> bool:
    return word in _TURNING or not word.isalpha() or not _TURNING_CHARACTERS.isdisjoint(word)
