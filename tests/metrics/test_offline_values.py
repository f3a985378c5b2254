"""The offline judge's numbers: what is the same, what is not, and that no row knows of the ones beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import get_metric
from ragmeter.metrics.offline.features import features
from ragmeter.metrics.offline.reading.vocabulary import Vocabulary, chunked

HUGE = "9" * 400  # more than a float holds
WORDS = [
    "and", "y", "e", "or", "but", "not", "no", "one", "five", "twenty", "hundred", "thousand", "million",
    "veinte", "mil", "May", "12", "1,000", "0.125", "1960s", "century", "XIV", "United", "Kingdom", "France",
    "French", "Paris", "Paris.", "A", "?", ",", "។", "東京", "กรุงเทพ",
]  # fmt: skip
texts = st.lists(st.sampled_from([*WORDS, HUGE]), max_size=5).map(" ".join)


def roots(text: str, language: str = "en") -> list[str]:
    vocabulary = Vocabulary(language)
    return [vocabulary.item(value).root for value in vocabulary.texts(chunked([text])).ids.tolist()]


def chances(rows: list[tuple[str, str, str]]) -> list[float]:
    questions, golds, answers = zip(*rows, strict=True)
    scores = get_metric("offline_correct_probability")(list(questions), [[gold] for gold in golds], list(answers))
    return [float(score) for score in scores]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("9780306406157", "9780306406158"),  # numbers of books and telephones differ in their last figure
        ("0.125", "125"),
        ("0,125", "125"),
        (HUGE, HUGE[1:]),
        ("hundred " * 200, "hundred " * 201),
    ],
)
def test_numbers_that_differ(one: str, other: str) -> None:
    assert roots(one) != roots(other)
    assert roots(one) == roots(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("0.500", "0.5"), ("0,500", "0.5"), ("1.1 million", "1,100,000"), ("12.345.678.901", "12345678901")],
)
def test_numbers_that_are_the_same(one: str, other: str) -> None:
    assert roots(one) == roots(other)


@pytest.mark.parametrize("number", [HUGE, "hundred " * 200, f"{HUGE} million"])
def test_a_number_beyond_all_floats_is_no_warning_and_near_no_other(number: str) -> None:
    result = chances([("how many are there?", number, "there are 5"), ("how many are there?", "5", number)])
    assert max(result) < 0.5


@pytest.mark.parametrize("mark", ["។", "၊", "༄", "។ ។"])
def test_marks_of_scripts_without_spaces_are_no_words(mark: str) -> None:
    assert roots(mark) == []
    assert max(chances([("who?", "Paris", mark), ("who?", mark, "Paris"), (mark, "a", "b")])) < 0.5


def test_a_number_goes_on_in_its_own_text_only() -> None:
    """ "a hundred" of one row and "and five" of the next are not 105."""
    golds, answers = ["a hundred", "and five", "twenty and", "five"], ["no", "and", "and", "no"]
    together = features(["how many"] * 4, golds, answers)
    alone = [features(["how many"], [gold], [answer])[0] for gold, answer in zip(golds, answers, strict=True)]
    np.testing.assert_array_equal(together, alone)


@given(rows=st.lists(st.tuples(texts, texts, texts), min_size=2, max_size=6))
def test_no_row_knows_of_those_beside_it(rows: list[tuple[str, str, str]]) -> None:
    together = chances(rows)
    assert together == [chances([row])[0] for row in rows]
    assert together == chances(rows[::-1])[::-1]
