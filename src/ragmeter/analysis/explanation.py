"""Explain the verdict on a row of a run: what the run's judge said, and what the offline judge sees in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ragmeter import naming
from ragmeter.analysis.claim_support import claim_columns
from ragmeter.definition.judge_columns import LLM
from ragmeter.documents.hops import HOPS
from ragmeter.errors import ColumnError, UnknownNameError, UsageError
from ragmeter.io.write import RUNS
from ragmeter.metrics.causes import CAUSE, CAUSE_EVIDENCE, CAUSES
from ragmeter.metrics.causes.hops import FailedAt, failed_at
from ragmeter.metrics.normalize import Language
from ragmeter.metrics.offline import RIGHT, offline_correct, offline_correct_probability
from ragmeter.metrics.offline.curves import read_curve
from ragmeter.metrics.offline.evidence import Explanation, RunVerdict, explain_answers
from ragmeter.naming import Settings
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.table import ABSTAINED, QID, SCORED, Row, outcome_column

_NEEDED = ("question", "reference", "answer")
METRICS = (offline_correct_probability.base, offline_correct.base)


def explain(
    run: RunLike,
    qid: str | int,
    *,
    output_dir: str | Path = RUNS,
    language: str | None = None,
    calibration: str | None = None,
) -> list[Explanation]:
    """The evidence for and against each answer to this question: one, unless the run asks it several times.

    The run need not have the offline judge's metrics. If it has one, its settings are the defaults here (of several,
    the first one's), so that the probability is the run's. What the run's own judge said of the row is in `judged`.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        qid: the question's id.
        output_dir: the folder of runs.
        language: the texts' language, by code or name.
        calibration: a file that `ragmeter calibrate --offline-judge` made of labels of one's own.
    """
    run = find_run(run, output_dir)
    table, qid = run.rows(), str(qid)
    for name in (QID, *_NEEDED):
        if name not in table.column_names:
            raise UsageError(
                f"the run {run.name} has no column {name!r}, and the offline judge needs it",
                hint=f"it has {', '.join(table.column_names)}",
            )
    qids = table[QID].to_pylist()
    places = [place for place, row_qid in enumerate(qids) if row_qid == qid]
    if not places:
        raise UnknownNameError(f"qid in the run {run.name}", qid, [text for text in qids if text is not None])
    rows = table.select(_NEEDED).take(places).to_pylist()
    for row in rows:
        missing = next((name for name in _NEEDED if row[name] is None or row[name] == []), None)
        if missing:
            raise ColumnError(f"the row {qid!r} has no {missing}, so there is nothing to judge", file=str(run.location))
    settings = settings_of(run)
    explanations = explain_rows(
        rows,
        language=language or settings.get("language"),
        calibration=calibration or settings.get("calibration"),
    )
    judged = _judged(run, places)
    return [replace(explanation, judged=of_row) for explanation, of_row in zip(explanations, judged, strict=True)]


def run_verdicts(run: RunLike, qid: str, output_dir: str | Path = RUNS) -> list[tuple[RunVerdict, ...]]:
    """What the run's judge said of each row with this qid."""
    run = find_run(run, output_dir)
    if QID not in run.texts:
        return []
    return _judged(run, [place for place, row_qid in enumerate(run.column(QID).to_pylist()) if row_qid == qid])


def abstained(run: RunLike, qid: str, output_dir: str | Path = RUNS) -> list[tuple[str, ...]]:
    """The metrics that give a row no score because its answer declines to answer, for each row with this qid."""
    run = find_run(run, output_dir)
    if QID not in run.texts:
        return []
    columns = {name: outcome_column(name) for name in run.row_metrics if outcome_column(name) in run.columns}
    places = [place for place, row_qid in enumerate(run.column(QID).to_pylist()) if row_qid == qid]
    rows = run.records(places, list(columns.values()))
    return [tuple(name for name, column in columns.items() if row[column] == ABSTAINED) for row in rows]


