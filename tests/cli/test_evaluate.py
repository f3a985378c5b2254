"""`ragmeter evaluate`, run as a person runs it."""

from __future__ import annotations

import csv
import json
import os
import pty
import select
import signal
import subprocess
import sys
from datetime import datetime, tzinfo
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command import PATIENCE, wait_for
from tests.conftest import DATA, Run

RESULTS = "qid\tanswer\tdoc_ids\n1\tParis\t['doc-<urn:uuid:a>::chunk-0']\n2\tI think Rome\t[]\n9\tx\t[]\n"
REFERENCE = "qid\tquestion\tanswer\tdocument_ids\n1\tq1\tParis\t['<urn:uuid:a>']\n2\tq2\tRome\t['<urn:uuid:b>']\n"

#: As the first seed prints them.
AGGREGATED_HEADER = (
    "evaluator_name\tsample_count\tsystem_name\ttimestamp\tis_aggregated\tavg_edit_distance\tmin_edit_distance\t"
    "max_edit_distance\tmedian_edit_distance\tavg_normalized_distance\tmin_normalized_distance\t"
    "max_normalized_distance\tmedian_normalized_distance\tprocessing_time_ms"
)
ROWS_HEADER = "qid\tevaluator_name\tis_aggregated\tedit_distance\tnormalized_distance"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    (tmp_path / "nq_MyRAG.tsv").write_text(RESULTS)
    (tmp_path / "reference.tsv").write_text(REFERENCE)


