"""What says the same is found without comparing every text closely with every other."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.model import Memory, Provenance
from memory_recall.recall.near_duplicates import Text, groups, say_the_same

WORDS = ["webhook", "Webhooks", "retried", "five", "5", "never", "auth-flow", "authFlow", "policies", "policy", "日志"]
texts = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)


def memory(text: str, number: int = 0) -> Memory:
    return Memory("nemp", f"key-{number % 2}", "title", text, Provenance("nemp", "project", Path("memories.json"), 1))


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(texts, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), texts), max_size=8))
def test_groups_are_those_of_comparing_all(whole: list[str], changes: list[tuple[int, str]]) -> None:
    """Texts that differ much, little and not at all."""
    written = [whole[number % len(whole)] + " " + more[:12] for number, more in changes]
    memories = [memory(text, number) for number, text in enumerate([*whole, *written])]
    expected: list[list[int]] = []
    for number, each in enumerate(memories):
        same = next((group for group in expected if say_the_same(Text.of(each), Text.of(memories[group[0]]))), None)
        if same is None:
            expected.append([number])
        else:
            same.append(number)
    assert groups(memories) == expected


def test_endings_and_punctuation_are_no_difference() -> None:
    one = "Payment webhooks are retried five times with exponential backoff, then someone is paged"
    other = "(payment webhook) is retried, five times; with exponential backoffs - then someone is paged!"
    assert groups([memory(one), memory(other)]) == [[0, 1]]


def test_a_long_text_and_its_copy_are_the_same() -> None:
    long = "webhook " * 10_000
    assert groups([memory(long), memory("gateway times out after a minute"), memory(long)]) == [[0, 2], [1]]
