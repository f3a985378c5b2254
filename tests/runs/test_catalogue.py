"""The list of all runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from ragmeter import add_metrics, evaluate
from ragmeter.errors import BusyError, InputError, UnknownNameError
from ragmeter.runs.catalogue import RunEntry, catalogue
from ragmeter.runs.trash import remove_run
from ragmeter.show.terminal.catalogue import show_runs

ROWS = [{"qid": "1", "question": "Q", "answer": "a", "reference": "a"}, {"qid": "2", "answer": None, "reference": "b"}]

#: Another process that asks a server for this run, until its standard input is closed.
HOLD = """
import pathlib, sys
from ragmeter.runs.places import hold
with hold(pathlib.Path(sys.argv[1]), "asks", asks=True):
    print("held", flush=True)
    sys.stdin.read()
"""


def make(folder: Path, *names: str) -> None:
    for name in names:
        evaluate(ROWS, metrics="token_f1", run=name, output_dir=folder)


def test_figures_are_those_of_the_summary(tmp_path: Path) -> None:
    make(tmp_path, "a")
    (entry,) = catalogue(tmp_path)
    assert (entry.name, entry.n_rows, entry.n_failed, entry.error) == ("a", 2, 1, "")
    assert entry.metrics["token_f1"].mean == 1.0
    assert entry.as_dict()["metrics"]["token_f1"]["n_scored"] == 1


def test_runs_of_the_same_questions_have_the_same_fingerprint(tmp_path: Path) -> None:
    results, reference = tmp_path / "results.tsv", tmp_path / "reference.tsv"
    reference.write_text("qid\treference\n1\ta\n")
    for name, answer in (("x", "a"), ("y", "b")):
        results.write_text(f"qid\tanswer\n1\t{answer}\n")
        evaluate(results, reference, metrics="token_f1", run=name, output_dir=tmp_path / "runs")
    x, y = catalogue(tmp_path / "runs")
    assert x.questions == y.questions != ""
    assert (x.questions_file, x.system) == ("reference.tsv", "results.tsv")


def test_a_damaged_run_does_not_hide_the_others(tmp_path: Path) -> None:
    make(tmp_path, "good", "bad")
    (tmp_path / "bad" / "summary.json").write_text("{")
    errors = {entry.name: entry.error for entry in catalogue(tmp_path)}
    assert errors["good"] == ""
    assert "summary.json" in errors["bad"]


def test_a_run_without_its_manifest_is_listed_as_unreadable(tmp_path: Path) -> None:
    make(tmp_path, "good", "bad")
    (tmp_path / "bad" / "manifest.json").unlink()
    errors = {entry.name: entry.error for entry in catalogue(tmp_path)}
    assert errors["good"] == ""
    assert "manifest.json" in errors["bad"]


def test_row_groups_that_are_shorter_than_the_footer_says(tmp_path: Path) -> None:
    make(tmp_path, "cut")
    rows = tmp_path / "cut" / "rows.parquet"
    content = rows.read_bytes()
    rows.write_bytes(content[:4] + content[100:])  # the footer is whole
    (entry,) = catalogue(tmp_path)
    assert "shorter than its footer says" in entry.error


def test_many_runs_are_listed_without_looking_at_each_for_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looked_at: list[str] = []

    def headlines(entries: Sequence[RunEntry]) -> list[str]:
        looked_at.extend(entry.name for entry in entries)
        return []

    monkeypatch.setattr("ragmeter.show.terminal.catalogue.headlines", headlines)
    show_runs([RunEntry(name, Path(name)) for name in "abc"], "runs")
    assert looked_at == ["a", "b", "c"]
    assert "3 runs in runs/" in capsys.readouterr().out


def test_folders_that_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / ".hidden").mkdir()
    assert catalogue(tmp_path) == catalogue(tmp_path / "nowhere") == []


def test_removed_with_its_own_journal_only(tmp_path: Path) -> None:
    make(tmp_path, "a", "ab")
    for name in ("a", "ab", "judge"):
        (tmp_path / f"{name}.journal.sqlite").write_bytes(b"x" * 100)
    freed = remove_run(tmp_path / "a")
    assert freed > 100
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"ab", "ab.journal.sqlite", "judge.journal.sqlite"}


def test_a_run_that_is_being_written_is_not_removed(tmp_path: Path) -> None:
    make(tmp_path, "a")
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path / "a"], stdin=PIPE, stdout=PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        with pytest.raises(BusyError):
            remove_run(tmp_path / "a")
        writer.communicate()
    assert (tmp_path / "a" / "manifest.json").exists()


def test_an_unknown_run_is_not_removed(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        remove_run(tmp_path / "nothing")


def test_a_run_that_is_removed_while_somebody_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a")

    @contextmanager
    def hold_after_removal(path: Path, doing: str, *, asks: bool) -> Iterator[None]:
        shutil.rmtree(path)
        yield

    monkeypatch.setattr("ragmeter.engine.evaluation.hold", hold_after_removal)
    with pytest.raises(InputError, match="the run was removed while this waited for it"):
        add_metrics("a", "token_recall", output_dir=tmp_path)


def test_an_interval_of_another_level_is_shown_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = [{"qid": str(place), "answer": "a", "reference": "a b" if place % 2 else "a"} for place in range(20)]
    evaluate(data, metrics="token_f1", run="narrow", level=0.8, output_dir=tmp_path)
    evaluate(data, metrics="token_f1", run="usual", output_dir=tmp_path)
    show_runs(catalogue(tmp_path), "runs")
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0]: "80%: " in line for line in lines if "token_f1" not in line and " to " in line} == {
        "narrow": True,
        "usual": False,
    }


def test_to_decline_or_to_claim_nothing_is_no_failure(tmp_path: Path) -> None:
    rows = [
        {"qid": str(n), "question": "Where?", "answer": answer, "contexts": ["The tower is in Paris."]}
        for n, answer in enumerate(["The tower is in Paris.", "I don't know.", "I don't know.", "...", None])
    ]
    evaluation = evaluate(rows, metrics="offline_hallucinated", run="a", output_dir=tmp_path)
    assert evaluation["offline_hallucinated"].n_not_scored == {"abstained": 2, "no_claims": 1, "no_answer": 1}
    assert [entry.n_failed for entry in catalogue(tmp_path)] == [1]
