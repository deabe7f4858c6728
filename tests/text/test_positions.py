"""Lines end where editors end them, and columns survive every encoding."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text.positions import ByteLines, Encoding, LineIndex, column_from_units, units_from_column

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
PYTHON_CODEC = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

# What has broken servers before: surrogates, emoji with joiners, combining marks, right-to-left text, and everything
# that `str.splitlines` takes for a line end and editors do not.
AWKWARD = st.sampled_from(
    [
        *("a", " ", "\t", "é", "e\u0301", "ß", "語", "한", "א", "\u202e", "😀", "👩\u200d👩\u200d👧", "🇩🇪"),
        *("\ud83d", "\ude00", "\U0010ffff", "\x00", "\ufeff"),
        *("\n", "\r", "\r\n", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1e", "\x85"),
    ]
)
TEXTS = st.lists(AWKWARD | st.characters(codec=None), max_size=40).map("".join)
LINES = TEXTS.map(lambda text: re.sub(r"[\r\n]", "", text))

every = settings(derandomize=True, deadline=None, max_examples=150)
in_every_encoding = pytest.mark.parametrize("encoding", ENCODINGS)


TEXTS_OF_LINES = st.text(alphabet="a\r\n\u2028é決😀", max_size=12)


def naive_lines(text: str) -> list[str]:
    """Each line with its line end, found letter by letter."""
    lines, current = [], ""
    for offset, character in enumerate(text):
        current += character
        if character == "\n" or (character == "\r" and text[offset + 1 : offset + 2] != "\n"):
            lines.append(current)
            current = ""
    return [*lines, current]


def units(text: str, encoding: Encoding) -> int:
    codec, size = PYTHON_CODEC[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


@every
@given(TEXTS)
def test_lines_end_only_at_newline_and_carriage_return(text: str) -> None:
    index, lines = LineIndex(text), naive_lines(text)

    assert len(index) == len(lines)
    assert [index.content(line) for line in range(len(index))] == [re.sub(r"(\r\n|\r|\n)$", "", line) for line in lines]
    assert "".join(text[index.start_of(n) : index.start_of(n + 1)] for n in range(len(index))) == text


@every
@given(TEXTS)
def test_every_offset_lies_on_the_line_that_holds_it(text: str) -> None:
    index, lines = LineIndex(text), naive_lines(text)
    offset = 0
    for number, line in enumerate(lines):
        for column in range(len(line)):
            assert index.line_of(offset) == number
            assert index.line_column(offset) == (number + 1, column + 1)
            offset += 1
    assert index.line_column(offset) == (len(lines), len(lines[-1]) + 1)


@every
@given(TEXTS)
def test_a_counted_place_is_the_one_that_the_index_finds(text: str) -> None:
    index = LineIndex(text)
    index.line_of(0)
    for offset in range(-1, len(text) + 2):
        assert LineIndex(text).line_column(offset) == index.line_column(offset)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(TEXTS_OF_LINES, TEXTS_OF_LINES, TEXTS_OF_LINES, st.integers(1, 9), st.booleans())
def test_lines_of_bytes_are_those_of_their_text(before: str, old: str, new: str, marked: int, backwards: bool) -> None:
    lines = _checked(ByteLines((before + old).encode(), is_ascii=False, marked=marked), before + old, backwards)
    text = before + new
    changed = lines.changed(text.encode(), len(before.encode()), is_ascii=text.isascii())
    _checked(changed, text, backwards)


def _checked(lines: ByteLines, text: str, backwards: bool) -> ByteLines:
    index = LineIndex(text)
    for offset in reversed(range(len(text) + 1)) if backwards else range(len(text) + 1):
        at = len(text[:offset].encode())
        assert lines.code_points(at) == offset
        assert lines.line_column(at) == index.line_column(offset)
    return lines


def test_the_places_of_a_few_offsets_need_no_index() -> None:
    index = LineIndex("a\r\nb\rc\nd" * 100)
    places = [index.line_column(offset) for offset in range(30)]
    assert places == [LineIndex(index.text).line_column(offset) for offset in range(30)]
    fresh = LineIndex(index.text)
    assert fresh.line_column(9) == index.line_column(9)
    assert "_starts" not in vars(fresh)
    assert "_starts" in vars(index)


@in_every_encoding
@every
@given(LINES)
def test_columns_and_units_are_inverse_at_every_character(encoding: Encoding, line: str) -> None:
    for column in range(len(line) + 1):
        counted = units_from_column(line, column, encoding)
        assert counted == units(line[:column], encoding)
        assert column_from_units(line, counted, encoding) == column


@in_every_encoding
@every
@given(LINES)
def test_a_position_inside_a_character_counts_as_before_it(encoding: Encoding, line: str) -> None:
    for counted in range(units(line, encoding) + 3):
        column = column_from_units(line, counted, encoding)
        fits = [c for c in range(len(line) + 1) if units_from_column(line, c, encoding) <= counted]
        assert column == max(fits)


@in_every_encoding
@every
@given(TEXTS)
def test_offsets_and_protocol_positions_are_inverse_but_inside_a_line_end(encoding: Encoding, text: str) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        inside_line_end = text[offset - 1 : offset + 1] == "\r\n" if offset else False
        expected = offset - 1 if inside_line_end else offset
        assert index.offset(*index.position(offset, encoding), encoding) == expected


@pytest.mark.parametrize(
    ("encoding", "character"),
    [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)],
)
def test_an_emoji_before_a_word_takes_what_its_encoding_says(encoding: Encoding, character: int) -> None:
    text = "first\r\n😀 auth-flow"
    assert LineIndex(text).position(text.index("auth"), encoding) == (1, character)
    assert LineIndex(text).offset(1, character, encoding) == text.index("auth")


@in_every_encoding
def test_positions_outside_the_text_are_clamped(encoding: Encoding) -> None:
    index = LineIndex("ab\ncd")
    assert index.offset(0, 99, encoding) == 2, "past the end of a line: its end, not the next line"
    assert index.offset(99, 0, encoding) == 5
    assert index.offset(0, -1, encoding) == 0
    assert index.position(99, encoding) == (1, 2)
    assert index.position(-3, encoding) == (0, 0)
    assert index.line_column(99) == (2, 3)
    assert index.line_column(-1) == (1, 1)


def test_an_empty_text_has_one_empty_line() -> None:
    index = LineIndex("")
    assert (len(index), index.content(0), index.line_column(0)) == (1, "", (1, 1))
    assert index.content(1) == index.content(-1) == ""


def test_a_last_line_end_opens_one_more_line() -> None:
    index = LineIndex("a\n")
    assert len(index) == 2
    assert index.content(1) == ""
    assert index.offset(1, 0, "utf-16") == 2


def test_a_long_line_is_converted_without_a_walk_over_its_characters() -> None:
    line = "語" * 300_000 + "😀x"
    for encoding in ENCODINGS:
        counted = units_from_column(line, len(line) - 1, encoding)
        assert column_from_units(line, counted, encoding) == len(line) - 1
