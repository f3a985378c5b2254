"""What is read of a run's folder is checked: an error names the file and what is wrong in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter import Run
from ragmeter.documents.manifest import Manifest
from ragmeter.errors import InputError
from ragmeter.io.write import dumps
from tests.show.report.helpers import keep


def read_all(path: Path) -> None:
    run = Run(path)
    run.manifest()
    run.rows()
    for name in run.measures:
        run.scores(name)
        run.outcomes(name)


def metric(**changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda summary: summary["metrics"]["token_f1"].update(changed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda summary: summary.pop("metrics"), "it has no metrics"),
        (lambda summary: summary.update(n_rows=-1), "n_rows should be a whole number from 0 up, got -1"),
        (lambda summary: summary.update(n_rows=7), r"rows\.parquet: can't be read: it has 8 rows, and .* says 7"),
        (metric(mean="0.5"), r"metrics\.token_f1\.mean should be a finite number, got '0\.5'"),
        (metric(mean=10**400), r"metrics\.token_f1\.mean should be a finite number"),
        (metric(mean=None), r"metrics\.token_f1: the mean does not agree with 7 scored rows"),
        (metric(n_scored=9), r"metrics\.token_f1: 9 rows are scored, of 8"),
        (metric(interval=[1, 2, 3]), r"metrics\.token_f1\.interval should be a list of 2, got a list"),
        (metric(interval=[0.9, 0.1]), r"metrics\.token_f1: the interval ends before it begins"),
        (metric(mean=1.5), r"metrics\.token_f1: its mean 1\.5 is outside of the range"),
        (metric(median=-0.5), r"metrics\.token_f1: its median -0\.5 is outside of the range"),
        (metric(interval=[-3, 0.99]), r"metrics\.token_f1: its interval\[0\] -3\.0 is outside of the range"),
        (metric(interval=[0.9999, 1]), r"metrics\.token_f1: its mean .* is outside of the interval 0\.9999 to 1\.0"),
        (metric(min=0.99, median=1), r"metrics\.token_f1: its mean .* is outside of min and max"),
        (metric(direction="up"), r"metrics\.token_f1\.direction should be one of higher, lower, none, got 'up'"),
        (metric(n_not_scored={"x": True}), r"metrics\.token_f1\.n_not_scored\.x should be a whole number"),
        (metric(level=95), r"metrics\.token_f1\.level should be between 0 and 1, got 95"),
        (
            lambda summary: summary["statistics"].update(draws=1),
            r"statistics\.draws should be a whole number from 999 up, got 1",
        ),
        (metric(mean=True), r"metrics\.token_f1\.mean should be a finite number, got True"),
        (lambda summary: summary["metrics"].update({"a.b[c=d]": {}}), r"metrics\.a\.b\[c=d\] has no mean"),
        (lambda summary: summary.update(metrics=[]), "metrics should be an object, got a list"),
        (lambda summary: summary.update(judges={"verdict": {}}), r"judges\.verdict has no judged_by"),
        (lambda summary: summary.update(notes=["a", 5]), r"notes\[1\] should be a text, got 5"),
    ],
)
def test_a_summary(change: Callable[[dict[str, Any]], Any], message: str, tmp_path: Path) -> None:
    path = keep(tmp_path, "r")
    summary = json.loads((path / "summary.json").read_text(encoding="utf-8"))
    change(summary)
    (path / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        read_all(path)
    assert raised.value.file.startswith(str(path))
    assert "evaluate again" in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda shares: shares["failed"].update(mean=-1),
            r"cause\.shares\.failed: its mean -1\.0 is outside of the range",
        ),
        (
            lambda shares: shares["failed"].update(mean=-1, min=-1, interval=[-1, 0], range=[-1, 1]),
            "not between 0 and 1",
        ),
        (lambda shares: shares.pop("right"), r"cause: the shares of causes make 0\.5, not 1: one is missing or wrong"),
        (lambda shares: shares.pop("failed"), "cause: there is no share of failed"),
    ],
)
def test_the_shares_of_causes(change: Callable[[dict[str, Any]], Any], message: str, tmp_path: Path) -> None:
    asked = {"question": "capital of Peru?", "reference": "Lima", "retrieved": ["p"], "relevant": ["p"]}
    answers = ["Lima", "Quito", None, "Lima"]
    data = [{**asked, "qid": str(place), "answer": answer} for place, answer in enumerate(answers)]
    path = keep(tmp_path, "r", data, "exact_match")
    summary = json.loads((path / "summary.json").read_text(encoding="utf-8"))
    shares = summary["cause"]["shares"]
    change(shares)
    if "failed" not in shares:  # what is missing may be made up for by another
        shares["right"].update(mean=0.75)
    (path / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        read_all(path)
    assert raised.value.file.startswith(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Input data was truncated"),
        ('{"run": NaN}', "invalid character"),
        ('{"target": {"\\u0041": Infinity}}', "Infinity is no number that JSON has"),
        ("[1]", "it is not a JSON object"),
        ('{"metrics": ' + "[" * 100_000, "it is nested too deeply"),
        ('{"metrics": {}}', "metrics should be a list, got an object"),
        ('{"metrics": [{}]}', r"metrics\[0\] has no name"),
        (
            '{"judged_columns": {"verdict": {"columns": []}}}',
            r"judged_columns\.verdict\.columns should be a list of one text or more",
        ),
        ('{"run": 5}', "run should be a text, got 5"),
    ],
)
def test_a_manifest(text: str, message: str, tmp_path: Path) -> None:
    path = keep(tmp_path, "r")
    (path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"manifest\.json: can't be read: .*{message}"):
        read_all(path)


def nulls(table: Any, name: str) -> Any:
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), pa.nulls(table.num_rows, table.schema.field(place).type))


def retyped(table: Any, name: str, cells: Any) -> Any:
    return table.set_column(table.schema.get_field_index(name), name, cells)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.slice(0, 3), "it has 3 rows"),
        (lambda table: table.append_column("qid", table["qid"]), "the column 'qid' occurs twice"),
        (lambda table: retyped(table, "answer", pa.nulls(8, pa.int64())), "'answer' should have texts, and has int64"),
        (lambda table: retyped(table, "relevant", table["qid"]), "'relevant' should have lists of texts"),
        (lambda table: retyped(table, "token_f1", table["qid"]), "'token_f1' should have numbers"),
        (lambda table: retyped(table, "token_f1", pa.array([float("inf")] * 8)), "token_f1 has a score of inf"),
        (lambda table: retyped(table, "exact_match", pa.array([-1.0] * 8)), r"exact_match has a score of -1\.0"),
        (lambda table: nulls(table, "token_f1.outcome"), r"8 cells of the column 'token_f1\.outcome' are empty"),
        (lambda table: retyped(table, "answer", pa.array([b"\xff"] * 8).view(pa.string())), "Invalid UTF8"),
    ],
)
def test_a_table(change: Callable[[Any], Any], message: str, tmp_path: Path) -> None:
    path = keep(tmp_path, "r")
    with (path / "rows.parquet").open("rb") as file:
        table = pq.read_table(file)
    with (path / "rows.parquet").open("wb") as file:
        pq.write_table(change(table), file)
    with pytest.raises(InputError, match=rf"rows\.parquet: can't be read: .*{message}"):
        read_all(path)


def test_half_of_a_surrogate_pair_is_made_whole(tmp_path: Path) -> None:
    path = keep(tmp_path, "r")
    (path / "manifest.json").write_text(
        '{"run": "\\ud800", "target": {"\\udc00": ["\\ud83d\\ude00"]}}', encoding="utf-8"
    )
    assert Run(path).manifest() == Manifest(run="\ufffd", target={"\ufffd": ["\U0001f600"]})


def test_members_of_a_later_version_are_ignored(tmp_path: Path) -> None:
    path = keep(tmp_path, "r")
    before = Run(path)
    documents = (before.manifest(), before.summary())
    for name in ("manifest.json", "summary.json"):
        document = json.loads((path / name).read_text(encoding="utf-8"))
        (path / name).write_text(json.dumps({**document, "later": {"members": 1}}), encoding="utf-8")
    read_all(path)
    assert (Run(path).manifest(), Run(path).summary()) == documents


@pytest.mark.parametrize("name", ["manifest.json", "summary.json"])
def test_what_was_read_is_written_as_it_was(name: str, tmp_path: Path) -> None:
    path = keep(tmp_path, "r")
    read = Run(path).manifest() if name == "manifest.json" else Run(path).summary()
    assert dumps(read, indent=2) + "\n" == (path / name).read_text(encoding="utf-8")
