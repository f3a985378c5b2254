"""What holds for any texts, drawn by hypothesis from many scripts."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import get_metric
from ragmeter.registry import known

texts = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAbB áéñüß İı '’\".,-_ 0123\t\n中文かカกาำ"), st.characters(exclude_categories=["Cs"])
    ),
    max_size=30,
)
rows = st.lists(st.tuples(texts, texts), min_size=1, max_size=8)
#: Metrics that need a model get the one that is always here.
MODELS = {"semantic_similarity": "semantic_similarity[model=wordllama]"}
TEXT_METRICS = [MODELS.get(metric.name, metric.name) for metric in known() if metric.needs == ("reference", "answer")]
#: Metrics that score some pairs of texts only.
SCORES_SOME = ("numeric_match",)
SYMMETRIC = ["edit_distance", "normalized_distance", "exact_match", "token_f1", "rouge_l_score", "cosine_similarity"]
SYMMETRIC += MODELS.values()


def sides(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [reference for reference, _ in pairs], [answer for _, answer in pairs]


@pytest.mark.parametrize("name", TEXT_METRICS)
@given(pairs=rows)
def test_within_its_range(name: str, pairs: list[tuple[str, str]]) -> None:
    metric = get_metric(name)
    scores = metric(*sides(pairs))
    low, high = metric.bounds
    assert name in SCORES_SOME or np.all(np.isfinite(scores))
    scores = scores[np.isfinite(scores)]
    assert np.all((scores >= low) & (scores <= high))


@pytest.mark.parametrize("name", SYMMETRIC)
@given(pairs=rows)
def test_symmetric(name: str, pairs: list[tuple[str, str]]) -> None:
    references, answers = sides(pairs)
    metric = get_metric(name)
    np.testing.assert_allclose(metric(references, answers), metric(answers, references), atol=1e-12)


@pytest.mark.parametrize("name", TEXT_METRICS)
@given(pairs=rows)
def test_the_form_of_unicode_does_not_matter(name: str, pairs: list[tuple[str, str]]) -> None:
    references, answers = sides(pairs)
    composed = [unicodedata.normalize("NFC", text) for text in references]
    decomposed = [unicodedata.normalize("NFD", text) for text in references]
    metric = get_metric(name)
    np.testing.assert_array_equal(metric(composed, answers), metric(decomposed, answers))


@given(pairs=rows)
def test_identical_texts_are_perfect(pairs: list[tuple[str, str]]) -> None:
    references, _ = sides(pairs)
    assert np.all(get_metric("edit_distance")(references, references) == 0)
    for name in ("exact_match", "token_f1", "token_precision", "token_recall", *MODELS.values()):
        assert np.all(get_metric(name)(references, references) == 1)
    for name in ("rouge_l_score", "cosine_similarity"):  # 0 where there is no word to compare
        scores = get_metric(name)(references, references)
        assert np.all(np.isclose(scores, 1) | (scores == 0))


@given(pairs=rows)
def test_f1_is_the_harmonic_mean(pairs: list[tuple[str, str]]) -> None:
    columns = sides(pairs)
    f1, precision, recall = (get_metric(f"token_{part}")(*columns) for part in ("f1", "precision", "recall"))
    with np.errstate(invalid="ignore"):
        expected = np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0)
    np.testing.assert_allclose(f1, expected, atol=1e-12)
