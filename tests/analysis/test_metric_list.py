"""`list_metrics()`."""

from __future__ import annotations

import json

import pytest

from ragmeter import evaluate, list_metrics
from ragmeter.analysis.metric_list import MetricInfo, MetricList
from ragmeter.cli.main import main
from ragmeter.registry import known


def test_all_of_them() -> None:
    metrics = list_metrics()
    assert metrics.names == [metric.name for metric in known()]
    assert len(metrics) == len(list(metrics)) > 20
    assert all(metric.summary and metric.needs for metric in metrics)
    assert metrics[0] in metrics
    names: list[object] = ["token_f1", "no_such_metric"]
    assert [name in metrics for name in names] == [True, False]
    assert isinstance(metrics[:2], MetricList)
    assert len(metrics[:2]) == 2


@pytest.mark.parametrize(
    ("metrics", "inside", "outside"),
    [
        (list_metrics("ROUGE"), "rouge_l_score", "token_f1"),
        (list_metrics("levenshtein"), "edit_distance", "token_f1"),
        (list_metrics(needs="retrieved"), "ndcg", "token_f1"),
        (list_metrics(needs=["reference", "question"]), "offline_correct", "token_f1"),
        (list_metrics(columns=["reference", "answer"]), "token_f1", "ndcg"),
        (list_metrics("recall", columns=["reference", "answer"]), "token_recall", "context_recall"),
    ],
)
def test_some_of_them(metrics: MetricList, inside: str, outside: str) -> None:
    assert inside in metrics.names
    assert outside not in metrics.names
    assert len(metrics) < len(list_metrics())


def test_what_can_be_computed_can_be_computed() -> None:
    built_in = {metric.name for metric in known() if metric.source.startswith("ragmeter.")} - {"semantic_similarity"}
    names = [name for name in list_metrics(columns=["reference", "answer"]).names if name in built_in]
    assert len(names) > 10
    assert list(evaluate([{"answer": "a", "reference": "a b"}], metrics=names)) == names


def test_one_of_them() -> None:
    (ndcg,) = (metric for metric in list_metrics() if metric.name == "ndcg")
    assert isinstance(ndcg, MetricInfo)
    assert (ndcg.title, ndcg.direction, ndcg.range, ndcg.binary) == ("ndcg[@k]", "higher", (0.0, 1.0), False)
    assert ndcg.needs == ("relevant", "retrieved")
    assert list(ndcg.settings) == ["k", "doc_id", "gains"]


def test_in_a_terminal_and_in_a_notebook() -> None:
    metrics = list_metrics("edit distance")
    lines = repr(metrics).splitlines()
    assert lines[0].startswith("normalized_distance ↓ Edit distance as a share")
    assert lines[-1] == "<1 metrics; ↑ higher is better, ↓ lower is better>"
    assert "normalized_distance" in metrics._repr_html_()
    assert repr(list_metrics("nothing is like this")).startswith("<0 metrics")
    frame = list_metrics("ndcg").to_pandas()
    assert frame.loc[0, ["name", "low", "high"]].tolist() == ["ndcg", 0.0, 1.0]
    assert frame.loc[0, "needs"] == ["relevant", "retrieved"]
    assert list_metrics("nothing is like this").to_polars().columns == list(frame.columns)


def test_the_command_lists_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [metric["name"] for metric in document] == list_metrics().names
    assert document[0] == json.loads(json.dumps(list_metrics()[0].as_dict()))
