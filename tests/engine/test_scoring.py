"""How rows that are incomplete or have failed come through scoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ragmeter import evaluate
from ragmeter.definition import METRICS, Metric, metric
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.scoring import fill_embedded, score_batch, score_batches
from ragmeter.errors import UsageError
from ragmeter.registry import get
from ragmeter.table import NO_RESULT, SKIPPED_BUDGET, TARGET_ERROR, TIMEOUT, Batch, Embeddings, Scores

ANSWERED, FAILED = "scored", [TARGET_ERROR, TIMEOUT, NO_RESULT]


@pytest.fixture
def said_something() -> Iterator[Metric]:
    """A metric over all questions, whose `retrieved` may be empty."""

    @metric(direction="higher", binary=True, optional=["retrieved"], failed_score=0.0)
    def said_something_test(retrieved: Sequence[list[str] | None], answer: Sequence[str]) -> Scores:
        """Whether there is an answer."""
        return np.array(
            [float(bool(text) and documents != []) for documents, text in zip(retrieved, answer, strict=True)]
        )

    yield said_something_test
    del METRICS["said_something_test"]


def test_failed_rows_count_where_the_metric_says_so(said_something: Metric) -> None:
    causes = [None, *FAILED, SKIPPED_BUDGET, None]
    batch = Batch(
        {
            "answer": ["yes", None, None, None, None, None],
            "retrieved": [None, None, None, None, None, ["d"]],
            "reference": [["yes"]] * 6,
        },
        causes=causes,
    )
    plain = get("exact_match")
    scored = score_batch(batch, [said_something, plain]).scores
    scores, outcomes = scored[said_something.name]
    np.testing.assert_array_equal(scores, [1, 0, 0, 0, np.nan, np.nan])
    assert outcomes == [ANSWERED, ANSWERED, ANSWERED, ANSWERED, SKIPPED_BUDGET, "no_answer"]
    scores, outcomes = scored[plain.name]
    np.testing.assert_array_equal(scores, [1, np.nan, np.nan, np.nan, np.nan, np.nan])
    assert outcomes == [ANSWERED, *FAILED, SKIPPED_BUDGET, "no_answer"]


def test_an_error_beside_an_answer_is_a_failure(said_something: Metric) -> None:
    batch = Batch({"answer": ["yes", "yes"], "retrieved": [["d"], ["d"]], "error": [None, "broken"]})
    scores, outcomes = score_batch(batch, [said_something]).scores[said_something.name]
    assert scores.tolist() == [1, 0]
    assert outcomes == [ANSWERED, ANSWERED]


def test_an_optional_column_may_be_missing_altogether(said_something: Metric) -> None:
    scores, _ = score_batch(Batch({"answer": ["yes", ""]}), [said_something]).scores[said_something.name]
    assert scores.tolist() == [1, 0]
    assert said_something([None, []], ["yes", "yes"]).tolist() == [1, 0]


def test_settings_keep_what_the_metric_says_of_rows() -> None:
    changed = get("response_coverage_rate").with_settings(fallback="nothing here")
    assert changed.optional == {"retrieved", "answer"}
    assert changed.failed_score == 0.0


def test_a_column_that_is_not_needed_can_t_be_optional() -> None:
    wrong = Metric("wrong", lambda answer: [1.0 for _ in answer], optional=["retreived"])
    with pytest.raises(UsageError, match="retreived"):
        wrong(["x"])


def test_a_question_without_a_result_is_not_covered() -> None:
    evaluation = evaluate(
        [{"qid": "1", "answer": "here", "retrieved": ["d"]}],
        [{"qid": "1", "reference": "here"}, {"qid": "2", "reference": "there"}],
        metrics="response_coverage_rate,token_f1",
    )
    assert (evaluation["response_coverage_rate"].mean, evaluation["response_coverage_rate"].n_scored) == (0.5, 2)
    assert evaluation["token_f1"].n_not_scored == {"no_result": 1}


SIMILARITY = "semantic_similarity[model=wordllama]"
SATISFACTION = "satisfaction_score[model=wordllama]"


def test_vectors_are_a_column_that_is_filled_before() -> None:
    metric = get(SIMILARITY)
    batch = Batch({"reference": [["a"], ["b", "c"]], "answer": ["a", "c"]})
    with pytest.raises(UsageError, match="the column embeddings needs an embedding model"):
        score_batch(batch, [metric])
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
    key = (("reference", "answer"), (), "embeddings[model=wordllama]")
    batch.embedded = {key: Embeddings(vectors, np.array([0, 1, 2]), np.array([1, 0, 0]))}
    (scored,) = score_batches([batch], [])
    assert scored.batch.embedded == {}  # no part of the table
    scored = score_batch(batch, [metric])
    np.testing.assert_allclose(scored.scores[SIMILARITY][0], [0.6, 0.6], atol=1e-7)


def test_only_texts_that_are_scored_are_embedded() -> None:
    batch = Batch(
        {
            "reference": [["a"], ["b"], ["c"], []],
            "answer": ["d", "e", None, "g"],
            "latency_ms": [None, 7.0, 7.0, 7.0],
            "retrieved": [["x"]] * 4,
        }
    )
    metrics = [get(SATISFACTION), get("token_f1"), get(SIMILARITY)]
    with Embedders() as models:
        filled = fill_embedded(batch, metrics, models)
        (used,) = models.used()
    assert used.texts == 4
    assert sorted(len(column.vectors) for column in filled.embedded.values()) == [3, 5]  # with the zero of empty texts
    with Embedders() as models:
        assert fill_embedded(batch, metrics[1:2], models).embedded == {}
        assert models.used() == []


def test_a_metric_over_another_gets_its_vectors() -> None:
    @metric(direction="higher")
    def doubled_similarity_test(semantic_similarity: Scores, *, model: str = "wordllama") -> Scores:
        """Twice the similarity."""
        return semantic_similarity * 2

    try:
        batch = Batch({"reference": [["a cat"], ["b"]], "answer": ["a cat", "a dog"]})
        (scored,) = score_batches([batch], [doubled_similarity_test, get(SIMILARITY)])
        doubled, plain = (scores for scores, _ in scored.scores.values())
        assert doubled.tolist() == (plain * 2).tolist()
        assert doubled_similarity_test(["a cat"], ["a cat"]).tolist() == [2]
    finally:
        del METRICS["doubled_similarity_test"]
