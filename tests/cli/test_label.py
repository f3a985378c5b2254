"""`ragmeter label` as a person uses it: a file to fill in, and keys in a terminal."""

from __future__ import annotations

import csv
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragmeter import choose_sample, evaluate
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.cli.label_session import Session
from ragmeter.runs.run import Run
from tests.analysis.people.helpers import make_run
from tests.command import PATIENCE
from tests.conftest import Run as Command

HOSTILE = "\x1b]0;owned\x07\x1b[2Jcleared\r\nspoofed \u202edesrever\x9b31m"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_file_to_fill_in(ragmeter: Command, tmp_path: Path) -> None:
    make_run(tmp_path)
    done = ragmeter("label", "demo", "--n", "30")  # no terminal here
    assert done.returncode == 0, done.stderr
    assert "30 rows" in done.stdout
    labels = rows(tmp_path / "labels.csv")
    assert list(labels[0]) == [
        "qid", "question", "reference", "answer", "label", "rater", "note",
        "stratum", "stratum_rows", "weight", "answer_hash",
    ]  # fmt: skip
    assert len(labels) == 30
    assert {row["label"] for row in labels} == {""}
    assert float(labels[0]["weight"]) == pytest.approx(200 / 30)
    assert "exact_match" not in (tmp_path / "labels.csv").read_text()  # the verdict stays hidden


def test_a_file_is_not_drawn_anew(ragmeter: Command, tmp_path: Path) -> None:
    make_run(tmp_path)
    assert ragmeter("label", "demo", "--n", "30", "--blank").returncode == 0
    path = tmp_path / "labels.csv"
    path.write_text(path.read_text().replace(",,,,all", ",yes,bob,,all", 1))
    before = path.read_text()
    for same in (["--n", "30"], []):
        done = ragmeter("label", "demo", "--blank", *same)
        assert done.returncode == 0, done.stderr
        assert "there already, labelled: 1 of 30" in done.stdout
    for other in (["--n", "31"], ["--seed", "1"]):
        done = ragmeter("label", "demo", "--blank", *other)
        assert done.returncode == 2
        assert "another sample" in done.stderr
    assert path.read_text() == before
    make_run(tmp_path, 50, name="other")
    done = ragmeter("label", "other", "--blank", "--output", tmp_path / "labels.txt")
    assert "csv or .tsv" in done.stderr
    done = ragmeter("label", "other", "--blank")
    assert done.returncode == 2
    assert "no row with qid" in done.stderr


def test_strata_and_errors(ragmeter: Command, tmp_path: Path) -> None:
    make_run(tmp_path)
    done = ragmeter("label", tmp_path / "runs" / "demo", "--by", "stratified", "--strata", "domain", "--n", "9")
    assert done.returncode == 0, done.stderr
    assert {row["stratum"] for row in rows(tmp_path / "labels.csv")} == {"art", "law", "sport"}
    done = ragmeter("label", "dmo")
    assert done.returncode == 2
    assert "in runs/ there are demo" in done.stderr
    assert ragmeter("label", "demo", "--by", "luck").returncode == 2


def session(
    run: Run, path: Path, keys: str, *, rater: str = "anna", contexts: bool = False, scores: bool = False
) -> Sheet:
    """A person who presses these keys, and then is gone."""
    pressed: Iterator[str] = iter(keys)
    if path.exists():
        sheet = Sheet.read(path)
    else:
        sheet = Sheet.of(choose_sample(run, 4), path)
        assert sheet.create()
    read: Callable[[], str] = lambda: next(pressed, "")  # noqa: E731
    assert Session(run, sheet, rater, contexts=contexts, scores=scores, read_key=read).run() == 0
    return Sheet.read(path)


def given(sheet: Sheet) -> list[str]:
    return [row["label"] for row in sheet.rows]


def test_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path)
    path = tmp_path / "labels.csv"
    assert given(session(run, path, "cz?q")) == ["correct", "", "", ""]
    assert given(session(run, path, "W")) == ["correct", "wrong", "", ""]
    assert given(session(run, path, "bb\x7fb" + "0")) == ["wrong", "wrong", "", ""]  # never before the first
    shown = capsys.readouterr().out
    assert "1 of 4 done" in shown
    assert "page" not in shown
    assert "exact_match" not in shown
    done = session(run, path, "s" + "x1")
    assert given(done) == ["wrong", "wrong", "skip", "correct"]
    assert [row["rater"] for row in done.rows] == ["anna"] * 4
    shown = capsys.readouterr().out
    assert "page" in shown
    assert "correct: 1, wrong: 2, skipped: 1, left: 0" in shown
    session(run, path, "")
    assert "question" not in capsys.readouterr().out


