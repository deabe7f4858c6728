"""What a key looks like inside a sentence: the characters it may be made of, and where a run of them ends.

A *run* is a stretch of key characters: letters, digits and combining marks of any script, `_`, the separators
`- . / :`, and `@` and a backslash, which make a run something else than a key (an address, a path). Scripts written
without spaces, and Hangul, whose particles cling to any word, end a run of another script: in `使用auth-flow方案` the
middle stands alone. A key that needs other characters can be cited in brackets or in a code span.

The classes of marks and of unspaced scripts are large, and every expression that names them costs milliseconds to
compile. So each is compiled when a text first needs it, and a text of ASCII alone needs none of those classes.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c"
    "\u3041-\u30fa\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""The inside of a character class: Han, kana, bopomofo, Yi, Hangul, Thai, Lao, Burmese, Khmer."""

_NOWHERE = "\U0010ffff"
"""The inside of a character class: a character that no text of ASCII has."""

SEGMENTED = re.compile(r"[^\-_./:][\-_./:]+[^\-_./:]")
"""Found in a name of two or more segments."""

SENTENCE_END = ".:\\"
"""Key characters that close a sentence, or a line of Markdown, when they stand at the end of a run."""


class Expressions:
    """The regular expressions over texts whose marks and unspaced letters are given as insides of character classes."""

    def __init__(self, *, marks: str | None = None, unspaced: str = _UNSPACED) -> None:
        self._given_marks = marks
        self._unspaced = unspaced

    @cached_property
    def run(self) -> re.Pattern[str]:
        """A run, whatever its scripts."""
        return re.compile(rf"[{self._key}]+")

    @cached_property
    def spaced_run(self) -> re.Pattern[str]:
        """The parts of a run between letters of unspaced scripts."""
        return re.compile(rf"(?:{self._spaced_key})+")

    @cached_property
    def candidate(self) -> re.Pattern[str]:
        """Whatever on a line can hold a reference, in one pass; `lastgroup` says what it looks like."""
        return re.compile(
            # `[[…]]` without another `[[` or `]]` inside. Longer than any key with its system and its alias: not one.
            r"(?P<bracket>\[\[(?!\[)(?:[^\[\]]|\[(?!\[)|\](?!\])){1,6000}+\]\])"
            # A run that has a separator. The many plain words of a text are passed over inside the expression.
            rf"|(?<![{self._key}])(?P<run>(?:[^\W_]++|[{self._marks}])*+[\-./:@\\_][{self._key}]*+)"
            rf"|(?<!{self._spaced_key})(?P<ulid>[0-9A-Z]{{26}})(?!{self._spaced_key})"
        )

    @cached_property
    def script_boundary(self) -> re.Pattern[str]:
        """Between two characters of which one belongs to an unspaced script."""
        return re.compile(rf"(?<=[{self._unspaced}])|(?=[{self._unspaced}])")

    @cached_property
    def name_end(self) -> re.Pattern[str]:
        """Where a name that may hold spaces can end: never inside a run of one script."""
        key, unspaced = self._key, self._unspaced
        return re.compile(
            rf"(?<=\S)(?:(?![{key}])|(?<![{key}])|(?<=[{unspaced}])|(?=[{unspaced}])|(?=[.:\\_]+(?![{key}])))"
        )

    @cached_property
    def key_character(self) -> re.Pattern[str]:
        """One character of a run."""
        return re.compile(rf"[{self._key}]")

    @cached_property
    def unspaced_character(self) -> re.Pattern[str]:
        """One character of an unspaced script."""
        return re.compile(rf"[{self._unspaced}]")

    @cached_property
    def name_character(self) -> re.Pattern[str]:
        """A letter or a digit."""
        return re.compile(rf"(?![_{self._marks}])[{self._word}]")

    @cached_property
    def emphasis_opens(self) -> re.Pattern[str]:
        """Where `_` opens emphasis in Markdown."""
        return re.compile(rf"(?<![{self._word}])_+(?=[^\s_])")

    @cached_property
    def emphasis_closes(self) -> re.Pattern[str]:
        """Where `_` closes emphasis in Markdown."""
        return re.compile(rf"(?<=[^\s_])_+(?![{self._word}])")

    @cached_property
    def _marks(self) -> str:
        return _all_marks() if self._given_marks is None else self._given_marks

    @property
    def _word(self) -> str:
        return rf"\w{self._marks}"

    @property
    def _key(self) -> str:
        return rf"{self._word}\-./:@\\"

    @property
    def _spaced_key(self) -> str:
        return rf"(?![{self._unspaced}])[{self._key}]"


def _all_marks() -> str:
    """The inside of a character class: combining marks, joiners and selectors.

    `\\w` of `re` has the letters but not the marks that many scripts write their vowels with. The joiners stand inside
    words of Persian and of Indic scripts.
    """
    blocks = (range(0x0300, 0x1E00), range(0x20D0, 0x2100), range(0x2CEF, 0x3100), range(0xA66F, 0xAC00))
    marks = (code for block in blocks for code in block if unicodedata.category(chr(code))[0] == "M")
    return "\u200c\u200d\ufe00-\ufe0f\ufe20-\ufe2f" + "".join(_ranges(marks))


def _ranges(codes: Iterable[int]) -> Iterator[str]:
    first = previous = -2
    for code in (*codes, sys.maxunicode + 1):
        if code != previous + 1:
            if first >= 0:
                yield chr(first) if first == previous else f"{chr(first)}-{chr(previous)}"
            first = code
        previous = code


OF_ASCII = Expressions(marks=_NOWHERE, unspaced=_NOWHERE)
"""For texts of nothing but ASCII, where they find the very same."""

OF_EVERY_SCRIPT = Expressions()
"""For all texts."""


def expressions(text: str) -> Expressions:
    """The expressions to search a text with."""
    return OF_ASCII if text.isascii() else OF_EVERY_SCRIPT


def is_key_character(character: str) -> bool:
    """Whether a character (or none) continues a run."""
    return expressions(character).key_character.match(character) is not None


def is_unspaced(character: str) -> bool:
    """Whether a character (or none) belongs to a script that ends the runs of others."""
    return not character.isascii() and OF_EVERY_SCRIPT.unspaced_character.match(character) is not None


def has_unspaced(text: str, start: int, end: int) -> bool:
    """Whether a stretch holds a character of an unspaced script."""
    return not text.isascii() and OF_EVERY_SCRIPT.unspaced_character.search(text, start, end) is not None


def is_name(text: str) -> bool:
    """Whether there is a letter or a digit in it: punctuation alone names nothing."""
    return expressions(text).name_character.search(text) is not None


def first_emphasis(text: str, start: int, end: int) -> int:
    """Where on a line `_` first opens emphasis; `end` where it does not."""
    match = expressions(text).emphasis_opens.search(text, start, end)
    return match.start() if match else end


def last_emphasis(text: str, start: int, end: int) -> int:
    """Where on a line `_` last closes emphasis; -1 where it does not."""
    offset = -1
    for match in expressions(text).emphasis_closes.finditer(text, start, end):
        offset = match.start()
    return offset
