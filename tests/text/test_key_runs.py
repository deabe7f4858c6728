"""The expressions over keys in sentences: those for ASCII alone find what those for every script find."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cached_property

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text.key_runs import OF_ASCII, OF_EVERY_SCRIPT, Expressions, expressions

NAMES = [
    name
    for name, member in vars(Expressions).items()
    if isinstance(member, cached_property) and not name.startswith("_")
]
PIECES = st.sampled_from(
    ["[[", "]]", "nemp:", "_", "auth-flow", "/nemp:recall ", "`", "\\", ".", ":", "@", " ", "A" * 26]
)


def found(expression: re.Pattern[str], text: str) -> list[tuple[tuple[int, int], str | None]]:
    return [(match.span(), match.lastgroup) for match in expression.finditer(text)]


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.one_of(PIECES, st.text(st.characters(max_codepoint=127))), max_size=12).map("".join))
@settings(derandomize=True, max_examples=80, deadline=None)
def test_in_ascii_both_families_find_the_same(name: str, text: str) -> None:
    assert found(getattr(OF_ASCII, name), text) == found(getattr(OF_EVERY_SCRIPT, name), text)


@pytest.mark.parametrize(
    ("text", "family"),
    [("", OF_ASCII), ("auth-flow", OF_ASCII), ("café", OF_EVERY_SCRIPT), ("使用auth-flow方案", OF_EVERY_SCRIPT)],
)
def test_one_character_beyond_ascii_takes_the_family_of_every_script(text: str, family: Expressions) -> None:
    assert expressions(text) is family


def test_a_note_in_ascii_compiles_no_class_of_every_script() -> None:
    probe = (
        "from memory_recall.references import references_in\n"
        "from memory_recall.text.key_runs import OF_EVERY_SCRIPT\n"
        "class Known:\n"
        "    has_key = has_memory = has_claim = staticmethod(lambda name: name == 'auth-flow')\n"
        "text = 'see `auth-flow`, [[nemp:auth-flow]], _auth-flow_ and /nemp:recall auth-flow.'\n"
        "assert len(references_in(text, Known())) == 4\n"
        "print(sorted(vars(OF_EVERY_SCRIPT)))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "['_given_marks', '_unspaced']"
