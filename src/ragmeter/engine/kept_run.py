"""Scores into a run: the rows' file, the summary, and the manifest, which is the run's signature."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ragmeter
from ragmeter.definition import Metric
from ragmeter.effects.collector import rare_collections
from ragmeter.effects.signals import held_back
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.executors import Executor, in_order
from ragmeter.engine.judging.offline import described as offline_described
from ragmeter.engine.results import Evaluation
from ragmeter.engine.scoring import score_batches
from ragmeter.io.locations import Location
from ragmeter.runs.layout import ROWS
from ragmeter.runs.replacing import refuse_failed
from ragmeter.runs.stored import new_run
from ragmeter.runs.writer import RowsWriter
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.summary import MetricSummary
from ragmeter.table import Batch

Details = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


def keep_run(
    path: Location,
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    *,
    manifest: Details,
    summary: Details,
    confidence: Confidence = Confidence(),  # noqa: B008 - it can't be changed
    executor: Executor | None = None,
    judging: Mapping[str, Any] | None = None,
    numbers: Sequence[str] = (),
    complete: Callable[[Evaluation], None] = lambda evaluation: None,
) -> Evaluation:
    """Score batches into a run folder. What else goes into its documents may be known only when all is read.

    `judging` is what a judge's calls took; `numbers` are columns that the summary describes as it does latency.
    `complete` is called when the run is in its place; no Ctrl-C comes between.
    """
    with new_run(path) as new:
        with Embedders() as embedders:
            scored = score_into(batches, metrics, new.folder / ROWS, confidence, embedders, executor, numbers)
        check_scores(path, scored)
        more = [dict(details() if callable(details) else details) for details in (manifest, summary)]
        more[0]["statistics"] = scored["statistics"]
        if used := embedders.used():
            more[0]["embeddings"] = used
        documents = signature(metrics, path.name, more[0]), {"run": path.name, **scored, **more[1]}
        with held_back():
            evaluation = Evaluation(new.finish(*documents), used, judging)
            complete(evaluation)
        return evaluation


def check_scores(path: Location, results: Mapping[str, Any]) -> None:
    """Refuse to replace a run that has scores by one in which no metric has any."""
    causes: Counter[str] = Counter()
    for summary in results["metrics"].values():
        if summary["n_scored"] or not summary["n_total"]:
            return
        causes.update(summary["n_not_scored"])
    most = "".join(f", mostly {cause}" for cause, _ in causes.most_common(1))
    refuse_failed(path, f"no row has a score{most}")


def score_into(
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    path: Path,
    confidence: Confidence,
    embedders: Embedders,
    executor: Executor | None,
    numbers: Sequence[str] = (),
) -> dict[str, Any]:
    """Write each batch while the next ones are read and scored."""
    with RowsWriter(path, metrics) as writer, rare_collections(), ThreadPoolExecutor(1) as pool:
        scored = score_batches(batches, metrics, embedders=embedders, executor=executor)
        for _ in in_order(lambda batch: pool.submit(writer.write, batch), scored, 1):
            pass
    how, summaries = writer.summaries(confidence)
    cautions = {**writer.cautions(), **writer.document_ids(summaries)}
    return results_of(how, summaries, writer.numbers(numbers), writer.left_out, writer.abstentions(), cautions)


def results_of(
    how: Confidence,
    summaries: Mapping[str, MetricSummary],
    numbers: Mapping[str, Mapping[str, float]],
    left_out: Mapping[str, int],
    abstained: Mapping[str, int],
    cautions: Mapping[str, Any],
) -> dict[str, Any]:
    """The scores' part of a summary."""
    return {
        "ragmeter": ragmeter.__version__,
        "n_rows": next(iter(summaries.values())).n_total,
        "statistics": how.as_dict(),
        "metrics": {name: summary.as_dict() for name, summary in summaries.items()},
        "numbers": dict(numbers),
        **({"abstained": dict(abstained)} if abstained else {}),
        "columns_left_out": dict(left_out),
        **cautions,
    }


def described(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    return [
        {"name": metric.name, "settings": metric.settings, "direction": metric.direction, "source": metric.source}
        for metric in metrics
    ]


def signature(metrics: Sequence[Metric], run: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """The signature: with this and the same inputs, anyone gets the same numbers."""
    import numpy as np
    import pyarrow as pa
    import rapidfuzz
    import regex
    import Stemmer

    return {
        "run": run,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ragmeter": ragmeter.__version__,
        "metrics": described(metrics),
        **({"offline": offline} if (offline := offline_described(metrics)) else {}),
        **more,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
            "rapidfuzz": rapidfuzz.__version__,
            "regex": regex.__version__,
            "snowball": Stemmer.version(),
        },
    }
