"""`results.json`: the keys of the tool that it comes from, each mean with its n, the embedding model beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import add_metrics, ask
from ragmeter.engine.ask import AskedEvaluation

KEYS = ["semantic_similarity", "response_coverage_rate", "satisfaction_score"]
METRICS = ["semantic_similarity[model=wordllama]", "response_coverage_rate", "satisfaction_score[model=wordllama]"]
QUESTIONS = [{"question": f"Where is concert {i}?", "ground_truth": f"At mill {i}."} for i in range(1, 5)]


def half_of_the_calls_fail(question: str) -> dict[str, Any]:
    number = question[-2]
    if number in "24":
        return {}  # no answer: such a call fails at once
    return {"answer": f"At mill {number}.", "events": [{"id": "e"}], "latency_ms": 0}


def without_events(question: str) -> dict[str, Any]:
    return {"answer": f"At mill {question[-2]}.", "latency_ms": 0}


def asked(target: Any, folder: Path, metrics: list[str]) -> tuple[AskedEvaluation, dict[str, Any]]:
    keywords: dict[str, Any] = {"run": "r", "output_dir": folder, "output": folder / "results.json"}
    service = ask(QUESTIONS, target, metrics=metrics, allow_failures=True, **keywords)
    document: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return service, document


def test_two_of_four_calls_fail(tmp_path: Path) -> None:
    service, document = asked(half_of_the_calls_fail, tmp_path, METRICS)
    assert document["total_questions"] == 4
    assert document["metrics"] == {
        "semantic_similarity": 1.0,
        "response_coverage_rate": 0.5,
        "satisfaction_score": pytest.approx(1.0),
    }
    assert document["n_scored"] == {"semantic_similarity": 2, "response_coverage_rate": 4, "satisfaction_score": 2}
    unscored = {"target_error": 2}
    assert document["n_not_scored"] == {
        "semantic_similarity": unscored,
        "response_coverage_rate": {},
        "satisfaction_score": unscored,
    }
    failed = document["results"][1]
    assert (failed["similarity"], failed["satisfaction"]) == (None, None)
    assert failed["scores"] == {"semantic_similarity": None, "response_coverage_rate": 0.0, "satisfaction_score": None}
    assert failed["not_scored"] == {"semantic_similarity": "target_error", "satisfaction_score": "target_error"}
    assert document["results"][0]["not_scored"] == {}
    coverage = service["response_coverage_rate"]
    assert (coverage.mean, coverage.n_scored, coverage.n_not_scored) == (0.5, 4, {})


def test_the_keys_are_the_same_with_every_model(tmp_path: Path) -> None:
    _, document = asked(half_of_the_calls_fail, tmp_path, METRICS)
    assert list(document["metrics"]) == KEYS
    assert list(document["n_scored"]) == KEYS
    assert list(document["results"][0]["scores"]) == KEYS
    assert document["metric_names"] == dict(zip(KEYS, METRICS, strict=True))
    assert (document["embedding_model"], document["embedding_prefix"]) == ("wordllama", "")


def test_two_models_and_none(tmp_path: Path) -> None:
    two = ["semantic_similarity[model=wordllama]", "semantic_similarity[model=wordllama,prefix=passage]", "token_f1"]
    _, document = asked(half_of_the_calls_fail, tmp_path, two)
    assert list(document["metrics"]) == ["semantic_similarity", two[1], "token_f1"]
    assert document["results"][0]["similarity"] == document["results"][0]["scores"]["semantic_similarity"]
    assert document["embedding_model"] == "wordllama"
    assert document["embedding_prefix"] == ["", "passage: "]
    _, document = asked(half_of_the_calls_fail, tmp_path, ["token_f1"])
    assert (document["embedding_model"], document["embedding_prefix"]) == (None, None)


def test_the_model_is_named_where_every_call_fails(tmp_path: Path) -> None:
    _, document = asked(lambda question: {}, tmp_path, METRICS)
    assert document["embedding_model"] == "wordllama"
    assert document["metrics"] == {
        "semantic_similarity": None,
        "response_coverage_rate": 0.0,
        "satisfaction_score": None,
    }
    assert document["n_scored"] == {"semantic_similarity": 0, "response_coverage_rate": 4, "satisfaction_score": 0}


def test_answers_without_events_have_none(tmp_path: Path) -> None:
    service, document = asked(without_events, tmp_path, METRICS)
    assert document["metrics"]["response_coverage_rate"] == 0.0
    assert document["metrics"]["satisfaction_score"] == pytest.approx(0.7)  # without the 0.3 of what was found
    assert document["n_scored"] == dict.fromkeys(KEYS, 4)
    assert not service.replies.says_what_was_retrieved()


def test_metrics_that_are_added_know_which_rows_failed(tmp_path: Path) -> None:
    asked(half_of_the_calls_fail, tmp_path, ["response_coverage_rate", "token_f1"])
    later = add_metrics("r", "exact_match", output_dir=tmp_path)
    assert later["exact_match"].n_not_scored == {"target_error": 2}
    asked(half_of_the_calls_fail, tmp_path, ["exact_match", "response_coverage_rate"])
    added = add_metrics("r", 'response_coverage_rate[fallback="at mill 3"]', output_dir=tmp_path)
    summary = added['response_coverage_rate[fallback="at mill 3"]']
    assert (summary.mean, summary.n_scored) == (0.25, 4)
