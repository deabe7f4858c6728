"""How many tokens a model will see in a text: an estimate without any tokenizer, rather too many than too few.

No count can be right for every model, and a tokenizer is megabytes that would have to be downloaded. What they have in
common is that they split texts in the same places: a word with the space before it, a digit, a sign, and a few bytes of
any script that they have seen little of. So each kind of run has a price, in tenths of a token.

The prices were fitted against the tokenizers of Llama 2, Claude 2, and OpenAI's cl100k and o200k (docs/contract.md has
the figures). Newer vocabularies are larger and need fewer tokens; Llama 2's, the smallest, sets the price of digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TENTHS = 10

# In this order: what has letters and digits in one long run (hashes, encoded bytes) is no word.
_RUN = re.compile(
    "(?P<encoded>(?=[A-Za-z]{0,19}[0-9])[A-Za-z0-9+=]{20,})"
    "|(?P<word>[A-Z]?[a-z]+)"
    "|(?P<capitals>[A-Z]+)"
    "|(?P<digits>[0-9]+)"
    "|(?P<signs>[!-/:-@\\[-`{-~]+)"
    "|(?P<space>[ \t-\r]+)"
    "|(?P<cyrillic>[\u0400-\u04ff]+)"
    "|(?P<accented>[\u00a0-\u024f]+)"
    "|(?P<known>[\u0250-\u03ff\u0500-\u06ff\u0900-\u097f\u2010-\u22ff\u3000-\u30ff\uff00-\uffef]+)"
    "|(?P<dense>[\u0e00-\u0e7f\u4e00-\u9fff\uac00-\ud7a3]+)"
    "|(?P<rare>[\0-\uffff])"
    "|(?P<astral>.)"
)

_SHORT, _MIDDLE, _LONG = 3, 6, 9


def _word(run: str) -> int:
    """The commonest words are one token; long ones, and those of other languages than English, are put together."""
    length = len(run)
    return (
        10 if length <= _SHORT else 13 if length <= _MIDDLE else 17 if length <= _LONG else 3 + length * 25 // _TENTHS
    )


def _space(run: str) -> int:
    """A single space belongs to the word after it; line ends and indentation are tokens of their own."""
    return 0 if run == " " else 10 * run.count("\n") + 5 + len(run) // 4


_PRICE: dict[str, Callable[[str], int]] = {
    "encoded": lambda run: 9 * len(run),
    "word": _word,
    "capitals": lambda run: 10 if len(run) == 1 else 7 * len(run),
    "digits": lambda run: 11 * len(run),
    "signs": lambda run: 9 * len(run),
    "space": _space,
    "cyrillic": lambda run: 6 * len(run),
    "accented": lambda run: 20 * len(run),
    "known": lambda run: 14 * len(run),
    "dense": lambda run: 18 * len(run),
    "rare": lambda _: 30,
    "astral": lambda _: 40,
}


def estimated_tokens(text: str) -> int:
    """Tokens of a text, rounded up: 0 for an empty one, else at least 1, and 1 for 40 code points. Linear in length."""
    tenths = sum(_PRICE[run.lastgroup or "astral"](run.group()) for run in _RUN.finditer(text))
    return max(-(-tenths // _TENTHS), min(1, len(text)))
