"""Names in a table are found as a look at each of them finds them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.ranking.name_table import NameTable
from memory_recall.ranking.typos import closest
from memory_recall.text.names import without_case

quietly = settings(derandomize=True, deadline=None, max_examples=300)
letters = st.sampled_from([*"aabbAB-_ \n", "é", "e", "É", "ß", "ẞ", "İ", "\u0301", "数", "\ud800", "\xff", "ﬀ"])
names = st.lists(st.text(letters, max_size=6) | st.text("abA-", max_size=6), max_size=8)
ascii_names = st.lists(st.text("abcABC-", max_size=6), max_size=8)


@quietly
@given(names | ascii_names, st.text(letters, max_size=3) | st.text("abcA", max_size=3))
def test_what_contains_a_text_is_found_and_measured(names: list[str], text: str) -> None:
    table, wanted = NameTable(names), without_case(text)
    expected = [number for number, name in enumerate(names) if wanted and wanted in without_case(name)]
    numbers = table.containing(text)
    assert numbers.tolist() == expected
    assert [table.folded(number) for number in expected] == [without_case(names[number]) for number in expected]
    assert table.shares(numbers, text).tolist() == [
        len(wanted) / (len(key) + (key != names[number] or wanted != text))
        for number in expected
        for key in [without_case(names[number])]
    ]


@quietly
@given(st.lists(st.text("abcdeA-é", max_size=14), max_size=8), st.text("abcdeA-é", max_size=14))
def test_what_a_text_may_misspell_is_among_what_is_found(names: list[str], text: str) -> None:
    near = [names[number] for number, _ in sorted(NameTable(names).misspelt(text))]
    assert closest(text, near) == closest(text, names)


@pytest.mark.parametrize("names", [[], [""], ["", ""], ["\n"], ["a\nb", "c"]])
def test_odd_names_are_names(names: list[str]) -> None:
    table = NameTable(names)
    assert table.containing("").tolist() == []
    assert table.containing("\n").tolist() == [number for number, name in enumerate(names) if "\n" in name]
    assert list(table.misspelt("nobody")) == []
