"""The base of evaluators.

An evaluator is any class with `evaluate(rag_results, references) -> EvaluationResult`. The built-in ones are lists of
metrics, with the columns and the file formats of the tools that they replace.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any, ClassVar, Protocol

from ragmeter.compat.objects import EvaluationResult, QAPair, RAGResult
from ragmeter.compat.rows import ResultRows
from ragmeter.compat.scoring import Number, only_name, score_table
from ragmeter.definition import Metric
from ragmeter.errors import InputError, RagmeterWarning, UsageError
from ragmeter.hints import column_option
from ragmeter.io.cells import as_list
from ragmeter.io.data import Data
from ragmeter.registry import get
from ragmeter.table import NewRow
from ragmeter.wording.causes import cause_meaning

#: The columns that are fields of the objects; all others are their metadata.
_FIELDS = frozenset({
    "qid", "question", "answer", "contexts", "retrieved", "reference", "relevant", "latency_ms", "system_name", "error",
})  # fmt: skip


class Evaluator(Protocol):
    """The method that makes a class an evaluator."""

    def evaluate(self, rag_results: list[RAGResult], references: list[QAPair]) -> EvaluationResult:
        """Score the results against the references."""


class EvaluatorInterface(ABC):
    """The base class of evaluators in an earlier tool. A class with `evaluate` needs none."""

    @abstractmethod
    def evaluate(self, rag_results: list[RAGResult], references: list[QAPair]) -> EvaluationResult:
        """Score the results against the references."""


class MetricEvaluator(ABC):
    """An evaluator that is a list of metrics."""

    #: Columns whose scores are counts, written as whole numbers.
    whole: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def metrics(self) -> dict[str, Metric]:
        """The metric behind each score column, in the order of the columns."""

    def columns(self, columns: Mapping[str, Sequence[Any]], rows: int) -> dict[str, Sequence[Any]]:
        """The columns of the row file before the scores, for so many rows."""
        names = [type(self).__name__] * rows
        return {"qid": columns["qid"], "evaluator_name": names, "is_aggregated": [False] * rows}

    @abstractmethod
    def aggregate(self, scores: Mapping[str, Sequence[Number]]) -> dict[str, Number | None]:
        """The aggregated metrics, from the scores of the rows that have one."""

    def evaluate(self, rag_results: Sequence[RAGResult], references: Sequence[QAPair]) -> EvaluationResult:
        """Score the results against the references, paired by qid, or by their order if no row has a qid.

        Several results may have the same qid: each is scored against the reference with that qid.
        """
        _check_objects(type(self).__name__, rag_results, references)
        data = Data.open(*_as_rows(rag_results, references), repeated=True)
        (result,) = score_table([self], data.batches(list(self.metrics().values())))
        result.rows = list(result.rows)
        result.system_name = only_name(getattr(item, "system_name", None) for item in rag_results)
        if all(value is None for name, value in result.metrics.items() if name != "processing_time_ms"):
            warnings.warn(RagmeterWarning(_nothing_scored(result)), stacklevel=2)
        return result


def _nothing_scored(result: EvaluationResult) -> str:
    """Why no row has a score."""
    causes = "; ".join(
        f"{count:,} {cause}" + (f" ({meaning})" if (meaning := cause_meaning(cause)) else "")
        for cause, count in result.not_scored.items()
    )
    return f"{result.evaluator_name} has scored none of {len(result.rows):,} rows: {causes}"


def _check_objects(evaluator: str, results: Sequence[Any], references: Sequence[Any]) -> None:
    """Refuse rows that are no objects: dicts, and texts."""
    for kind, objects in ((RAGResult, results), (QAPair, references)):
        other = next((item for item in objects if not hasattr(item, "qid")), None)
        if other is not None:
            name = kind.__name__
            raise UsageError(
                f"{evaluator}.evaluate() takes RAGResults and QAPairs, and got {type(other).__name__} for a {name}",
                hint=f"{name}.from_dict(row) makes one of a dict; ragmeter.evaluate() takes dicts as they are",
            )


def read_objects(
    data: Data, metrics: Sequence[Metric], *, gold_context: bool = True
) -> tuple[list[RAGResult], list[QAPair]]:
    """The rows of files as the objects that an evaluator takes, after a check for the columns that the metrics need.

    Without `gold_context` the contexts of the references, which may be long, are not read.
    """
    results: list[RAGResult] = []
    references: dict[str, QAPair] = {}
    for batch in data.batches(metrics):
        for row, cause in zip(ResultRows(batch.columns), batch.causes or [None] * len(batch), strict=True):
            qid, question, answer, reference = row["qid"], row.get("question"), row.get("answer"), row.get("reference")
            contexts, retrieved, relevant = row.get("contexts") or [], row.get("retrieved", []), row.get("relevant", [])
            latency, system, error = row.get("latency_ms"), row.get("system_name"), row.get("error")
            metadata = {name: value for name, value in row.items() if name not in _FIELDS}
            if cause is None:
                results.append(RAGResult(question, answer, contexts, retrieved, latency, qid, system, metadata, error))
            if reference is None and row.get("relevant") is None:
                continue
            gold = reference[0] if reference and len(reference) == 1 else reference
            texts = as_list(metadata.get("context"), strict=False) if gold_context else None
            pair = QAPair(question, gold, texts or [], document_ids=relevant, qid=qid, metadata=metadata)
            first = references.setdefault(qid, pair)
            if (first.answer, first.document_ids) != (pair.answer, pair.document_ids):
                raise InputError(
                    f"the qid {qid!r} has two different references",
                    file=data.results.name,
                    hint="give it one; if another column identifies the questions, add "
                    + column_option("qid", "ITS_NAME"),
                )
    return results, list(references.values())


def average(values: Sequence[Number]) -> float | None:
    """The mean; None without values."""
    return fmean(values) if values else None


def four_figures(name: str, values: Sequence[Number]) -> dict[str, Number | None]:
    """Average, minimum, maximum and median, under their names in the aggregated file."""
    return {
        f"avg_{name}": average(values),
        f"min_{name}": min(values, default=None),
        f"max_{name}": max(values, default=None),
        f"median_{name}": median(values) if values else None,
    }


def metric(name: str, **settings: Any) -> Metric:
    """A metric with the settings that are not None."""
    given_settings = {key: value for key, value in settings.items() if value is not None}
    return get(name).with_settings(**given_settings) if given_settings else get(name)


def _as_rows(results: Sequence[RAGResult], references: Sequence[QAPair]) -> tuple[list[NewRow], list[NewRow]]:
    """The two lists as rows of the table. Without any qid they are paired by order, and must have the same length."""
    if not results or not references:
        raise UsageError(f"nothing to evaluate: {len(results)} results and {len(references)} references")
    numbered = all(item.qid is None for item in results) and all(item.qid is None for item in references)
    if numbered and len(results) != len(references):
        raise UsageError(
            f"{len(results)} results and {len(references)} references, and no qid to pair them by",
            hint="give each RAGResult and QAPair a qid",
        )
    result_rows = [
        {
            "qid": str(place) if numbered else result.qid,
            "question": result.question,
            "answer": result.answer,
            "retrieved": result.doc_ids,
            "error": getattr(result, "error", None),  # another tool's class may have none
        }
        for place, result in enumerate(results, 1)
    ]
    reference_rows = [
        {
            "qid": str(place) if numbered else pair.qid,
            "question": pair.question,
            "reference": pair.answer,
            "relevant": pair.document_ids,
        }
        for place, pair in enumerate(references, 1)
    ]
    return result_rows, reference_rows
