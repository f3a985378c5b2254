"""Summaries from pieces of a column: the numbers of the whole column, to the bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.stats import streamed
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.streamed import order_statistics, percentiles_of_pieces, summarise_pieces
from ragmeter.stats.summary import percentiles, summarise
from ragmeter.table import Scores


def cut(values: Scores, size: int) -> streamed.Pieces:
    def pieces() -> Iterator[Scores]:
        for begin in range(0, len(values), size):
            yield values[begin : begin + size]

    return pieces


@pytest.fixture(autouse=True, params=[128, 1 << 20])
def _at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few values at a time, so that small columns take the ways of large ones."""
    monkeypatch.setattr(streamed, "_AT_ONCE", request.param)  # numpy adds up 128 values without halving


@pytest.mark.parametrize("n", [0, 1, 2, 129, 4099])
def test_the_summary_is_that_of_the_whole_column(n: int) -> None:
    size = 777
    draws = np.random.default_rng(n)
    for values in (
        draws.random(n) * draws.choice([1e-6, 1.0, 1e3], n),
        draws.integers(0, 5, n) / 4,
        draws.normal(0, 1, n),
    ):
        for confidence in (Confidence(), Confidence("t", None, 0.9)):
            whole = summarise(values, {"no_answer": 2}, bounds=(-1e9, 1e9), confidence=confidence)
            assert (
                summarise_pieces(cut(values, size), n, {"no_answer": 2}, bounds=(-1e9, 1e9), confidence=confidence)
                == whole
            )
        assert percentiles_of_pieces(cut(values, size)) == (percentiles(values) if n else None)
    binary = draws.integers(0, 2, n).astype(np.float64)
    assert summarise_pieces(cut(binary, size), n, {}, binary=True) == summarise(binary, {}, binary=True)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=300))
def test_the_values_in_their_order(values: list[float]) -> None:
    column = np.array(values)
    places = range(len(values))
    assert order_statistics(cut(column, 7), places) == np.sort(column).tolist()


def test_the_range_of_a_metric_that_is_wrong() -> None:
    values = np.array([0.0, 0.5, 3.0])
    assert summarise_pieces(cut(values, 2), 3, {}) == summarise(values, {})


@pytest.mark.parametrize("n", [1, 3, 129, 4099])
def test_scores_in_a_heap_have_the_same_interval(n: int) -> None:
    draws = np.random.default_rng(n)
    for values in (
        np.where(draws.random(n) < 0.9, 0.0, draws.random(n)),
        np.where(draws.random(n) < 0.5, 1.0, draws.random(n)),
        draws.integers(0, 2, n).astype(np.float64),
        np.full(n, 0.25),
        0.5 + draws.normal(0, 0.004, n),
    ):
        for confidence in (Confidence(), Confidence("t", None, 0.9)):
            whole = summarise(values, {}, confidence=confidence)
            assert summarise_pieces(cut(values, 100), n, {}, confidence=confidence) == whole
