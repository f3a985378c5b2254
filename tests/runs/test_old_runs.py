"""Runs that an earlier version has written, as they were: they open, and their figures stay the same to the bit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import ragmeter as package
from ragmeter import Run
from tests.conftest import DATA
from tests.conftest import Run as Command

OLD = DATA / "old_runs"
EXPECTED = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A copy of them where the commands look for runs."""
    shutil.copytree(OLD, tmp_path / "runs")
    return tmp_path / "runs"


def figures(value: Any) -> Any:
    """What an output says, without its sentences and texts."""
    texts = ("sentence", "movers", "warnings", "judges_differ", "test_made", "other_clusters")
    if isinstance(value, dict):
        return {key: figures(part) for key, part in value.items() if key not in texts}
    return [figures(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("summary before", "summary before --slice domain"),
        ("summary talk", "summary talk --slice turn_idx"),
        ("compare", "compare before after"),
        ("compare talks", "compare talk talk_later --test t --alpha 0.01"),
    ],
)
def test_the_same_figures(name: str, command: str, runs: Path, ragmeter: Command) -> None:
    done = ragmeter(*command.split(), "--json")
    assert done.returncode == 0, done.stderr
    assert figures(json.loads(done.stdout)) == EXPECTED[name]


@pytest.mark.parametrize("names", [("before", "after"), ("talk", "talk_later")])
def test_a_report(names: tuple[str, str], runs: Path) -> None:
    made = package.report(names, runs / "out.html", output_dir=runs)
    assert made.rows == made.rows_shown == sum(Run(runs / name).n_rows for name in names)


@pytest.mark.parametrize("name", ["before", "talk"])
def test_metrics_are_added(name: str, runs: Path) -> None:
    before = Run(runs / name).summary()["metrics"]
    others = {path.name: path.read_bytes() for path in (runs / name).iterdir() if path.suffix in (".csv", ".sqlite")}
    added = package.add_metrics(name, "token_recall", output_dir=runs)
    assert added["token_recall"].n_scored > 0
    assert {key: added.summary["metrics"][key] for key in before} == before
    assert {key: (runs / name / key).read_bytes() for key in others} == others
    assert len(others) == (3 if name == "talk" else 0)
