"""What a key looks like inside a sentence: the characters it may be made of, and where a run of them ends.

A *run* is a stretch of key characters: letters, digits and combining marks of any script, `_`, the separators
`- . / :`, and `@` and a backslash, which make a run something else than a key (an address, a path). Scripts written
without spaces, and Hangul, whose particles cling to any word, end a run of another script: in `使用auth-flow方案` the
middle stands alone. A key that needs other characters can be cited in brackets or in a code span.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c"
    "\u3041-\u30fa\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""The inside of a character class: Han, kana, bopomofo, Yi, Hangul, Thai, Lao, Burmese, Khmer."""


def _ranges(codes: Iterable[int]) -> Iterator[str]:
    first = previous = -2
    for code in (*codes, sys.maxunicode + 1):
        if code != previous + 1:
            if first >= 0:
                yield chr(first) if first == previous else f"{chr(first)}-{chr(previous)}"
            first = code
        previous = code


# `\w` of `re` has the letters but not the marks that many scripts write their vowels with. The joiners stand inside
# words of Persian and of Indic scripts.
_MARKED_BLOCKS = (range(0x0300, 0x1E00), range(0x20D0, 0x2100), range(0x2CEF, 0x3100), range(0xA66F, 0xAC00))
_MARKS = "\u200c\u200d\ufe00-\ufe0f\ufe20-\ufe2f" + "".join(
    _ranges(code for block in _MARKED_BLOCKS for code in block if unicodedata.category(chr(code))[0] == "M")
)
_WORD = rf"\w{_MARKS}"
_KEY = rf"{_WORD}\-./:@\\"
_SPACED_KEY = rf"(?![{UNSPACED}])[{_KEY}]"

RUN = re.compile(rf"[{_KEY}]+")
"""A run, whatever its scripts."""

SPACED_RUN = re.compile(rf"(?:{_SPACED_KEY})+")
"""The parts of a run between letters of unspaced scripts."""

CANDIDATE = re.compile(
    # `[[…]]` without another `[[` or `]]` inside. Longer than any key with its system and its alias: not one.
    r"(?P<bracket>\[\[(?!\[)(?:[^\[\]]|\[(?!\[)|\](?!\])){1,6000}+\]\])"
    # A run that has a separator. The many plain words of a text are passed over inside the expression.
    rf"|(?<![{_KEY}])(?P<run>(?:[^\W_]++|[{_MARKS}])*+[\-./:@\\_][{_KEY}]*+)"
    rf"|(?<!{_SPACED_KEY})(?P<ulid>[0-9A-Z]{{26}})(?!{_SPACED_KEY})"
)
"""Whatever on a line can hold a reference, in one pass; `lastgroup` says what it looks like."""

SEGMENTED = re.compile(r"[^\-_./:][\-_./:]+[^\-_./:]")
"""Found in a name of two or more segments."""

SCRIPT_BOUNDARY = re.compile(rf"(?<=[{UNSPACED}])|(?=[{UNSPACED}])")
"""Between two characters of which one belongs to an unspaced script."""

NAME_END = re.compile(
    rf"(?<=\S)(?:(?![{_KEY}])|(?<![{_KEY}])|(?<=[{UNSPACED}])|(?=[{UNSPACED}])|(?=[.:\\_]+(?![{_KEY}])))"
)
"""Where a name that may hold spaces can end: never inside a run of one script."""

SENTENCE_END = ".:\\"
"""Key characters that close a sentence, or a line of Markdown, when they stand at the end of a run."""

_KEY_CHARACTER = re.compile(rf"[{_KEY}]")
_UNSPACED_CHARACTER = re.compile(rf"[{UNSPACED}]")
_NAME_CHARACTER = re.compile(rf"(?![_{_MARKS}])[{_WORD}]")
_EMPHASIS_OPENS = re.compile(rf"(?<![{_WORD}])_+(?=[^\s_])")
_EMPHASIS_CLOSES = re.compile(rf"(?<=[^\s_])_+(?![{_WORD}])")


def is_key_character(character: str) -> bool:
    """Whether a character (or none) continues a run."""
    return _KEY_CHARACTER.match(character) is not None


def is_unspaced(character: str) -> bool:
    """Whether a character (or none) belongs to a script that ends the runs of others."""
    return _UNSPACED_CHARACTER.match(character) is not None


def has_unspaced(text: str, start: int, end: int) -> bool:
    """Whether a stretch holds a character of an unspaced script."""
    return _UNSPACED_CHARACTER.search(text, start, end) is not None


def is_name(text: str) -> bool:
    """Whether there is a letter or a digit in it: punctuation alone names nothing."""
    return _NAME_CHARACTER.search(text) is not None


def first_emphasis(text: str, start: int, end: int) -> int:
    """Where on a line `_` first opens emphasis; `end` where it does not."""
    match = _EMPHASIS_OPENS.search(text, start, end)
    return match.start() if match else end


def last_emphasis(text: str, start: int, end: int) -> int:
    """Where on a line `_` last closes emphasis; -1 where it does not."""
    offset = -1
    for match in _EMPHASIS_CLOSES.finditer(text, start, end):
        offset = match.start()
    return offset
