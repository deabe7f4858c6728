"""Names searched as one text are found as if each were looked at."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text.names import Names

letters = st.text(alphabet="abAB\n\0 ßİ-", max_size=4)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.lists(letters, max_size=8), letters)
def test_each_name_that_contains_the_text_is_found_once(names: list[str], text: str) -> None:
    wanted = text.casefold()
    expected = [(number, name.casefold()) for number, name in enumerate(names) if wanted and wanted in name.casefold()]
    assert list(Names(names).containing(text)) == expected
    assert len(Names(names)) == len(names)
