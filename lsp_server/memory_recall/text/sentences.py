"""Where a text may end early without saying something else: after a sentence, a line, an item of a list.

Pure functions of text to offsets. Half a sentence can mean its opposite, and half a code block opens a fence that
nothing closes: neither is ever offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_recall.text.code_spans import code_spans

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CLOSERS = "\"'`*_)\\]}»”’」』）】》"
_END = re.compile(
    f"(?:(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\\s)|[。！？｡]+[{_CLOSERS}]*)",
)
_WORD_BEFORE = re.compile(r"(?:^|[\s(\[\"'*_])([^\s(\[\"'*_]*)$")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|[|>#]|`{3}|~{3})")
_NUMBERING = re.compile(r"\s*(?:[-*+•>#]+\s+)*\d{1,3}")
_LEADS_ON = (":", "：", ",", "，", "、", ";", "(", "\\")

_WRAPPED_FROM = 50
"""A line of so many characters may have been broken in the middle of its sentence."""
_WORD_LOOKED_AT = 40

_WITHOUT_LAST_STOP = (
    "al approx apr aug bzw ca cf ch co corp d.h dec dept dr e.g ed eds eg env eq est etc evtl ex excl feb fig figs "
    "fri ggf i.e ie inc incl jan jr jul jun ltd mar max min misc mon mr mrs ms nos nov nr oct p.ex pp prof resp sat "
    "sec sep sept sr st sun thu tue u.a usw ver vgl vol vs wed z.b"
)
_ABBREVIATIONS = frozenset(_WITHOUT_LAST_STOP.split())
"""In lower case. None of them ends a sentence for certain."""


def ends(text: str, most: int | None = None) -> Iterator[int]:
    """The offsets, rising, at which a beginning of the text may end; never the end of the whole text.

    At most the first `most` code points are looked at. White space after a sentence is not part of a beginning.
    """
    limit = len(text) if most is None else min(len(text), most)
    last = len(text.rstrip())
    fence: str | None = None
    for start, content_end, following in _lines(text, limit):
        mark = _FENCE.match(text, start, content_end)
        if fence is not None:
            if mark is not None and mark[1].startswith(fence) and not text[mark.end() : content_end].strip():
                fence = None
                if content_end < last:
                    yield content_end
            continue
        if mark is not None and "`" not in text[mark.end() : content_end]:
            fence = mark[1]
            continue
        stop = len(text[start:content_end].rstrip()) + start
        for end in _in_line(text, start, stop):
            if end < min(stop, last):
                yield end
        if start < stop < last and content_end < limit and _is_whole(text, start, stop, following):
            yield stop


def _lines(text: str, limit: int) -> Iterator[tuple[int, int, int]]:
    """Where each line begins, where its content ends, and where the next one begins."""
    position = 0
    while position < limit:
        match = _LINE.match(text, position, limit)
        if match is None:  # pragma: no cover - the pattern matches anywhere
            return
        following = match.end()
        yield position, position + len(match[0].rstrip("\r\n")), following
        position = following


def _in_line(text: str, start: int, stop: int) -> Iterator[int]:
    """The ends of sentences within one line."""
    spans = code_spans(text, start, stop)
    span = next(spans, None)
    for match in _END.finditer(text, start, stop):
        place = match.start()
        while span is not None and span.close <= place:
            span = next(spans, None)
        if span is not None and span.open < place:
            continue
        if match[0].startswith(".") and not _ends_sentence(text, start, place, match.end()):
            continue
        yield match.end()


def _ends_sentence(text: str, start: int, dot: int, end: int) -> bool:
    """Whether a full stop followed by a space ends a sentence: not after an abbreviation, an initial or a number."""
    after = text[end : end + 2].lstrip()[:1]
    if after.islower():
        return False
    before = _WORD_BEFORE.search(text, max(start, dot - _WORD_LOOKED_AT), dot)
    word = before[1] if before is not None else ""
    if word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    if "." in word and all(len(part) <= 1 for part in word.split(".")):  # U.S., a.k.a.
        return False
    return dot - start > _WORD_LOOKED_AT or _NUMBERING.fullmatch(text, start, dot) is None


def _is_whole(text: str, start: int, stop: int, following: int) -> bool:
    """Whether a line says something by itself: no heading, nothing that leads on, no sentence that goes on below."""
    if text.startswith("#", start) or text[stop - 1] in _LEADS_ON:
        return False
    line_after = text[following : following + 80]
    if not line_after.strip() or line_after[:1] in "\r\n" or _ITEM.match(line_after) is not None:
        return True
    if _END.match(text[stop - 1] + " ") is not None:
        return True
    return not (line_after.lstrip()[:1].islower() and stop - start >= _WRAPPED_FROM)
