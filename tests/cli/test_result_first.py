"""What is printed of a result, in this order: the sentence, the table, warnings, the place, what is next."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ragmeter import evaluate
from ragmeter.runs.catalogue import comparable_run
from ragmeter.runs.lookup import find_run
from ragmeter.show.terminal import summary
from tests.conftest import Run

GOLD = [{"qid": str(n), "question": f"What is capital {n}?", "reference": f"Paris {n}"} for n in range(12)]
OTHER_GOLD = [{**row, "reference": "Rome"} for row in GOLD]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def files(folder: Path) -> None:
    write(folder / "gold.jsonl", GOLD)
    write(folder / "other.jsonl", OTHER_GOLD)
    for name, right in (("a", 6), ("b", 9), ("c", 3)):
        answers = [
            {"qid": row["qid"], "answer": row["reference"] if n < right else "Rome"} for n, row in enumerate(GOLD)
        ]
        write(folder / f"{name}.jsonl", answers[:11])


def test_the_sentence_the_table_the_warnings_the_place_and_what_is_next(ragmeter: Run, tmp_path: Path) -> None:
    files(tmp_path)
    done = ragmeter("evaluate", "a.jsonl", "gold.jsonl", "--run", "a")
    assert done.returncode == 0, done.stderr
    parts = (
        "55% right (28 to 79), on 11 of 12 questions",
        "offline_correct ↑   0.55   0.28 to 0.79",
        "a.jsonl: chosen by its columns: offline_correct, token_f1; left out: offline_hallucinated (no contexts);",
        "references without a result: 1 (qid 11)",
        "no score, no_result: 1 (all metrics)",
        "rows: 12, in runs/a/",
        "next: `ragmeter report a`, `ragmeter app`",
    )
    places = [done.stdout.index(part) for part in parts]
    assert places == sorted(places)
    assert (
        json.loads((tmp_path / "runs" / "a" / "summary.json").read_text())["metrics"]["offline_correct"]["mean"]
        == 6 / 11
    )


def test_next_is_a_comparison_where_there_is_a_run_of_the_same_questions(ragmeter: Run, tmp_path: Path) -> None:
    files(tmp_path)
    ragmeter("evaluate", "a.jsonl", "gold.jsonl", "--run", "first one", "--output-dir", "kept")
    ragmeter("evaluate", "a.jsonl", "other.jsonl", "--run", "c", "--output-dir", "kept")
    done = ragmeter("evaluate", "b.jsonl", "gold.jsonl", "--run", "b", "--output-dir", "kept")
    command = "ragmeter compare 'first one' b --output-dir kept"
    assert f"next: `{command}`, `ragmeter app --output-dir kept`" in done.stdout
    assert ragmeter("compare", "first one", "b", "--output-dir", "kept").returncode == 0


def test_a_run_that_can_be_compared(ragmeter: Run, tmp_path: Path) -> None:
    files(tmp_path)
    for name, answers, gold, metrics in (
        ("a", "a", "gold", "token_f1"),
        ("b", "b", "gold", "token_f1"),
        ("alien", "a", "gold", "exact_match"),
        ("new", "c", "gold", "token_f1"),
    ):
        ragmeter("evaluate", f"{answers}.jsonl", f"{gold}.jsonl", "--run", name, "--metrics", metrics)
    runs = tmp_path / "runs"
    for place, name in enumerate(("a", "b", "alien", "new")):
        for file in (runs / name).iterdir():
            os.utime(file, (place, place))
    assert comparable_run(runs / "new") == "b"
    (runs / "b" / "summary.json").write_text("damaged")
    assert comparable_run(runs / "new") == "a"
    shutil.rmtree(runs / "a")
    assert comparable_run(runs / "new") is None


def test_a_run_with_other_questions_is_not_suggested(ragmeter: Run, tmp_path: Path) -> None:
    for name, asked in (("a", "What is capital {}?"), ("b", "Where does river {} end?"), ("c", "What is capital {}?")):
        rows = [{"qid": str(n), "question": asked.format(n), "reference": "x", "answer": name} for n in range(12)]
        write(tmp_path / f"{name}.jsonl", rows)
        done = ragmeter("evaluate", f"{name}.jsonl", "--run", name, "--metrics", "token_f1")
        first = "compare a c" if name == "c" else f"report {name}"
        assert f"next: `ragmeter {first}`" in done.stdout
    other_ids = [{"qid": f"x{n}", "reference": "x", "answer": "x"} for n in range(12)]
    write(tmp_path / "d.jsonl", other_ids)
    assert "next: `ragmeter report d`" in ragmeter("evaluate", "d.jsonl", "--run", "d").stdout


def test_the_app_is_suggested_only_where_its_packages_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate([{**row, "answer": "x"} for row in GOLD], metrics="token_f1", run="a", output_dir=tmp_path)
    run = find_run("a", tmp_path)
    for missing in ("", "starlette"):
        monkeypatch.setattr(summary, "find_spec", lambda name, missing=missing: None if name == missing else name)
        summary.show_place(run, 12)
        assert ("ragmeter app" in capsys.readouterr().out) == (not missing)
