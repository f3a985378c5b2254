"""Comparisons that are kept beside their runs, and shown by the report as they were made."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import ragmeter as package
from ragmeter import Run, evaluate
from ragmeter.errors import InputError, UsageError
from ragmeter.runs.comparisons import comparison_file, kept_comparison
from ragmeter.runs.lookup import find_runs
from ragmeter.show.report.report import comparison_to_show
from tests.conftest import Run as Command
from tests.show.report.helpers import keep, rows

METRICS = "token_f1,exact_match"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A folder with two runs of 24 rows, of which the second is better on half of them."""
    folder = tmp_path / "runs"
    data = [{**row, "color": "red" if place % 3 else "blue"} for place, row in enumerate(rows(24))]
    keep(folder, "a", data, METRICS)
    keep(folder, "b", [{**row, "answer": row["reference"][0]} for row in data], METRICS)
    return folder


def shown(folder: Path, *names: str) -> dict[str, Any]:
    """The comparison that the page of a report shows, and what the page says of it."""
    page = package.report(names, folder / "out.html", output_dir=folder).page.read_text(encoding="utf-8")
    comparison, kept, why_not = comparison_to_show([Run(folder / name) for name in names])
    assert comparison is not None, why_not
    assert kept in html.unescape(page)
    return {**json.loads(json.dumps(comparison.as_dict())), "kept": kept}


def figures(comparison: dict[str, Any]) -> Any:
    """What a comparison says, without texts of rows, which the page has elsewhere."""
    pairs = [
        {
            "sentence": pair["sentence"],
            "metrics": {name: {**metric, "movers": 0, "cells": 0} for name, metric in pair["metrics"].items()},
            "slices": pair["slices"],
            "rows": [[row["qid"] for row in pair[f"{way}_rows"]] for way in ("worse", "better")],
        }
        for pair in comparison["pairs"]
    ]
    settings = ("runs", "baseline", "level", "alpha", "test", "seed", "draws", "tests", "ranking")
    return json.loads(json.dumps({**{name: comparison[name] for name in settings}, "pairs": pairs}))


def test_a_report_shows_the_one_that_was_made(two: Path) -> None:
    usual = shown(two, "a", "b")
    assert usual["kept"] == ""
    made = package.compare(
        ["a", "b"], test="t", alpha=0.01, slices="color", metrics=METRICS, movers=2, keep=True, output_dir=two
    ).as_dict()
    page = shown(two, "a", "b")
    assert (page["test"], page["alpha"]) == ("t", 0.01)
    assert {part["column"] for part in page["pairs"][0]["slices"]} == {"color"}
    assert figures(page) == figures(made) != figures(usual)
    assert re.fullmatch(
        r"The comparison that was kept on \S+; test: t, alpha: 0\.01, metrics: .*, slices: color\.", page["kept"]
    )
    assert figures(shown(two, "b", "a"))["test"] == "randomisation"  # that is another comparison
    markdown = two / "out.md"
    package.report(["a", "b"], two / "out.html", markdown=markdown, output_dir=two)
    assert page["kept"] in markdown.read_text(encoding="utf-8").replace("\\", "")


def test_its_margins_are_those_of_the_report(two: Path) -> None:
    made = package.compare(["a", "b"], margin="token_f1=0.9", keep=True, output_dir=two)
    assert made["token_f1"].verdict == "significant, but small"
    page = shown(two, "a", "b")
    assert page["pairs"][0]["metrics"]["token_f1"]["verdict"] == "significant, but small"
    assert page["kept"].endswith("; test: randomisation, alpha: 0.05, margins: token_f1=0.9.")


def test_its_file_has_the_settings_and_the_figures(two: Path) -> None:
    made = package.compare(["a", "b"], alpha=0.2, keep=True, output_dir=two)
    document = json.loads((two / "b" / "comparisons" / "a.json").read_text(encoding="utf-8"))
    assert document["settings"]["alpha"] == 0.2
    assert [run["name"] for run in document["runs"]] == ["a", "b"]
    assert [run["created"] for run in document["runs"]] == [Run(two / name).manifest().created for name in ("a", "b")]
    assert document["comparison"] == json.loads(json.dumps(made.as_dict()))


