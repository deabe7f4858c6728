"""Text that somebody else wrote, made harmless for where it goes: a terminal, a Markdown page, a log line.

A memory is data. Nothing in it may move a cursor, colour a line, reorder letters, become a link, an image or HTML, or
forge a second log line. Each destination has one function here and no other way in.
"""

from __future__ import annotations

import re
from functools import cache

# Cc (but tab and newline), line and paragraph separators, lone surrogates, and the characters that reorder or hide
# text: bidi and format controls, fillers, tag characters, the selectors of rare variants (whole messages have been
# hidden in those), and what has no width, other than the two joiners and sixteen selectors that scripts and emoji need.
_HIDDEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LINE_BREAKING = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@cache
def hidden() -> re.Pattern[str]:
    """What is shown as escapes. Compiled when first met: most texts show at once that they have none of it."""
    return re.compile(_HIDDEN)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    named = _NAMED.get(character)
    if named:
        return named
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def for_terminal(text: str, *, single_line: bool = False) -> str:
    """Text that a terminal shows letter by letter: control, bidi and hidden characters appear as visible escapes.

    Newlines and tabs stay, unless `single_line` asks for one line.
    """
    unified = text.replace("\r\n", "\n")
    shown = unified if is_plain(unified) else hidden().sub(_escape, unified)
    return shown.replace("\n", "\\n").replace("\t", "\\t") if single_line else shown


def is_plain(text: str) -> bool:
    """Whether a glance shows that nothing in a text is hidden: all is printable and Latin-1, or a newline or a tab.

    Beyond Latin-1 there are characters that count as printable and show nothing.
    """
    if not text.isascii():
        try:
            text.encode("latin-1")
        except UnicodeEncodeError:
            return False
    return text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()


def for_log(text: str) -> str:
    """Text that stays on one line of a log, whatever line ends a reader of that log knows."""
    return text if text.isascii() and text.isprintable() else re.sub(_LINE_BREAKING, _escape, text)


def for_markdown_block(text: str) -> str:
    """A fenced code block that holds the text and out of which nothing in the text can break.

    The fence is longer than any run of backticks inside: no renderer sees a link, an image, a command or HTML.
    """
    shown = for_terminal(text)
    longest = _longest_run_of_ticks(shown)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def for_markdown_code(text: str) -> str:
    """The text as a code span within a Markdown line: shown letter by letter, nothing in it escaped or active."""
    shown = for_terminal(" ".join(text.split()), single_line=True)
    longest = _longest_run_of_ticks(shown)
    fence = "`" * (longest + 1)
    padding = " " if not shown or shown[0] == "`" or shown[-1] == "`" else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def _longest_run_of_ticks(text: str) -> int:
    return max(map(len, re.findall(r"`+", text))) if "`" in text else 0
