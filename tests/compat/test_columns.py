"""Evaluators by columns: the same files as by objects, which are built row by row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragmeter import ContextRecall, EditDistanceEvaluator, EvaluationResult, ResponseEvaluator
from ragmeter.compat import files
from ragmeter.compat.files import run_evaluators
from ragmeter.compat.rows import ResultRows
from ragmeter.errors import InputError, UsageError

BOTH = "qid\tquestion\treference\tanswer\trelevant\tretrieved\terror\tsystem_name\n"
CASES = {
    "plain": BOTH + "1\tq\tParis\tparis is\t['a']\t['b', 'a']\t\ts\n2\tq2\tRome\tRome\t['a', 'c']\t[]\t\ts\n",
    "errors and gaps": BOTH
    + "1\tq\tParis\tx\t['a']\t['b']\ttimeout\ts\n2\t\t\tRome\t[]\t['a']\t\tt\n3\tq\tx\t\t['a']\t['a']\t\t\n",
    "several gold answers": BOTH + "1\tq\t\"['Paris', 'paris!']\"\tparis!\t['a']\t['a']\t\t\n",
    "formulas": BOTH + "=1\t=A1+B1\t+cmd|x\t@SUM(A1)\t['=a']\t['-b']\t\t=s\n-2\t- a list\t-3\té=\t['a']\t['a']\t\t\n",
    "two rows of one question": BOTH + "1\tq\tParis\ta\t['a']\t['a']\t\t\n1\tq\tParis\tParis\t['a']\t['b']\t\t\n",
}
REFERENCE = "qid\tquestion\treference\trelevant\n1\tq\tParis\t['a']\n2\tq2\tRome\t['b']\n7\tq7\tOslo\t['c']\n"
RESULTS = "qid\tanswer\tretrieved\n2\tRome\t['b']\n1\tthe city of Paris\t['x', 'a']\n2\tno idea\t[]\n9\tx\t['y']\n"


def evaluators() -> list[Any]:
    return [EditDistanceEvaluator(), ResponseEvaluator(language="en"), ContextRecall()]


def written(folder: Path, *inputs: Path, file_format: str = "tsv") -> dict[str, str]:
    """The files of all three evaluators, without what depends on the time."""
    run_evaluators(evaluators(), *inputs, output_dir=folder, output_format=file_format)
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}
    return {name: _timeless(text) for name, text in texts.items()}


def _timeless(text: str) -> str:
    """The text without the moment, and without the last cell, which is the time that it took."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+", "MOMENT", text)
    lines = text.splitlines()
    if lines[0].endswith("processing_time_ms"):
        lines[1] = lines[1].rpartition("\t")[0]
    return re.sub(r'"processing_time_ms": [\d.]+', "", "\n".join(lines))


@pytest.mark.parametrize("file_format", ["tsv", "jsonl"])
@pytest.mark.parametrize("case", [*CASES, "two files"])
def test_the_files_are_those_by_objects(
    tmp_path: Path, case: str, file_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [tmp_path / "results.tsv"]
    inputs[0].write_text(CASES.get(case, RESULTS), encoding="utf-8")
    if case == "two files":
        inputs.append(tmp_path / "reference.tsv")
        inputs[1].write_text(REFERENCE, encoding="utf-8")
    by_columns = written(tmp_path / "columns", *inputs, file_format=file_format)
    monkeypatch.setattr(files, "_by_columns", lambda *_: None)
    assert by_columns == written(tmp_path / "objects", *inputs, file_format=file_format)
    assert len(by_columns) == 6


def test_built_in_evaluators_build_no_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.tsv").write_text(CASES["plain"], encoding="utf-8")
    monkeypatch.setattr(files, "read_objects", None)
    outcomes = run_evaluators(evaluators(), tmp_path / "r.tsv", output_dir=tmp_path)
    assert outcomes[0].result.system_name == "s"
    assert [row["edit_distance"] for row in outcomes[0].result.rows] == [4, 0]


def test_nothing_to_evaluate(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"qid": "1", "reference": null, "answer": "x"}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="nothing to evaluate: 1 results and 0 references"):
        run_evaluators([EditDistanceEvaluator()], tmp_path / "r.jsonl", output_dir=tmp_path / "out")


def test_a_reference_may_be_in_another_row_of_the_same_question(tmp_path: Path) -> None:
    rows = '{"qid": "1", "reference": "Paris", "answer": "x"}\n{"qid": "1", "reference": null, "answer": "Paris"}\n'
    (tmp_path / "r.jsonl").write_text(rows, encoding="utf-8")
    (outcome,) = run_evaluators([EditDistanceEvaluator()], tmp_path / "r.jsonl", output_dir=tmp_path)
    assert [row["edit_distance"] for row in outcome.result.rows] == [5, 0]


def test_two_references_of_one_question(tmp_path: Path) -> None:
    rows = '{"qid": "1", "reference": "Paris", "answer": "x"}\n{"qid": "1", "reference": "Rome", "answer": "Paris"}\n'
    (tmp_path / "r.jsonl").write_text(rows, encoding="utf-8")
    with pytest.raises(InputError, match="two different references"):
        run_evaluators([EditDistanceEvaluator()], tmp_path / "r.jsonl", output_dir=tmp_path)


def test_rows_by_columns_are_a_list_of_dicts() -> None:
    rows = ResultRows({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    as_list = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]
    assert rows == as_list
    assert list(rows) == as_list
    assert rows[1:] == as_list[1:]
    assert rows[-1] == as_list[-1]
    assert rows != as_list[:2]
    assert len(rows) == 3
    assert repr(rows) == repr(as_list)
    result = EvaluationResult("X", {}, rows)
    assert EvaluationResult.from_dict(result.to_dict()).rows == as_list
