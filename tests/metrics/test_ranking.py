"""Worked cases by hand, and trec_eval as the oracle."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import pytrec_eval

from ragmeter import get_metric
from ragmeter.errors import UsageError
from ragmeter.metrics import chunks

A, B = "<urn:uuid:27c682dc-c97b-4c3e-b41c-999c65264a6d>", "<urn:uuid:417fbc69-80f9-4b53-8b5c-1c9cdd2bb0e9>"


def dcg(*ranks: int) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


CASES = [
    # name, gold, retrieved, expected
    ("context_recall", ["a", "b"], ["x", "a"], 1 / 2),
    ("context_precision", ["a", "b"], ["x", "a"], 1 / 2),
    ("context_f1", ["a", "b", "c"], ["x", "a"], 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
    ("context_f1", ["a"], ["x"], 0),
    ("recall@1", ["a", "b"], ["x", "a"], 0),
    ("recall@2", ["a", "b"], ["x", "a"], 1 / 2),
    ("precision@5", ["a", "b"], ["a", "b"], 2 / 5),  # the divisor is k
    ("hit@1", ["a"], ["x", "a"], 0),
    ("hit@2", ["a"], ["x", "a"], 1),
    ("hit", ["a"], ["x"] * 50 + ["a"], 1),
    ("mrr", ["a", "b"], ["x", "b", "a"], 1 / 2),
    ("mrr@1", ["a", "b"], ["x", "b", "a"], 0),
    ("map", ["a", "b", "c"], ["a", "x", "b"], (1 / 1 + 2 / 3) / 3),
    ("map@2", ["a", "b", "c"], ["a", "x", "b"], (1 / 1) / 3),
    ("ndcg@10", ["a", "b"], ["x", "a", "y", "b"], dcg(2, 4) / dcg(1, 2)),
    ("ndcg@3", ["a", "b"], ["x", "a", "y", "b"], dcg(2) / dcg(1, 2)),
    ("ndcg@2", ["a", "b", "c"], ["a", "b"], 1),  # the ideal is cut at k as well
    ("ndcg@10", ["a", "b", "c"], ["a"], dcg(1) / dcg(1, 2, 3)),  # the ideal is over all gold documents
    # several chunks of a document count once, at their first rank
    ("ndcg@10", [A], [f"doc-{B}::chunk-0", f"doc-{A}::chunk-1", f"doc-{A}::chunk-0"], dcg(2)),
    ("mrr", [A], [f"doc-{B}::chunk-0", f"doc-{B}::chunk-1", f"doc-{A}::chunk-0"], 1 / 2),
    ("context_precision", [A], [f"doc-{A}::chunk-0", f"doc-{A}::chunk-7"], 1),
    ("retrieved_docs_count", [A], [f"doc-{B}::chunk-0", f"doc-{A}::chunk-1", f"doc-{A}::chunk-0"], 2),
    ("gold_docs_count", [A, B, A], ["x"], 2),
    ("correct_docs_count", [A, B], [f"doc-{B}::chunk-0", A, "x"], 2),
    ("mrr", ["doc-7", "a\nb"], ["x::chunk-0", "doc-7::chunk-1"], 1 / 2),
    ("context_recall", ["doc-7", "a\nb"], ["a\nb::chunk-0", "doc-7::chunk-1"], 1),
    # nothing retrieved
    ("context_recall", ["a"], [], 0),
    ("context_precision", ["a"], [], 0),
    ("context_f1", ["a"], [], 0),
    ("ndcg@10", ["a"], [], 0),
    ("mrr", ["a"], [], 0),
    ("map", ["a"], [], 0),
    ("hit@5", ["a"], [], 0),
    ("retrieved_docs_count", ["a"], [], 0),
]


@pytest.mark.parametrize(("name", "gold", "retrieved", "expected"), CASES)
def test_worked_case(name: str, gold: list[str], retrieved: list[str], expected: float) -> None:
    assert get_metric(name)([gold], [retrieved])[0] == pytest.approx(expected, abs=1e-12)


def test_all_cases_at_once_give_the_same_scores() -> None:
    gold = [case[1] for case in CASES]
    retrieved = [case[2] for case in CASES]
    for name in {case[0] for case in CASES}:
        alone = [get_metric(name)([g], [r])[0] for g, r in zip(gold, retrieved, strict=True)]
        np.testing.assert_array_equal(get_metric(name)(gold, retrieved), alone)


def test_without_gold_documents_there_is_no_score() -> None:
    for name in ("context_recall", "ndcg@10", "map", "gold_docs_count"):
        np.testing.assert_array_equal(get_metric(name)([[], ["a"]], [["a"], ["a"]]), [np.nan, 1.0])


def test_a_pattern_finds_the_document_in_the_chunk() -> None:
    gold, retrieved = [["report.pdf"]], [["x.pdf#1", "report.pdf#7", "report.pdf#2"]]
    assert get_metric("mrr")(gold, retrieved)[0] == 0
    metric = get_metric("mrr").with_settings(doc_id=r"^(.+)#\d+$")
    assert metric(gold, retrieved)[0] == 1 / 2
    assert get_metric(metric.name) == metric
    assert get_metric("mrr").with_settings(doc_id=r"\w+\.pdf")(gold, retrieved)[0] == 1 / 2
    with pytest.raises(UsageError, match="not a regular expression"):
        get_metric("mrr").with_settings(doc_id="(")


def test_a_pattern_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two repetitions of the same letters: each further letter doubles the time, 60 would take for ever."""
    monkeypatch.setattr(chunks, "_PATTERN_LIMIT", 0.05)
    metric = get_metric("mrr").with_settings(doc_id=r"^(a|aa)+$")
    assert metric([["aaa"]], [["aa"]])[0] == 1
    with pytest.raises(UsageError, match=r"the pattern '\^\(a\|aa\)\+\$' takes more than 0.05 seconds") as error:
        metric([["x", "a" * 60 + "b"]], [["x"]])
    assert f"{'a' * 60}b" in error.value.message


