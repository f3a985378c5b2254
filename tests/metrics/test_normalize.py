"""Folding, words and languages."""

from __future__ import annotations

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import get_metric
from ragmeter.errors import UnknownNameError
from ragmeter.metrics import normalize
from ragmeter.metrics.normalize import Language, fold, known_languages, stemmer, strip_accents, words, words_and_figures


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don’t STOP", "don't stop"),
        ("“quoted” «también»", '"quoted" "también"'),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("ΟΔΟΣ", "οδοσ"),
        ("cafe\u0301", "caf\u00e9"),
        ("`tick`", "'tick'"),
    ],
)
def test_fold(text: str, expected: str) -> None:
    assert fold(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't stop", ["don't", "stop"]),
        ("'quoted' dogs'", ["quoted", "dogs"]),
        ("rock'n'roll", ["rock'n'roll"]),
        ("3.5 1,000 1. u.s.", ["3.5", "1,000", "1", "u", "s"]),
        ("-5 (-5) 1939-45 covid-19 - 5 --5", ["-5", "-5", "1939", "45", "covid", "19", "5", "5"]),
        ("b2b 2nd x_1", ["b2b", "2nd", "x_1"]),
        ("well-known foo/bar", ["well", "known", "foo", "bar"]),
        ("¿cómo estás?", ["cómo", "estás"]),
        ("中文abc字", ["中", "文", "abc", "字"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("กำ ดี", ["ก", "ำ", "ดี"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("العَرَبِيَّة", ["العَرَبِيَّة"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("istanbul'un 1923'te 1,5'i türkiye'nin %50'si", ["istanbul'un", "1923'te", "1,5'i", "türkiye'nin", "50'si"]),
        ("5'10 1' 2'", ["5", "10", "1", "2"]),
        ("... !?", []),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_short_cut_for_plain_letters_is_the_long_way(text: str) -> None:
    assert words(text) == normalize._WORD.findall(text)


@pytest.mark.parametrize(("folded", "figure"), [("1923'te", "1923"), ("%50'si", "50"), ("1.000,5'ü", "1.000,5")])
def test_figures_are_apart_from_their_endings_where_numbers_are_compared(folded: str, figure: str) -> None:
    assert words_and_figures(folded)[0] == figure
    assert words_and_figures(f"istanbul'un {folded}")[:2] == ["istanbul'un", figure]
    assert offline_correct("When?", "1923", "It was in 1923'te.") > 0.9
    assert offline_correct("When?", "1923", "1924'te") < 0.5


def offline_correct(question: str, reference: str, answer: str) -> float:
    return float(get_metric("offline_correct_probability")([question], [reference], [answer])[0])


def test_accents_are_stripped_and_vowel_signs_are_not() -> None:
    assert strip_accents("áéîõü ñ ç ё") == "aeiou n c е"
    assert strip_accents("กี हिन्दी") == "กี हिन्दी"


@pytest.mark.parametrize("name", ["es", "ES", "spanish", "Spanish", "es-MX", "es_AR"])
def test_a_language_by_code_or_name(name: str) -> None:
    assert Language.parse(name) == "es"


def test_every_snowball_language_is_known() -> None:
    names = set(known_languages().values())
    assert names >= set(Stemmer.algorithms())
    for code in known_languages():
        stems = stemmer(code)
        assert stems is None or isinstance(stems.stemWord("word"), str)


def test_an_unknown_language_says_what_was_meant() -> None:
    with pytest.raises(UnknownNameError, match="did you mean spanish"):
        Language.parse("spansih")


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
