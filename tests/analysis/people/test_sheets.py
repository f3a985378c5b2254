"""Files of labels that several windows fill in at once: no label is lost, and none replaced unseen."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import ragmeter
from ragmeter import choose_sample
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.errors import InputError, UsageError
from tests.analysis.people.helpers import make_run
from tests.command import PATIENCE

LABELLING = """
import sys
from pathlib import Path
from ragmeter.analysis.people.sheets import Sheet
sheet = Sheet.read(Path("labels.csv"))
print("read", flush=True)
sys.stdin.readline()  # until all have read
for place in map(int, sys.argv[1:]):
    assert sheet.record(place, "correct" if place % 2 else "wrong", "anna", note=f"row {place}")
"""
CREATING = """
import sys
from pathlib import Path
from ragmeter import choose_sample
from ragmeter.analysis.people.sheets import Sheet
sheet = Sheet.of(choose_sample("demo", 10, seed=int(sys.argv[1])), Path("labels.csv"))
print("drawn", flush=True)
sys.stdin.readline()
print("made" if sheet.create() else "there", flush=True)
"""


def new_sheet(tmp_path: Path, n: int = 4) -> Sheet:
    sheet = Sheet.of(choose_sample(make_run(tmp_path), n), tmp_path / "labels.csv")
    assert sheet.create()
    return sheet


def at_once(folder: Path, script: str, arguments: list[list[str]]) -> list[str]:
    """What several processes print that begin their work at the same time."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, *own], cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for own in arguments
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=PATIENCE)[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return printed


def test_processes_at_once_lose_no_label(tmp_path: Path) -> None:
    new_sheet(tmp_path, 60)
    at_once(tmp_path, LABELLING, [[str(place) for place in range(first, 60, 5)] for first in range(5)])
    sheet = Sheet.read(tmp_path / "labels.csv")
    assert [row["label"] for row in sheet.rows] == ["wrong", "correct"] * 30
    assert [row["note"] for row in sheet.rows] == [f"row {place}" for place in range(60)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.csv", "runs"]


def test_of_processes_that_begin_at_once_one_makes_the_file(tmp_path: Path) -> None:
    make_run(tmp_path)
    printed = at_once(tmp_path, CREATING, [[str(seed)] for seed in range(4)])
    assert sorted(printed) == ["made", "there", "there", "there"]
    seed = printed.index("made")
    sample = choose_sample("demo", 10, seed=seed, output_dir=tmp_path / "runs")
    assert [label.qid for label in read_labels(tmp_path / "labels.csv")] == [row.qid for row in sample.rows]


def test_a_label_of_another_window_is_not_replaced_unseen(tmp_path: Path) -> None:
    new_sheet(tmp_path)
    one, other = Sheet.read(tmp_path / "labels.csv"), Sheet.read(tmp_path / "labels.csv")
    assert one.record(0, "correct", "anna")
    assert not other.record(0, "wrong", "anna")
    assert other.rows[0]["label"] == "correct"
    assert other.record(0, "wrong", "anna")  # having seen it
    assert one.record(1, "skip", "anna")
    assert [row["label"] for row in Sheet.read(tmp_path / "labels.csv").rows] == ["wrong", "skip", "", ""]
    assert other.record(1, "skip", "anna")  # the same label is no contradiction


def test_a_sheet_is_one_person_s(tmp_path: Path) -> None:
    new_sheet(tmp_path)
    one, other = Sheet.read(tmp_path / "labels.csv"), Sheet.read(tmp_path / "labels.csv")
    assert one.record(0, "correct", " =anna ")
    with pytest.raises(UsageError, match="holds the labels of '=anna"):
        other.record(1, "correct", "bob")
    assert one.record(1, "wrong", "=anna")
    assert [row["rater"] for row in Sheet.read(tmp_path / "labels.csv").rows] == ["'=anna", "'=anna", "", ""]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_a_sheet_is_its_owner_s_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        sheet = new_sheet(tmp_path)
        assert stat.S_IMODE(sheet.path.stat().st_mode) == 0o600
        sheet.path.chmod(0o644)  # as a spreadsheet may write it
        assert sheet.record(0, "correct", "anna")
        assert stat.S_IMODE(sheet.path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    sheet = new_sheet(tmp_path)
    link = tmp_path / "link.csv"
    link.symlink_to(sheet.path)
    assert Sheet.read(link).record(0, "correct", "anna")
    assert link.is_symlink()
    assert Sheet.read(sheet.path).rows[0]["label"] == "correct"


def test_what_a_spreadsheet_has_changed_meanwhile_stays(tmp_path: Path) -> None:
    sheet = new_sheet(tmp_path)
    title, *lines = sheet.path.read_text(encoding="utf-8").splitlines()
    noted = [line.replace(",,,,all", ",,,odd,all") for line in reversed(lines)]
    sheet.path.write_text("\n".join([title.replace("label", "Label"), *noted]) + "\n", encoding="utf-8")
    qids = [row["qid"] for row in sheet.rows]
    assert sheet.record(0, "correct", "anna")
    assert [row["qid"] for row in sheet.rows] == qids
    labels = {label.qid: label.label for label in read_labels(sheet.path)}
    assert labels == {qid: "correct" if qid == qids[0] else None for qid in qids}
    assert {row["note"] for row in Sheet.read(sheet.path).rows} == {"odd"}


def test_a_file_with_other_rows_is_not_written_to(tmp_path: Path) -> None:
    sheet = new_sheet(tmp_path)
    other = "qid,label\nq001,correct\n"
    sheet.path.write_text(other, encoding="utf-8")
    with pytest.raises(InputError, match="other rows by now"):
        sheet.record(0, "correct", "anna")
    assert sheet.path.read_text(encoding="utf-8") == other


def test_a_file_that_was_removed_is_written_again(tmp_path: Path) -> None:
    sheet = new_sheet(tmp_path)
    assert sheet.record(0, "correct", "anna")
    sheet.path.unlink()
    assert sheet.record(1, "wrong", "anna")
    assert [row["label"] for row in Sheet.read(sheet.path).rows] == ["correct", "wrong", "", ""]


def test_what_a_kill_has_left_is_removed(tmp_path: Path) -> None:
    sheet = new_sheet(tmp_path)
    (tmp_path / ".labels.csv.12345.tmp").write_text("half")
    assert sheet.record(0, "correct", "anna")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.csv", "runs"]


WORKER = """
import sys
from pathlib import Path
from ragmeter.analysis.people.sheets import Sheet
sheet, half = Sheet.read(Path("labels.csv")), int(sys.argv[1])
for place in range(half, 60, 2):
    print(place, sheet.record(place, "correct", "Ann", note=str(half)), flush=True)
"""


def test_a_process_that_is_killed_takes_no_label_along(tmp_path: Path) -> None:
    rows = [{"qid": str(i), "answer": "a", "reference": "a"} for i in range(60)]
    run = ragmeter.evaluate(rows, metrics="exact_match", run="demo", output_dir=tmp_path / "runs")
    Sheet.of(choose_sample(run, 60), tmp_path / "labels.csv").create()

    def start(half: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WORKER, half]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)

    with start("0") as killed, start("1") as left:
        assert killed.stdout is not None
        assert left.stdout is not None
        lines = [killed.stdout.readline() for _ in range(10)]
        killed.kill()
        lines += [*killed.stdout, *left.stdout]
    assert left.returncode == 0
    reported = {int(line.split()[0]) for line in lines if line.endswith("True\n")}
    assert {place for place in range(60) if place % 2} <= reported
    labels = Sheet.read(tmp_path / "labels.csv").rows
    assert {(labels[place]["label"], labels[place]["note"]) for place in reported if place % 2} == {("correct", "1")}
    assert {(labels[place]["label"], labels[place]["note"]) for place in reported if place % 2 == 0} == {
        ("correct", "0")
    }
    assert [path.name for path in tmp_path.glob(".labels*.tmp")] == []
