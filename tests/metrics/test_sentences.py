"""Sentences of texts in several languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.metrics.sentences import count_long, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith paid 3.50 dollars. He left.", ["Dr. Smith paid 3.50 dollars.", "He left."]),
        ("J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien wrote it."]),
        ("It is e.g. red.", ["It is e.g. red."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("Reasons:\n- first\n- second", ["Reasons:", "first", "second"]),
        ("1. first\n2. second", ["first", "second"]),
        ("a line\nthat goes on", ["a line that goes on"]),
        ("one\n\ntwo", ["one", "two"]),
        ("¿Qué es? Es un río. Mide 6.650 km.", ["¿Qué es?", "Es un río.", "Mide 6.650 km."]),
        ("これは本です。赤いです。", ["これは本です。", "赤いです。"]),
        ("... !", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text())
def test_no_word_is_lost(text: str) -> None:
    words = "".join(character for character in text if character.isalpha())
    kept = "".join(character for character in "".join(sentences(text)) if character.isalpha())
    assert kept == words


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        (["Paris"], 0),
        (["J. K. Rowling, who wrote it in Edinburgh. " * 3], 1),
        (["One. Two. Three."], 0),  # sentences, but few words
        (["a phrase of many words and no full stop " * 5], 0),
        (["A long one. " * 20, "short"], 0),  # one short reference is enough
        ([], 0),
        (None, 0),
    ],
)
def test_rows_with_long_references_alone(references: list[str] | None, expected: int) -> None:
    assert count_long([references]) == expected
