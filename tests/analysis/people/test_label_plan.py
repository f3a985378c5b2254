"""How many labels, and of which rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragmeter.analysis.people.calibration import calibrate
from ragmeter.analysis.people.label_plan import judges_of, plan_labels
from ragmeter.analysis.people.sample import choose_sample
from ragmeter.errors import UsageError
from tests.analysis.people.helpers import make_run as run_of_metrics
from tests.analysis.people.test_jury import make_run


def test_with_labels_the_judge_s_help_is_known(tmp_path: Path) -> None:
    run, labels = make_run(tmp_path, ["fair", "cheap", "coin"])
    without = plan_labels(run)
    assert without.correlation is None
    assert without.n_labels == 0
    plan = plan_labels(run, [labels[:100]], half_widths=[0.08])
    assert plan.n_labels == 100
    assert plan.correlation is not None
    assert plan.correlation > 0.6
    (needed,) = plan.needed
    assert needed.with_judge is not None
    assert needed.alone is not None
    assert needed.with_judge < needed.alone


def test_jurors_are_told_apart_where_they_differ(tmp_path: Path) -> None:
    run, _ = make_run(tmp_path, ["fair", "cheap", "coin"])
    plan = plan_labels(run, differences=[0.1])
    by_pair = {(pair.first, pair.second): pair for pair in plan.pairs}
    assert by_pair["fair", "cheap"].differing == pytest.approx(0.2, abs=0.06)
    assert by_pair["fair", "coin"].differing == pytest.approx(0.5, abs=0.08)
    assert (by_pair["fair", "coin"].needed[0.1] or 0) > (by_pair["fair", "cheap"].needed[0.1] or 0)


def test_the_next_rows_are_those_where_jurors_differ(tmp_path: Path) -> None:
    run, _ = make_run(tmp_path, ["fair", "cheap", "coin"])
    plan = plan_labels(run, n=60)
    strata = {stratum.name: stratum for stratum in plan.strata}
    votes = np.array(list(judges_of(run).values()))
    assert strata["disagree"].rows == int((votes.min(axis=0) < votes.max(axis=0)).sum())
    assert strata["disagree"].draw >= 30
    assert sum(stratum.draw for stratum in plan.strata) == 60


def test_rows_that_have_a_label_are_not_asked_for_again(tmp_path: Path) -> None:
    run, labels = make_run(tmp_path, ["fair", "cheap", "coin"])
    plan = plan_labels(run, [labels[:-10]])
    assert plan.n_next == sum(stratum.rows for stratum in plan.strata) == 10
    done = plan_labels(run, [labels])
    assert (done.n_next, done.strata) == (0, ())


def test_labels_that_a_run_has_not_are_given_in_rows(tmp_path: Path) -> None:
    run, _ = make_run(tmp_path, ["fair", "cheap"])
    (pair,) = plan_labels(run, differences=[0.02]).pairs
    assert (pair.needed[0.02] or 0) > pair.n_differing
    assert (pair.rows[0.02] or 0) * pair.differing >= (pair.needed[0.02] or 0)


def test_without_a_jury_the_metrics_are_the_judges(tmp_path: Path) -> None:
    run = run_of_metrics(tmp_path)
    plan = plan_labels(run, n=20)
    assert plan.pairs == ()
    assert [(stratum.name, stratum.draw) for stratum in plan.strata] == [("all", 20)]
    with pytest.raises(UsageError, match="between 0 and 1, got 5"):
        plan_labels(run, half_widths=[5])


@pytest.mark.slow
def test_labels_where_jurors_differ_bias_nothing(tmp_path: Path) -> None:
    """Half of the labels are drawn where jurors differ, and weigh less: the mean over draws is that of all rows."""
    run, labels = make_run(tmp_path, ["fair", "cheap", "coin"], n=600)
    people = {label["qid"]: label["label"] for label in labels}
    estimates = []
    for seed in range(150):
        drawn = [
            {"qid": row.qid, "label": people[row.qid], "stratum": row.stratum, "stratum_rows": row.stratum_rows}
            for row in choose_sample(run, 90, by="disagreement", seed=seed)
        ]
        corrected = calibrate(run, drawn, metric="jury_correct").corrected
        assert corrected.value is not None
        estimates.append(corrected.value)
    true = np.mean([value == "correct" for value in people.values()])
    assert np.mean(estimates) == pytest.approx(true, abs=3 * np.std(estimates) / np.sqrt(len(estimates)))
