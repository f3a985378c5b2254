"""The command's outer shell, and `ragmeter metrics`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ragmeter as package
from ragmeter.cli.main import main
from ragmeter.registry import known
from tests.conftest import Run


def test_help_and_version(ragmeter: Run) -> None:
    done = ragmeter("--help")
    assert done.returncode == 0
    assert "evaluate" in done.stdout
    assert "metrics" in done.stdout
    assert ragmeter("--version").stdout.startswith(f"ragmeter {package.__version__}\npython 3.")
    assert ragmeter().returncode == 2


def test_an_unknown_command(ragmeter: Run) -> None:
    done = ragmeter("evalute")
    assert done.returncode == 2
    assert "did you mean evaluate" in done.stderr


def test_the_list_of_metrics(ragmeter: Run) -> None:
    done = ragmeter("metrics")
    assert done.returncode == 0, done.stderr
    for metric in known():
        assert metric.base in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    listed = json.loads(ragmeter("metrics", "--json").stdout)
    assert [metric["name"] for metric in listed] == [metric.name for metric in known()]


@pytest.mark.parametrize("name", [metric.base for metric in known()])
def test_every_metric_says_what_a_reader_needs(name: str) -> None:
    from ragmeter.registry import get
    from ragmeter.show.markdown import metric_page

    text = metric_page(get(name))
    for part in ("**Range.**", "**Needs**", "**Formula.**", "**Edge cases.**", "**Use it**", "**Not**"):
        assert part in text


def test_a_metric_s_page(ragmeter: Run) -> None:
    done = ragmeter("metrics", "rouge_l_score[language=Spanish]")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rouge_l_score[language=es]\n")
    assert "longest common subsequence" in done.stdout
    assert json.loads(ragmeter("metrics", "ndcg@10", "--json").stdout)["settings"]["k"] == 10
    done = ragmeter("metrics", "roug_l_score")
    assert done.returncode == 2
    assert "did you mean rouge_l_score" in done.stderr


def test_a_reader_that_has_had_enough(tmp_path: Path) -> None:
    command = f"{sys.executable} -m ragmeter metrics | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""


SCORER = """
import pandas
from ragmeter import BaseScorer

class Longer(BaseScorer):
    def calculate_score(self, reference, candidate):
        return float(pandas.Series([len(reference), len(candidate)]).max())

    def get_score_name(self):
        return "longer"
"""


def test_arrow_leaves_pandas_alone_and_scorers_have_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SCORER, encoding="utf-8")
    (tmp_path / "rows.csv").write_text("question,reference,answer\nq,a,bc\n", encoding="utf-8")
    for metric, there in (("token_f1", False), ("mine.Longer", True)):
        command = f"['evaluate', '--metrics', '{metric}', '--results', 'rows.csv', '--run', 'r']"
        code = f"import sys; from ragmeter.cli.main import main; print(main({command}), 'pandas' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == f"0 {there}", done.stderr


def test_arrow_makes_frames_for_whoever_wants_them(tmp_path: Path) -> None:
    code = (
        "import sys; from ragmeter.cli.main import main; main(['metrics', 'ndcg'])\n"
        "import pyarrow as pa; table = pa.table({'a': [1, 2]}); finders = [type(finder) for finder in sys.meta_path]\n"
        "print('pandas' in sys.modules, [finder for finder in finders if finder.__module__.startswith('ragmeter')])\n"
        "frame = table.to_pandas(); print(type(frame).__module__, pa.array(frame['a']) == table['a'].chunk(0))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["False []", "pandas True"], done.stderr


def test_a_warning_stands_on_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.tsv").write_text("qid\tanswer\n1\tRome\n2\tParis\n")
    for command in (["--metrics", "exact_match", "--json"], ["--evaluator", "EditDistanceEvaluator", "--json"]):
        assert main(["evaluate", "--results", "gold.tsv", "--reference", "./gold.tsv", *command]) == 0
        said = capsys.readouterr()
        assert said.err == (
            "ragmeter: warning: the results and the reference are the same (gold.tsv): answers that are compared with "
            "themselves are always right; one file that has both is given as the results alone\n"
        )
        json.loads(said.out)


def test_an_unknown_run_is_answered_with_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text('{"qid": "1", "answer": "a", "reference": "a"}\n')
    for name in ("nightly-1", "nightly-2"):
        package.evaluate("rows.jsonl", metrics="token_f1", run=name)
    for command in (
        ["evaluate", "--run", "nightly", "--metrics", "exact_match"],
        ["compare", "nightly-1", "nightly"],
        ["summary", "nightly"],
        ["gate", "nightly", "--fail-under", "token_f1=0.1"],
        ["gate", "nightly-1", "--no-worse-than", "nightly:token_f1:0.1"],
        ["report", "nightly"],
        ["power", "nightly", "--metric", "token_f1"],
        ["label", "nightly"],
        ["calibrate", "nightly", "--labels", "x.csv"],
        ["explain", "nightly", "1"],
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.startswith("ragmeter: unknown run 'nightly': did you mean nightly-"), command
        assert "in runs/ there are nightly-1, nightly-2" in said
    assert main(["evaluate", "--run", "nightly", "--metrics", "exact_match"]) == 2
    assert capsys.readouterr().err.endswith("; a new run needs --results\n")
