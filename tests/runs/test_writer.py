"""Run folders take their place whole, whatever happens beside them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ragmeter import Run, add_metrics, evaluate
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.errors import OutputError
from ragmeter.runs.writer import NewRun, RowsWriter, Scored
from ragmeter.table import SCORED, Batch, Measure
from tests.command import PATIENCE

ROWS = [{"qid": "1", "answer": "a", "reference": "a"}]
RACE = """
import sys
from pathlib import Path
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.runs.writer import NewRun
for n in range(40):
    with NewRun(Path(sys.argv[1])) as new:
        new.finish(Manifest(run=str(n)), Summary(run=str(n), n_rows=0, metrics={}))
"""


def test_processes_that_write_the_same_run_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r"
    racers = [subprocess.Popen([sys.executable, "-c", RACE, str(path)]) for _ in range(3)]
    assert [racer.wait(timeout=PATIENCE) for racer in racers] == [0, 0, 0]
    assert Run.at(path).manifest().run == Run.at(path).summary().run == "39"
    assert [entry.name for entry in tmp_path.iterdir()] == ["r"]


def test_a_full_disk(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("a small file system can't be mounted here")
    try:
        rows = [{"qid": str(n), "answer": f"{n * n:x}" * 20, "reference": "a"} for n in range(20_000)]
        with pytest.raises(OutputError, match="can't write"):
            evaluate(rows, metrics="token_f1", run="r", output_dir=small / "runs")
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_folder_that_looks_like_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(ROWS, metrics="token_f1", run="r", output_dir="s3:x")
    assert Run(Path("s3:x/r")).summary().n_rows == 1


def write_inside(path: Path, n: int, scores: list[float]) -> Run:
    with NewRun(path, inside=True) as new:
        with RowsWriter(new.folder / "rows.parquet", [Measure("score")]) as writer:
            batch = Batch({"qid": [str(place) for place in range(len(scores))]})
            writer.write(Scored(batch, {"score": (np.array(scores), [SCORED] * len(scores))}))
        return new.finish(Manifest(run=str(n)), Summary(run=str(n), n_rows=len(scores), metrics={}))


def test_a_run_beside_other_files_leaves_them_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder"
    assert write_inside(path, 1, [0.5]).scores("score").tolist() == [0.5]
    for name in ("journal.sqlite", "notes.csv"):
        (path / name).write_text(name)
    places = {name: (path / name).stat().st_ino for name in ("journal.sqlite", "notes.csv")}
    run = write_inside(path, 2, [0.25, 0.75])
    assert run.manifest().run == run.summary().run == "2"
    assert run.scores("score").tolist() == [0.25, 0.75]
    assert {name: (path / name).stat().st_ino for name in places} == places
    assert sorted(entry.name for entry in path.iterdir()) == [
        *("journal.sqlite", "manifest.json", "notes.csv", "rows.parquet", "summary.json")
    ]


def test_what_goes_wrong_leaves_the_older_run_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    write_inside(path, 1, [0.5])
    before = {entry.name: entry.read_bytes() for entry in path.iterdir()}
    with pytest.raises(TypeError), NewRun(path, inside=True) as new:
        new.finish(Manifest(target={"n": object()}), Summary(n_rows=0, metrics={}))
    assert {entry.name: entry.read_bytes() for entry in path.iterdir()} == before
    with pytest.raises(TypeError), NewRun(tmp_path / "other" / "folder", inside=True) as new:
        new.finish(Manifest(target={"n": object()}), Summary(n_rows=0, metrics={}))
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def modes_of(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}


@pytest.mark.skipif(os.name == "nt", reason="modes of files are not Windows's")
def test_only_its_owner_may_read_a_run(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        evaluation = evaluate(ROWS, metrics="exact_match", run="r", output_dir=tmp_path / "runs")
        modes = modes_of(tmp_path / "runs")
        assert modes.pop("runs") == modes.pop("r") == 0o700
        assert modes == dict.fromkeys(["rows.parquet", "summary.json", "manifest.json"], 0o600)
        (tmp_path / "runs" / "r").chmod(0o755)  # its owner lets others read it
        (tmp_path / "runs" / "r" / "rows.parquet").chmod(0o644)
        add_metrics(evaluation, "token_f1")
        modes = modes_of(tmp_path / "runs" / "r")
        assert modes.pop("r") == 0o755
        assert modes == {"rows.parquet": 0o644, "summary.json": 0o600, "manifest.json": 0o600}
    finally:
        os.umask(before)
