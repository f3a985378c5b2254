"""The words of passages, their forms and their synonyms."""

from __future__ import annotations

import pytest

from ragmeter.testsets import words
from ragmeter.testsets.questions import Passage
from ragmeter.testsets.words import Vocabulary, content_words, synonyms

PASSAGES = [
    Passage("1", "The tower was built of stone, and the builders built it high.", "a"),
    Passage("2", "Towers of stones. They build towers.", "a"),
    Passage("3", "La torre es alta.", "b", language="es"),
]


def test_function_words_carry_no_meaning() -> None:
    assert content_words("The tower of Lisbon was high", "en") == ["tower", "lisbon", "high"]
    assert content_words("La torre de Lisboa", "es") == ["torre", "lisboa"]


def test_other_forms_have_the_same_stem_and_are_those_of_the_passages() -> None:
    vocabulary = Vocabulary(iter(PASSAGES))
    assert vocabulary.other_forms("tower", "en") == ["towers"]
    assert vocabulary.other_forms("stones", "en") == ["stone"]
    assert vocabulary.other_forms("lisbon", "en") == []
    assert vocabulary.other_forms("torre", "es") == []


def test_a_share_is_of_the_passages_of_a_language() -> None:
    vocabulary = Vocabulary(PASSAGES)
    assert vocabulary.share("tower", "en") == 0.5
    assert vocabulary.share("torre", "es") == 1
    assert vocabulary.share("unheard", "en") == 0.5


def test_the_rarest_words_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST_WORDS", 5)
    texts = ["stone tower"] * 3 + [f"word{number} thing{number}" for number in range(20)]
    vocabulary = Vocabulary(Passage(str(number), text, "a") for number, text in enumerate(texts))
    assert vocabulary.share("stone", "en") == 3 / 23
    assert vocabulary.share("word0", "en") == 1 / 23
    assert len(vocabulary._counts["en"]) <= 5


def test_synonyms_are_found_by_stem() -> None:
    assert "construct" in synonyms("build", "en")
    assert "construct" in synonyms("builds", "en")
    assert "build" not in synonyms("build", "en")
    assert "edificar" in synonyms("construir", "es")
    assert synonyms("build", "de") == ()
