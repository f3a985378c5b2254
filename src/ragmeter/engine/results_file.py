"""`results.json`: every question of a run with its answer and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ragmeter.engine.results import Evaluation
from ragmeter.io.write import dumps, replacing
from ragmeter.table import PARTIAL_ANSWER, SCORED, Row, outcome_column

_OF_MEANING = ("semantic_similarity", "satisfaction_score")  # the metrics that embed


def write_results(path: Path, evaluation: Evaluation) -> None:
    """`results.json`: how many questions, each metric's mean with its n, and every question with its answer and scores.

    A metric's key is its name without settings, so that it stays the same with another embedding model; of several with
    the same one, the first has it. `metric_names` has the names in full.
    """
    rows = evaluation.rows.to_pylist()
    names: dict[str, str] = {}
    for name in evaluation.metrics:
        short = name.partition("[")[0]
        names[name if short in names else short] = name
    summaries = {key: evaluation.metrics[name] for key, name in names.items()}
    document = {
        "total_questions": len(rows),
        "metrics": {key: summary.mean for key, summary in summaries.items()},
        "n_scored": {key: summary.n_scored for key, summary in summaries.items()},
        "n_not_scored": {key: summary.n_not_scored for key, summary in summaries.items()},
        "metric_names": names,
        **_embedding(evaluation, names),
        "results": [_result(row, names) for row in rows],
        "summary": evaluation.summary,
    }
    with replacing(path, private=True) as (temporary,):
        temporary.write_text(dumps(document, indent=2) + "\n", encoding="utf-8")


def _embedding(evaluation: Evaluation, names: Mapping[str, str]) -> dict[str, object]:
    """The embedding model, and what stood in front of the texts; lists where metrics have different ones."""
    described = evaluation.manifest.metrics if evaluation.folder else []
    settings = {metric.name: metric.settings for metric in described}
    models = [settings[name]["model"] for key, name in names.items() if key.partition("[")[0] in _OF_MEANING]
    prefixes = [model.prefix for model in evaluation.embeddings]
    values = {"embedding_model": list(dict.fromkeys(models)), "embedding_prefix": list(dict.fromkeys(prefixes))}
    return {key: several if len(several) > 1 else next(iter(several), None) for key, several in values.items()}


def _result(row: Row, names: Mapping[str, str]) -> dict[str, object]:
    """A row as it is written into the document."""
    references = row.get("reference") or []
    outcomes = {key: row.get(outcome_column(name)) for key, name in names.items()}
    return {
        "question": row.get("question"),
        "ground_truth": references[0] if len(references) == 1 else references or None,
        "generated_answer": row.get("answer"),
        "similarity": _finite(row, names.get("semantic_similarity")),
        "satisfaction": _finite(row, names.get("satisfaction_score")),
        "qid": row.get("qid"),
        "retrieved": row.get("retrieved"),
        "latency_ms": row.get("latency_ms"),
        "error": row.get("error"),
        **({PARTIAL_ANSWER: row[PARTIAL_ANSWER]} if row.get(PARTIAL_ANSWER) else {}),
        "scores": {key: _finite(row, name) for key, name in names.items()},
        "not_scored": {key: outcome for key, outcome in outcomes.items() if outcome != SCORED},
    }


def _finite(row: Row, column: str | None) -> float | None:
    value = row.get(column) if column else None
    return None if value is None or value != value else float(value)
