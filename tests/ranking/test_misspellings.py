"""The word that is most likely meant is the same whether all words are compared or those that an index finds near."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_recall.ranking.lexical import Document
from memory_recall.ranking.misspellings import nearest_word
from memory_recall.ranking.parts import Collection, Part
from memory_recall.ranking.segment import Segment
from memory_recall.ranking.typos import corrected_query

words = st.text("token", min_size=4, max_size=6).map(lambda letters: f"t{letters}") | st.sampled_from(
    ["tokens", "tokened", "tokening", "toking", "through", "other"]
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(words, st.lists(st.lists(words, max_size=4), min_size=1, max_size=3))
@example("tokne", [["tokens", "tokna"]])
@example("throuhg", [["through"]])
def test_the_nearest_word_is_that_of_a_scan(word: str, texts: list[list[str]]) -> None:
    documents = [Document("", " ".join(text)) for text in texts]
    parts = [Part(Segment.build([document])) for document in documents]
    assert (nearest_word(word, Collection(parts)) or "") == corrected_query(word, documents)
