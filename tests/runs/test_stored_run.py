"""Runs in an object store: whole or not at all, and read by every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragmeter import FakeProvider, Judge, add_metrics, compare, evaluate, report
from ragmeter.errors import InputError, OutputError, UsageError
from ragmeter.io.locations import StorePath, folders_in, location
from ragmeter.runs.lookup import find_run
from tests.conftest import Run

ROWS = [{"qid": str(n), "question": "?", "answer": "a b" if n % 3 else "a", "reference": "a b"} for n in range(9)]
BETTER = [{**row, "answer": "a b"} for row in ROWS]


def test_a_run_in_a_store_is_that_on_a_disk(s3: str, tmp_path: Path) -> None:
    stored = evaluate(ROWS, metrics="exact_match", run="one", output_dir=f"{s3}/runs")
    on_disk = evaluate(ROWS, metrics="exact_match", run="one", output_dir=tmp_path)
    assert stored.summary == on_disk.summary
    assert stored.rows.equals(on_disk.rows)
    assert str(stored.folder and stored.folder.location) == f"{s3}/runs/one"
    again = find_run("one", f"{s3}/runs")
    assert again.summary() == find_run(f"{s3}/runs/one").summary() == on_disk.summary
    assert [row["qid"] for row in again.records([8, 2], ["qid"])] == ["8", "2"]


def test_commands_on_runs_in_a_store(s3: str, ragmeter: Run, tmp_path: Path) -> None:
    for name, rows in (("before", ROWS), ("after", BETTER)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = ragmeter(
            "evaluate", "--metrics", "exact_match", "--results", f"{name}.jsonl", "--run", name, "--output-dir", s3
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert f"in {s3}/{name}/" in done.stdout
    for command in (("summary", f"{s3}/after"), ("summary", "after", "--output-dir", s3)):
        assert "exact_match" in ragmeter(*command).stdout
    assert ragmeter("compare", f"{s3}/before", f"{s3}/after").returncode == 0
    assert ragmeter("report", f"{s3}/before", f"{s3}/after").returncode == 0
    assert (tmp_path / "report.html").exists()
    assert ragmeter("gate", f"{s3}/after", "--fail-under", "exact_match=0.9").returncode == 0
    done = ragmeter("summary", f"{s3}/nothing")
    assert done.returncode == 2
    assert "unknown run 'nothing'" in done.stderr
    assert "after, before" in done.stderr


def test_an_older_run_is_there_until_the_manifest_is(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(ROWS, metrics="exact_match", run="one", output_dir=s3)
    write = StorePath.write_bytes

    def fail_at_the_end(self: StorePath, data: bytes) -> None:
        if self.name == "manifest.json":
            raise OutputError("the store is down")
        write(self, data)

    monkeypatch.setattr(StorePath, "write_bytes", fail_at_the_end)
    with pytest.raises(OutputError, match="is down"):
        evaluate(BETTER, metrics="exact_match", run="one", output_dir=s3)
    with pytest.raises(OutputError, match="is down"):
        evaluate(BETTER, metrics="exact_match", run="two", output_dir=s3)
    older = find_run(f"{s3}/one")
    assert older.metrics()["exact_match"].mean == pytest.approx(2 / 3)
    assert older.scores("exact_match").mean() == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="not a run folder: it has no manifest"):
        find_run("two", s3)
    monkeypatch.setattr(StorePath, "write_bytes", write)
    assert evaluate(BETTER, metrics="exact_match", run="one", output_dir=s3)["exact_match"].mean == 1
    version = find_run(f"{s3}/one").manifest().files_in
    assert folders_in(location(f"{s3}/one")) == [version], "what a failed command has left is gone"


def test_names_with_numbers(s3: str) -> None:
    for number in (1, 2):
        evaluation = evaluate(ROWS, metrics="exact_match", run="nightly-{n}", output_dir=s3)
        assert evaluation.name == f"nightly-{number}"


def test_metrics_are_added_in_the_store(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(ROWS, metrics="exact_match", run="one", output_dir=s3)
    at_once = evaluate(ROWS, metrics="exact_match,token_f1", run="two", output_dir=s3)
    judge = Judge(provider=FakeProvider("Yes"), check=False)
    more = add_metrics("one", "token_f1,llm_correct", judge=judge, output_dir=s3)
    assert more.folder is not None
    assert str(more.folder.location) == f"{s3}/one"
    for name in at_once:
        assert more[name] == at_once[name]
        assert more.rows[name].equals(at_once.rows[name])
    assert more["llm_correct"].mean == 1
    assert (tmp_path / "runs" / "judge.journal.sqlite").exists()
    assert len(folders_in(location(f"{s3}/one"))) == 1
    assert add_metrics(f"{s3}/one", "token_f1").rows.equals(more.rows)


def test_what_needs_a_disk_says_so(s3: str, tmp_path: Path) -> None:
    first = evaluate(ROWS, metrics="exact_match", run="one", output_dir=s3)
    second = evaluate(BETTER, metrics="exact_match", run="two", output_dir=s3)
    with pytest.raises(UsageError, match="keeping a comparison needs a folder"):
        compare([first, second], keep=True)
    assert report(first, tmp_path / "page.html").rows == 9


def test_a_judge_s_journal_is_on_the_disk(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judge = Judge(provider=FakeProvider("Yes"), check=False)
    evaluation = evaluate(ROWS[:2], metrics="llm_correct", judge=judge, run="judged", output_dir=s3)
    assert evaluation["llm_correct"].n_total == 2
    assert (tmp_path / "runs" / "judge.journal.sqlite").exists()
    with pytest.raises(UsageError, match="exists already, and has a judge's replies"):
        evaluate(ROWS, metrics="exact_match", run="judged", output_dir=s3)


def test_a_bucket_that_is_not_there(s3: str) -> None:
    with pytest.raises(OutputError, match="can't write"):
        evaluate(ROWS, metrics="exact_match", run="one", output_dir=f"{s3}-other/runs")
