"""Words: how a text, a key and a question are cut into the things that can be compared.

Everything here is local to a run of characters without white space: the words of a text are the words of its
`str.split()` pieces, one after another. Ranking leans on that (it looks only at the pieces that can matter).

Knows nothing of memories, scores or stores.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Scripts written without spaces between words: their words are overlapping pairs of characters. Thai, Lao, Burmese and
# Khmer; Hangul jamo; kana (with iteration and length marks, without the middle dot); Han; Hangul syllables.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs of the Indic scripts are no letters to `\w`; without them every Hindi word would fall apart. (U+0964 and
# U+0965 are full stops.)
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_WORD = rf"[\w{_INDIC}{_UNSPACED}]+"

# Marks that search ignores: accents and their relatives, Hebrew points, Arabic vowels and tatweel. Not the kana voicing
# marks (U+3099, U+309A) nor Indic signs, which make different letters.
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
_LETTERS = str.maketrans(
    {
        "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H",
        "ı": "i", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ŧ": "t", "Ŧ": "T",
    }
)  # fmt: skip
_LETTER = re.compile(f"[{''.join(map(chr, _LETTERS))}]")
_ASCII_BYTES = bytes(range(128))

APOSTROPHES = "'’‘ʼ"
JOINERS = "-_./‐"
"""What holds the parts of one name together: `auth-flow`, `user_id`, `db.url`, `db/migrate`."""
_ASCII_GLUE = "".join(character for character in APOSTROPHES + JOINERS if character.isascii()).encode()
_OTHER_GLUE = "".join(character for character in APOSTROPHES + JOINERS if not character.isascii())
_JOINER_CLASS = re.escape(JOINERS)
_APOSTROPHE = re.compile(rf"(?<=[^\W\d_])[{APOSTROPHES}](?=[^\W\d_])")
_NAME = re.compile(rf"{_WORD}(?:[{_JOINER_CLASS}]{_WORD})*")
_SEPARATOR = re.compile(f"[{_JOINER_CLASS}]")
_RUN = re.compile(f"([{_UNSPACED}]+)|([^{_UNSPACED}]+)")
_STARTS_UNSPACED = re.compile(f"[{_UNSPACED}]")
# Where a capital begins a new word: authFlow, sha256Hash, HTTPServer. The plural of an abbreviation (URLs) is one word.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))")
_NUMBERED = re.compile(r"([^\W\d_]{2,})(\d+)|(\d+)([^\W\d_]{2,})")

_STOP_WORDS = """
    a about after again aint all also am an and any anybody anyone anything are arent as at be because been
    before being both but by can cannot cant could couldnt did didnt do does doesnt doing done dont each either
    else ever every everyone everything few for from had hadnt has hasnt have havent having he her here hers him
    his how hows i if im in into is isnt it its itself ive just let lets like many may me might mine more most
    much must mustnt my myself neednt neither no nor not of off on once one or other ought our ours out over own
    per please same shall she should shouldnt shouldve so some somebody someone something such tell than that
    thats the their theirs them then there theres these they theyre theyve thing things this those through to
    too until up upon us use used uses using very via was wasnt we were werent weve what whatever whats when
    whens where wheres whether which while who whom whos whose why whys will with within without wont would
    wouldnt yes yet you your youre yours youve
    al avec che como con cual cuando dans das de del dem den der donde ein eine einem einen einer el elle et fur gli
    het ich il ils ist la las le les los nicht nous para pour que quel quelle qui quien sie sind sono sont und une
    uns von vous wie wir wo zu zum zur
    什么 甚么 怎么 怎样 如何 哪里 哪个 哪些 哪儿 为何 是否 多少 吗 呢 吧 的 了 是 在 我 你 我们 你们 他们 这个
    那个 です ます した ください どう どこ なに 何 誰 いつ は が を に で と も の か
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Question words, auxiliaries, pronouns, articles: what a question is made of and an answer is not.

Of English, and of the languages that teams write beside it as far as the word is nothing else to a developer: `die`,
`des`, `mit`, `est`, `su` and `es` stay words.
"""

# Pairs of characters that only glue a Chinese or Japanese sentence together; asked for only where nothing else is.
_GLUE_PAIR = re.compile("^(?:[\u3041-\u3096]{2}|.*[的了吗呢吧是のはをがに么].*)$")


@dataclass(frozen=True, slots=True)
class Name:
    """One name in a text: its parts in order, normalised. `auth-flow` and `authFlow` have the parts auth and flow."""

    parts: tuple[str, ...]

    @property
    def whole(self) -> str:
        """The parts written as one word, as somebody else may have spelt the name."""
        return "".join(self.parts)


def normalise(text: str) -> str:
    """The text as it is compared: NFKC, case folded, accents and invisible characters dropped.

    `café` and `cafe`, `ＡＰＩ` and `api` come out equal. The length may change.
    """
    return text.lower() if text.isascii() else _normalised(text, b"")


def squeeze(text: str) -> str:
    """The normalised text without the characters inside names: `e-mail` as `email`, `don't` as `dont`.

    Every word of `words` and every joined form of `terms` is a substring of it, which makes it a sound filter. White
    space stays where it is.
    """
    if text.isascii():
        return text.encode().lower().translate(None, _ASCII_GLUE).decode()
    squeezed = _normalised(text, _ASCII_GLUE)
    for character in _OTHER_GLUE:
        if character in squeezed:
            squeezed = squeezed.replace(character, "")
    return squeezed


def _normalised(text: str, dropped: bytes) -> str:
    """The normalised text without the ASCII characters to drop.

    Most texts hold a few dashes and emoji that stay as they are; then only the other bytes need to change.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    foreign = encoded.translate(None, _ASCII_BYTES).decode("utf-8", "surrogatepass")
    if _fold(foreign) == foreign:
        return encoded.lower().translate(None, dropped).decode("utf-8", "surrogatepass")
    return _fold(text).encode("utf-8", "surrogatepass").translate(None, dropped).decode("utf-8", "surrogatepass")


