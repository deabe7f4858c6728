"""Lines that are near to a word are found by their letters, and none is left out."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from memory_recall.ranking.lines import Lines

quietly = settings(derandomize=True, deadline=None, max_examples=200)


@quietly
@given(st.lists(st.text("aabcé", min_size=1, max_size=9), min_size=1, max_size=8), st.text("aabcé", max_size=9))
def test_no_line_that_is_near_to_a_word_is_left_out(texts: list[str], word: str) -> None:
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) + 1 for text in encoded]) - 1
    lines = Lines(np.frombuffer(b"\n".join((*encoded, b"")), np.uint8), ends.astype(np.uint32))
    for edits in range(4):
        near = {number for number, text in enumerate(texts) if OSA.distance(text, word) <= edits}
        assert near <= set(lines.resembling(word, edits).tolist())


def test_letters_of_very_long_lines_are_counted() -> None:
    text = "a" * 257
    lines = Lines(np.frombuffer(f"{text}\n".encode(), np.uint8), np.array([257], np.uint32))
    assert lines.resembling(text + "a", 1).tolist() == [0]
