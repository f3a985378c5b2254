"""Adds to a scored batch where each answer failed: the columns `cause` and `cause_evidence`.

A run has them if one of its metrics says which answers are right, and if passages or gold documents are there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragmeter.definition import METRICS, Metric
from ragmeter.definition.judge_columns import OFFLINE
from ragmeter.metrics.abstention import MARKS
from ragmeter.metrics.causes import CAUSE, CAUSE_EVIDENCE, CAUSES, causes_of
from ragmeter.naming import base_of, parse
from ragmeter.table import IDS_AS_WRITTEN, Batch, Column, Scores

#: The metrics that say which answers are right, the most trustworthy first.
_EXACT = "exact_match"
_PROBABILITY = "offline_correct_probability"
_CORRECTNESS = ("jury_correct", "llm_correct", "offline_correct", _PROBABILITY, _EXACT)
_LABELS_OF_REFERENCE, _LABELS_OF_ANSWER = "reference_support_by_passages", "support_by_passages"
_READ = ("question", "reference", "answer", "contexts", "relevant", "retrieved", IDS_AS_WRITTEN, *MARKS)

ScoreOf = Callable[[Metric], tuple[Scores, Sequence[str]]]


def correctness_of(metrics: Iterable[Metric]) -> Metric | None:
    """The metric that says which answers are right; None where there is none."""
    chosen = sorted((metric for metric in metrics if metric.base in _CORRECTNESS), key=_rank)
    return chosen[0] if chosen else None


def verdicts_by(metrics: Iterable[str]) -> str:
    """The metric of these that a run's causes rest on: its judge, whatever the settings; an empty text without any."""
    bases = {base_of(name) for name in metrics}
    chosen = next((base for base in _CORRECTNESS if base in bases), "")
    return "offline_correct" if chosen == _PROBABILITY else chosen


def _rank(metric: Metric) -> int:
    return _CORRECTNESS.index(metric.base)


def changes_causes(metrics: Iterable[Metric]) -> bool:
    """Whether a run's causes are others with these metrics."""
    filled = {column.declaration.name for metric in metrics for column in metric.judge_columns}
    return correctness_of(metrics) is not None or not filled.isdisjoint({_LABELS_OF_REFERENCE, _LABELS_OF_ANSWER})


def has_causes(columns: Collection[str], correctness: Metric | None) -> bool:
    """Whether a table with these columns gets causes."""
    if correctness is None or "answer" not in columns:
        return False
    return {"relevant", "retrieved"} <= set(columns) or ("contexts" in columns and correctness.base != _EXACT)


def read_for_causes(names: Iterable[str]) -> set[str]:
    """The columns of a batch that causes are read from."""
    return {name for name in names if name in _READ or _labels_name(name) is not None}


def with_causes(batch: Batch, codes: tuple[Scores, Sequence[str]] | None) -> Batch:
    """The batch with its causes. Columns of the user's own with these names get a prefix, as beside scores.

    A table may have the columns of passages and ids with nothing in them: then there is no cause to be told.
    """
    if codes is None or not _says_anything(batch.columns):
        return batch
    own = {own_name(name): column for name, column in batch.columns.items()}
    causes = [CAUSES[code] for code in codes[0].astype(np.int64).tolist()]
    return replace(batch, columns={**own, CAUSE: causes, CAUSE_EVIDENCE: list(codes[1])})


def without_causes(batch: Batch) -> Batch:
    """The rows of a run without its causes, which are told anew."""
    columns = {name: column for name, column in batch.columns.items() if name not in (CAUSE, CAUSE_EVIDENCE)}
    return replace(batch, columns=columns)


def with_cause_names(columns: Sequence[str], metrics: Iterable[Metric]) -> list[str]:
    """The names of a table's columns with those of its causes, where it gets any."""
    if not has_causes(columns, correctness_of(metrics)):
        return list(columns)
    return [*map(own_name, columns), CAUSE, CAUSE_EVIDENCE]


def own_name(name: str) -> str:
    """The name of a column of the user's own beside a run's causes."""
    return f"input.{name}" if name in (CAUSE, CAUSE_EVIDENCE) else name


def cause_codes(
    batch: Batch, failures: Sequence[str | None], correctness: Metric | None, metrics: Sequence[Metric], score: ScoreOf
) -> tuple[Scores, list[str]]:
    """Each row's cause, as its place in `CAUSES`, and its evidence: in the form of scores, so that both travel."""
    from ragmeter.metrics.causes.facts import CauseColumns, Correctness  # here: others don't wait for its imports

    assert correctness is not None  # noqa: S101 - the caller has looked
    is_offline = correctness.base in ("offline_correct", _PROBABILITY)
    scores, outcomes = score(_probability(correctness) if is_offline else correctness)
    facts = CauseColumns(
        batch.columns,
        len(batch),
        failures,
        Correctness(
            "offline_correct" if is_offline else correctness.base, np.asarray(scores), outcomes,
            is_probability=is_offline, reads_texts=correctness.base != _EXACT,
        ),
        doc_id=next((metric.settings["doc_id"] for metric in metrics if metric.settings.get("doc_id")), None),
        reference_labels=_labels_column(batch.columns, _LABELS_OF_REFERENCE),
        answer_labels=_labels_column(batch.columns, _LABELS_OF_ANSWER),
    ).facts()  # fmt: skip
    causes, evidence = causes_of(facts)
    return np.array([CAUSES.index(cause) for cause in causes], np.float64), evidence


def _probability(correctness: Metric) -> Metric:
    """The offline judge's probability, with the settings of its verdict."""
    return METRICS[_PROBABILITY].with_settings(**{k: v for k, v in correctness.settings.items() if v is not None})


def _says_anything(columns: Mapping[str, Column]) -> bool:
    """Whether any row has passages or both kinds of ids; a table may have the columns and nothing in them."""
    contexts, retrieved = columns.get("contexts"), columns.get("retrieved")
    if contexts is not None and any(row is not None for row in contexts):
        return True
    gold = columns.get("relevant")
    return gold is not None and retrieved is not None and any(gold) and any(ids is not None for ids in retrieved)


def _labels_column(columns: Mapping[str, Any], wanted: str) -> str | None:
    """A column of labels that a judge has filled: a language model's before an encoder's."""
    return min((name for name in columns if _labels_name(name) == wanted), key=len, default=None)


def _labels_name(name: str) -> str | None:
    """Which labels of a judge a column has; None for other columns, and for those of the offline support model."""
    if not name.startswith((_LABELS_OF_REFERENCE, _LABELS_OF_ANSWER)) or name.endswith(".outcome"):
        return None
    column = parse(name)
    return None if column.settings.get("judge") == OFFLINE else column.base
