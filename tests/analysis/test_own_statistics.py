"""What is made from runs later is made with their own statistics, unless somebody asks for others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter import compare, evaluate, gate
from ragmeter.analysis.power import plan_from_pilot
from tests.conftest import Run

#: Ten groups of four rows, in which every second group gets better together.
BEFORE = [
    {
        "qid": str(row),
        "reference": "one two three four",
        "answer": "one two three four" if row % 3 else "one two",
        "group": str(row // 4),
        "other": str(row % 4),
    }
    for row in range(40)
]
AFTER = [{**row, "answer": row["reference"]} if row["group"] in "13579" else row for row in BEFORE]


def keep(folder: Path, run: str, rows: list[dict[str, str]], **settings: Any) -> None:
    evaluate(rows, metrics="token_f1", run=run, output_dir=folder / "runs", **settings)


@pytest.fixture
def clustered(tmp_path: Path) -> Path:
    keep(tmp_path, "before", BEFORE, cluster="group")
    keep(tmp_path, "after", AFTER, cluster="group")
    return tmp_path


def test_a_comparison_uses_the_clusters_of_its_runs(clustered: Path) -> None:
    runs, folder = ["before", "after"], clustered / "runs"
    found, asked_for = compare(runs, output_dir=folder), compare(runs, cluster="group", output_dir=folder)
    assert found.as_dict() == asked_for.as_dict()
    assert (found.cluster, found["token_f1"].n_clusters) == ("group", 10)
    apart = compare(runs, cluster=None, output_dir=folder)
    assert (apart.cluster, apart["token_f1"].n_clusters) == (None, None)


def test_the_gate_and_a_plan_use_them_too(clustered: Path, ragmeter: Run) -> None:
    folder = clustered / "runs"
    interval = compare(["before", "after"], cluster="group", output_dir=folder)["token_f1"].interval
    check = gate("after", no_worse_than=["before:token_f1:0.01"], output_dir=folder).checks[0]
    assert check.interval == interval
    assert "n = 40 in 10 clusters" in check.reason
    plans = [plan_from_pilot(["before", "after"], "token_f1", output_dir=folder, cluster=by) for by in ("auto", "group")]
    assert plans[0] == plans[1]
    assert plans[0].basis == "before and after, clustered by group"
    assert "in 10 clusters" in ragmeter("compare", "before", "after").stdout


def test_rows_that_were_taken_for_independent_stay_so(tmp_path: Path) -> None:
    for run, rows in (("before", BEFORE), ("after", AFTER)):
        keep(tmp_path, run, [{**row, "session_id": row["group"]} for row in rows], cluster=None)
    assert compare(["before", "after"], output_dir=tmp_path / "runs").cluster is None


def test_runs_of_different_clusters(tmp_path: Path, ragmeter: Run) -> None:
    keep(tmp_path, "before", BEFORE, cluster="group")
    keep(tmp_path, "after", AFTER, cluster="other")
    found = compare(["before", "after"], output_dir=tmp_path / "runs")
    assert (found.cluster, found.other_clusters) == ("group", {"after": "other"})
    last = ragmeter("compare", "before", "after").stdout.splitlines()[-1]
    assert last == "test: randomisation, clustered by group (after itself by other); significant: p below 0.05"
    without = [{name: value for name, value in row.items() if name != "group"} for row in AFTER]
    keep(tmp_path, "later", without, cluster="other")
    assert compare(["before", "later"], output_dir=tmp_path / "runs").cluster == "other"
