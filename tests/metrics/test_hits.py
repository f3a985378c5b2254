"""The quick way to gold documents among the retrieved ones, held to the way for all ids."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import get_metric
from ragmeter.metrics.hits import hits_by_sets
from ragmeter.metrics.ranking import by_documents, ranked

MARK = "::chunk-"
FIELDS = ("row", "rank", "gold", "retrieved")
ID = st.sampled_from(["a", "b", "c", "d", "é", "a::chunk-0", "a::chunk-1", "b::chunk-", "\ud800", "?", ""])
ROW = st.tuples(st.lists(ID, max_size=4), st.lists(ID, max_size=6))


class Name(StrEnum):
    """A text whose hash is that of another text."""

    A = "a"


@given(st.lists(ROW, max_size=6))
def test_equal_to_the_way_for_all_ids(rows: list[tuple[list[str], list[str]]]) -> None:
    relevant, retrieved = [gold for gold, _ in rows], [ids for _, ids in rows]
    oracle = by_documents(relevant, retrieved)
    column = ranked.function(relevant, retrieved, [None] * len(rows), doc_id=None)
    quick = hits_by_sets(relevant, retrieved, MARK)
    for number, field in enumerate(FIELDS):
        np.testing.assert_array_equal(getattr(column, field), getattr(oracle, field))
        if quick is not None:
            np.testing.assert_array_equal(quick[number], getattr(oracle, field))
            assert quick[number].dtype == getattr(oracle, field).dtype


def test_many_rows_are_scored_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that the quick way can't take is between two that it can."""
    monkeypatch.setattr("ragmeter.metrics.ranking._AT_ONCE", 2)
    relevant = [["a"], ["b", "b", "c"], ["c"], ["x"], ["a"], ["d", "e"]]
    retrieved = [["b", "a"], ["c", "b"], ["c::chunk-1", "c::chunk-0"], [], ["a"], ["e", "x", "d"]]
    oracle = by_documents(relevant, retrieved)
    column = ranked.function(relevant, retrieved, [None] * len(relevant), doc_id=None)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(column, field), getattr(oracle, field))


@pytest.mark.parametrize(
    ("relevant", "retrieved"),
    [
        ([["a"]], [["b", "b", "a"]]),  # a document twice
        ([["a"]], [["b", "a::chunk-1"]]),
        ([["a::chunk-1"]], [["b", "a"]]),
        ([["?"]], [["b", "\ud800"]]),  # half of a character
        ([[Name.A]], [["b", "a"]]),
    ],
)
def test_what_it_leaves_to_the_other_way(relevant: list[list[str]], retrieved: list[list[str]]) -> None:
    assert hits_by_sets(relevant, retrieved, MARK) is None
    assert get_metric("recall")(relevant, retrieved)[0] == 1


@pytest.mark.parametrize("wrong", [1, None, ["a"]])
def test_what_is_no_id(wrong: Any) -> None:
    assert hits_by_sets([["a"], [wrong]], [["a"], ["b"]], MARK) is None
    assert hits_by_sets([["a"], ["a"]], [["a"], [wrong]], MARK) is None
