"""What a notebook calls, and what the command line is made of."""

from __future__ import annotations

import platform
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import ragmeter
from ragmeter import naming, registry
from ragmeter.definition import Metric
from ragmeter.effects.loop import rare_collections
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine import score_batches, watched
from ragmeter.errors import UsageError, errors_of
from ragmeter.evaluators.base import Evaluator, MetricEvaluator, read_objects
from ragmeter.evaluators.objects import EvaluationResult
from ragmeter.extending import extend
from ragmeter.io.data import Data
from ragmeter.io.source import Reading, stem
from ragmeter.io.write import EVALUATION_RESULTS, RUNS, check_writable, replacing, write_rows
from ragmeter.metrics.normalize import Language
from ragmeter.registry import BaseScorer
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.summary import MetricSummary
from ragmeter.store import ROWS, NewRun, RowsWriter, RunFolder, writing
from ragmeter.table import Batch

MetricLike = str | Metric | type[BaseScorer] | BaseScorer


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate()` returns: summaries by metric, the rows, and the folder if the run was kept.

    `embeddings` says for each embedding model that was used how many texts it got, and how many it had to cut.
    """

    metrics: dict[str, MetricSummary]
    summary: dict[str, Any]
    folder: RunFolder | None
    table: Any = None
    embeddings: Sequence[Mapping[str, Any]] = ()

    @property
    def rows(self) -> Any:
        """Every row with its scores and outcomes, as an Arrow table; read from the folder if the run was kept."""
        return self.table if self.folder is None else self.folder.rows()

    def __getitem__(self, metric: str) -> MetricSummary:
        """A metric's summary by its name; what `language` and the like added to it may be left out."""
        found = naming.matching(metric, self.metrics)
        if len(found) != 1:
            raise KeyError(f"{metric!r}: this evaluation has {', '.join(self.metrics)}")
        return self.metrics[found[0]]

    def __contains__(self, metric: object) -> bool:
        return metric in self.metrics

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __repr__(self) -> str:
        lines = [f"{name}: {_short(summary)}" for name, summary in self.metrics.items()]
        return "\n".join([f"<Evaluation, rows: {self.summary['n_rows']}>", *lines])


def evaluate(
    results: Any,
    reference: Any = None,
    *,
    metrics: str | Iterable[MetricLike],
    language: str | None = None,
    doc_id_pattern: str | None = None,
    embedding_model: str | None = None,
    embedding_base_url: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
    interval: str = AUTO,
    cluster: str | None = AUTO,
    level: float = 0.95,
    seed: int = 0,
    run: str | None = None,
    output_dir: str | Path = RUNS,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Score results against references and summarise the scores.

    `results` and `reference` are paths, lists of dicts, or pandas, polars or Arrow frames, joined by `qid`; one of
    them alone may hold both the answers and the references. `columns` maps the table's names to yours:
    `{"answer": "generated_answer"}`. `embedding_model` and `embedding_base_url` are for metrics of meaning, see
    `semantic_similarity`. `interval` is "auto" (Student's, Wilson's for scores of 0 and 1), "t", "wilson", "bootstrap"
    or "bca"; `cluster` names the column whose values tell which rows belong together, None says that all are apart, and
    "auto" takes conversations of several turns and questions that were asked several times. With `run`, the run is kept
    as `output_dir/run`.
    """
    confidence = Confidence(interval, cluster, level, seed)
    chosen = choose_metrics(
        metrics, language=language, doc_id=doc_id_pattern, model=embedding_model, base_url=embedding_base_url
    )
    data = Data.open(results, reference, columns=columns, reading=Reading(encoding, quotes, delimiter))
    batches = data.batches(chosen)
    if progress is not None:
        batches = watched(batches, progress)
    if run is None:
        with tempfile.TemporaryDirectory(prefix="ragmeter-") as scratch:
            path = Path(scratch) / ROWS
            with Embedders() as embedders:
                found, summary = _score(batches, chosen, path, confidence)
            return Evaluation(found, {**summary, "join": _join(data)}, None, pq.read_table(path), embedders.used())
    check_run_name(run)
    check_writable(Path(output_dir))
    return keep_run(
        Path(output_dir) / run,
        batches,
        chosen,
        manifest=lambda: {"inputs": data.signature(), "columns": data.mapping},
        summary=lambda: {"join": _join(data)},
        confidence=confidence,
    )


def add_metrics(
    run: str, metrics: str | Iterable[MetricLike], *, output_dir: str | Path = RUNS, **settings: Any
) -> Evaluation:
    """Add metrics to a run that was kept; those that it has already are not computed again."""
    check_run_name(run)
    chosen = choose_metrics(metrics, **settings)
    with Embedders() as embedders:
        folder = extend(RunFolder.at(Path(output_dir) / run), chosen, _described(chosen), embedders.used)
    summary = folder.summary()
    found = {name: MetricSummary.of(each) for name, each in summary["metrics"].items()}
    return Evaluation(found, summary, folder, embeddings=embedders.used())


def choose_metrics(
    metrics: str | Iterable[MetricLike], *, language: str | None = None, **settings: Any
) -> list[Metric]:
    """The metrics of these names, with the settings that they have and don't say otherwise themselves."""
    language = None if language in (None, "none") else Language.parse(language)
    return registry.get_all(metrics, language=language, **settings)


def check_run_name(run: str) -> None:
    """Refuse what can't be the name of a folder."""
    if run in ("", ".", "..") or re.search(r"[/\\\0]", run):
        raise UsageError(f"{run!r} is not a name for a run", hint="a run's name is that of a folder, without a path")


Details = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


def keep_run(
    path: Path,
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    *,
    manifest: Details,
    summary: Details,
    confidence: Confidence = Confidence(),  # noqa: B008 - it can't be changed
) -> Evaluation:
    """Score batches into a run folder. What else goes into its documents may be known only when all is read."""
    with NewRun(path) as new:
        with Embedders() as embedders:
            found, scored = _score(batches, metrics, new.folder / ROWS, confidence)
        more = [dict(each() if callable(each) else each) for each in (manifest, summary)]
        more[0]["statistics"] = scored["statistics"]
        if used := embedders.used():
            more[0]["embeddings"] = used
        folder = new.finish(_manifest(metrics, path.name, more[0]), {"run": path.name, **scored, **more[1]})
        return Evaluation(found, folder.summary(), folder, embeddings=used)


@dataclass(frozen=True)
class Written:
    """What an evaluator found, and the two files that it was written to."""

    result: EvaluationResult
    files: tuple[Path, Path]
    join: dict[str, Any]


def run_evaluators(
    chosen: Sequence[Evaluator],
    results: str | Path,
    reference: str | Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
    output_dir: str | Path = EVALUATION_RESULTS,
    output_prefix: str | None = None,
    output_format: str = "tsv",
    guard: bool = True,
) -> list[Written]:
    """Run evaluators on files, and write for each one an aggregated file and a file of rows.

    They are called `{prefix}.{Evaluator}.evaluation.aggregated.tsv` and `.rows.tsv`; the prefix is the name of the
    results file. Nothing is written unless every evaluator came to its end.
    """
    reading = Reading(encoding, quotes, delimiter)
    data = Data.open(results, reference, columns=columns, reading=reading, repeated=True)
    own = [each for each in chosen if isinstance(each, MetricEvaluator)]
    needs = [metric for each in own for metric in each.metrics().values()]
    check_writable(Path(output_dir))
    rag_results, references = read_objects(data, needs, gold_context=len(own) < len(chosen))
    prefix = output_prefix or stem(Path(results))
    found = []
    for each in chosen:
        with errors_of(f"{type(each).__name__}.evaluate()"):
            result = EvaluationResult.of(each.evaluate(rag_results, references), type(each).__name__)
        result.system_name = result.system_name or prefix
        name = f"{prefix}.{result.evaluator_name}.evaluation"
        files = [Path(output_dir) / f"{name}.{part}.{output_format}" for part in ("aggregated", "rows")]
        found.append(Written(result, (files[0], files[1]), _join(data)))
    for written in found:
        aggregated, rows = written.result.aggregated(), written.result.rows
        with replacing(*written.files) as (first, second):
            write_rows(first, list(aggregated), [list(aggregated.values())], output_format, guard=guard)
            titles = list(dict.fromkeys(title for row in rows for title in row))
            cells = ([row.get(title) for title in titles] for row in rows)
            write_rows(second, titles, cells, output_format, guard=guard)
    return found


def _join(data: Data) -> dict[str, Any]:
    return {} if data.reference is None else asdict(data.counts)


def _score(
    batches: Iterable[Batch], metrics: Sequence[Metric], path: Path, confidence: Confidence
) -> tuple[dict[str, MetricSummary], dict[str, Any]]:
    writer = RowsWriter(path, metrics)
    try:
        with rare_collections():
            for scored in score_batches(batches, metrics):
                with writing(path):
                    writer.write(scored)
    except BaseException:
        with suppress(Exception):  # what went wrong first is what matters
            writer.close()
        raise
    with writing(path):
        writer.close()
    how, found = writer.summaries(confidence)
    rows = next(iter(found.values())).n_total
    summary: dict[str, Any] = {
        "ragmeter": ragmeter.__version__,
        "n_rows": rows,
        "statistics": how.as_dict(),
        "metrics": {name: each.as_dict() for name, each in found.items()},
        "numbers": writer.numbers(),
        "columns_left_out": writer.left_out,
    }
    return found, summary


def _described(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    return [
        {"name": metric.name, "settings": metric.settings, "direction": metric.direction, "source": metric.source}
        for metric in metrics
    ]


def _manifest(metrics: Sequence[Metric], run: str, more: Mapping[str, Any]) -> dict[str, Any]:
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
        "metrics": _described(metrics),
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


def _short(summary: MetricSummary) -> str:
    if summary.mean is None:
        return f"nothing scored of {summary.n_total}"
    interval = f" [{summary.interval[0]:.4f}, {summary.interval[1]:.4f}]" if summary.interval else ""
    return f"{summary.mean:.4f}{interval}, n = {summary.n_scored} of {summary.n_total}"
