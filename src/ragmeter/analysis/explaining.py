"""Why a row of a run was judged as it was: the offline judge's evidence, in words."""

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
from ragmeter.metrics.offline.curves import read_curve
from ragmeter.metrics.offline.evidence import RIGHT, Explanation, explain_answers
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
    """What speaks for and against each answer of this question in a run: one, unless the run asks it several times.

    `run` is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`. The run need not have the
    judge's metrics; where it has one, its settings are what is not given here, so that the probability is the run's. Of
    several the first one counts.
    """
    folder = find_run(run, output_dir)
    table = folder.rows()
    for name in (QID, *_NEEDED):
        if name not in table.column_names:
            raise UsageError(
                f"the run {folder.name} has no column {name!r}, and the offline judge needs it",
                hint=f"it has {', '.join(table.column_names)}",
            )
    qids = table[QID].to_pylist()
    places = [place for place, each in enumerate(qids) if each == qid]
    if not places:
        raise UnknownNameError(f"qid in the run {folder.name}", qid, [each for each in qids if each is not None])
    rows = table.select(_NEEDED).take(places).to_pylist()
    for row in rows:
        missing = next((name for name in _NEEDED if row[name] is None or row[name] == []), None)
        if missing:
            raise InputError(f"the row {qid!r} has no {missing}, so there is nothing to judge", file=str(folder.path))
    settings = settings_of(folder)
    return explain_rows(
        rows,
        language=language or settings.get("language"),
        calibration=calibration or settings.get("calibration"),
    )


def explain_rows(
    rows: Sequence[Mapping[str, Any]], *, language: str | None = None, calibration: str | None = None
) -> list[Explanation]:
    """The same of rows that have a question, references and an answer."""
    code = None if language in (None, "none") else Language.parse(language)
    questions, references, answers = ([row[name] for row in rows] for name in _NEEDED)
    found = explain_answers(questions, references, answers, code)
    return found if calibration is None else [_bent(each, calibration) for each in found]


def settings_of(folder: Run) -> dict[str, Any]:
    """Those of the run's own metric of the offline judge, or of its cascade."""
    metrics = folder.summary().get("metrics", {})
    names = [naming.parse(name) for name in metrics if name.startswith(METRICS)]
    for base in METRICS:
        for each in names:
            if each.base == base:
                return dict(each.settings)
    shared = folder.manifest().get("cascade") or {}
    return {"calibration": (shared.get("calibration") or {}).get("path")}


def _bent(found: Explanation, calibration: str) -> Explanation:
    probability = float(read_curve(calibration)(np.array([found.probability]))[0])
    return replace(
        found,
        probability=probability,
        correct=probability >= RIGHT,
        calibration=calibration,
        uncalibrated=found.probability,
    )
