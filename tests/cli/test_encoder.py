"""A support model on the command line: `--judge encoder`, `--support-model`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.embedders.pair_models import write_pair_model

ROWS = [
    {
        "qid": "1",
        "answer": "The tower is in Paris. It is red.",
        "contexts": ["The tower is in Paris.", "It is not red."],
    },
    {"qid": "2", "answer": "The plan costs ten euros.", "contexts": ["", "The plan costs ten euros a month."]},
    {"qid": "3", "answer": "The sun is blue.", "contexts": ["", " "]},
]
SHORT = "faithfulness[judge=encoder]"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    write_pair_model(tmp_path / "nli")
    write_pair_model(tmp_path / "joy", id2label={"0": "joy", "1": "anger", "2": "fear"})
    content = "".join(json.dumps({**row, "question": "?", "reference": "Paris"}) + "\n" for row in ROWS)
    (tmp_path / "rows.jsonl").write_text(content, encoding="utf-8")


def test_evaluate_and_explain(ragmeter: Run) -> None:
    options = ("--results", "rows.jsonl", "--run", "a", "--support-model", "nli")
    done = ragmeter("evaluate", "--metrics", "faithfulness", "--judge", "encoder", *options)
    assert done.returncode == 0, done.stderr
    assert "faithfulness[judge=encoder,support_model=nli]" in done.stdout
    assert "no score, no_contexts: 1" in done.stdout
    shown = ragmeter("explain", "a", "1").stdout
    assert "claims of the answer, by nli" in shown
    assert "The tower is in Paris.   ✓ supported: passage 1" in shown
    assert "It is red.               ✗ contradicted: passage 2" in shown


def test_more_metrics_and_the_gate_take_the_short_name(ragmeter: Run) -> None:
    ragmeter("evaluate", "--metrics", "token_f1", "--results", "rows.jsonl", "--run", "a")
    options = ("--run", "a", "--support-model", "nli", "--fail-under", "faithfulness=0.9")
    done = ragmeter("evaluate", "--metrics", SHORT, *options)
    assert done.returncode == 1, done.stderr
    assert "faithfulness" in done.stdout


def test_two_models_are_not_compared_as_equals(ragmeter: Run, tmp_path: Path) -> None:
    def evaluate(run: str, model: str) -> None:
        options = ("--results", "rows.jsonl", "--run", run, "--support-model", model)
        assert ragmeter("evaluate", "--metrics", SHORT, *options).returncode == 0

    evaluate("a", "nli")
    write_pair_model(tmp_path / "other")
    evaluate("b", "other")
    different = ragmeter("compare", "a", "b")
    assert (different.returncode, "a and b have no metric in common" in different.stderr) == (2, True)
    shutil.rmtree(tmp_path / "nli")
    write_pair_model(tmp_path / "nli", longest=48)
    evaluate("c", "nli")
    same_name = " ".join(ragmeter("compare", "a", "c").stdout.split())
    assert "a and c were judged differently (revision: sha256:" in same_name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--metrics", SHORT), "needs a support model"),
        (("--metrics", SHORT, "--support-model", "joy"), "its labels say nothing of support: joy, anger, fear"),
        (("--metrics", SHORT, "--support-model", "no/such/model"), "there is no support model 'no/such/model'"),
        (("--metrics", "faithfulness", "--support-model", "nli"), "--support-model nli has no effect on faithfulness"),
        (("--evaluator", "EditDistanceEvaluator", "--support-model", "nli"), "--support-model has no effect with"),
        (
            ("--metrics", "faithfulness", "--judge", "encoder", "--support-model", "nli", "--judge-model", "x"),
            "--judge-model has no effect with --judge encoder",
        ),
        (
            ("--metrics", "faithfulness[judge=offline]", "--judge", "encoder", "--support-model", "nli"),
            "--support-model nli has no effect on faithfulness[judge=offline]",
        ),
        (("--metrics", "llm_correct", "--judge", "encoder"), "llm_correct needs a judge"),
    ],
)
def test_what_does_not_fit_is_refused(ragmeter: Run, options: tuple[str, ...], message: str) -> None:
    done = ragmeter("evaluate", "--results", "rows.jsonl", "--run", "a", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_ask(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "rag.py").write_text(
        'def answer(question):\n    return {"answer": "It is red.", "contexts": ["It is red."]}\n'
    )
    options = ("--dataset", "rows.jsonl", "--target", "rag:answer", "--run", "a", "--metrics", SHORT)
    done = ragmeter("ask", *options, "--support-model", "nli")
    assert done.returncode == 0, done.stderr
    assert "1.00" in done.stdout
    refused = ragmeter("ask", *options, "--support-model", "joy")
    assert (refused.returncode, "joy, anger, fear" in refused.stderr) == (2, True)
