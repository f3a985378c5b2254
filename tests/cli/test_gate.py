"""`ragmeter gate`, and the gate of the commands that score."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from ragmeter.cli.main import main
from tests.conftest import Run

QUESTIONS = "qid,question,answer,ground_truth,latency_ms\n" + "".join(
    f"{number},q{number},{'yes' if number < 16 else 'no'},yes,{100 + number}\n" for number in range(20)
)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(QUESTIONS)
    (tmp_path / "worse.csv").write_text(QUESTIONS.replace(",yes,yes,", ",no,yes,", 12))


@pytest.fixture
def main_run(ragmeter: Run) -> None:
    done = ragmeter(
        "evaluate", "--metrics", "exact_match,token_f1,edit_distance", "--results", "answers.csv", "--run", "main"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("main_run")
def test_a_gate_that_passes_and_one_that_fails(ragmeter: Run) -> None:
    done = ragmeter("gate", "main", "--fail-under", "token_f1=0.8", "--fail-over", "latency_ms=109.5")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "passed: token_f1 is 0.80 (95%: 0.58 to 0.92), n = 20 (few): at least 0.8 is asked for" in done.stdout
    assert "passed: latency_ms is 109.5" in done.stdout
    assert "token_f1 ↑" in done.stdout
    done = ragmeter("gate", "runs/main", "--fail-under", "token_f1=0.85", "--fail-under", "exact_match=0.5")
    assert done.returncode == 1
    assert done.stderr == (
        "ragmeter: the gate failed, 1 of 3 checks:\n"
        "  --fail-under token_f1=0.85\n"
        "    token_f1 is 0.80 (95%: 0.58 to 0.92), n = 20 (few): at least 0.85 is asked for\n"
    )
    assert "passed: exact_match" in done.stdout
    strict = ragmeter("gate", "main", "--fail-under", "token_f1=0.8", "--gate-on", "interval", "--json")
    assert strict.returncode == 1
    verdict = json.loads(strict.stdout)
    assert verdict["passed"] is False
    assert [check["passed"] for check in verdict["checks"]] == [False, True]
    assert "by the whole interval" in strict.stderr


@pytest.mark.usefixtures("main_run")
def test_a_call_that_makes_no_sense(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for options, said in (
        ([], "no rule is given: what does the run have to reach?"),
        (["--junit", "x.xml"], "nothing to check"),
        (["--fail-under", "token_f1"], "METRIC=VALUE"),
        (["--fail-under", "edit_distance=3"], "--fail-over edit_distance=3"),
        (["--fail-under", "tokenf1=0.5"], "did you mean token_f1"),
        (["--no-worse-than", "main:token_f1:0.1"], "the baseline is the run itself"),
        (["--no-worse-than", "older:token_f1:0.1"], "unknown run 'older'"),
        (["--max-failed", "5"], "between 0 and 1"),
        (["--fail-under", "token_f1=0.5", "--junit", "runs"], "is a folder"),
        (["--fail-under", "token_f1=0.5", "--markdown", "answers.csv/x.md"], "another folder with --markdown"),
    ):
        assert main(["gate", "main", *options]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fail-under", "token_f1:0.6"], "METRIC=VALUE"),
        (["--fail-under", "exact_match=0.6"], "unknown metric 'exact_match'"),
        (["--fail-over", "token_f1=0.6"], "--fail-under token_f1=0.6"),
        (["--fail-under", "token_f1=60"], "60 points are 0.6"),
        (["--no-worse-than", "main:token_f1:0.02"], "unknown run 'main'"),
        (["--junit", "x.xml"], "nothing to check"),
    ],
)
def test_nothing_is_scored_for_a_rule_that_makes_no_sense(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the target's folder is added to it
    (tmp_path / "rag_never_asked.py").write_text(
        "def answer(question):\n    open('asked', 'w').close()\n    return 'yes'\n"
    )
    for command in (
        ("evaluate", "--metrics", "token_f1", "--results", "answers.csv"),
        ("ask", "--metrics", "token_f1", "--dataset", "answers.csv", "--target", "rag_never_asked:answer"),
    ):
        assert main([*command, *options]) == 2
        assert said in capsys.readouterr().err
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert left == {"answers.csv", "rag_never_asked.py", "worse.csv"}


def test_no_page_is_opened_for_a_rule_that_makes_no_sense(ragmeter: Run) -> None:
    page = (
        "web",
        "--url",
        "http://127.0.0.1:9",
        "--input",
        "answers.csv",
        "--output",
        "o.csv",
        "--input-selector",
        "#q",
    )
    done = ragmeter(*page, "--metrics", "token_f1", "--fail-under", "ndcg@10=0.5")
    assert done.returncode == 2
    assert "unknown metric 'ndcg@10'" in done.stderr


@pytest.mark.usefixtures("main_run")
def test_score_and_check_in_one_go(tmp_path: Path, ragmeter: Run) -> None:
    done = ragmeter(
        "evaluate", "--metrics", "exact_match,token_f1", "--results", "worse.csv", "--run", "new",
        "--no-worse-than", "main:token_f1:0.02", "--junit", "out/gate.xml", "--markdown", "out/gate.md",
    )  # fmt: skip
    assert done.returncode == 1
    assert (
        "token_f1: new is 0.6000 lower than main (95%: -0.8084 to -0.3092), significantly worse (p = 0.0005, "
        "n = 20): the whole interval is a loss of more than 0.02" in done.stderr
    )
    assert "new is worse on exact_match: 20% instead of 80% (-60 points, 95%: -81 to -31, 20 questions)." in done.stdout
    suite = Xml.parse(tmp_path / "out" / "gate.xml").getroot()[0]  # noqa: S314 - our own file
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert suite[0].get("name") == "--no-worse-than main:token_f1:0.02"
    assert "token_f1: new is 0.6000 lower than main" in (suite[0][0].text or "")
    assert "the whole interval is a loss of more than 0.02" in (suite[0][0].text or "")
    text = (tmp_path / "out" / "gate.md").read_text(encoding="utf-8")
    assert text.startswith("## ❌ Gate failed: new\n")
    assert "token\\_f1: new is 0.6000 lower than main" in text
    assert "| exact\\_match ↑ | 0.20 |" in text, "metrics without a rule are shown too"
    again = ragmeter(
        "evaluate",
        "--metrics",
        "token_f1",
        "--results",
        "answers.csv",
        "--run",
        "main",
        "--no-worse-than",
        "main:token_f1:0.1",
    )
    assert again.returncode == 2
    assert "the baseline is the run itself" in again.stderr


def test_the_verdict_is_part_of_the_json(ragmeter: Run) -> None:
    command = ("evaluate", "--metrics", "token_f1", "--results", "answers.csv", "--run", "r", "--json")
    for bound, code in (("0.7", 0), ("0.9", 1)):
        done = ragmeter(*command, "--fail-under", f"token_f1={bound}")
        assert done.returncode == code
        summary = json.loads(done.stdout)
        assert summary["gate"]["passed"] is (code == 0)
        assert summary["gate"]["checks"][0]["value"] == 0.8
        assert ("at least 0.9" in done.stderr) is (code == 1)
    assert "gate" not in json.loads(ragmeter(*command).stdout)


@pytest.mark.usefixtures("main_run")
def test_metrics_are_added_and_checked(ragmeter: Run) -> None:
    added = ("evaluate", "--run", "main", "--metrics", "rouge_l_score", "--language", "en")
    done = ragmeter(*added, "--fail-under", "rouge_l_score=0.8", "--fail-under", "token_f1=0.9")
    assert done.returncode == 1
    assert "passed: rouge_l_score[language=en] is 0.80" in done.stdout
    assert "--fail-under token_f1=0.9" in done.stderr
    assert ragmeter(*added, "--fail-under", "meteor_score=0.8").returncode == 2


def test_an_evaluator_makes_no_run_to_check(ragmeter: Run) -> None:
    done = ragmeter("evaluate", "--evaluator", "EditDistanceEvaluator", "--results", "answers.csv", "--max-failed", "0")
    assert done.returncode == 2
    assert "name metrics with --metrics" in done.stderr


def test_a_live_system_is_asked_and_checked(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "rag.py").write_text(
        "def answer(question):\n    if question == 'q0':\n        raise ValueError('no')\n    return 'yes'\n"
    )
    (tmp_path / "qa.csv").write_text(QUESTIONS.replace(",answer,", ",old,"))
    command = (
        "ask",
        "--metrics",
        "exact_match",
        "--dataset",
        "qa.csv",
        "--target",
        "rag:answer",
        "--retries",
        "0",
        "--run",
        "live",
    )
    done = ragmeter(*command, "--fail-under", "exact_match=0.9", "--fail-over", "latency_ms=5000")
    assert done.returncode == 0, done.stderr
    assert "passed: exact_match is 1.00" in done.stdout
    done = ragmeter(*command, "--fail-under", "exact_match=0.9", "--max-failed", "0.01", "--json")
    assert done.returncode == 1
    assert "exact_match: 1 of 20 rows have no score (1 system error): at most 1% may have none" in done.stderr
    assert json.loads(done.stdout)["gate"]["passed"] is False


def test_a_run_that_would_replace_its_baseline_is_not_asked_for(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "rag.py").write_text("def answer(question):\n    return 'yes'\n")
    command = [
        "ask", "--metrics", "exact_match", "--dataset", "answers.csv", "--target", "rag:answer",
        "--column", "reference=ground_truth",
    ]  # fmt: skip
    assert ragmeter(*command).returncode == 0
    (run,) = (path for path in (tmp_path / "runs").iterdir() if path.is_dir())
    before = (run / "manifest.json").stat().st_mtime_ns
    done = ragmeter(*command, "--no-worse-than", f"{run.name}:exact_match:0.1")
    assert done.returncode == 2
    assert "the baseline is the run itself" in done.stderr
    assert (run / "manifest.json").stat().st_mtime_ns == before


def test_judged_conversations_are_checked(tmp_path: Path, ragmeter: Run) -> None:
    turns = [
        {"session_id": f"s{number}", "interaction_id": f"i{number}", "turn_idx": 0, "query": "q", "ground_truth": "yes",
         "agent_response": "yes" if number else "I don't know", "is_ego": False}
        for number in range(4)
    ]  # fmt: skip
    (tmp_path / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    command = ("crag", "evaluate", "--turns", "turns.jsonl", "--judge-model", "none", "--output-dir", "runs/crag")
    done = ragmeter(*command, "--fail-under", "accuracy=0.7", "--fail-over", "missing=0.3")
    assert done.returncode == 0, done.stderr
    assert "passed: missing is 0.25" in done.stdout
    done = ragmeter(*command, "--fail-under", "multi_turn_conversation_score=0.9", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["gate"]["checks"][0]["value"] == 0.75
    assert ragmeter(*command, "--fail-under", "missing=0.3").returncode == 2


@pytest.mark.usefixtures("main_run")
def test_the_summary_of_a_github_step_is_appended_to(tmp_path: Path, ragmeter: Run) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    gate = ("gate", "main", "--fail-under", "token_f1=0.5", "--markdown", str(summary))
    for _ in range(2):
        assert ragmeter(*gate, env={"GITHUB_STEP_SUMMARY": str(summary)}).returncode == 0
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n## ✅ Gate passed: main\n")
    assert text.count("Gate passed") == 2
    assert ragmeter(*gate, env={"GITHUB_STEP_SUMMARY": ""}).returncode == 0
    assert summary.read_text(encoding="utf-8").count("Gate passed") == 1


@pytest.mark.usefixtures("main_run")
def test_nothing_steers_the_terminal(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "runs" / "main").rename(tmp_path / "runs" / "ev\x1b[31mil")
    (tmp_path / "runs" / "b").mkdir()
    for file in (tmp_path / "runs" / "ev\x1b[31mil").iterdir():
        (tmp_path / "runs" / "b" / file.name).write_bytes(file.read_bytes())
    done = ragmeter("gate", "b", "--no-worse-than", "ev\x1b[31mil:exact_match:0.01", "--junit", "g.xml")
    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
    assert Xml.parse(tmp_path / "g.xml").getroot()[0].get("failures") == "1"  # noqa: S314 - our own file


def test_the_workflow_of_the_documents_runs(tmp_path: Path) -> None:
    """The step of docs/ci.md, as GitHub runs it: first on main, then on pull requests, one of them bad."""
    document = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
    workflow = re.search(r"```yaml\n(.*?)```", document, re.DOTALL)
    assert workflow is not None
    step = re.search(r"name: Ask, score and check\n +run: \|\n(.*?)\n +- name", workflow[1], re.DOTALL)
    assert step is not None
    for folder in ("eval", "mypkg"):
        (tmp_path / folder).mkdir()
    questions = [{"question": f"q{number}", "ground_truth": "yes"} for number in range(200)]
    (tmp_path / "eval" / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run_step(name: str, answer: str) -> tuple[int, str]:
        (tmp_path / "mypkg" / "rag.py").write_text(f"def pipeline(question):\n    return {answer}\n")
        summary = tmp_path / f"{name}.md"
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", textwrap.dedent(step[1])],
            cwd=tmp_path,
            env={**os.environ, "PATH": binaries, "RUN": name, "GITHUB_STEP_SUMMARY": str(summary)},
            capture_output=True,
            text=True,
        )
        return done.returncode, f"{done.stderr}{summary.read_text(encoding='utf-8')}"

    assert run_step("main", "'yes'")[0] == 0
    code, said = run_step("new", "'yes'")
    assert (code, "--no-worse-than main:token\\_f1:0.02" in said) == (0, True)
    code, said = run_step("new", "'yes' if int(question[1:]) % 4 else 'no'")
    assert code == 1
    assert "new is 0.2500 lower than main" in said
    assert said.count("## ✅ Gate passed") == said.count("## ❌ Gate failed") == 1
