"""Columns of a judge that are filled without a language model: batch by batch, before they are scored.

With `judge=offline` the offline support model fills them, with `judge=encoder` a local classifier of pairs of texts.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from ragmeter.definition import Metric
from ragmeter.definition.judge_columns import DECLARED, ENCODER, SUPPORT_MODEL, BoundColumn, JudgeColumn, Support
from ragmeter.documents.manifest import FilledColumns
from ragmeter.embedders.embedder import Embedders
from ragmeter.errors import RagmeterWarning, UsageError
from ragmeter.hints import option
from ragmeter.io.write import dumps
from ragmeter.judges.encoder import EncoderSupport
from ragmeter.metrics.offline.support.claims import OfflineSupport
from ragmeter.metrics.support import has_text
from ragmeter.registry import load_builtin
from ragmeter.table import SCORED, Batch, Failed, NewRow, Row, outcome_column, outcomes, row_causes

#: The columns that hold what is judged.
_ANSWERS = ("answer", "other_answer")


def with_offline(
    batches: Iterable[Batch], metrics: Sequence[Metric], models: Embedders | None = None
) -> Iterable[Batch]:
    """The batches with the columns that metrics need and no language model fills. Those that are there already stay.

    But not a support model's labels: they may be of other files under its name, and what was read is in the cache.
    `models` are the run's; without them, a support model is opened for each batch.
    """
    columns = offline_columns(metrics)
    return (_filled(batch, columns, models) for batch in batches) if columns else batches


def offline_columns(metrics: Iterable[Metric]) -> list[BoundColumn]:
    """The columns that are filled offline for some metrics, each after those that it is filled from."""
    load_builtin()  # in another process, only the metrics' own modules may have been imported
    return list({column.name: column for metric in metrics for column in metric.offline}.values())


def described(metrics: Iterable[Metric]) -> dict[str, FilledColumns]:
    """What the manifest says of the columns that are filled offline; of a support model, its files' hash and labels."""
    columns = offline_columns(metrics)
    with Embedders() as models:
        return {
            column.name: FilledColumns(list(column.columns))
            if column.support_model is None
            else models.support(column.support_model).described(column.columns)
            for column in columns
        }


def check_support_models(metrics: Iterable[Metric]) -> None:
    """Refuse metrics whose support model was not named, or is none, before anything is asked or computed."""
    for metric in metrics:
        if SUPPORT_MODEL not in metric.defaults:
            continue
        model, is_judge = metric.settings[SUPPORT_MODEL], metric.settings["judge"] == ENCODER
        if is_judge and model is None:
            hint = f"name a classifier of pairs of texts: {option(SUPPORT_MODEL, 'FOLDER')}, or its name on the hub"
            raise UsageError(f"{metric.name} needs a support model", hint=hint)
        if model is not None and not is_judge:
            raise UsageError(
                f"{metric.name} asks no support model", hint=f"judge={ENCODER} has it judge, or leave it out"
            )
    names = dict.fromkeys(column.support_model for metric in metrics for column in metric.offline)
    for name in filter(None, names):
        from ragmeter.embedders.support import labels_of  # here, so that others don't wait for it

        labels = labels_of(name)
        if labels.assumed:
            unsupported, supported = labels.names
            warnings.warn(
                f"the labels of {name} say nothing of support: {supported} is taken for supported, and "
                f"{unsupported} for unsupported; id2label in its config.json can say which is which",
                RagmeterWarning,
                stacklevel=4,
            )


def _filled(batch: Batch, columns: Sequence[BoundColumn], models: Embedders | None) -> Batch:
    with nullcontext(models) if models is not None else Embedders() as opened:
        for column in columns:
            is_of_model = column.support_model is not None and not column.declaration.given
            if is_of_model or column.name not in batch.columns:
                batch = replace(batch, columns={**batch.columns, **_fill(column, batch, _support(column, opened))})
    return batch


def _support(column: BoundColumn, models: Embedders) -> Support:
    """What says which claims are supported: the column's support model, or the offline one."""
    if column.settings["judge"] != ENCODER:
        return OfflineSupport()
    if column.support_model is None:
        raise UsageError(f"{column.name} needs a support model", hint=f"name it: {option(SUPPORT_MODEL)}")
    return EncoderSupport(models.support(column.support_model))


def _fill(column: BoundColumn, batch: Batch, support: Support) -> dict[str, list[Any]]:
    """The column's values as JSON, and the outcome of each."""
    states, values, rows = rows_to_fill(column, column.declaration, batch)
    open_places = [place for place, value in enumerate(values) if value is None and states[place] == SCORED]
    assert column.declaration.offline is not None  # noqa: S101 - only such columns are filled here
    results = column.declaration.offline([rows[place] for place in open_places], support)
    for place, result in zip(open_places, results, strict=True):
        if isinstance(result, Failed):
            states[place] = result.cause
        else:
            values[place] = dumps(result) if column.declaration.structured else result
    return {column.name: values, outcome_column(column.name): states}


def rows_to_fill(
    column: BoundColumn, declaration: JudgeColumn, batch: Batch, also: Collection[str] = ()
) -> tuple[list[str], list[str | None], list[NewRow]]:
    """Each row's outcome (`scored`, or why it has no value), its value if it needs no judge, and its columns.

    `asked` is the column as the judge has it; `also` are other columns that are wanted. A text without any words is no
    text to be judged, or to judge by.
    """
    states = outcomes(batch.columns, [column.input_name(name) for name in declaration.required], len(batch))
    if causes := row_causes(batch):
        states = [cause or state for cause, state in zip(causes, states, strict=True)]
    rows = list(_records(column, {*declaration.needs, *also}, batch))
    values: list[str | None] = [None] * len(batch)
    answers = [name for name in declaration.required if name in _ANSWERS]
    others = [name for name in declaration.required if name not in _ANSWERS]
    for place, row in enumerate(rows):
        if states[place] == SCORED:
            states[place] = _blank(row, others)
        if states[place] == SCORED:  # an empty answer may be known to be a bad one
            value = None if declaration.known is None else declaration.known(row)
            if isinstance(value, Failed):
                states[place] = value.cause
            elif value is None:
                states[place] = _blank(row, answers)
            else:
                values[place] = value
    return states, values, rows


def _blank(row: Row, names: Iterable[str]) -> str:
    """Which of these texts has no words in it, as an outcome; `scored` if none."""
    return next((f"no_{name}" for name in names if name not in DECLARED and _is_blank(name, row[name])), SCORED)


def _is_blank(name: str, value: Any) -> bool:
    """An empty list of passages is a result; one of references is none."""
    return not has_text(value) if isinstance(value, str) else name == "reference" and not value


def _records(column: BoundColumn, names: Collection[str], batch: Batch) -> Iterator[NewRow]:
    columns = {name: batch.columns.get(column.input_name(name)) or [None] * len(batch) for name in names}
    if "reference" in columns:
        columns["reference"] = [_references(value) for value in columns["reference"]]
    for name in columns.keys() & DECLARED.keys():
        columns[name] = [DECLARED[name].decoded(value) for value in columns[name]]
    return ({name: values[place] for name, values in columns.items()} for place in range(len(batch)))


def _references(value: Any) -> Any:
    """The acceptable answers that have any words; a table's empty cell is a reference without."""
    return [text for text in value if has_text(text)] if isinstance(value, list) else value
