"""Answers of at most so many tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.compat.crag.truncation import cut, load_tokenizer
from ragmeter.errors import UsageError


class Letters:
    """A tokenizer whose tokens are bytes, so that a cut may go through a character."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("one two three", 2, "one two"),
        ("one two three", 3, "one two three"),
        ("one, two", 2, "one,"),
        ("  one  two ", 1, "  one"),
        ("它是一只猫", 3, "它是一"),
        ("", 3, ""),
        ("don't", 2, "don'"),
    ],
)
def test_the_tokens_of_our_own(text: str, limit: int, kept: str) -> None:
    assert cut(text, limit) == kept


def test_75_words() -> None:
    assert cut("word " * 100, 75) == ("word " * 75).rstrip()


@given(st.text(), st.integers(1, 20))
def test_what_is_kept_is_a_beginning(text: str, limit: int) -> None:
    kept = cut(text, limit)
    assert text.startswith(kept)
    assert cut(kept, limit) == kept


def test_a_tokenizer_of_ones_own() -> None:
    assert cut("abcdef", 3, Letters()) == "abc"
    assert cut("abc", 3, Letters()) == "abc"
    assert cut("aé", 2, Letters()) == "a"


def test_a_tokenizer_that_is_named() -> None:
    assert isinstance(load_tokenizer("tests.compat.crag.test_truncation:Letters"), Letters)
    with pytest.raises(UsageError, match="not a tokenizer"):
        load_tokenizer("builtins:dict")
