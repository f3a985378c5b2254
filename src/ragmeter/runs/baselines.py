"""Which run is the baseline of a question set: kept beside the runs, by the fingerprint of the questions."""

from __future__ import annotations

from pathlib import Path

from ragmeter.runs.folder_documents import changing, read_document, read_or_warn

BASELINES = "baselines.json"
_HINT = "correct the file, or delete it: it has nothing but the runs that were set as baselines"


def read_baselines(folder: Path) -> dict[str, str]:
    """The run that was set as baseline, by question set."""
    return read_or_warn(folder / BASELINES, _read)


def _read(path: Path) -> dict[str, str]:
    should_be = "an object with a run's name for each question set"
    return read_document(path, lambda run: isinstance(run, str) and bool(run), should_be, _HINT)


def set_baseline(folder: Path, questions: str, run: str | None) -> None:
    """Make a run the baseline of its question set in place of another one; None: there is none."""
    with changing(folder / BASELINES, "the baselines", _read) as baselines:
        baselines[questions] = run or ""


def replace_baseline(folder: Path, run: str, other: str | None) -> list[str]:
    """Put another run, or none, in the place of one that is a baseline; returns the question sets."""
    sets = [questions for questions, name in read_baselines(folder).items() if name == run]
    for questions in sets:
        set_baseline(folder, questions, other)
    return sets
