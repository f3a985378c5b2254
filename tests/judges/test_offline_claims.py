"""Claims and their support without a model: `judge=offline`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Evaluation, FakeProvider, add_metrics, evaluate, registry
from ragmeter.errors import ColumnError, UsageError
from tests.conftest import Run
from tests.judge_rows import judge
from tests.judges.test_claims import ALL, by_rule

ROW: dict[str, Any] = {
    "qid": "1",
    "question": "What is the capital of France?",
    "reference": "Paris is the capital of France. The Seine flows through Paris.",
    "answer": "Paris is the capital of France [1]. Bananas grow on tall tropical plants [2].",
    "contexts": ["Paris is the capital of France.", "Lyon has many fine restaurants."],
}


def offline(rows: list[dict[str, Any]], *metrics: str, **settings: Any) -> Evaluation:
    return evaluate(rows, metrics=[f"{name}[judge=offline]" for name in metrics], **settings)


def cell(result: Evaluation, column: str, row: int = 0) -> Any:
    return json.loads(result.rows[f"{column}[judge=offline]"][row].as_py())


def outcomes(result: Evaluation, metric: str) -> list[str]:
    return [str(outcome) for outcome in result.rows[f"{metric}[judge=offline].outcome"].to_pylist()]


def test_every_metric_of_claims_by_hand() -> None:
    result = offline([ROW], *ALL)
    assert {name: result[f"{name}[judge=offline]"].mean for name in ALL} == {
        "claim_precision": 0.5, "claim_recall": 0.5, "claim_f1": 0.5, "context_claim_recall": 0.5,
        "context_claim_precision": 0.5, "context_utilization": 1.0, "faithfulness": 0.5, "hallucination": 0.5,
        "self_knowledge": 0.0, "noise_sensitivity_in_relevant": 0.0, "noise_sensitivity_in_irrelevant": 0.0,
    }  # fmt: skip
    assert cell(result, "claims") == ["Paris is the capital of France.", "Bananas grow on tall tropical plants."]
    assert cell(result, "support_by_passages") == [["supported", "not mentioned"], ["not mentioned", "not mentioned"]]
    assert cell(result, "support_by_reference") == ["supported", "not mentioned"]


def test_citations() -> None:
    result = offline([ROW], "citation_precision", "citation_recall")
    assert result["citation_precision[judge=offline]"].mean == 0.5
    assert result["citation_recall[judge=offline]"].mean == 0.5
    assert cell(result, "citation_support") == [[[1, "supported"]], [[2, "not mentioned"]]]
    made_up = offline([{**ROW, "answer": "Paris is the capital of France [7]."}], "citation_precision")
    assert cell(made_up, "citation_support") == [[[7, "no such passage"]]]


def test_nuggets_of_the_data() -> None:
    row = {**ROW, "nuggets": ["Paris is the capital of France.", {"text": "Cheese is eaten.", "importance": "okay"}]}
    result = evaluate([row], metrics=["nugget_recall[judge=offline]", "nugget_recall[count=all,judge=offline]"])
    assert result["nugget_recall[judge=offline]"].mean == 1.0
    assert result["nugget_recall[count=all,judge=offline]"].mean == 0.5
    assert cell(result, "nugget_support") == ["support", "no support"]
    with pytest.raises(UsageError, match="needs a judge") as refused:
        offline([ROW], "nugget_recall")
    assert "a table with a column nuggets needs none" in str(refused.value.hint)


def test_rows_that_can_not_be_scored_say_why() -> None:
    rows = [
        ROW,
        {**ROW, "qid": "2", "answer": "I don't know."},
        {**ROW, "qid": "3", "contexts": []},
        {**ROW, "qid": "4", "contexts": None},
        {**ROW, "qid": "5", "contexts": ["", "  "]},
        {**ROW, "qid": "6", "answer": "Is it Paris?"},
    ]
    result = offline(rows, "faithfulness", "claim_recall", "citation_precision")
    empty = ["no_contexts"] * 3
    assert outcomes(result, "faithfulness") == ["scored", "abstained", *empty, "no_claims"]
    assert outcomes(result, "claim_recall") == ["scored", "abstained", "scored", "scored", "scored", "scored"]
    assert outcomes(result, "citation_precision") == ["scored", "abstained", *empty, "no_citations"]


@pytest.mark.parametrize(
    "contexts",
    [
        "Paris is the capital of France.",
        {"content": "Paris is the capital of France."},
        [{"text": "Paris is the capital of France.", "score": 1}],
        [{"page_content": "Paris is the capital of France."}],
        [None, "Paris is the capital of France."],
    ],
)
def test_passages_in_other_forms(contexts: Any) -> None:
    assert offline([{**ROW, "contexts": contexts}], "faithfulness")["faithfulness[judge=offline]"].mean == 0.5


def test_a_passage_without_text_is_none_that_could_support_anything() -> None:
    rows = [{**ROW, "contexts": [None, "Paris is the capital of France.", "", "Lyon has many fine restaurants."]}]
    result = offline(rows, "faithfulness", "context_claim_precision")
    assert cell(result, "support_by_passages")[0] == ["no text", "supported", "no text", "not mentioned"]
    assert result["faithfulness[judge=offline]"].mean == 0.5
    assert result["context_claim_precision[judge=offline]"].mean == 0.5


def test_many_passages_and_a_long_one() -> None:
    filler = "Sheep eat grass on green hills. " * 32_000
    contexts = [f"{filler}Paris is the capital of France.", *(f"Page {number} is blank." for number in range(499))]
    result = offline([{**ROW, "contexts": contexts}], "faithfulness")
    assert result["faithfulness[judge=offline]"].mean == 0.5
    first, second = cell(result, "support_by_passages")
    assert first == ["supported", *["not mentioned"] * 499]
    assert second == ["not mentioned"] * 500


def test_beside_a_judge_in_one_run(tmp_path: Path) -> None:
    asked = judge(FakeProvider(by_rule))
    both = ["faithfulness", "faithfulness[judge=offline]"]
    result = evaluate([ROW], metrics=both, judge=asked, output_dir=tmp_path, run="both")
    assert list(result) == both
    assert {"claims", "claims[judge=offline]", "support_by_passages"} <= set(result.rows.column_names)
    assert list(result.manifest.judged_columns) == ["claims", "support_by_passages"]
    assert list(result.manifest.offline) == ["claims[judge=offline]", "support_by_passages[judge=offline]"]
    more = add_metrics("both", "claim_f1[judge=offline]", output_dir=tmp_path)
    assert more["claim_f1[judge=offline]"].mean == 0.5
    assert "reference_claims[judge=offline]" in more.manifest.offline
    assert more.run.other_columns == []


def test_in_worker_processes(tmp_path: Path) -> None:
    both = ["faithfulness", "faithfulness[judge=offline]"]
    asked = judge(FakeProvider(by_rule))
    row = {**ROW, "answer": "Paris is the capital of France. Bananas grow on tall plants."}
    result = evaluate([row], metrics=both, judge=asked, output_dir=tmp_path, engine="local:2")
    assert [result[name].mean for name in both] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("answer_relevance", "offline_correct"),
        ("llm_context_precision", "context_claim_precision"),
        ("criteria", "@metric"),
        ("preference", "compare"),
    ],
)
def test_what_only_a_model_can_judge_says_what_to_use(name: str, instead: str) -> None:
    with pytest.raises(UsageError, match=f"only a language model can judge {name}") as refused:
        registry.get(f"{name}[judge=offline]")
    assert instead in str(refused.value.hint)


def test_a_missing_judge_names_the_offline_metric() -> None:
    with pytest.raises(UsageError) as refused:
        evaluate([ROW], metrics="faithfulness")
    assert "faithfulness[judge=offline] needs none" in str(refused.value.hint)


def test_a_missing_column_is_named() -> None:
    row = {name: value for name, value in ROW.items() if name != "contexts"}
    with pytest.raises(ColumnError, match=r"faithfulness\[judge=offline\] needs the column 'contexts'"):
        offline([row], "faithfulness")


def test_the_command(ragmeter: Run, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(ROW), encoding="utf-8")
    done = ragmeter("evaluate", "--results", file, "--metrics", "faithfulness", "--judge", "offline", "--json")
    assert json.loads(done.stdout)["metrics"]["faithfulness[judge=offline]"]["mean"] == 0.5
    done = ragmeter("evaluate", "--results", file, "--metrics", "faithfulness", "--judge", "offline",
                    "--judge-model", "gpt-4o")  # fmt: skip
    assert done.returncode == 2
    assert "--judge-model has no effect with --judge offline" in done.stderr
