"""Looks at a baseline: the runs on the same questions that it can have been compared with before."""

from __future__ import annotations

from pathlib import Path

from ragmeter.runs.catalogue import RunEntry, catalogue
from ragmeter.runs.comparisons import comparison_file
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun


def earlier_looks(baseline: Run, run: Run) -> list[str]:
    """Other runs beside the baseline that were made after it and before this run, on questions of this run.

    Those as well with which a comparison is kept.
    """
    if isinstance(baseline, TemporaryRun) or not isinstance(baseline.location, Path):
        return []
    start, end = baseline.manifest().created, run.manifest().created
    questions = run.summary().questions

    def is_look(entry: RunEntry) -> bool:
        if entry.error or entry.name in (baseline.name, run.name):
            return False
        alike = questions is not None and entry.questions == questions.fingerprint
        between = bool(start and end) and (start or "") < entry.created < (end or "")
        return (alike and between) or comparison_file([baseline, Run(entry.path)]).exists()

    return [entry.name for entry in reversed(catalogue(baseline.location.parent)) if is_look(entry)]
