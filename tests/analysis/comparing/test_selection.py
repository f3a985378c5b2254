"""Pairs of rows by how they changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ragmeter
from ragmeter.analysis.comparing.row_pairs import in_slice, pair
from ragmeter.analysis.comparing.selection import CHANGES, Gains
from ragmeter.errors import UnknownNameError
from ragmeter.runs.run import Run
from tests.make_runs import make_run


def gains(tmp_path: Path, before: list[float], after: list[float]) -> Gains:
    a, b = (make_run(tmp_path / name, {"score": scores}) for name, scores in (("a", before), ("b", after)))
    return Gains.of(a, b, pair(a, b), "score")


def test_rows_that_changed_most_come_first(tmp_path: Path) -> None:
    of = gains(tmp_path, [0.5, 0.5, 0.1, np.nan, 1e99, 0.0], [0.6, 0.2, 0.3, 1.0, 0.0, 0.0])

    def shown(change: str) -> list[int]:
        return [int(place) for place in of.largest_first(np.flatnonzero(of.that(change)))]

    assert shown("better") == [2, 0]
    assert shown("worse") == [4, 1]
    assert shown("differs") == [4, 1, 2, 0]
    assert shown("same") == [5]
    assert shown("all") == [4, 1, 2, 0, 5, 3]


def test_right_and_wrong_in_both_and_failed(tmp_path: Path) -> None:
    of = gains(tmp_path, [1, 1, 0, 0, 1, np.nan], [1, 0, 1, 0, np.nan, np.nan])
    rows = {change: np.flatnonzero(of.that(change)).tolist() for change in CHANGES}
    assert (rows["right"], rows["wrong"], rows["failed"]) == ([0], [3], [4])
    assert (rows["better"], rows["worse"]) == ([2], [1])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    for name, answers in (("a", "xg"), ("b", "gg")):
        rows = [
            {"qid": f"{i}", "reference": "g", "answer": answers[i % 2], "topic": "odd" if i % 2 else None}
            for i in range(40)
        ]
        ragmeter.evaluate(rows, metrics="exact_match,edit_distance", run=name, output_dir=folder)
    return [Run(folder / "a"), Run(folder / "b")]


def test_less_is_better_where_the_metric_says_so(runs: list[Run]) -> None:
    a, b = runs
    of = Gains.of(a, b, pair(a, b), "edit_distance")
    assert of.that("better").sum() == 20
    assert of.that("right").sum() == 20


def test_a_comparison_is_cut_to_a_slice(runs: list[Run]) -> None:
    odd = ragmeter.compare(runs, where={"topic": "odd"})
    assert (odd.pairs[0].n_paired, odd["exact_match"].difference) == (20, 0.0)
    none = ragmeter.compare(runs, where={"topic": "(none)"})
    assert (none.pairs[0].n_paired, none["exact_match"].difference) == (20, 1.0)
    assert none.test_sentence.startswith("Only rows where topic is (none). Paired ")
    assert in_slice(runs[0], {}).all()
    with pytest.raises(UnknownNameError, match="unknown value 'even'"):
        ragmeter.compare(runs, where={"topic": "even"})
    with pytest.raises(UnknownNameError, match="unknown column"):
        ragmeter.compare(runs, where={"nothing": "even"})


def test_the_order_of_several_systems_is_that_of_the_slice(runs: list[Run], tmp_path: Path) -> None:
    rows = [{"qid": f"{i}", "reference": "g", "answer": "g" if i % 4 else "x", "topic": "odd"} for i in range(40)]
    ragmeter.evaluate(rows, metrics="exact_match", run="c", output_dir=tmp_path)
    ranking = ragmeter.compare([*runs, Run(tmp_path / "c")], where={"topic": "odd"}, baseline=runs[0]).ranking
    assert ranking is not None
    assert {rank.run: rank.mean for rank in ranking.ranks} == {"a": 1.0, "b": 1.0, "c": 0.75}
