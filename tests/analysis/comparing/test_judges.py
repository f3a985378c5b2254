"""Runs that were judged by different judges: the difference may be the judge's, so no verdict is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Comparison, CRAGEvaluator, Evaluation, FakeProvider, LLMJudge, compare, evaluate, gate, report
from ragmeter.documents.comparison import NumberOfTests
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.runs.layout import MANIFEST
from tests.judge_rows import judge

ROWS = [
    {"qid": str(row), "question": f"place {row}?", "answer": f"I think city {row}", "reference": f"city {row}"}
    for row in range(12)
]


def judged(folder: Path, name: str, reply: str, metrics: str = "llm_correct,token_f1", **settings: Any) -> Evaluation:
    """A run of the same answers, judged by a model that always gives the same reply."""
    provider = FakeProvider(reply, model=settings.pop("model", "fake"))
    return evaluate(ROWS, metrics=metrics, judge=judge(provider, **settings), run=name, output_dir=folder)


@pytest.fixture
def two_models(tmp_path: Path) -> Path:
    judged(tmp_path, "old", "No", model="strict")
    judged(tmp_path, "new", "Yes", model="kind")
    return tmp_path


def compared(folder: Path) -> Comparison:
    return compare(["old", "new"], output_dir=folder)


def test_another_model_is_no_improvement(two_models: Path) -> None:
    comparison = compared(two_models)
    result = comparison["llm_correct"]
    assert (result.verdict, result.p, result.p_holm, result.needed) == ("judges differ", None, None, None)
    assert result.judges_differ == {"model": ("strict", "kind")}
    assert result.difference == 1.0
    (warning,) = comparison.pairs[0].warnings
    assert warning.startswith("llm_correct: which run is better can't be told from these scores, since old and new")
    assert "(model: strict, kind)" in warning
    assert f"`ragmeter evaluate --results {two_models / 'old' / 'rows.parquet'} --run NAME" in warning
    assert "better" not in result.sentence.replace("which run is better can't be told", "")
    assert comparison.pairs[0].sentence == (
        "No verdict between new and old: their llm_correct is from different judges."
    )
    assert comparison.pairs[0].texts[-1] == warning


def test_other_metrics_are_compared_as_if_it_were_not_there(two_models: Path) -> None:
    comparison = compared(two_models)
    alone = compare(["old", "new"], metrics="token_f1", output_dir=two_models)
    assert comparison.tests == NumberOfTests(headline=0, others=1)
    assert comparison["token_f1"] == alone["token_f1"]
    assert comparison["token_f1"].judges_differ == {}
    assert alone.pairs[0].warnings == []
    assert not [part for part in comparison.pairs[0].slices if part.metric == "llm_correct"]


def test_the_same_judge_is_compared(tmp_path: Path) -> None:
    judged(tmp_path, "old", "No")
    judged(tmp_path, "new", "Yes", tries=2)
    comparison = compared(tmp_path)
    assert comparison["llm_correct"].verdict == "better"
    assert comparison.pairs[0].warnings == []


def test_the_same_model_elsewhere_is_compared_with_a_warning(tmp_path: Path) -> None:
    judged(tmp_path, "old", "No")
    judged(tmp_path, "new", "Yes")
    file = tmp_path / "new" / MANIFEST
    file.write_text(file.read_text().replace('"endpoint": ""', '"endpoint": "http://127.0.0.1:8001/v1"'))
    comparison = compared(tmp_path)
    assert comparison["llm_correct"].verdict == "better"
    assert comparison["llm_correct"].judges_differ == {"endpoint": ("", "http://127.0.0.1:8001/v1")}
    (warning,) = comparison.pairs[0].warnings
    assert "behind different endpoints (old: none, new: http://127.0.0.1:8001/v1)" in warning


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"prompt": "words.txt"}, "prompt; wordings: 1 or 2, 1"),
        ({"repeats": 3}, "repeats: 1, 3"),
        ({"wordings": 1}, "wordings: 1 or 2, 1"),
        ({"temperature": 0.5}, "temperature: 0, 0.5"),
    ],
)
def test_what_differs_is_named(
    tmp_path: Path, settings: dict[str, Any], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("{question}\n{reference}\n{answer}\nIs it fine?")
    judged(tmp_path, "old", "No")
    judged(tmp_path, "new", "Yes", **settings)
    assert f"judged differently ({named})" in compared(tmp_path)["llm_correct"].sentence


def test_the_gate_does_not_pass(two_models: Path) -> None:
    verdict = gate("new", no_worse_than={"old": {"llm_correct": 0.01, "token_f1": 0.5}}, output_dir=two_models)
    by_metric = {check.metric: check for check in verdict.checks if check.kind == "no_worse_than"}
    assert not by_metric["llm_correct"].passed
    assert "judged differently (model: strict, kind)" in by_metric["llm_correct"].reason
    assert by_metric["token_f1"].passed


def test_every_page_and_table_says_so(two_models: Path) -> None:
    texts = [two_models / name for name in ("page.html", "page.md", "page.tex")]
    report(["old", "new"], texts[0], markdown=texts[1], latex=texts[2], output_dir=two_models)
    for file in texts:
        assert "were judged differently (model: strict, kind)" in file.read_text(encoding="utf-8")
    comparison = compared(two_models)
    for shown in (repr(comparison), comparison._repr_html_(), json.dumps(comparison.as_dict())):
        assert "were judged differently (model: strict, kind)" in shown
    assert comparison.to_pandas()["verdict"].to_list() == ["judges differ", "not significant"]


def test_a_cascade_has_a_judge_too(tmp_path: Path) -> None:
    metric = "llm_correct[judge=cascade]"
    judged(tmp_path, "old", "No", metric, model="strict")
    judged(tmp_path, "new", "Yes", metric, model="kind")
    assert compared(tmp_path)[metric].judges_differ == {"model": ("strict", "kind")}


def test_every_column_behind_a_metric_counts(tmp_path: Path) -> None:
    """The claims of both runs are of one judge, and what supports them was judged by two."""
    rows = [{**row, "reference_claims": json.dumps([row["reference"]])} for row in ROWS]
    for name, model in (("old", "strict"), ("new", "kind")):
        provider = FakeProvider("Yes", model=model)
        evaluate(rows, metrics="claim_recall", judge=judge(provider), run=name, output_dir=tmp_path)
    assert compared(tmp_path)["claim_recall"].judges_differ == {"model": ("strict", "kind")}


def test_claims_that_are_the_same_may_be_of_anybody(tmp_path: Path) -> None:
    """One judge listed the claims of the references, and the other run was given them."""
    claims = json.dumps(["it is a city"])

    def reply(prompt: str) -> str:
        return "- it is a city" if "List every claim" in prompt else "Supported"

    provider = FakeProvider(reply)
    first = evaluate(ROWS, metrics="claim_recall", judge=judge(provider), run="old", output_dir=tmp_path)
    listed = first.rows["reference_claims"].to_pylist()
    assert listed == [claims] * len(ROWS)
    rows = [{**row, "reference_claims": claims} for row in ROWS]
    evaluate(rows, metrics="claim_recall", judge=judge(FakeProvider("Yes")), run="new", output_dir=tmp_path)
    assert compared(tmp_path)["claim_recall"].judges_differ == {}


def test_verdicts_that_a_table_brought_are_of_another_judge(tmp_path: Path) -> None:
    judged(tmp_path, "old", "No", model="strict")
    brought = [{**row, "verdict": "CORRECT"} for row in ROWS]
    evaluate(brought, metrics="llm_correct", run="new", output_dir=tmp_path)
    assert compared(tmp_path)["llm_correct"].judges_differ == {"model": ("strict", None)}


def test_conversations(tmp_path: Path) -> None:
    turns = [
        {"session_id": row["qid"], "turn_idx": 0, "query": "q", "agent_response": row["answer"], "ground_truth": "x"}
        for row in ROWS
    ]
    for name, model in (("old", "strict"), ("new", "kind")):
        evaluator = CRAGEvaluator(judge=LLMJudge(provider=FakeProvider("Yes", model=model)), journal=None)
        results = evaluator.evaluate_agent_responses(turns)
        evaluator.save_results(*results, output_dir=tmp_path / name)
    result = compared(tmp_path)["accuracy"]
    assert result.judges_differ == {"model": ("strict", "kind")}
    assert "--metrics accuracy" in result.sentence


def test_vectors_of_another_model(tmp_path: Path) -> None:
    """The metric's name has the model; its files may have changed all the same."""
    for name in ("old", "new"):
        evaluate(ROWS, metrics="semantic_similarity[model=wordllama]", run=name, output_dir=tmp_path)
    assert compared(tmp_path).pairs[0].warnings == []
    file = tmp_path / "new" / MANIFEST
    manifest = json.loads(file.read_text())
    manifest["embeddings"][0]["revision"] = "another"
    file.write_text(json.dumps(manifest))
    (result,) = compared(tmp_path).pairs[0].metrics.values()
    assert list(result.judges_differ) == ["revision"]
    assert "--metrics 'semantic_similarity[model=wordllama]'`" in result.sentence
    assert result.verdict == "judges differ"


def test_conversations_that_no_model_has_judged(tmp_path: Path) -> None:
    turns = [{"session_id": row["qid"], "turn_idx": 0, "query": "q", "agent_response": row["answer"],
              "ground_truth": "x"} for row in ROWS]  # fmt: skip
    for name, cascade in (("old", None), ("new", Cascade())):
        evaluator = CRAGEvaluator(cascade=cascade, journal=None)
        results = evaluator.evaluate_agent_responses(turns)
        evaluator.save_results(*results, output_dir=tmp_path / name)
    differ = compared(tmp_path)["accuracy"].judges_differ
    assert differ is not None
    assert list(differ) == ["cascade"]
