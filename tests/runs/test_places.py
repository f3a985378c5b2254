"""Where a run's files are put. Kills at every step are in tests/hostile/test_swaps.py."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from ragmeter import Run, add_metrics, evaluate
from ragmeter.runs.places import ADDING, hold
from tests.command import PATIENCE

ROWS = [{"qid": "1", "answer": "a", "reference": "a"}]


def run(folder: Path, metric: str = "token_f1") -> Run:
    evaluate(ROWS, metrics=metric, run="r", output_dir=folder)
    return Run(folder / "r")


def test_a_link_to_a_run_stays_one(tmp_path: Path) -> None:
    run(tmp_path / "real")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r").symlink_to(tmp_path / "real" / "r")
    add_metrics("r", "exact_match", output_dir=tmp_path / "runs")
    run(tmp_path / "runs", "token_recall")
    assert (tmp_path / "runs" / "r").is_symlink()
    assert list(Run(tmp_path / "real" / "r").metrics()) == ["token_recall"]


def test_a_folder_that_is_a_file_system_of_its_own(tmp_path: Path) -> None:
    place = run(tmp_path).path
    files = {file.name: file.read_bytes() for file in place.iterdir()}
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], capture_output=True, check=False).returncode:
        pytest.skip("a file system can't be mounted here")
    try:
        for name, content in files.items():
            (place / name).write_bytes(content)
        add_metrics("r", "exact_match", output_dir=tmp_path)
        assert list(run(tmp_path, "token_recall").metrics()) == ["token_recall"]
        assert {file.name for file in place.iterdir()} == set(files)
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / ".x.1.abcdefgh.tmp"
    ours = tmp_path / ".y.1.abcdefgh.tmp"
    for folder, name in ((theirs, "notes.txt"), (ours, "rows.parquet")):
        folder.mkdir()
        (folder / name).write_text("")
    (tmp_path / ".other.lock").write_text("not ours")
    run(tmp_path)
    assert theirs.exists()
    assert not ours.exists()
    assert (tmp_path / ".other.lock").exists()


def test_folders_of_the_living_are_left_alone(tmp_path: Path) -> None:
    ours = tmp_path / ".y.1.abcdefgh.tmp"
    begun, done = threading.Event(), threading.Event()

    def write() -> None:
        with hold(tmp_path / "y", "writes it"):
            ours.mkdir()
            begun.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait(PATIENCE)
    run(tmp_path)
    assert ours.exists()
    done.set()
    thread.join(PATIENCE)
    run(tmp_path)
    assert not ours.exists()


def test_a_reader_waits_for_files_that_are_moved_right_now(tmp_path: Path) -> None:
    path = run(tmp_path).path
    reading = threading.Event()
    summaries = []

    def read() -> None:
        reading.set()
        summaries.append(Run(path).summary())

    thread = threading.Thread(target=read)
    with hold(path, "asks questions", asks=True):
        (path / ADDING).mkdir()
        thread.start()
        reading.wait(PATIENCE)
        (path / "summary.json").rename(path / ADDING / "summary.json")
        (path / ADDING / "summary.json").rename(path / "summary.json")
        (path / ADDING).rmdir()
        thread.join(PATIENCE)
    assert summaries[0].n_rows == 1
