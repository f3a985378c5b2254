"""Evaluators run on files: an aggregated file and a file of rows for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.compat.base import Evaluator, MetricEvaluator, read_objects
from ragmeter.compat.objects import EvaluationResult
from ragmeter.errors import errors_of
from ragmeter.io.data import Data
from ragmeter.io.source import Reading, stem
from ragmeter.io.write import EVALUATION_RESULTS, check_writable, replacing, write_rows


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
        found.append(Written(result, (files[0], files[1]), data.join_counts()))
    for written in found:
        aggregated, rows = written.result.aggregated(), written.result.rows
        with replacing(*written.files) as (first, second):
            write_rows(first, list(aggregated), [list(aggregated.values())], output_format, guard=guard)
            titles = list(dict.fromkeys(title for row in rows for title in row))
            cells = ([row.get(title) for title in titles] for row in rows)
            write_rows(second, titles, cells, output_format, guard=guard)
    return found
