"""Coverage and satisfaction, worked by hand from the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragmeter import evaluate
from ragmeter.definition import METRICS
from ragmeter.errors import UsageError
from ragmeter.metrics.operational import satisfaction_score
from ragmeter.registry import get


@pytest.mark.parametrize(
    ("retrieved", "answer", "covered"),
    [
        (["e1"], "There is a concert", 1),
        ([], "There is a concert", 0),
        (["e1"], "Sorry, I couldn't find any events about that.", 0),
        (["e1"], "SORRY, I COULDN'T FIND ANY EVENTS", 0),
        (["e1"], "Sorry, I couldn’t find any events", 0),
        (["e1", "e2"], "", 1),
        ([], "", 0),
        (None, "There is a concert", 0),  # what does not say what was retrieved has retrieved nothing
        (["e1"], None, 0),  # nothing was presented
        (None, None, 0),
    ],
)
def test_coverage(retrieved: list[str] | None, answer: str | None, covered: int) -> None:
    assert get("response_coverage_rate")([retrieved], [answer]).tolist() == [covered]


def test_other_phrases() -> None:
    metric = get('response_coverage_rate[fallback="no encontré nada|nothing here"]')
    scores = metric([["e"]] * 4, ["No encontré nada", "NOTHING HERE today", "couldn't find any events", "x"])
    assert scores.tolist() == [0, 0, 1, 1]
    assert get(metric.name) == metric
    with pytest.raises(UsageError, match="at least one"):
        get('response_coverage_rate[fallback=" | "]')


@pytest.mark.parametrize(
    ("similarity", "retrieved", "latency", "score"),
    [
        (1.0, ["e"], 0, 1.0),
        (0.8, ["e"], 2500, 0.5 * 0.8 + 0.3 + 0.2 * 0.5),
        (0.8, [], 2500, 0.5 * 0.8 + 0.2 * 0.5),
        (0.8, ["e"], 5000, 0.5 * 0.8 + 0.3),
        (0.8, ["e"], 60_000, 0.5 * 0.8 + 0.3),
        (0.0, [], 5000, 0.0),
        (0.8, None, 2500, 0.5 * 0.8 + 0.2 * 0.5),
    ],
)
def test_satisfaction(similarity: float, retrieved: list[str] | None, latency: float, score: float) -> None:
    scores = satisfaction_score.function(
        np.array([similarity]), [retrieved], [latency], **METRICS["satisfaction_score"].defaults
    )
    assert scores.tolist() == [pytest.approx(score)]


def test_rows_without_events_are_scored_and_failed_ones_are_not() -> None:
    given: dict[str, Any] = {"reference": "at the mill", "answer": "at the mill", "latency_ms": 0}
    rows = [
        {"qid": "1", **given, "retrieved": ["e"]},
        {"qid": "2", **given, "retrieved": None},
        {"qid": "3", "reference": "at the mill", "retrieved": ["e"], "answer": "at the mill", "error": "broken"},
    ]
    evaluation = evaluate(rows, metrics="response_coverage_rate,satisfaction_score", embedding_model="wordllama")
    satisfaction = evaluation["satisfaction_score"]
    assert satisfaction.mean == pytest.approx((1.0 + 0.7) / 2)
    assert satisfaction.n_scored == 2
    assert satisfaction.n_not_scored == {"target_error": 1}
    assert evaluation["response_coverage_rate"].mean == pytest.approx(1 / 3)
    assert evaluation["response_coverage_rate"].n_scored == 3


def test_the_weights_are_in_the_name() -> None:
    name = "satisfaction_score[similarity_weight=1,events_weight=0,latency_weight=0]"
    metric = get("satisfaction_score[similarity_weight=1.0,events_weight=0.0,latency_weight=0.0]")
    assert metric.name == name  # as somebody types it
    assert get(metric.name) == metric
    scores = metric.function(np.array([0.7]), [[]], [9e9], **metric.settings)
    assert scores.tolist() == [pytest.approx(0.7)]
    assert get("satisfaction_score[latency_limit_ms=1000]").settings["latency_limit_ms"] == 1000.0
