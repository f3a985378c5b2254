"""Worked cases by hand. The empty ones are named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragmeter import get_metric

RARE = (math.log(1.5) + 1) ** 2  # the squared weight of a term that only one of two texts has

CASES = [
    ("token_f1", "-5", "5", 0),
    ("token_f1", "-5", "\u22125", 1),  # a minus sign for a hyphen
    ("token_f1", "1939-45", "1939 45", 1),
    # edit distance: raw characters
    ("edit_distance", "kitten", "sitting", 3),
    ("edit_distance", "Paris", "paris", 1),
    ("edit_distance", "cafe\u0301", "caf\u00e9", 0),  # one text in NFD, the other in NFC
    ("edit_distance", "both empty: ", "", 12),
    ("edit_distance", "", "", 0),
    ("edit_distance", "", "four", 4),
    ("normalized_distance", "kitten", "sitting", 3 / 7),
    ("normalized_distance", "", "", 0),
    ("normalized_distance", "", "four", 1),
    # exact match: case, accents and white space don't count, punctuation does
    ("exact_match", "  El Niño ", "el  nino", 1),
    ("exact_match", "It’s", "it's", 1),
    ("exact_match", "Straße", "STRASSE", 1),
    ("exact_match", "İstanbul", "istanbul", 1),
    ("exact_match", "Paris", "Paris.", 0),
    ("exact_match", "กา", "กี", 0),  # Thai vowel signs are not accents
    ("exact_match", "", "", 1),
    ("exact_match", "", "   ", 1),
    ("exact_match", "", "x", 0),
    ("exact_match", "x", "", 0),
    # tokens: common 2 of 4 and 3
    ("token_f1", "the cat the dog", "the the fox", 2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4)),
    ("token_precision", "the cat the dog", "the the fox", 2 / 3),
    ("token_recall", "the cat the dog", "the the fox", 2 / 4),
    ("token_f1", "Paris", "PARIS!", 1),
    ("token_f1", "a b", "c d", 0),
    ("token_f1", "3.5 and 1,000", "3.5", 0.5),
    ("token_f1", "北京大学", "北京", 2 * 1 * 0.5 / 1.5),  # characters, where nothing separates words
    ("token_f1", "", "", 1),
    ("token_f1", "", "x", 0),
    ("token_f1", "x", "", 0),
    ("token_f1", "?!", "?!", 1),  # no tokens, identical
    ("token_f1", "?!", "...", 0),  # no tokens, different
    ("token_f1", "?!", "", 0),
    ("token_precision", "", "", 1),
    ("token_recall", "", "", 1),
    ("token_precision", "x", "", 0),
    ("token_recall", "", "x", 0),
    # ROUGE-L: longest common subsequence "the cat mat"
    ("rouge_l_score", "the cat on the mat", "the cat mat", 2 * 3 / 8),
    ("rouge_l_precision", "the cat on the mat", "the cat mat", 1),
    ("rouge_l_recall", "the cat on the mat", "the cat mat", 3 / 5),
    ("rouge_l_score", "a b c", "c b a", 1 / 3),
    ("rouge_l_score", "los gatos negros", "el gato negro", 0),
    ("rouge_l_score[language=es]", "los gatos negros", "el gato negro", 2 / 3),
    ("rouge_l_score", "", "", 0),
    ("rouge_l_score", "", "x", 0),
    ("rouge_l_score", "x", "", 0),
    # METEOR
    ("meteor_score", "word", "word", 0.5),  # one match in one run: the penalty is all of 0.5
    ("meteor_score", "a b c d", "a b c d", 1 - 0.5 * (1 / 4) ** 3),
    ("meteor_score", "a b", "b a", 1 - 0.5 * 1),  # two matches in two runs
    ("meteor_score", "gatos", "gato", 0),
    ("meteor_score[language=es]", "gatos", "gato", 0.5),
    # two matches in one run out of 3 and 4 words: P = 1/2, R = 2/3
    ("meteor_score", "a b c", "a b x y", (1 / 2 * 2 / 3) / (0.9 / 2 + 0.1 * 2 / 3) * (1 - 0.5 * (1 / 2) ** 3)),
    ("meteor_score", "", "", 0),
    ("meteor_score", "", "x", 0),
    ("meteor_score", "x", "", 0),
    # cosine: "a" is shared, "b" and "c" are not
    ("cosine_similarity", "a b", "a c", 1 / (1 + RARE)),
    ("cosine_similarity", "a a", "a", 1),
    ("cosine_similarity", "a", "b", 0),
    ("cosine_similarity[language=es]", "los gatos", "gato", 1 / math.sqrt(1 + RARE)),
    ("cosine_similarity", "", "", 0),
    ("cosine_similarity", "", "x", 0),
    ("cosine_similarity", "x", "", 0),
    # the mean of 1, 1, 1, 1 and 0.5
    ("average_score", "word", "word", 4.5 / 5),
    ("average_score", "", "", 2 / 5),
]


@pytest.mark.parametrize(("name", "reference", "answer", "expected"), CASES)
def test_worked_case(name: str, reference: str, answer: str, expected: float) -> None:
    assert get_metric(name)([reference], [answer])[0] == pytest.approx(expected, abs=1e-12)


def test_all_cases_at_once_give_the_same_scores() -> None:
    """Rows of a block don't see one another."""
    for name in {case[0] for case in CASES}:
        references = [case[1] for case in CASES]
        answers = [case[2] for case in CASES]
        together = get_metric(name)(references, answers)
        alone = [get_metric(name)([r], [a])[0] for r, a in zip(references, answers, strict=True)]
        np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("name", "references", "answer", "expected"),
    [
        ("token_f1", ["a b", "c d"], "c d", 1),
        ("exact_match", ["x", "y", "z"], "z", 1),
        ("edit_distance", ["kitten", "sitting"], "sitting", 0),
        ("normalized_distance", ["abcd", "abxx"], "abcx", 1 / 4),
        ("rouge_l_score", ["a", "a b c"], "a b", 4 / 5),
    ],
)
def test_the_best_reference_counts(name: str, references: list[str], answer: str, expected: float) -> None:
    scores = get_metric(name)([["nothing"], references, ["at all"]], ["q", answer, "q"])
    assert scores[1] == pytest.approx(expected)


def test_average_score_is_the_mean_of_the_row_s_own_scores() -> None:
    """Each of the five takes its best reference before they are averaged, as the row shows them."""
    rows = ([["a b c", "c b a x"]], ["a b"])
    five = ["cosine_similarity", "rouge_l_score", "exact_match", "token_f1", "meteor_score"]
    assert get_metric("average_score")(*rows)[0] == pytest.approx(sum(get_metric(n)(*rows)[0] for n in five) / 5)


def test_a_missing_side_is_not_a_number() -> None:
    scores = get_metric("token_f1")([["x"], [], None, ["x"]], [None, "x", "x", "x"])
    np.testing.assert_array_equal(scores, [np.nan, np.nan, np.nan, 1.0])


def test_no_rows_no_scores() -> None:
    assert len(get_metric("meteor_score[language=es]")([], [])) == 0


def test_a_text_is_no_column() -> None:
    with pytest.raises(TypeError, match="list of texts"):
        get_metric("token_f1")("Paris", "Paris")
    with pytest.raises(TypeError, match="takes 2 columns"):
        get_metric("token_f1")(["Paris"])
    with pytest.raises(ValueError, match="differ in length: 1, 2"):
        get_metric("token_f1")(["Paris"], ["Paris", "Rome"])