def test_a_long_id_is_shortened_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_PATTERN_LIMIT", 0.05)
    with pytest.raises(UsageError) as error:
        get_metric("mrr").with_settings(doc_id=r"^(a|aa)+$")([["a" * 100_000 + "b"]], [["x"]])
    assert len(str(error.value)) < 500


def test_equal_to_trec_eval() -> None:
    """With distinct documents and scores that follow the given order, trec_eval has the same definitions."""
    random.seed(7)
    documents = [f"d{n}" for n in range(60)]
    gold = [random.sample(documents, random.randint(1, 12)) for _ in range(400)]
    retrieved = [random.sample(documents, random.randint(1, 30)) for _ in range(400)]
    measures = {
        "ndcg@10": "ndcg_cut_10", "ndcg": "ndcg", "recall@5": "recall_5", "recall@10": "recall_10",
        "precision@5": "P_5", "hit@5": "success_5", "mrr": "recip_rank", "map": "map", "map@10": "map_cut_10",
    }  # fmt: skip
    evaluator = pytrec_eval.RelevanceEvaluator(
        {str(i): dict.fromkeys(documents, 1) for i, documents in enumerate(gold)},
        {"ndcg", "ndcg_cut.10", "recall.5,10", "P.5", "success.5", "recip_rank", "map", "map_cut.10"},
    )
    theirs = evaluator.evaluate(
        {str(i): {doc: float(-rank) for rank, doc in enumerate(documents)} for i, documents in enumerate(retrieved)}
    )
    for ours, name in measures.items():
        expected = [theirs[str(i)][name] for i in range(len(gold))]
        np.testing.assert_allclose(get_metric(ours)(gold, retrieved), expected, rtol=0, atol=1e-9, err_msg=ours)
