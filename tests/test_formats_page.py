"""The commands and the Python on docs/formats.md run as they stand."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DATA, Run
from tests.io.test_tools import ANSWER, FILES, GOLD, PASSAGE, QUESTION, spans
from tests.io.test_trec import QRELS, RUN, beir

PAGE = (Path(__file__).parent.parent / "docs" / "formats.md").read_text(encoding="utf-8")
QA = {"id": "q1", "question": QUESTION, "answers": [{"text": GOLD, "answer_start": 0}]}
JSON: dict[str, Any] = {
    "deepeval.json": FILES["deepeval"][0],
    "promptfoo.json": FILES["promptfoo"][0],
    "ragchecker.json": FILES["ragchecker"][0],
    "checking_outputs.json": json.loads((DATA / "ragchecker_example_outputs.json").read_text(encoding="utf-8")),
    "predictions.json": {"q1": ANSWER},
    "dev-v2.0.json": {"data": [{"title": "France", "paragraphs": [{"context": PASSAGE, "qas": [QA]}]}]},
    "eval_results_table.json": FILES["mlflow table"][0],
    "ragas.jsonl": FILES["ragas"][0],
    "langsmith.jsonl": FILES["langsmith"][0],
    "spans.jsonl": spans(flat=False),
    "gold.jsonl": [{"qid": "t1", "reference": GOLD}],
    "other.jsonl": [{"run": {"result": [{"text": ANSWER}]}, "gold": {"best": GOLD}}],
}


def write_files(folder: Path) -> None:
    (folder / "my.run").write_text(RUN)
    (folder / "qrels.txt").write_text(QRELS)
    beir(folder / "scifact", "test")
    for name, content in JSON.items():
        rows = content if name.endswith(".jsonl") else [content]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("command", re.findall(r"```sh\nragmeter (.*?)\n```", PAGE, re.DOTALL))
def test_each_command_scores_a_row(command: str, tmp_path: Path, ragmeter: Run) -> None:
    write_files(tmp_path)
    done = ragmeter(*shlex.split(command), "--json")
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["metrics"]
    assert all(metric["n_scored"] for metric in metrics.values()), metrics


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})  # noqa: S102 - our own document
    assert capsys.readouterr().out.splitlines() == ["0.75", "1.0"]
