"""Runs evaluators on files, and writes an aggregated file and a file of rows for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.compat.base import Evaluator, MetricEvaluator, read_objects
from ragmeter.compat.objects import EvaluationResult
from ragmeter.errors import errors_of
from ragmeter.io.data import Data
from ragmeter.io.limits import MAX_FIELD
from ragmeter.io.source import Reading, stem
from ragmeter.io.write import EVALUATION_RESULTS, check_writable, replacing, write_rows


@dataclass(frozen=True)
class Written:
    """An evaluator's result, and the two files that it was written to."""

    result: EvaluationResult
    files: tuple[Path, Path]
    join: dict[str, Any]


def run_evaluators(
    evaluators: Sequence[Evaluator],
    results: str | Path,
    reference: str | Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
    max_field: float = MAX_FIELD,
    output_dir: str | Path = EVALUATION_RESULTS,
    output_prefix: str | None = None,
    output_format: str = "tsv",
    guard: bool = True,
) -> list[Written]:
    """Run evaluators on files, and write an aggregated file and a file of rows for each.

    They are called `{prefix}.{Evaluator}.evaluation.aggregated.tsv` and `.rows.tsv`; the default prefix is the name of
    the results file. If an evaluator fails, nothing is written.
    """
    reading = Reading(encoding, quotes, delimiter, max_field)
    data = Data.open(results, reference, columns=columns, reading=reading, repeated=True)
    metric_evaluators = [evaluator for evaluator in evaluators if isinstance(evaluator, MetricEvaluator)]
    needs = [metric for evaluator in metric_evaluators for metric in evaluator.metrics().values()]
    check_writable(Path(output_dir))
    rag_results, references = read_objects(data, needs, gold_context=len(metric_evaluators) < len(evaluators))
    prefix = output_prefix or stem(Path(results))
    outputs = []
    for evaluator in evaluators:
        with errors_of(f"{type(evaluator).__name__}.evaluate()"):
            result = EvaluationResult.of(evaluator.evaluate(rag_results, references), type(evaluator).__name__)
        result.system_name = result.system_name or prefix
        name = f"{prefix}.{result.evaluator_name}.evaluation"
        files = [Path(output_dir) / f"{name}.{kind}.{output_format}" for kind in ("aggregated", "rows")]
        outputs.append(Written(result, (files[0], files[1]), data.join_counts()))
    for output in outputs:
        aggregated, rows = output.result.aggregated(), output.result.rows
        with replacing(*output.files) as (first, second):
            write_rows(first, list(aggregated), [list(aggregated.values())], output_format, guard=guard)
            titles = list(dict.fromkeys(title for row in rows for title in row))
            cells = ([row.get(title) for title in titles] for row in rows)
            write_rows(second, titles, cells, output_format, guard=guard)
    return outputs
