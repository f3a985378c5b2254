"""Scores into a run: the rows' file, the summary, and the manifest, which is the run's signature."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

import ragmeter
from ragmeter.definition import Metric
from ragmeter.documents.manifest import EmbeddingUse, Manifest, MetricEntry
from ragmeter.documents.metrics import Statistics
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Calls
from ragmeter.effects.process.collector import rare_collections
from ragmeter.effects.process.signals import held_back
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.causes import correctness_of
from ragmeter.engine.executors import Executor, in_order
from ragmeter.engine.judging.offline import described as offline_described
from ragmeter.engine.results import Evaluation
from ragmeter.engine.scoring import score_batches
from ragmeter.io.locations import Location
from ragmeter.runs.layout import ROWS
from ragmeter.runs.paid_replies import refuse_failed
from ragmeter.runs.stored_run import new_run
from ragmeter.runs.writer import RowsWriter
from ragmeter.stats.confidence import Confidence
from ragmeter.table import Batch


def keep_run(
    path: Location,
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    *,
    manifest: Callable[[Manifest], Manifest],
    summary: Callable[[Summary], Summary],
    confidence: Confidence = Confidence(),  # noqa: B008 - it can't be changed
    executor: Executor | None = None,
    judging: Calls | None = None,
    numbers: Sequence[str] = (),
    complete: Callable[[Evaluation], None] = lambda evaluation: None,
) -> Evaluation:
    """Score batches into a run folder. When all is read, `manifest` and `summary` add what else is known of the run.

    `judging` is what a judge's calls took; `numbers` are columns that the summary describes as it does latency.
    `complete` is called when the run is in its place; no Ctrl-C comes between.
    """
    with new_run(path) as new:
        with Embedders() as embedders:
            scored = score_into(batches, metrics, new.folder / ROWS, confidence, embedders, executor, numbers)
        check_scores(path, scored)
        used = embedders.used()
        signed = manifest(signature(metrics, path.name, scored.statistics, used))
        results = summary(structs.replace(scored, run=path.name))
        with held_back():
            evaluation = Evaluation(new.finish(signed, results), used, judging)
            complete(evaluation)
        return evaluation


def check_scores(path: Location, results: Summary) -> None:
    """Refuse to replace a run that has scores by one in which no metric has any."""
    causes: Counter[str] = Counter()
    for summary in results.metrics.values():
        if summary.n_scored or not summary.n_total:
            return
        causes.update(summary.n_not_scored)
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
) -> Summary:
    """Write each batch while the next ones are read and scored."""
    with RowsWriter(path, metrics) as writer, rare_collections(), ThreadPoolExecutor(1) as pool:
        correctness = correctness_of(metrics)
        scored = score_batches(batches, metrics, embedders=embedders, executor=executor, correctness=correctness)
        for _ in in_order(lambda batch: pool.submit(writer.write, batch), scored, 1):
            pass
    return writer.summary(confidence, numbers=numbers)


def described(metrics: Sequence[Metric]) -> list[MetricEntry]:
    """What a manifest says of metrics."""
    return [MetricEntry(metric.name, metric.settings, metric.direction, metric.source) for metric in metrics]


def signature(
    metrics: Sequence[Metric], run: str, statistics: Statistics | None, embeddings: Sequence[EmbeddingUse] = ()
) -> Manifest:
    """The signature: with this and the same inputs, anyone gets the same numbers."""
    import numpy as np
    import pyarrow as pa
    import rapidfuzz
    import regex
    import Stemmer

    return Manifest(
        run=run,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        ragmeter=ragmeter.__version__,
        metrics=described(metrics),
        offline=offline_described(metrics),
        statistics=statistics,
        embeddings=list(embeddings),
        versions={
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
            "rapidfuzz": rapidfuzz.__version__,
            "regex": regex.__version__,
            "snowball": Stemmer.version(),
        },
    )
