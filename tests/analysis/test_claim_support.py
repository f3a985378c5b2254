"""The claims of a run's rows, with what supports each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragmeter import evaluate
from ragmeter.analysis.claim_support import LabelledClaim, claim_columns, claim_sets, explain_claims
from ragmeter.runs.run import Run

ROW: dict[str, Any] = {
    "qid": "1",
    "answer": "It is red [1]. It is old.",
    "contexts": ["It is red.", "It is new."],
    "claims": ["It is red.", ["It", "is", "old"]],
    "support_by_passages": [["Entailment", "Neutral"], ["neutral", "Contradiction"]],
    "support_by_reference": ["supported", "not mentioned"],
    "nuggets": ["It is red.", {"text": "It is big.", "importance": "okay"}],
    "nugget_support": ["support", "partial support"],
    "citation_support": [[[1, "supported"]], []],
    "passage_relevance": ["relevant", "irrelevant"],
}
METRICS = "faithfulness,claim_precision,nugget_recall,citation_precision,llm_context_precision"


def keep(folder: Path, row: dict[str, Any], metrics: str = METRICS) -> Run:
    run = evaluate([row], metrics=metrics, run="a", output_dir=folder).folder
    assert run is not None
    return run


def test_claims_of_every_kind(tmp_path: Path) -> None:
    run = keep(tmp_path, ROW)
    claims, nuggets, citations, passages = claim_sets(run, [0])[0]
    assert claims.title == "claims of the answer"
    assert claims.by == "from the data"
    assert claims.claims == (
        LabelledClaim("It is red.", "supported", "supported", ((1, "supported"),)),
        LabelledClaim("It is old", "contradicted", "not mentioned", ((2, "contradicted"),)),
    )
    assert nuggets.claims == (
        LabelledClaim("It is red.", by_text="support"),
        LabelledClaim("It is big. (okay)", by_text="partial support"),
    )
    assert citations.claims == (LabelledClaim("It is red.", passages=((1, "supported"),)),)
    assert passages.claims == (
        LabelledClaim("1. It is red.", by_text="relevant"),
        LabelledClaim("2. It is new.", by_text="irrelevant"),
    )
    shown = {"claims", "support_by_passages", "nuggets", "citation_support", "passage_relevance"}
    assert shown <= set(claim_columns(run))
    assert explain_claims(run, "1") == [[claims, nuggets, citations, passages]]


def test_words_that_no_passage_supports_are_those_of_offline_claims(tmp_path: Path) -> None:
    row = {name: ROW[name] for name in ("qid", "answer", "contexts")} | {"answer": "It is red. Bananas grow."}
    run = keep(tmp_path, row, "faithfulness[judge=offline]")
    [[[claims]]] = [claim_sets(run, [0], unsupported_words=lambda claim, passages: [(0, 7)])]
    assert [claim.unsupported for claim in claims.claims] == [(), ((0, 7),)]
    assert claims.by == "offline"


def test_claims_that_the_run_does_not_keep_are_made_where_they_are_shown(tmp_path: Path) -> None:
    rows = [
        {"qid": "1", "answer": "It is red. Bananas grow.", "contexts": ["It is red.", "It is new."]},
        {"qid": "2", "answer": "I don't know.", "contexts": ["It is red."]},
        {"qid": "3", "answer": "It is red.", "contexts": []},
    ]
    run = evaluate(rows, metrics="offline_hallucination", run="a", output_dir=tmp_path).folder
    assert run is not None
    [[claims]] = explain_claims(run, "1")
    assert [(claim.text, claim.by_passages) for claim in claims.claims] == [
        ("It is red.", "supported"),
        ("Bananas grow.", "not mentioned"),
    ]
    assert claims.claims[1].unsupported == ((0, 7), (8, 12))
    assert explain_claims(run, "2") == explain_claims(run, "3") == [[]]
    assert claim_sets(run, [0, 1, 2], most_made=0) == [[], [], []]


def test_a_run_without_claims(tmp_path: Path) -> None:
    run = keep(tmp_path, {"qid": "1", "answer": "a", "reference": "a"}, "token_f1")
    assert claim_columns(run) == []
    assert claim_sets(run, [0]) == [[]]


def test_cells_that_somebody_has_changed_show_nothing(tmp_path: Path) -> None:
    row = {"qid": "1", "answer": "a b", "reference": "a", "contexts": ["c"]}
    for cell in ("{", "7", "null", '[["x"]]', "[" * 100_000):
        changed = {**row, "claims": cell, "support_by_passages": cell, "citation_support": cell, "nuggets": cell}
        run = keep(tmp_path, {**changed, "nugget_support": cell}, "token_f1")
        assert all(len(claim_set.claims) <= 1 for claim_set in claim_sets(run, [0])[0])
