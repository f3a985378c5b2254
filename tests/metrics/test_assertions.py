"""Checks of an answer that are 0 or 1, with what is expected in a column or a setting."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import evaluate
from ragmeter.errors import UsageError
from ragmeter.table import NO_EXPECTATION, NO_NUMBER, SLOW_PATTERN

#: A metric, its row, and its score; or the outcome of a row without one.
CASES: list[tuple[str, dict[str, Any], float | str]] = [
    ("contains", {"answer": "Two DAYS.", "must_contain": "two days"}, 1),
    ("contains", {"answer": "Café", "must_contain": "CAFE\u0301"}, 1),
    ("contains", {"answer": "red, blue", "must_contain": '["red", "blue"]'}, 1),
    ("contains", {"answer": "red", "must_contain": '["red", "blue"]'}, 0),
    ("contains", {"answer": "see [1]", "must_contain": "[1]"}, 1),
    ("contains", {"answer": "", "must_contain": "a"}, 0),
    ("contains", {"answer": "a", "must_contain": ""}, NO_EXPECTATION),
    ("contains", {"answer": "a"}, NO_EXPECTATION),
    ("contains[text=paris]", {"answer": "In Paris", "must_contain": "Rome"}, 1),
    ("regex", {"answer": "order A-17", "must_match": r"[A-Z]-\d+"}, 1),
    ("regex", {"answer": "order a-17", "must_match": r"[A-Z]-\d+"}, 0),
    ("regex", {"answer": "order a-17", "must_match": r"(?i)[A-Z]-\d+$"}, 1),
    ("regex", {"answer": "a"}, NO_EXPECTATION),
    ("regex", {"answer": "a" * 60 + "b", "must_match": r"^(a|aa|a?a)+$"}, SLOW_PATTERN),
    ("is_json", {"answer": ' {"a": [1, null]} '}, 1),
    ("is_json", {"answer": "3"}, 1),
    ("is_json", {"answer": "```json\n{}\n```"}, 0),
    ("is_json", {"answer": '{"a": NaN}'}, 0),
    ("is_json", {"answer": '{"a": 1, "a": 2}'}, 0),
    ("is_json", {"answer": "[" * 100_000}, 0),
    ("is_json", {"answer": ""}, 0),
    ("json_match", {"answer": '{"a": 1, "b": 2}', "expected_json": '{"a": 1.0}'}, 1),
    ("json_match", {"answer": '{"a": true}', "expected_json": '{"a": 1}'}, 0),
    ("json_match", {"answer": '{"a": {"b": "x", "c": 0}}', "expected_json": '{"a": {"b": "x"}}'}, 1),
    ("json_match", {"answer": '{"a": [1, 2]}', "expected_json": '{"a": [2, 1]}'}, 0),
    ("json_match", {"answer": "no", "expected_json": '{"a": 1}'}, 0),
    ("json_match", {"answer": "{}", "expected_json": "no"}, NO_EXPECTATION),
    ("json_match[field=a.b]", {"answer": '{"a": {"b": 1}}', "expected_json": '{"a": {"b": 1}, "c": 2}'}, 1),
    ("json_match[field=c]", {"answer": '{"a": 1}', "expected_json": '{"c": 1}'}, 0),
    ("json_match[field=d]", {"answer": '{"a": 1}', "expected_json": '{"c": 1}'}, NO_EXPECTATION),
    ("numeric_match", {"answer": "It takes two days.", "reference": "48 hours"}, 1),
    ("numeric_match", {"answer": "It takes two hours.", "reference": "2 days"}, 0),
    ("numeric_match", {"answer": "25% of them, in 1998", "reference": "a quarter"}, 1),
    ("numeric_match", {"answer": "$1.05 million", "reference": "1.04 million dollars"}, 0),
    ("numeric_match[tolerance=0.01]", {"answer": "$1.05 million", "reference": "1.04 million dollars"}, 1),
    ("numeric_match", {"answer": "Cuesta 3,5 millones de euros", "reference": "3.500.000 €"}, 1),
    ("numeric_match", {"answer": "-5 degrees", "reference": "5"}, 0),
    ("numeric_match", {"answer": "between 3 and 5", "reference": "3 to 5"}, 1),
    ("numeric_match", {"answer": "3", "reference": "3 to 5"}, 0),
    ("numeric_match", {"answer": "7", "reference": ["6", "7"]}, 1),
    ("numeric_match", {"answer": "", "reference": "7"}, 0),
    ("numeric_match", {"answer": "7", "reference": "seven hills of Rome"}, 1),
    ("numeric_match", {"answer": "7", "reference": "Rome"}, NO_NUMBER),
    ("max_length[limit=2]", {"answer": "two words"}, 1),
    ("max_length[limit=2]", {"answer": "these are three"}, 0),
    ("max_length[limit=3,unit=characters]", {"answer": "abcd"}, 0),
    ("max_length", {"answer": ""}, 1),
    ("max_latency[limit_ms=100]", {"answer": "a", "latency_ms": 100}, 1),
    ("max_latency[limit_ms=100]", {"answer": "a", "latency_ms": 100.5}, 0),
    ("max_cost[limit_usd=0.02]", {"answer": "a", "cost_usd": 0.02}, 1),
    ("max_cost[limit_usd=0.02]", {"answer": "a", "cost_usd": 0.021}, 0),
    ("max_cost", {"answer": "a", "cost_usd": "free"}, NO_NUMBER),
]


@pytest.mark.parametrize(("metric", "row", "expected"), CASES)
def test_worked_cases(metric: str, row: dict[str, Any], expected: float | str) -> None:
    summary = evaluate([row], metrics=metric)[metric]
    if isinstance(expected, str):
        assert (summary.mean, summary.n_not_scored) == (None, {expected: 1})
    else:
        assert summary.mean == expected


def test_a_pattern_that_is_none_is_an_error() -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        evaluate([{"answer": "a", "must_match": "("}], metrics="regex")


def test_a_tolerance_below_0() -> None:
    with pytest.raises(UsageError, match="tolerance must be 0 or more"):
        evaluate([{"answer": "1", "reference": "1"}], metrics="numeric_match[tolerance=-1]")


def test_a_share_of_answers_has_an_interval() -> None:
    rows = [{"qid": str(i), "answer": "a", "latency_ms": 10.0 * i} for i in range(10)]
    summary = evaluate(rows, metrics="max_latency[limit_ms=45]")["max_latency[limit_ms=45]"]
    assert summary.mean == 0.5
    assert summary.interval is not None
    assert summary.interval[0] < 0.5 < summary.interval[1]


@given(st.integers(-(10**6), 10**6), st.floats(0, 0.5))
def test_a_number_is_as_near_as_the_tolerance(expected: int, tolerance: float) -> None:
    def matches(value: float) -> float:
        row = {"answer": f"{value:f}", "reference": str(expected)}
        mean = evaluate([row], metrics=f"numeric_match[tolerance={tolerance!r}]").summary.metrics
        return float(next(iter(mean.values())).mean or 0)

    assert matches(expected) == 1
    if abs(expected) > 1:
        assert matches(expected * (1 + tolerance / 2)) == 1 or math.isclose(tolerance, 0)
        assert matches(expected * (1.1 + tolerance * 2)) == 0