def test_two_terminals_on_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the other one labels while a row is shown here is kept, and not asked about again."""
    run = make_run(tmp_path)
    path = tmp_path / "labels.csv"
    assert given(session(run, path, "q")) == ["", "", "", ""]
    sheet, other = Sheet.read(path), Sheet.read(path)

    def keys() -> Iterator[str]:
        assert other.record(0, "wrong", "anna")
        assert other.record(1, "skip", "anna")
        yield "c"  # of row 0, which is labelled by now
        assert "labelled in another window" in capsys.readouterr().out
        assert given(Sheet.read(path)) == ["wrong", "skip", "", ""]
        yield "c"  # having seen that
        assert other.record(3, "wrong", "anna")
        yield "c"  # of row 2, the only one left
        yield "q"

    pressed = keys()
    assert Session(run, sheet, "anna", read_key=lambda: next(pressed)).run() == 0
    assert given(Sheet.read(path)) == ["correct", "skip", "correct", "wrong"]
    assert "left: 0" in capsys.readouterr().out


def test_the_name_is_in_a_file_to_fill_in(ragmeter: Command, tmp_path: Path) -> None:
    make_run(tmp_path)
    assert ragmeter("label", "demo", "--n", "5", "--blank", "--rater", "ana").returncode == 0
    assert {row["rater"] for row in rows(tmp_path / "labels-demo-ana.csv")} == {"ana"}
    assert ragmeter("label", "demo", "--n", "5", "--blank", "--output", "own.csv").returncode == 0
    assert {row["rater"] for row in rows(tmp_path / "own.csv")} == {""}
    assert ragmeter("label", "demo", "--blank", "--output", "own.csv", "--rater", "ana").returncode == 0
    assert {row["rater"] for row in rows(tmp_path / "own.csv")} == {"ana"}


def test_what_is_shown_only_if_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path)
    session(run, tmp_path / "labels.csv", "q", contexts=True, scores=True)
    shown = capsys.readouterr().out
    assert "page" in shown
    assert re.search(r"exact_match [01]\.0000, token_f1", shown)


def test_hostile_texts_can_t_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = [{"qid": HOSTILE, "question": HOSTILE, "reference": HOSTILE, "answer": HOSTILE, "contexts": [HOSTILE]}]
    run = evaluate(data, metrics="exact_match", run="h", output_dir=tmp_path).folder
    assert run is not None
    session(run, tmp_path / "labels.csv", "xc", contexts=True)
    shown = capsys.readouterr().out
    assert "cleared" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    for line in shown.splitlines():  # every line of a text stands in its frame
        assert "spoofed" not in line or line.startswith("│") or "qid" in line


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_and_a_kill(tmp_path: Path) -> None:
    """Real keys in a real terminal; what was labelled before kill -9 is there, and the rest goes on."""
    import pty

    make_run(tmp_path)
    path = tmp_path / "labels-demo-anna.csv"

    def start() -> tuple[subprocess.Popen[bytes], int]:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "ragmeter", "label", "demo", "--n", "5", "--rater", "anna"]
        child = subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        return child, ours

    def see(terminal: int, words: str) -> None:
        shown, end = b"", time.monotonic() + PATIENCE
        while words.encode() not in shown:
            ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
            assert ready, shown[-2000:]
            shown += os.read(terminal, 65536)

    child, terminal = start()
    see(terminal, "0 of 5 done")
    os.write(terminal, b"\x1b[C")  # an arrow to the right is no C
    time.sleep(0.3)
    assert {row["label"] for row in rows(path)} == {""}
    os.write(terminal, b"c")
    see(terminal, "1 of 5 done")
    os.write(terminal, b"w")
    see(terminal, "2 of 5 done")
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    os.close(terminal)
    assert [row["label"] for row in rows(path)] == ["correct", "wrong", "", "", ""]
    assert [row["rater"] for row in rows(path)] == ["anna", "anna", "", "", ""]
    child, terminal = start()
    see(terminal, "2 of 5 done")
    os.write(terminal, b"c")
    see(terminal, "3 of 5 done")
    child.send_signal(signal.SIGINT)  # Ctrl-C
    see(terminal, "left: 2")
    assert child.wait(timeout=PATIENCE) == 130
    os.close(terminal)
    assert [row["label"] for row in rows(path)] == ["correct", "wrong", "correct", "", ""]
    left = [file.name for file in tmp_path.iterdir()]
    assert sorted(left) == ["labels-demo-anna.csv", "runs"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_another_person_needs_a_file_of_their_own(tmp_path: Path) -> None:
    import pty

    session(make_run(tmp_path), tmp_path / "labels.csv", "c", rater="anna")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ragmeter", "label", "demo", "--rater", "bob", "--output", "labels.csv"]
    done = subprocess.run(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert "holds the labels of anna" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_two_people_in_one_folder_have_a_file_each(tmp_path: Path) -> None:
    import pty

    make_run(tmp_path)
    people = []
    for name in ("anna", "bob"):  # both begin before either labels
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "ragmeter", "label", "demo", "--n", "2", "--rater", name]
        child = subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        people.append((child, ours))
    for key in (b"c", b"w"):
        for _, terminal in people:
            os.write(terminal, key)
    for child, terminal in people:
        shown, end = b"", time.monotonic() + PATIENCE
        while b"left: 0" not in shown:
            ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
            assert ready, shown[-2000:]
            shown += os.read(terminal, 65536)
        assert child.wait(timeout=PATIENCE) == 0
        os.close(terminal)
    for name in ("anna", "bob"):
        labels = rows(tmp_path / f"labels-demo-{name}.csv")
        assert [(row["label"], row["rater"]) for row in labels] == [("correct", name), ("wrong", name)]


def test_labels_do_not_go_into_a_workbook(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"answer": "a", "reference": "a"}\n')
    ragmeter("evaluate", "rows.jsonl", "--metrics", "exact_match", "--run", "r")
    (tmp_path / "there.xlsx").write_bytes(b"PK")
    for name in ("new.xlsx", "there.xlsx"):
        done = ragmeter("label", "r", "--blank", "--output", name)
        assert done.returncode == 2
        assert f"labels go into a .csv or .tsv file, not {name}" in done.stderr
    assert (tmp_path / "there.xlsx").read_bytes() == b"PK"