def words(text: str) -> list[str]:
    """The normalised words in order: names are cut at `- _ . /` and humps, unspaced scripts into character pairs."""
    return [word for name in names(text) for part in name.parts for word in _words_of_part(part)]


def terms(text: str) -> list[str]:
    """Everything a text can be found by: its words, neighbouring parts of a name joined, single CJK characters.

    `e-mail` gives e, mail and email; `决策` gives 决策, 决 and 策.
    """
    found: list[str] = []
    for name in names(text):
        parts = name.parts
        for part in parts:
            found += _words_of_part(part)
            if len(part) > 1 and _is_unspaced(part):
                found += part
        for length in (2, 3):
            found += ("".join(parts[start : start + length]) for start in range(len(parts) - length + 1))
    return found


def names(text: str) -> Iterator[Name]:
    """The names of a text in order, a plain word being a name of one part."""
    for piece in text.split():
        if piece.isascii():
            if piece.isalpha() and (piece.islower() or piece.istitle()):
                yield Name((piece.lower(),))
                continue
            cleaned = piece
        else:
            cleaned = _unaccent(piece).replace("ʼ", "'")  # an apostrophe that counts as a letter
        # For a regular expression the underscore is a letter; for us it holds parts together, as the hyphen does.
        for match in _NAME.finditer(_APOSTROPHE.sub("", cleaned.replace("_", "-"))):
            yield Name(tuple(_parts(match.group())))


def stems(found: Iterable[str]) -> list[str]:
    """The English Snowball stem of each word; words of other scripts stay as they are."""
    import Stemmer

    # An instance is not safe to share between threads, and costs less than a microsecond.
    stemmed: list[str] = Stemmer.Stemmer("english").stemWords(list(found))
    return stemmed


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a question: its stem, and the joined names that count as a mention of it."""

    stem: str
    joined: tuple[str, ...] = ()


def query_words(text: str) -> tuple[str, ...]:
    """The distinct stems of a question, in order, without stop words; empty for a question that has no words."""
    return tuple(word.stem for word in analysed(text))


def analysed(text: str) -> tuple[QueryWord, ...]:
    """The words of a question, each with the stems of the joined names it is part of (node: nodejs, in `Node.js`)."""
    strong: dict[str, list[str]] = {}
    weak: dict[str, list[str]] = {}
    for name in names(text):
        joined = stems([name.whole]) if 2 <= len(name.parts) <= 3 else []
        kept = _asked_parts(name)
        if not kept and len(name.parts) > 1:  # "to-do": made of stop words, and yet a name
            kept = [name.whole]
        for word in (word for part in kept for word in _words_of_part(part)):
            if word in STOP_WORDS:
                continue
            group = weak if len(word) > 1 and _is_unspaced(word) and _GLUE_PAIR.match(word) else strong
            others = group.setdefault(stems([word])[0], [])
            others += (other for other in joined if other not in others)
    return tuple(QueryWord(stem, tuple(joined)) for stem, joined in (strong or weak).items())


def _asked_parts(name: Name) -> list[str]:
    if len(name.parts) == 2 and any(len(part) > 1 and part.isdigit() for part in name.parts):
        return [name.whole]  # sha512 is no sha256, and item777 is not each other item
    parts = [part for part in name.parts if part not in STOP_WORDS]
    # The 2 of "oauth2" would find every other 2; the joined name finds oauth2 itself.
    telling = [part for part in parts if not (len(part) == 1 and part.isdigit())]
    return (telling or parts) if len(name.parts) > 1 else parts


def _fold(text: str) -> str:
    return _unaccent(text).casefold()


def _unaccent(text: str) -> str:
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    if _LETTER.search(bare):
        bare = bare.translate(_LETTERS)
    return unicodedata.normalize("NFC", bare)


def _parts(name: str) -> Iterator[str]:
    for word in _SEPARATOR.split(name):
        for match in _RUN.finditer(word):
            unspaced, spaced = match.groups()
            if unspaced:
                yield unspaced
            else:
                for hump in _humps(spaced):
                    yield from _split_number(hump.casefold())


def _humps(word: str) -> list[str]:
    """`HTTPServer` as HTTP and Server; a single letter stays with its neighbour (OAuth, iOS, planB)."""
    if word.islower() or word.isupper():
        return [word]
    humps: list[str] = []
    for hump in _HUMP.split(word):
        if humps and (len(humps[-1]) == 1 or len(hump) == 1):
            humps[-1] += hump
        else:
            humps.append(hump)
    return humps


def _split_number(word: str) -> Iterator[str]:
    match = None if word.isalpha() else _NUMBERED.fullmatch(word)
    if match:
        yield from (group for group in match.groups() if group)
    else:
        yield word


def _is_unspaced(part: str) -> bool:
    return not part.isascii() and _STARTS_UNSPACED.match(part) is not None


def _words_of_part(part: str) -> list[str]:
    if len(part) <= 2 or not _is_unspaced(part):
        return [part]
    return [part[start : start + 2] for start in range(len(part) - 1)]
