"""The public names."""

from __future__ import annotations

import pytest

import ragmeter


def test_the_public_names_are_sorted_and_there() -> None:
    assert ragmeter.__all__ == sorted(ragmeter.__all__)
    assert set(ragmeter.__all__) == set(ragmeter._HOMES)
    for name in ragmeter.__all__:
        assert getattr(ragmeter, name) is not None
    assert set(ragmeter.__all__) <= set(dir(ragmeter))


def test_the_names_that_were_promised() -> None:
    from ragmeter import (
        BaseScorer,
        ContextRecall,
        EditDistanceEvaluator,
        EvaluationResult,
        QAPair,
        RAGResult,
        ResponseEvaluator,
        evaluate,
        metric,
    )

    promised = (
        BaseScorer,
        ContextRecall,
        EditDistanceEvaluator,
        EvaluationResult,
        QAPair,
        RAGResult,
        ResponseEvaluator,
    )
    assert all(isinstance(kind, type) for kind in promised)
    assert callable(evaluate)
    assert callable(metric)


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="evalute"):
        _ = ragmeter.evalute
