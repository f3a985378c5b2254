"""Runs evaluators on files, and writes an aggregated file and a file of rows for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.compat.base import Evaluator, MetricEvaluator, read_objects
from ragmeter.compat.objects import EvaluationResult
from ragmeter.compat.rows import ResultRows
from ragmeter.compat.scoring import score_table
from ragmeter.definition import Metric
from ragmeter.documents.summary import Join
from ragmeter.errors import errors_of
from ragmeter.io.data import Data
from ragmeter.io.join import RepeatedQidError
from ragmeter.io.reading import Reading
from ragmeter.io.source import stem
from ragmeter.io.write import EVALUATION_RESULTS, check_format, check_writable, dumps, replacing, write_columns
from ragmeter.table import Batch, Row


@dataclass(frozen=True)
class Written:
    """An evaluator's result, and the two files that it was written to."""

    result: EvaluationResult
    files: tuple[Path, Path]
    join: Join
    notes: list[str]


def run_evaluators(
    evaluators: Sequence[Evaluator],
    results: str | Path,
    reference: str | Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    output_dir: str | Path = EVALUATION_RESULTS,
    output_prefix: str | None = None,
    output_format: str = "tsv",
    guard: bool = True,
) -> list[Written]:
    """Run evaluators on files, and write an aggregated file and a file of rows for each.

    They are called `{prefix}.{Evaluator}.evaluation.aggregated.tsv` and `.rows.tsv`; the default prefix is the name of
    the results file. If an evaluator fails, nothing is written.
    """
    data = Data.open(results, reference, columns=columns, reading=reading, repeated=reference is not None)
    by_metrics = [evaluator for evaluator in evaluators if isinstance(evaluator, MetricEvaluator)]
    needs = [metric for evaluator in by_metrics for metric in evaluator.metrics().values()]
    check_writable(Path(output_dir))
    check_format(output_format)
    prefix = output_prefix or stem(Path(results))
    outputs = []
    own_classes = len(by_metrics) < len(evaluators)
    by_columns = None if own_classes else _by_columns(by_metrics, data, needs)
    for result in by_columns or _by_objects(evaluators, data, needs, gold_context=own_classes):
        result.system_name = result.system_name or prefix
        name = f"{prefix}.{result.evaluator_name}.evaluation"
        files = [Path(output_dir) / f"{name}.{kind}.{output_format}" for kind in ("aggregated", "rows")]
        outputs.append(Written(result, (files[0], files[1]), data.join_counts(), data.notes()))
    for output in outputs:
        with replacing(*output.files) as (first, second):
            if output_format == "jsonl":
                aggregated, rows = output.result.as_records()
                _write_lines(first, [aggregated])
                _write_lines(second, rows)
                continue
            row = {title: [value] for title, value in output.result.aggregated().items()}
            write_columns(first, row, output_format, guard=guard)
            write_columns(second, _columns(output.result.rows), output_format, guard=guard)
    return outputs


def _write_lines(path: Path, records: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(dumps(record) + "\n" for record in records)


def _columns(rows: Sequence[Row]) -> Mapping[str, Sequence[Any]]:
    """The columns of rows; a key that a row lacks is a missing cell."""
    if isinstance(rows, ResultRows):
        return rows.columns
    titles = dict.fromkeys(title for row in rows for title in row)
    return {title: [row.get(title) for row in rows] for title in titles}


def _by_objects(
    evaluators: Sequence[Evaluator], data: Data, needs: Sequence[Metric], *, gold_context: bool
) -> Iterator[EvaluationResult]:
    """The results of any evaluators: each is given all rows as objects."""
    data.repeated = True
    rag_results, references = read_objects(data, needs, gold_context=gold_context)
    for evaluator in evaluators:
        with errors_of(f"{type(evaluator).__name__}.evaluate()"):
            yield EvaluationResult.of(evaluator.evaluate(rag_results, references), type(evaluator).__name__)


def _by_columns(
    evaluators: Sequence[MetricEvaluator], data: Data, needs: Sequence[Metric]
) -> Sequence[EvaluationResult] | None:
    """The results of evaluators that are lists of metrics, many times as fast as by objects; None where it won't do.

    A question that one file answers several times may have its reference in another of its rows.
    """
    own_evaluate = any(type(evaluator).evaluate is not MetricEvaluator.evaluate for evaluator in evaluators)
    path = data.results.path
    if own_evaluate or path is None or not path.is_file():  # what is no file may not be readable twice
        return None
    has_gold = False

    def batches() -> Iterator[Batch]:
        nonlocal has_gold
        for batch in data.batches(needs):
            gold = [batch.columns.get(name, ()) for name in ("reference", "relevant")]
            has_gold = has_gold or any(column.count(None) < len(column) for column in gold)
            yield batch

    try:
        results = score_table(evaluators, batches())
    except RepeatedQidError:
        return None
    return results if has_gold else None  # the message is that of evaluate()