@dataclass(frozen=True)
class RowCause:
    """Where an answer failed, the evidence, and the hop, where that can be told."""

    cause: str
    evidence: str | None
    hop: FailedAt | None = None


def row_causes(run: RunLike, qid: str, output_dir: str | Path = RUNS) -> list[RowCause | None]:
    """The cause of each row with this qid; None for a row without."""
    run = find_run(run, output_dir)
    if QID not in run.texts:
        return []
    places = [place for place, row_qid in enumerate(run.column(QID).to_pylist()) if row_qid == qid]
    rows = run.records(places, [CAUSE, CAUSE_EVIDENCE, HOPS, "relevant"])
    return [row_cause(row) for row in rows]


def row_cause(row: Row) -> RowCause | None:
    """The cause of a row; None if it has none."""
    cause = row.get(CAUSE)
    if cause not in CAUSES:
        return None
    return RowCause(cause, row.get(CAUSE_EVIDENCE), failed_at(cause, row.get(HOPS), row.get("relevant")))


def _judged(run: Run, places: Sequence[int]) -> list[tuple[RunVerdict, ...]]:
    """The judge's verdicts on the rows at these places; claims and labels of passages are explained elsewhere."""
    filled = {name: columns for name, columns in run.judged_columns.items() if name not in claim_columns(run)}
    needed = [QID] + [column for name, columns in filled.items() for column in (*columns, outcome_column(name))]
    judged_columns = run.manifest().judged_columns
    return [
        tuple(
            verdict
            for name, columns in filled.items()
            if (verdict := _run_verdict(name, columns, row, judged_columns.get(name, {}).get("model"))) is not None
        )
        for row in run.records(places, needed)
    ]


def _run_verdict(name: str, columns: Sequence[str], row: Row, model: str | None) -> RunVerdict | None:
    value, reason, by, probability = (row.get(columns[place]) if place < len(columns) else None for place in range(4))
    outcome = row.get(outcome_column(name))
    if (value is None and by is None and outcome in (None, SCORED)) or str(value).startswith(("[", "{")):
        return None
    return RunVerdict(name, value, outcome, by, model if by in (None, LLM) else None, reason, probability)


def is_judged(run: RunLike, output_dir: str | Path = RUNS) -> bool:
    """Whether the run has a metric of the offline judge."""
    return any(naming.base_of(name) in METRICS for name in find_run(run, output_dir).columns)


def explain_rows(
    rows: Sequence[Row], *, language: str | None = None, calibration: str | None = None
) -> list[Explanation]:
    """The offline judge's evidence for rows that have a question, references and an answer."""
    code = None if language in (None, "none") else Language.parse(language)
    questions, references, answers = ([row[name] for row in rows] for name in _NEEDED)
    explanations = explain_answers(questions, references, answers, code)
    if calibration is None:
        return explanations
    return [_calibrated(explanation, calibration) for explanation in explanations]


def settings_of(run: Run) -> Settings:
    """The settings of the run's own offline metric, or of its cascade."""
    metrics = run.metrics()
    names = [naming.parse(name) for name in metrics if naming.base_of(name) in METRICS]
    for base in METRICS:
        for name in names:
            if name.base == base:
                return name.settings
    manifest = run.manifest()
    entries = [*manifest.judged_columns.values(), *(filled.as_dict() for filled in manifest.offline.values())]
    cascades = [entry.get("cascade") for entry in entries]
    calibrations = [cascade.get("calibration") or {} for cascade in cascades if cascade]
    return {"calibration": next((known.get("path") for known in calibrations if known), None)}


def _calibrated(explanation: Explanation, calibration: str) -> Explanation:
    probability = float(read_curve(calibration)(np.array([explanation.probability]))[0])
    return replace(
        explanation,
        probability=probability,
        correct=probability >= RIGHT,
        calibration=calibration,
        uncalibrated=explanation.probability,
    )
