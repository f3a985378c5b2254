"""Which runs a report is of, and what they are called."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import ragmeter
from ragmeter.errors import InputError, UsageError
from ragmeter.runs.lookup import run_labels
from ragmeter.show.report.report import load_runs
from tests.show.report.helpers import keep, rows


def test_a_run_is_a_folder_a_name_or_an_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = keep(tmp_path)
    kept = ragmeter.evaluate(rows(), metrics="token_f1", run="kept", output_dir=tmp_path)
    for given in (path, str(path), "small", ragmeter.Run(path)):
        assert [run.name for run in load_runs(given, tmp_path)] == ["small"]
    assert [run.name for run in load_runs([kept, "small"], tmp_path)] == ["kept", "small"]
    fresh = ragmeter.evaluate(rows(), metrics="token_f1")
    assert [run.name for run in load_runs([fresh, kept])] == ["this evaluation", "kept"]
    monkeypatch.chdir(path)
    assert [run.name for run in load_runs(".")] == ["small"]


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    path = keep(tmp_path)
    with pytest.raises(UsageError, match="did you mean small"):
        load_runs("smal", tmp_path)
    with pytest.raises(UsageError, match="named twice"):
        load_runs([path, "small"], tmp_path)
    fresh = ragmeter.evaluate(rows(), metrics="token_f1")
    with pytest.raises(UsageError, match="this evaluation is named twice"):
        load_runs([fresh, fresh])
    with pytest.raises(UsageError, match="no run was named"):
        load_runs([], tmp_path)
    with pytest.raises(UsageError, match="float is not a run"):
        load_runs(0.5)  # type: ignore[arg-type]
    (path / "rows.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(InputError, match=r"rows\.parquet: can't be read"):
        load_runs(path)


def test_two_runs_of_one_name_go_by_their_paths(tmp_path: Path) -> None:
    path = keep(tmp_path)
    shutil.copytree(path, tmp_path / "other" / "small")
    names = run_labels(load_runs([path, tmp_path / "other" / "small"]))
    assert names == [str(path), str(tmp_path / "other" / "small")]
