"""What is made from runs later is made with their own statistics, unless somebody asks for others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter import compare, evaluate, gate
from ragmeter.analysis.power import plan_from_pilot
from ragmeter.analysis.slices import summarise_run
from tests.compat.crag.helpers import keep_talk
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
    comparison, asked_for = compare(runs, output_dir=folder), compare(runs, cluster="group", output_dir=folder)
    assert comparison.as_dict() == asked_for.as_dict()
    assert (comparison.cluster, comparison["token_f1"].n_clusters) == ("group", 10)
    apart = compare(runs, cluster=None, output_dir=folder)
    assert (apart.cluster, apart["token_f1"].n_clusters) == (None, None)


def test_the_gate_and_a_plan_use_them_too(clustered: Path, ragmeter: Run) -> None:
    folder = clustered / "runs"
    interval = compare(["before", "after"], cluster="group", output_dir=folder)["token_f1"].interval
    check = gate("after", no_worse_than=["before:token_f1:0.01"], output_dir=folder).checks[0]
    assert check.interval == interval
    assert "n = 40 in 10 clusters" in check.reason
    runs = ["before", "after"]
    plan = plan_from_pilot(runs, "token_f1", output_dir=folder)
    assert plan == plan_from_pilot(runs, "token_f1", cluster="group", output_dir=folder)
    assert plan.basis == "before and after, clustered by group"
    assert "in 10 clusters" in ragmeter("compare", "before", "after").stdout


def test_rows_that_were_taken_for_independent_stay_so(tmp_path: Path) -> None:
    for run, rows in (("before", BEFORE), ("after", AFTER)):
        keep(tmp_path, run, [{**row, "session_id": row["group"]} for row in rows], cluster=None)
    assert compare(["before", "after"], output_dir=tmp_path / "runs").cluster is None


def test_runs_of_different_clusters(tmp_path: Path, ragmeter: Run) -> None:
    keep(tmp_path, "before", BEFORE, cluster="group")
    keep(tmp_path, "after", AFTER, cluster="other")
    comparison = compare(["before", "after"], output_dir=tmp_path / "runs")
    assert (comparison.cluster, comparison.other_clusters) == ("group", {"after": "other"})
    lines = ragmeter("compare", "before", "after").stdout.splitlines()
    assert "Paired randomisation test, clustered by group (after itself by other); significant: p below 0.05." in lines
    without = [{name: value for name, value in row.items() if name != "group"} for row in AFTER]
    keep(tmp_path, "later", without, cluster="other")
    assert compare(["before", "later"], output_dir=tmp_path / "runs").cluster == "other"


@pytest.mark.parametrize(
    "settings",
    [
        {"level": 0.8},
        {"cluster": "group"},
        {"cluster": None},
        {"interval": "bootstrap"},
        {"interval": "bca", "seed": 5},
        {"interval": "t"},
    ],
    ids=str,
)
def test_a_summary_has_the_figures_of_its_run(tmp_path: Path, settings: dict[str, Any]) -> None:
    rows = [{**row, "session_id": row["group"]} for row in BEFORE]
    run = evaluate(rows, metrics="token_f1,exact_match", run="r", output_dir=tmp_path, **settings)
    assert run.folder is not None
    assert summarise_run(run).metrics == run.folder.metrics()
    other = summarise_run(run, interval="auto", cluster=None, level=0.9)
    assert (other.statistics.cluster, other.metrics["exact_match"].interval_method) == (None, "wilson")
    assert other.metrics["exact_match"].level == 0.9


def test_a_summary_has_the_score_of_whole_conversations(tmp_path: Path) -> None:
    name = "multi_turn_conversation_score"
    run = keep_talk(tmp_path / "talk")
    own = run.metrics()[name]
    assert summarise_run(run).metrics[name] == own
    assert own.mean is not None
    assert own.interval is not None
    (wide,) = summarise_run(run, metrics=name, level=0.99).metrics.values()
    (narrow,) = summarise_run(run, metrics=name, level=0.5, slices="session_id").metrics.values()
    assert wide.interval is not None
    assert narrow.interval is not None
    assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]
    assert own.interval[1] == 1.0  # cut off at the end of the range
