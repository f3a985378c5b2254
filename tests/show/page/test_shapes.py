"""Histograms, correlations and slices, worked out by hand and held to scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragmeter.analysis.comparing import compare
from ragmeter.show.page.shapes import axis_of_means, correlation, domain, histogram, ranks, relations
from ragmeter.show.report.slices import slice_columns, slices
from tests.make_runs import summary_of
from tests.show.report.helpers import keep, loaded, rows


@given(st.lists(st.integers(-5, 5), min_size=3, max_size=40), st.data())
def test_correlations_are_scipys(xs: list[int], data: st.DataObject) -> None:
    ys = data.draw(st.lists(st.integers(-5, 5), min_size=len(xs), max_size=len(xs)))
    a, b = np.array(xs, dtype=float), np.array(ys, dtype=float)
    assert ranks(a).tolist() == stats.rankdata(a).tolist()
    if np.ptp(a) and np.ptp(b):
        assert correlation(a, b) == pytest.approx(stats.pearsonr(a, b).statistic)
        assert correlation(ranks(a), ranks(b)) == pytest.approx(stats.spearmanr(a, b).statistic)
    else:
        assert correlation(a, b) is None


def test_a_histogram_counts_every_scored_row_once(tmp_path: Path) -> None:
    keep(tmp_path, metrics="token_f1,exact_match,edit_distance")
    (run,) = loaded(tmp_path, "small")
    result = histogram(run, "token_f1")
    assert result is not None
    assert (result["low"], result["high"], result["n"]) == (0.0, 1.0, 7)
    assert (result["counts"][0], result["counts"][-1], sum(result["counts"])) == (3, 4, 7)
    binary = histogram(run, "exact_match")
    assert binary is not None
    assert (binary["counts"], binary["low"], binary["high"]) == ([3, 4], -0.5, 1.5)
    assert domain(run, "edit_distance")[0] == 0
    assert domain(run, "edit_distance")[1] == run.metrics()["edit_distance"].max


def test_an_axis_without_end_ends_beyond_the_means() -> None:
    wide = summary_of(range=(0.0, None), mean=10.0, interval=(5.0, 20.0))
    assert axis_of_means([wide]) == pytest.approx((0.0, 22.0))
    assert axis_of_means([summary_of()]) == (0.0, 1.0)
    assert axis_of_means([summary_of(range=(0.0, None))]) == (0.0, 1.0)


def test_pairs_of_metrics_have_their_rows_and_their_n(tmp_path: Path) -> None:
    keep(tmp_path)
    (run,) = loaded(tmp_path, "small")
    pairs = {(relation["x"], relation["y"]): relation for relation in relations(run)}
    assert set(pairs) == {("token_f1", "exact_match"), ("token_f1", "recall@2"), ("exact_match", "recall@2")}
    first = pairs["token_f1", "recall@2"]
    assert first["n"] == 7  # the row without an answer has no token_f1
    assert sum(count for _, _, count in first["counts"]) == 7
    assert first["spearman"] == pytest.approx(1.0)


def test_slices_have_means_n_and_a_distance_from_the_whole(tmp_path: Path) -> None:
    data = [
        {**row, "level": level} for row, level in zip(rows(), ["10", "9", "9", "10", "9", "10", "9", None], strict=True)
    ]
    keep(tmp_path, data=data)
    (run,) = loaded(tmp_path, "small")
    assert slice_columns(run) == ["domain", "level"]  # a note that every row has its own of is none
    domain_, level = slices(run)
    assert [value["value"] for value in level["values"]] == ["9", "10", "(none)"]  # by size, and nothing last
    assert [value["n"] for value in level["values"]] == [4, 3, 1]
    music, sport = domain_["values"]
    assert (music["value"], music["n"], sport["value"], sport["n"]) == ("music", 4, "sport", 4)
    cell = music["cells"]["token_f1"]
    assert (cell["mean"], cell["n"], cell["few"]) == (pytest.approx(2 / 3), 3, True)
    whole = run.metrics()["token_f1"]
    assert whole.mean is not None
    assert whole.sd is not None
    assert cell["apart"] == pytest.approx((2 / 3 - whole.mean) / whole.sd)
    assert level["values"][2]["cells"]["token_f1"]["mean"] is None
    assert level["values"][2]["cells"]["token_f1"]["apart"] is None


def test_lower_is_better_turns_the_colour_round(tmp_path: Path) -> None:
    keep(tmp_path, metrics="edit_distance")
    (run,) = loaded(tmp_path, "small")
    music, sport = slices(run)[0]["values"]
    assert music["cells"]["edit_distance"]["mean"] < sport["cells"]["edit_distance"]["mean"]
    assert music["cells"]["edit_distance"]["apart"] > 0 > sport["cells"]["edit_distance"]["apart"]


def test_a_column_may_have_a_comma_in_its_name(tmp_path: Path) -> None:
    data = [{**row, "topic, in short": "ab"[i % 2]} for i, row in enumerate(rows(40))]
    for name in ("one", "other"):
        keep(tmp_path, name, data)
    runs = loaded(tmp_path, "one", "other")
    assert [part["column"] for part in slices(runs[0])] == ["domain", "topic, in short"]
    pair = compare(runs).pairs[0]
    assert {part.column for part in pair.slices} == {"domain", "topic, in short"}
