"""Single cells: numbers are written as JSON writes them, and quickly."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragmeter.io import cells
from ragmeter.io.cells import CellError, as_text


@given(st.integers() | st.floats(allow_nan=False) | st.booleans())
@example(10**18)
@example(-(10**300))
@example(-0.0)
@example(1e16)
@example(float("inf"))
def test_numbers_are_written_as_in_json(value: float) -> None:
    assert as_text(value) == json.dumps(value)


def test_a_column_of_numbers_does_without_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 columns of 5,000 numbers took 52 seconds, nearly all of it in json.dumps()."""
    monkeypatch.setattr(cells, "_as_json", None)
    assert [as_text(value) for value in (1, 2.5, None, float("nan"), "a")] == ["1", "2.5", None, None, "a"]


def test_what_can_not_be_written() -> None:
    itself: list[object] = []
    itself.append(itself)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (itself, deep, 10**5000, [10**5000]):
        with pytest.raises(CellError):
            as_text(value)
