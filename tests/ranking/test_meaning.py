"""What words mean: how words fall into pieces, and that the table is the one that the constants speak of."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from memory_recall.ranking import meaning

DATA = Path(meaning.__file__).parent / "data"

# As `tokenizers` 0.23 cuts them with the tokenizer of wordllama 0.4.0.
GOLDEN = {
    "deploy": "▁deploy",
    "database": "▁database",
    "kubernetes": "▁k ubernetes",
    "styling": "▁sty ling",
    "zustand": "▁z ust and",
    "blockchain": "▁block chain",
    "gibberish": "▁g ib ber ish",
    "dishwasher": "▁d ish w ash er",
    "monkey": "▁mon key",
    "asdf": "▁as df",
}


@pytest.fixture(scope="module")
def table() -> meaning.Meaning:
    return meaning.load()


@pytest.fixture(scope="module")
def pieces() -> list[str]:
    return (DATA / "pieces.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize(("word", "expected"), GOLDEN.items())
def test_words_fall_into_the_pieces_of_the_tokenizer(
    table: meaning.Meaning, pieces: list[str], word: str, expected: str
) -> None:
    assert " ".join(pieces[number] for number in table.pieces_of(word)) == expected


def test_a_word_that_is_a_piece_is_merged_into_that_piece(table: meaning.Meaning, pieces: list[str]) -> None:
    """What lets the table look for the whole word first."""
    words = [piece.removeprefix("▁") for piece in pieces if piece.startswith("▁") and len(piece) > 2]
    sample = words[::23]
    assert [table._merged(word) for word in sample] == [table.pieces_of(word) for word in sample]


@pytest.mark.parametrize(
    "word",
    [
        "",
        "a",
        "sha256",
        "42",
        "v2",
        "café",
        "决策",
        "привет",
        "Deploy",
        "xqzvkj",
        "auth-flow",
        "a b",
        "x" * 41,
        "\ud800x",
    ],
)
def test_words_without_a_vector(table: meaning.Meaning, word: str) -> None:
    assert not table.vector_of(word).any()


def test_a_vector_is_the_mean_of_its_pieces_whatever_stands_beside_it(table: meaning.Meaning) -> None:
    words = ["styling", "42", "deploy", "kubernetes"]
    together = table.vectors_of(words)
    assert together.shape == (4, meaning.DIMENSIONS)
    for row, word in zip(together, words, strict=True):
        assert np.array_equal(row, table.vector_of(word))
    assert table.vectors_of([]).shape == (0, meaning.DIMENSIONS)


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [
        ("database", "sqlite", "butter"),
        ("deploy", "deployment", "butter"),
        ("login", "password", "butter"),
        ("npm", "webpack", "butter"),
    ],
)
def test_words_of_one_matter_lie_together(table: meaning.Meaning, word: str, near: str, far: str) -> None:
    vectors = table.vectors_of([word, near, far])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert vectors[0] @ vectors[1] > 0.5
    assert vectors[0] @ vectors[2] < 0.25


def test_the_constant_is_that_of_the_files() -> None:
    digest = hashlib.sha256((DATA / "pieces.txt").read_bytes() + (DATA / "vectors.bin").read_bytes())
    assert digest.hexdigest().startswith(meaning.ASSET)


def test_the_licence_of_the_vectors_lies_beside_them() -> None:
    licence = (DATA / "WORDLLAMA-LICENSE.txt").read_text(encoding="utf-8")
    assert licence.startswith("MIT License")
    assert "Copyright (c) 2024 Lee Miller" in licence