@pytest.mark.parametrize("changed", ["a", "b"])
def test_runs_that_have_changed_are_compared_anew(changed: str, two: Path) -> None:
    package.compare(["a", "b"], alpha=0.2, keep=True, output_dir=two)
    kept = (two / "b" / "comparisons" / "a.json").read_bytes()
    data = [{**row, "answer": row["reference"][0]} for row in rows(24)[:20]]
    evaluate(data, metrics=METRICS, run=changed, output_dir=two)
    if changed == "b":  # the comparison goes with the run that it lay beside, unless somebody puts it back
        assert shown(two, "a", "b")["kept"] == ""
        (two / "b" / "comparisons").mkdir()
        (two / "b" / "comparisons" / "a.json").write_bytes(kept)
    page = shown(two, "a", "b")
    assert page["alpha"] == 0.05
    assert "but the runs have changed since" in page["kept"]


def test_metrics_that_were_added_later_are_not_in_it(two: Path) -> None:
    made = package.compare(["a", "b"], alpha=0.2, keep=True, output_dir=two)
    for name in ("a", "b"):
        package.add_metrics(name, "token_recall", output_dir=two)
    assert figures(shown(two, "a", "b")) == figures(made.as_dict())
    package.compare(["a", "b"], alpha=0.2, keep=True, output_dir=two)
    assert "token_recall" in shown(two, "a", "b")["pairs"][0]["metrics"]


def test_three_runs_have_one_of_their_own(two: Path) -> None:
    keep(two, "c", rows(24), METRICS)
    package.compare(["a", "b"], alpha=0.2, keep=True, output_dir=two)
    made = package.compare(["a", "b", "c"], alpha=0.1, keep=True, output_dir=two)
    assert (two / "c" / "comparisons" / "a+b.json").exists()
    assert figures(shown(two, "a", "b", "c")) == figures(made.as_dict())
    assert shown(two, "a", "b")["alpha"] == 0.2
    assert shown(two, "b", "c")["alpha"] == 0.05


def test_runs_of_similar_names_have_files_of_their_own(two: Path) -> None:
    for name in ("c", "a+b"):
        keep(two, name, rows(24), METRICS)
    elsewhere = keep(two.parent / "other", "a", rows(24)[:20], METRICS)
    package.compare(["a", "b", "c"], alpha=0.01, level=0.8, keep=True, output_dir=two)
    package.compare(["a+b", "c"], test="t", keep=True, output_dir=two)
    package.compare(["a", "c"], alpha=0.02, keep=True, output_dir=two)
    package.compare([elsewhere, "c"], alpha=0.03, keep=True, output_dir=two)
    page = shown(two, "a", "b", "c")
    assert page["alpha"] == 0.01
    assert "intervals: 80%" in page["kept"]
    assert shown(two, "a+b", "c")["test"] == "t"
    assert shown(two, "a", "c")["alpha"] == 0.02
    assert kept_comparison(find_runs([elsewhere, "c"], two)).settings.alpha == 0.03


def test_names_that_are_too_long_for_a_file(tmp_path: Path) -> None:
    runs = find_runs([keep(tmp_path, f"{'x' * 150}{name}") for name in "abc"])
    package.compare(runs, keep=True)
    assert kept_comparison(runs) is not None
    assert kept_comparison([runs[1], runs[0], runs[2]]) is None
    assert len(comparison_file(runs).name) < 200


def test_runs_that_were_not_kept_have_no_place_for_it(two: Path) -> None:
    fresh = evaluate(rows(24), metrics=METRICS)
    with pytest.raises(UsageError, match=r"this evaluation was not kept(.|\n)*run=\.\.\."):
        package.compare(["a", fresh], keep=True, output_dir=two)
    assert kept_comparison(find_runs(["a", fresh], two)) is None


@pytest.mark.parametrize("text", ["", "[]", '{"runs": []}', '{"runs": [], "settings": {"test": "t"}}'])
def test_a_file_that_is_damaged_is_said(text: str, two: Path) -> None:
    package.compare(["a", "b"], keep=True, output_dir=two)
    (two / "b" / "comparisons" / "a.json").write_text(text)
    with pytest.raises(InputError, match=r"a\.json: can't be read(.|\n)*compare the runs again, or remove the file"):
        shown(two, "a", "b")


def test_on_the_command_line(two: Path, ragmeter: Command) -> None:
    done = ragmeter("compare", "a", "b", "--test", "t", "--alpha", "0.01", "--keep")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"kept: {Path('runs', 'b', 'comparisons', 'a.json')}\n")
    assert shown(two, "a", "b")["test"] == "t"
    before = (two / "b" / "comparisons" / "a.json").read_bytes()
    assert json.loads(ragmeter("compare", "a", "b", "--json").stdout)["test"] == "randomisation"
    assert (two / "b" / "comparisons" / "a.json").read_bytes() == before
