"""Explain the offline judge's verdict on a row of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter import naming
from ragmeter.errors import InputError, UnknownNameError, UsageError
from ragmeter.io.write import RUNS
from ragmeter.metrics.normalize import Language
from ragmeter.metrics.offline import RIGHT
from ragmeter.metrics.offline.curves import read_curve
from ragmeter.metrics.offline.evidence import Explanation, explain_answers
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.table import QID

_NEEDED = ("question", "reference", "answer")
METRICS = ("offline_correct_probability", "offline_correct")


def explain(
    run: RunLike,
    qid: str,
    *,
    output_dir: str | Path = RUNS,
    language: str | None = None,
    calibration: str | None = None,
) -> list[Explanation]:
    """The evidence for and against each answer to this question: one, unless the run asks it several times.

    `run` is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`. The run need not have the
    judge's metrics; if it has one, its settings are the defaults here, so that the probability is the run's. If it has
    several, the first one's settings are used.
    """
    run = find_run(run, output_dir)
    table = run.rows()
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
            raise InputError(f"the row {qid!r} has no {missing}, so there is nothing to judge", file=str(run.place))
    settings = settings_of(run)
    return explain_rows(
        rows,
        language=language or settings.get("language"),
        calibration=calibration or settings.get("calibration"),
    )


def is_judged(run: RunLike, output_dir: str | Path = RUNS) -> bool:
    """Whether the run has a metric of the offline judge."""
    return any(name.partition("[")[0] in METRICS for name in find_run(run, output_dir).columns)


def explain_rows(
    rows: Sequence[Mapping[str, Any]], *, language: str | None = None, calibration: str | None = None
) -> list[Explanation]:
    """The same for rows that have a question, references and an answer."""
    code = None if language in (None, "none") else Language.parse(language)
    questions, references, answers = ([row[name] for row in rows] for name in _NEEDED)
    explanations = explain_answers(questions, references, answers, code)
    if calibration is None:
        return explanations
    return [_calibrated(explanation, calibration) for explanation in explanations]


def settings_of(run: Run) -> dict[str, Any]:
    """The settings of the run's own offline metric, or of its cascade."""
    metrics = run.summary().get("metrics", {})
    names = [naming.parse(name) for name in metrics if name.startswith(METRICS)]
    for base in METRICS:
        for name in names:
            if name.base == base:
                return dict(name.settings)
    cascade = run.manifest().get("cascade") or {}
    return {"calibration": (cascade.get("calibration") or {}).get("path")}


def _calibrated(explanation: Explanation, calibration: str) -> Explanation:
    probability = float(read_curve(calibration)(np.array([explanation.probability]))[0])
    return replace(
        explanation,
        probability=probability,
        correct=probability >= RIGHT,
        calibration=calibration,
        uncalibrated=explanation.probability,
    )