def test_the_first_seed_s_command_and_files(tmp_path: Path, ragmeter: Run) -> None:
    done = ragmeter(
        "evaluate", "--evaluator", "evaluators.basic_evaluator.edit_distance_evaluator.EditDistanceEvaluator",
        "--results", "nq_MyRAG.tsv", "--reference", "reference.tsv",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "data" / "evaluation_results"
    aggregated = (folder / "nq_MyRAG.EditDistanceEvaluator.evaluation.aggregated.tsv").read_text().splitlines()
    rows = (folder / "nq_MyRAG.EditDistanceEvaluator.evaluation.rows.tsv").read_text().splitlines()
    assert aggregated[0] == AGGREGATED_HEADER
    cells = dict(zip(aggregated[0].split("\t"), aggregated[1].split("\t"), strict=True))
    assert cells["evaluator_name"] == "EditDistanceEvaluator"
    assert (cells["sample_count"], cells["system_name"], cells["is_aggregated"]) == ("2", "nq_MyRAG", "True")
    assert (cells["avg_edit_distance"], cells["min_edit_distance"], cells["max_edit_distance"]) == ("4.0", "0", "8")
    assert float(cells["processing_time_ms"]) > 0
    assert rows[0] == ROWS_HEADER
    assert rows[1:] == [
        "1\tEditDistanceEvaluator\tFalse\t0\t0.0",
        "2\tEditDistanceEvaluator\tFalse\t8\t0.6666666666666666",
        "9\tEditDistanceEvaluator\tFalse\t\t",
    ]
    assert "results without a reference: 1 (qid 9)" in done.stdout
    assert "no score: no_reference" in done.stdout
    assert len(list(folder.iterdir())) == 2


def test_several_evaluators_formats_and_names(tmp_path: Path, ragmeter: Run) -> None:
    done = ragmeter(
        "evaluate", "--evaluator", "EditDistanceEvaluator,ContextRecall", "--no-normalize", "--results", "nq_MyRAG.tsv",
        "--reference", "reference.tsv", "--output-dir", "out", "--output-prefix", "p", "--output-format", "jsonl",
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert first["avg_edit_distance"] == 4
    assert "avg_normalized_distance" not in first
    assert second["avg_context_recall"] == 0.5
    assert second["ndcg_10"] == 0.5
    assert second["not_scored"] == {"no_relevant": 1}
    assert second["join"]["results_only"] == {"count": 1, "qids": ["9"]}
    row = json.loads((tmp_path / "out" / "p.ContextRecall.evaluation.rows.jsonl").read_text().splitlines()[0])
    assert list(row) == ["qid", "metrics", "evaluator_name"]  # as the old tool writes JSON
    assert row["metrics"]["context_recall"] == 1.0
    (aggregated,) = (tmp_path / "out" / "p.ContextRecall.evaluation.aggregated.jsonl").read_text().splitlines()
    assert json.loads(aggregated)["metrics"]["avg_context_recall"] == 0.5
    assert list(json.loads(aggregated))[:2] == ["metrics", "evaluator_name"]


@pytest.mark.parametrize("file_format", ["tsv", "csv", "jsonl", "parquet"])
def test_every_output_format(file_format: str, tmp_path: Path, ragmeter: Run) -> None:
    done = ragmeter(
        "evaluate", "--evaluator", "EditDistanceEvaluator", "--results", "nq_MyRAG.tsv", "--reference", "reference.tsv",
        "--output-dir", "out", "--output-format", file_format,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    path = tmp_path / "out" / f"nq_MyRAG.EditDistanceEvaluator.evaluation.rows.{file_format}"
    if file_format == "parquet":
        assert pq.read_table(path)["edit_distance"].to_pylist() == [0, 8, None]
    else:
        assert len(path.read_text().splitlines()) == 4 - (file_format == "jsonl")


def test_help_shows_the_evaluator_s_own_options(ragmeter: Run) -> None:
    done = ragmeter("evaluate", "--evaluator", "EditDistanceEvaluator", "--help")
    assert done.returncode == 0
    assert "options of EditDistanceEvaluator" in done.stdout
    assert "--normalize, --no-normalize" in done.stdout
    assert "--doc-id-pattern" in ragmeter("evaluate", "--help-all").stdout


def test_a_class_of_the_user_s(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "mine.py").write_text(
        "from typing import Literal\n"
        "from ragmeter import EvaluationResult\n"
        "class Length:\n"
        "    def __init__(self, weight: float, unit: Literal['chars', 'words'] = 'chars', strict: bool = False,\n"
        "                 limit: int | None = None):\n"
        "        self.options = (weight, unit, strict, limit)\n"
        "    def evaluate(self, rag_results, references):\n"
        "        rows = [{'qid': r.qid, 'length': len(r.answer), 'docs': r.doc_ids} for r in rag_results]\n"
        "        figures = {'options': str(self.options), 'gold': references[1].answer}\n"
        "        return EvaluationResult('Length', figures, rows)\n"
        "class Broken:\n"
        "    def evaluate(self, rag_results, references):\n"
        "        return {'score': 1}\n"
    )
    common = ["--results", "nq_MyRAG.tsv", "--reference", "reference.tsv", "--json"]
    done = ragmeter(
        "evaluate",
        "--evaluator",
        "mine.Length",
        *common,
        "--weight",
        "2.5",
        "--unit",
        "words",
        "--strict",
        "--limit",
        "3",
    )
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)
    assert result["options"] == "(2.5, 'words', True, 3)"
    assert (result["gold"], result["sample_count"]) == ("Rome", 3)
    rows = (tmp_path / "data/evaluation_results/nq_MyRAG.Length.evaluation.rows.tsv").read_text().splitlines()
    assert rows[:2] == ["qid\tlength\tdocs", '1\t5\t"[""doc-<urn:uuid:a>::chunk-0""]"']

    done = ragmeter("evaluate", "--evaluator", "mine.Length", *common)
    assert done.returncode == 2
    assert "--weight" in done.stderr
    done = ragmeter("evaluate", "--evaluator", "mine.Length", *common, "--weight", "x")
    assert done.returncode == 2
    assert "invalid float value" in done.stderr
    done = ragmeter("evaluate", "--evaluator", "mine.Broken", *common)
    assert done.returncode == 2
    assert "returned dict, not EvaluationResult" in done.stderr


def test_a_class_with_odd_keywords(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "odd.py").write_text(
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n"
        "    from decimal import Decimal\n"
        "from ragmeter import EvaluationResult\n"
        "class Odd:\n"
        "    __doc__ = 'Odd.\\n\\nArgs:\\n    results: 100% of it, not a file.'\n"
        "    def __init__(self, results='mine', price: Decimal = 1, *rest, **more):\n"
        "        self.results = results\n"
        "    def evaluate(self, rag_results, references):\n"
        "        if self.results == 'raise':\n"
        "            raise KeyError('lost')\n"
        "        return EvaluationResult('Odd', {'results': self.results})\n"
    )
    common = [
        "evaluate",
        "--evaluator",
        "odd.Odd",
        "--results",
        "nq_MyRAG.tsv",
        "--reference",
        "reference.tsv",
        "--json",
    ]
    assert json.loads(ragmeter(*common).stdout)[0]["results"] == "mine"
    assert json.loads(ragmeter(*common, "--evaluator-results", "x").stdout)[0]["results"] == "x"
    assert "100% of it, not a file; default: mine" in " ".join(ragmeter(*common, "--help").stdout.split())
    done = ragmeter(*common, "--evaluator-results", "raise")
    assert done.returncode == 2
    assert done.stderr == "ragmeter: Odd.evaluate() failed with KeyError: 'lost' (odd.py, line 12)\n"


def test_the_default_language_of_an_evaluator_is_shown(ragmeter: Run) -> None:
    shown = " ".join(ragmeter("evaluate", "--evaluator", "ResponseEvaluator", "--help").stdout.split())
    assert "--language: the language whose stemmer is used, by code or name; default: es" in shown


def test_output_that_cannot_show_every_character(tmp_path: Path, ragmeter_process: Run) -> None:
    (tmp_path / "r.csv").write_text("answer,reference\na,a\n")
    command = ("evaluate", "--metrics", "token_f1", "--results", "r.csv")
    done = ragmeter_process(*command, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "token_f1 ?" in done.stdout


def test_a_run_that_takes_another_s_place_says_so(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.csv").write_text("answer,reference\na,a\n")
    command = ["evaluate", "--metrics", "token_f1", "exact_match", "--results", "r.csv", "--run", "same"]
    assert "in place of" not in ragmeter(*command).stdout
    assert "rows: 1, in runs/same/, in place of an earlier run" in ragmeter(*command).stdout


def test_spreadsheet_formulas_are_guarded_unless_switched_off(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.csv").write_text('query,ground_truth,actual_response\n=1+1,a,"=HYPERLINK(""x"")"\n')
    command = ["evaluate", "--evaluator", "ResponseEvaluator", "--results", "r.csv", "--output-format", "csv"]
    path = tmp_path / "data/evaluation_results/r.ResponseEvaluator.evaluation.rows.csv"
    assert ragmeter(*command).returncode == 0
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert (row["query"], row["actual_response"]) == ("'=1+1", '\'=HYPERLINK("x")')
    assert ragmeter(*command, "--no-formula-guard").returncode == 0
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert (row["query"], row["actual_response"]) == ("=1+1", '=HYPERLINK("x")')


def test_metrics_into_a_run_folder(tmp_path: Path, ragmeter: Run) -> None:
    done = ragmeter(
        "evaluate", "--metrics", "token_f1,rouge_l_score,ndcg@10,recall@5", "--results", "nq_MyRAG.tsv",
        "--reference", "reference.tsv", "--language", "es", "--run", "first",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "no progress bar in a pipe"
    assert max(map(len, done.stdout.splitlines())) <= 80
    folder = tmp_path / "runs" / "first"
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "rows.parquet", "summary.json"]
    manifest = json.loads((folder / "manifest.json").read_text())
    names = ["token_f1", "rouge_l_score[language=es]", "ndcg@10", "recall@5"]
    assert [metric["name"] for metric in manifest["metrics"]] == names
    assert manifest["inputs"]["results"]["file"] == "nq_MyRAG.tsv"
    assert len(manifest["inputs"]["reference"]["sha256"]) == 64
    summary = json.loads((folder / "summary.json").read_text())
    assert list(summary["metrics"]) == names
    token_f1 = summary["metrics"]["token_f1"]
    assert token_f1["mean"] == (1 + 0.5) / 2
    assert (token_f1["n_total"], token_f1["n_scored"], token_f1["n_not_scored"]) == (3, 2, {"no_reference": 1})
    assert {"sd", "min", "max", "median", "interval"} <= set(token_f1)
    table = pq.read_table(folder / "rows.parquet").to_pydict()
    assert table["qid"] == ["1", "2", "9"]
    assert table["token_f1"][:2] == [1.0, 0.5]
    assert table["token_f1"][2] != table["token_f1"][2], "NaN where nothing was scored"
    assert table["token_f1.outcome"] == ["scored", "scored", "no_reference"]
    assert table["ndcg@10.outcome"] == ["scored", "scored", "no_relevant"]


def test_a_run_s_rows_can_be_evaluated_again(tmp_path: Path, ragmeter: Run) -> None:
    first = [
        "evaluate",
        "--metrics",
        "token_f1",
        "--results",
        "nq_MyRAG.tsv",
        "--reference",
        "reference.tsv",
        "--run",
        "a",
    ]
    assert ragmeter(*first).returncode == 0
    done = ragmeter(
        "evaluate", "--metrics", "token_f1,exact_match", "--results", "runs/a/rows.parquet", "--run", "b", "--json"
    )
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)["metrics"]
    assert (again["token_f1"]["mean"], again["exact_match"]["mean"]) == (0.75, 0.5)


def test_json_to_standard_output_and_a_name_by_default(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "qa.jsonl").write_text('{"question": "q", "ground_truth": "a", "generated_answer": "a"}\n')
    done = ragmeter("evaluate", "--metrics", "exact_match", "--results", "qa.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["metrics"]["exact_match"]["mean"] == 1
    assert summary["metrics"]["exact_match"]["interval"] == pytest.approx([0.2065, 1.0], abs=1e-4)
    assert summary["run"].startswith("qa-")
    assert (tmp_path / summary["folder"] / "rows.parquet").is_file()


def test_two_runs_in_a_second_have_names_of_their_own(
    tmp_path: Path, ragmeter: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Still(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Still:
            return cls(2026, 1, 2, 3, 4, 5, tzinfo=tz)

    monkeypatch.setattr("ragmeter.cli.evaluate.datetime", Still)
    (tmp_path / "rows.jsonl").write_text('{"answer": "a", "reference": "a"}')
    for _ in range(3):
        assert ragmeter("evaluate", "--results", "rows.jsonl", "--metrics", "token_f1").returncode == 0
    names = sorted(folder.name for folder in (tmp_path / "runs").iterdir() if folder.is_dir())
    assert names == ["rows-20260102-030405", "rows-20260102-030405-1", "rows-20260102-030405-2"]


def test_a_column_by_the_user_s_own_name(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.csv").write_text("nr,frage,antwort,gold\n1,q,a,a\n")
    done = ragmeter(
        "evaluate", "--metrics", "exact_match", "--results", "r.csv", "--column", "answer=antwort",
        "--column", "reference=gold", "--column", "qid=nr", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["exact_match"]["mean"] == 1


def test_a_scorer_by_its_dotted_path(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "scorers.py").write_text(
        "from ragmeter import BaseScorer\n"
        "class MyNewScorer(BaseScorer):\n"
        "    def calculate_score(self, reference: str, candidate: str) -> float:\n"
        "        return len(set(reference) & set(candidate)) / len(set(reference) | set(candidate))\n"
        "    def get_score_name(self) -> str:\n"
        "        return 'my_new_score'\n"
    )
    done = ragmeter(
        "evaluate", "--metrics", "token_f1,scorers.MyNewScorer", "--results", "nq_MyRAG.tsv", "--reference",
        "reference.tsv", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["my_new_score"]["max"] == 1


def test_the_real_reference_file(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "out.tsv").write_text(
        "qid\tanswer\tdocument_ids\n"
        "1\tThe library was established in 1967.\t['doc-<urn:uuid:435806ec-bd89-47fe-acaf-9326861433e4>::chunk-0']\n"
        "2\tno idea\t[]\n"
    )
    done = ragmeter(
        "evaluate", "--evaluator", "ContextRecall", "EditDistanceEvaluator", "ResponseEvaluator", "--language", "en",
        "--results", "out.tsv", "--reference", DATA / "liverag_reference.tsv", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    recall, distance, response = json.loads(done.stdout)
    assert (recall["avg_context_recall"], recall["avg_gold_docs_count"]) == (0.5, 1.5)
    assert distance["sample_count"] == response["sample_count"] == 2


STUCK = """
import time

class Stuck:
    def calculate_score(self, reference, candidate):
        if reference == "the gold answer 50000":
            time.sleep(3600)
        return 1.0

    def get_score_name(self):
        return "stuck"
"""


def test_killed_in_the_middle_the_old_run_stays_whole(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    command = ["evaluate", "--metrics", "meteor_score,stuck.Stuck", "--run", "r", "--results"]
    assert ragmeter(*command, "nq_MyRAG.tsv", "--reference", "reference.tsv").returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "runs" / "r").iterdir()}
    with (tmp_path / "big.csv").open("w") as file:
        file.write("qid,answer,reference\n")
        file.writelines(f"{n},the answer is {n % 977} of {n},the gold answer {n}\n" for n in range(60_000))
    process = subprocess.Popen([sys.executable, "-m", "ragmeter", *command, "big.csv"], cwd=tmp_path)
    wait_for(lambda: list((tmp_path / "runs").glob(".r.*.tmp/rows.parquet")), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert {path.name: path.read_bytes() for path in (tmp_path / "runs" / "r").iterdir()} == before

    process = subprocess.Popen(
        [sys.executable, "-m", "ragmeter", *command, "big.csv"], cwd=tmp_path, stderr=subprocess.PIPE
    )
    wait_for(lambda: list((tmp_path / "runs").glob(f".r.{process.pid}.*.tmp/rows.parquet")), process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert not list((tmp_path / "runs").glob(f".r.{process.pid}.*.tmp")), "an interrupted run clears up after itself"
    assert {path.name: path.read_bytes() for path in (tmp_path / "runs" / "r").iterdir()} == before


def test_in_a_terminal_there_is_a_progress_bar(tmp_path: Path) -> None:
    with (tmp_path / "big.csv").open("w") as file:
        file.write("qid,answer,reference\n")
        file.writelines(f"{n},the answer is {n % 977},the gold answer {n}\n" for n in range(60_000))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ragmeter", "evaluate", "--metrics", "meteor_score", "--results", "big.csv"],
        cwd=tmp_path,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"},
    )
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], PATIENCE)[0]:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait() == 0
    assert b"scoring" in seen
    assert b"rows" in seen
    assert b"meteor_score" in seen


def test_an_interrupt_does_not_wait_for_a_slow_scorer(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time, pathlib\n"
        "class Slow:\n"
        "    def calculate_score(self, reference, candidate):\n"
        "        pathlib.Path('started').touch()\n"
        "        time.sleep(3600)\n"
        "        return 1.0\n"
        "    def get_score_name(self):\n"
        "        return 'slow'\n"
    )
    (tmp_path / "r.csv").write_text("answer,reference\n" + "a,a\n" * 1000)
    process = subprocess.Popen(
        [sys.executable, "-m", "ragmeter", "evaluate", "--metrics", "slow.Slow", "--results", "r.csv", "--run", "r"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    )
    wait_for((tmp_path / "started").exists, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert not (tmp_path / "runs").exists()


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path, ragmeter: Run) -> None:
    rows = [{"qid": "[bold]:smile:[/x]\x1b[31m", "answer": "a"}, {"qid": "1", "answer": "a"}]
    (tmp_path / "h.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", "h.jsonl", "--reference", "reference.tsv")
    assert done.returncode == 0, done.stderr
    assert "(qid [bold]:smile:[/x]\ufffd[31m)" in done.stdout
    done = ragmeter("metrics", 'ndcg@10[doc_id="[/x]"]')
    assert done.stdout.startswith('ndcg@10[doc_id="[/x]"]\n')


def test_results_into_a_closed_or_full_place(tmp_path: Path) -> None:
    for command, code in (("| true", 0), ("> /dev/full", 2)):
        line = f"set -o pipefail; {sys.executable} -m ragmeter metrics {command}"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)
