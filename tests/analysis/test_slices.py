"""A kept run's figures again, with other intervals and by slices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragmeter.analysis.slices import summarise_run
from ragmeter.errors import UnknownNameError
from ragmeter.stats.intervals import mean_interval, wilson_interval
from tests.make_runs import make_run

NAN = float("nan")


def test_slices_by_one_column_and_by_two(tmp_path: Path) -> None:
    make_run(
        tmp_path / "r",
        {"score": [0.1, 0.3, NAN, 0.8], "right": [1, 0, 1, 1]},
        {"domain": ["x", "y", "x", None], "size": ["big", "big", "small", "big"]},
    )
    summary = summarise_run("r", slices=["domain", "domain,size"], output_dir=tmp_path)
    assert [(part.column, part.value, part.n_rows) for part in summary.slices] == [
        ("domain", "x", 2),
        ("domain", "y", 1),
        ("domain", "(none)", 1),
        ("domain,size", "x, big", 1),
        ("domain,size", "y, big", 1),
        ("domain,size", "x, small", 1),
        ("domain,size", "(none), big", 1),
    ]
    x = summary.slices[0].metrics
    assert (x["score"].mean, x["score"].n_scored, x["score"].n_not_scored) == (0.1, 1, {"no_answer": 1})
    assert x["right"].interval == wilson_interval(2, 2)
    assert all(part.small for part in summary.slices)


def test_all_rows_and_the_level(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random(50)
    make_run(tmp_path / "r", {"score": values})
    summary = summarise_run(tmp_path / "r", level=0.9)
    assert summary.metrics["score"].interval == mean_interval(values.mean(), values.std(ddof=1), 50, 0.9)
    assert summary.metrics["score"].level == 0.9


def test_bootstrap_with_its_seed_in_the_signature(tmp_path: Path) -> None:
    make_run(tmp_path / "r", {"score": np.random.default_rng(0).random(50)})
    one, again, other = (summarise_run(tmp_path / "r", interval="bca", seed=seed) for seed in (1, 1, 2))
    assert one.metrics["score"].interval == again.metrics["score"].interval != other.metrics["score"].interval
    assert one.as_dict()["statistics"] == {
        "method": "bca", "cluster": None, "level": 0.95, "seed": 1, "draws": 9_999
    }  # fmt: skip


def test_wilson_where_it_can_be(tmp_path: Path) -> None:
    make_run(tmp_path / "r", {"score": [0.1, 0.4], "right": [0, 1]})
    summary = summarise_run(tmp_path / "r", interval="wilson")
    assert [metric.interval_method for metric in summary.metrics.values()] == ["student_t", "wilson"]


def test_clusters_without_a_value_stand_alone(tmp_path: Path) -> None:
    make_run(tmp_path / "r", {"score": [0.1, 0.4, 0.2, 0.9]}, {"session_id": ["s", "s", None, None]})
    summary = summarise_run(tmp_path / "r")
    assert (summary.statistics.cluster, summary.metrics["score"].n_clusters) == ("session_id", 3)


def test_what_is_not_there(tmp_path: Path) -> None:
    make_run(tmp_path / "r", {"score": [0.1]}, {"domain": ["x"]})
    with pytest.raises(UnknownNameError, match="unknown column 'doman': did you mean domain"):
        summarise_run(tmp_path / "r", slices=["doman"])
    with pytest.raises(UnknownNameError, match="unknown metric"):
        summarise_run(tmp_path / "r", metrics="nothing")


def test_few_clusters_are_few_however_many_rows(tmp_path: Path) -> None:
    sessions = [f"s{row % 20}" for row in range(200)]
    make_run(tmp_path / "r", {"score": [*map(float, range(200))]}, {"session_id": sessions, "domain": ["x"] * 200})
    (by_session,) = summarise_run("r", slices="domain", output_dir=tmp_path).slices
    (alone,) = summarise_run("r", slices="domain", cluster=None, output_dir=tmp_path).slices
    assert (by_session.metrics["score"].n_clusters, by_session.small) == (20, True)
    assert (alone.metrics["score"].n_clusters, alone.small) == (None, False)
