"""A jury beside people's labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import FakeProvider, Judge, evaluate
from ragmeter.analysis.people.jury import calibrate_jury
from ragmeter.errors import InputError, UsageError
from ragmeter.models.prices import Price
from ragmeter.runs.run import Run

#: How often each juror is right, and what a million of its tokens cost.
JURORS = {"dear": (0.97, 50.0), "fair": (0.9, 1.0), "cheap": (0.88, 1.0), "coin": (0.5, 0.1)}


def questions(n: int, seed: int = 0) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    return [
        {
            "qid": f"q{number}",
            "question": f"What is {number}?",
            "reference": "x",
            "answer": f"it is {number}",
            "right": bool(random.random() < 0.6),
        }
        for number in range(n)
    ]


def juror(name: str, rows: list[dict[str, Any]], seed: int, **more: Any) -> Judge:
    accuracy, price = JURORS[name]
    random = np.random.default_rng(seed)
    says = {row["answer"]: row["right"] == (random.random() < accuracy) for row in rows}
    provider = FakeProvider(lambda answer: "Yes" if says[answer] else "No", model=name, price=Price(price, price))
    return Judge(provider=provider, check=False, wordings=1, **more)


def make_run(folder: Path, names: list[str], n: int = 400) -> tuple[Run, list[dict[str, str]]]:
    rows = questions(n)
    others = [juror(name, rows, seed) for seed, name in enumerate(names[1:], 1)]
    judge = juror(names[0], rows, 99, jurors=others)
    run = evaluate(rows, metrics="llm_correct", judge=judge, output_dir=folder, run="r").folder
    assert isinstance(run, Run)
    return run, [{"qid": row["qid"], "label": "correct" if row["right"] else "wrong"} for row in rows]


def test_jurors_beside_people_and_each_other(tmp_path: Path) -> None:
    run, labels = make_run(tmp_path, ["dear", "fair", "coin"])
    result = calibrate_jury(run, labels)
    assert result.n_labels == 400
    agreement = {juror.name: juror.against.agreement.value for juror in result.jurors}
    assert agreement == pytest.approx({"dear": 0.97, "fair": 0.9, "coin": 0.5}, abs=0.05)
    costs = {juror.name: juror.cost_usd for juror in result.jurors}
    assert costs["dear"] == pytest.approx(50 * (costs["fair"] or 0), rel=0.01)
    assert result.pairs["dear, fair"].value == pytest.approx(0.75, abs=0.08)
    low, high = result.pairs["dear, coin"].interval or (1, 1)
    assert low < 0 < high
    assert result.panel is None


def test_weights_are_kept_where_they_help_on_rows_left_out(tmp_path: Path) -> None:
    run, labels = make_run(tmp_path, ["dear", "coin", "cheap"])
    result = calibrate_jury(run, labels)
    assert result.weights_help
    assert (result.weighted.agreement.value or 0) > (result.majority.agreement.value or 0)
    assert result.weighted_metric.startswith("jury_correct[jurors=dear+coin+cheap,weights=")
    again = evaluate(run.path / "rows.parquet", metrics=result.weighted_metric, output_dir=tmp_path, run="weighted")
    people = np.array([label["label"] == "correct" for label in labels], dtype=float)
    scores = np.array(again.rows[result.weighted_metric].to_pylist(), dtype=float)
    assert np.mean(scores == people) == pytest.approx(0.97, abs=0.03)


def test_the_cheapest_panel_is_chosen_on_one_half_and_reported_on_the_other(tmp_path: Path) -> None:
    run, labels = make_run(tmp_path, ["dear", "fair", "cheap"])
    panel = calibrate_jury(run, labels, panel=0.85).panel
    assert panel is not None
    assert panel.reaches == ((panel.reported.value or 0) >= 0.85)
    assert panel.jurors in {("fair",), ("cheap",)}
    assert panel.in_dollars
    assert panel.chosen_on.n + panel.reported.n == 400
    on_one_half = panel.chosen_on.value or 0
    for half in (panel.chosen_on, panel.reported):
        closer = calibrate_jury(run, labels, panel=half.value).panel
        assert closer is not None
        assert closer.reaches == (min(closer.chosen_on.value or 0, closer.reported.value or 0) >= closer.target)
    assert on_one_half >= 0.85
    panel = calibrate_jury(run, labels, panel=0.94).panel
    assert panel is not None
    assert "dear" in panel.jurors
    low, high = panel.reported.interval or (0, 0)
    assert low < 0.95 < high
    nearest = calibrate_jury(run, labels, panel=1.0).panel
    assert nearest is not None
    assert not nearest.reaches


def test_what_can_not_be_compared_is_an_error(tmp_path: Path) -> None:
    run, labels = make_run(tmp_path, ["fair", "cheap", "coin"], n=60)
    with pytest.raises(InputError, match="20 labels are too few"):
        calibrate_jury(run, labels[:20])
    with pytest.raises(UsageError, match="an agreement between 0 and 1"):
        calibrate_jury(run, labels, panel=95)
    alone = evaluate(questions(5), metrics="exact_match", output_dir=tmp_path, run="alone").folder
    assert isinstance(alone, Run)
    with pytest.raises(UsageError, match="the run has no jury"):
        calibrate_jury(alone, labels)
