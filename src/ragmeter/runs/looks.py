"""Looks at a baseline: what was compared with it, counted beside the runs, so that replaced and removed runs count.

Runs with the same answers are one look, and a baseline with other answers is counted anew.
"""

from __future__ import annotations

from pathlib import Path

from ragmeter.errors import RagmeterError, UsageError
from ragmeter.hints import option
from ragmeter.runs.folder_documents import changing, read_document
from ragmeter.runs.question_set import content_of
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun

LOOKS = "looks.json"
_HINT = "correct the file, or delete it: then looks at baselines are counted anew"


def _read(path: Path) -> dict[str, dict[str, str]]:
    """The names of what was compared, by its content, by the content of the baseline; both in the order of looks."""
    should_be = "an object with names by content for each baseline"
    return read_document(
        path,
        lambda looks: isinstance(looks, dict) and all(isinstance(n, str) for n in looks.values()),
        should_be,
        _HINT,
    )


def earlier_looks(baseline: Run, run: Run, *, must_count: bool = False) -> list[str]:
    """The names of what was compared with this baseline before the content of this run was, which is counted as well.

    `must_count`: an error where nothing can be counted, as the baseline has no folder, or one that can't be written to.
    """
    if isinstance(baseline, TemporaryRun) or not isinstance(baseline.location, Path):
        if must_count:
            raise UsageError(
                f"looks at {baseline.name} can't be counted: it is in no folder", hint=f"keep it with {option('run')}"
            )
        return []
    folder, content = baseline.location.parent, content_of(run)
    looks = _read(folder / LOOKS).get(content_of(baseline), {})
    if content not in looks:
        looks = {**looks, content: run.name}
        try:
            with changing(folder / LOOKS, "the looks at baselines", _read) as document:
                looks = document.setdefault(content_of(baseline), {})
                looks.setdefault(content, run.name)
        except RagmeterError:
            if must_count:
                raise
    return list(looks.values())[: list(looks).index(content)]
