"""What is nearly the same as a gold word: kin, decades and centuries, rounded numbers."""

from __future__ import annotations

import numpy as np
import pytest

from ragmeter.metrics.offline import thresholds
from ragmeter.metrics.offline.features import NAMES, features
from ragmeter.metrics.offline.matching.comparison import compared_pairs
from ragmeter.metrics.offline.matching.match import Match
from ragmeter.metrics.offline.reading.tables import tables


def match(gold: str, answer: str, question: str = "what", language: str = "en") -> Match:
    (compared,) = compared_pairs([question], [gold], [answer], language)
    return compared.pairs


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("France", "French Indochina"),
        ("the British", "England"),
        ("United Kingdom", "Great Britain"),
        ("Great Britain", "the UK"),
        ("Soviet Union", "Russia"),
        ("American", "United States"),
        ("Danish", "Denmark"),
        ("Bill Clinton", "William Clinton"),
    ],
)
def test_kin(gold: str, answer: str) -> None:
    matched = match(gold, answer)
    assert matched.credit[matched.content].min() >= thresholds.RELATED
    assert (matched.kin | matched.exact)[matched.content].all()
    assert matched.answer_gold[matched.found_at[matched.kin]].all()


def test_kin_in_spanish() -> None:
    assert match("Reino Unido", "el ejército británico", language="es").kin.all()
    assert match("Holanda", "los Países Bajos", language="es").kin.all()


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("France", "German", "who"),
        ("United Kingdom", "United Nations", "who"),
        ("Great Britain", "Great Depression", "what"),
        ("French", "They speak German in France", "what do they speak in France"),  # which the question has itself
    ],
)
def test_no_kin(gold: str, answer: str, question: str) -> None:
    assert not match(gold, answer, question).kin.any()


def test_no_word_has_kin_of_two_kinds() -> None:
    for language, table in tables().items():
        names = [name for names in _kin(language) for name in names]
        assert len(names) == len(set(names)) == len(table.kin), language


def _kin(language: str) -> list[list[str]]:
    by_number: dict[int, list[str]] = {}
    for name, number in tables()[language].kin.items():
        by_number.setdefault(number, []).append(name)
    assert all(len(names) > 1 for names in by_number.values())
    return list(by_number.values())


@pytest.mark.parametrize(
    ("gold", "answer", "language"),
    [
        ("1998", "the late 1990s", "en"),
        ("1990s", "in 1998", "en"),
        ("1830", "the 1800s", "en"),
        ("1780", "the late 18th century", "en"),
        ("336", "in the fourth century", "en"),
        ("18th century", "1718", "en"),
        ("1810", "a principios del siglo XIX", "es"),
        ("1810", "au 19e siècle", "fr"),
        ("1810", "im 19. Jahrhundert", "de"),
        ("759.9625", "760", "en"),
        ("247.3 million", "247 million", "en"),
        ("1985", "the 80s", "en"),
    ],
)
def test_roughly(gold: str, answer: str, language: str) -> None:
    matched = match(gold, answer, language=language)
    assert matched.rough[matched.content].any()
    assert matched.credit[matched.rough] == pytest.approx(thresholds.RELATED)
    (line,) = features(["when"], [gold], [answer], language)
    assert line[NAMES.index("roughly")] == 1
    assert line[-1] == 0  # no guard against a number that is only rounded


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("1998", "the 1980s", "when"),
        ("1998", "the 19th century", "when"),
        ("1998", "1999", "when"),
        ("79", "80", "how many"),
        ("13.5%", "13.4%", "how many"),
        ("90210", "90211", "what is the code"),
        ("8848", "8884", "how high"),
        ("10,512", "10,521", "how many votes"),
        ("1520", "He ruled in the 1500s", "who ruled in the 1500s"),
        ("the 1960s", "the 1970s", "when"),
    ],
)
def test_not_even_roughly(gold: str, answer: str, question: str) -> None:
    assert not match(gold, answer, question).rough.any()


def test_a_row_is_the_same_however_many_are_beside_it() -> None:
    golds = ["1998", "France", "United Kingdom", "18th century", "Paris", ""]
    answers = ["the 1990s", "French", "Great Britain", "1718", "not, Lyon", "century"]
    together = features(["when"] * 6, golds, answers)
    alone = np.concatenate([features(["when"], [gold], [answer]) for gold, answer in zip(golds, answers, strict=True)])
    assert np.array_equal(together, alone)
