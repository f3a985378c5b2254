"""A run in the place of an older one: with paid replies in it, only if that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragmeter.documents.manifest import Manifest
from ragmeter.errors import AllFailedError, InputError, RunExistsError
from ragmeter.hints import by_caller, option
from ragmeter.io.locations import Location
from ragmeter.runs.layout import MANIFEST
from ragmeter.runs.places import hold, is_journal
from ragmeter.runs.run import Run
from ragmeter.runs.run_place import RunPlace


@contextmanager
def hold_for_new_run(
    place: RunPlace, keeps_verdicts: Callable[[Run], bool], *, limited: bool = False, instead: str = ""
) -> Iterator[None]:
    """Hold the place of a new run. An older run with paid replies there is an error, unless it may be replaced.

    `keeps_verdicts` says of the older run whether the new one gets all of its judge's replies. `limited`: the new run
    has the first questions only, so that an older run with all of them is an error as well. `instead` is what else
    the user may do.
    """
    path = place.path
    with hold(path, place.doing, asks=place.asks):
        lost = ""
        if (path / MANIFEST).is_file() and not place.replace:
            lost = paid_replies(path, keeps_verdicts)
            lost = lost or ("the answers to all questions" if limited and _is_whole(path) else "")
        if lost:
            raise RunExistsError(
                f"the run {path.name} exists already, and has {lost}",
                hint=f"choose another name with {option('run')}, or replace the run with "
                f"{by_caller('--replace', 'replace=True')}: its journal stays{instead}",
            )
        yield


def refuse_failed(path: Location, problem: str) -> None:
    """Refuse to replace a run that has scores by one in which everything failed; `problem` says what did."""
    if (path / MANIFEST).is_file() and _has_scores(path):
        raise AllFailedError(
            f"{problem}; the run {path.name} stays as it was, since it has scores",
            hint=f"choose another name with {option('run')} to keep a run of failures",
        )


def _has_scores(path: Location) -> bool:
    """Whether a run has a score of any row that did not fail."""
    try:
        summary = Run(path).summary()
    except InputError:  # it is damaged, and there to be replaced
        return False
    failed = sum((summary.causes or {}).values())
    return failed < summary.n_rows and any(metric.n_scored for metric in summary.metrics.values())


def paid_replies(path: Location, keeps_verdicts: Callable[[Run], bool] = lambda run: False) -> str:
    """A description of the paid replies in a run that would be lost; empty if none is known."""
    files = sorted(path.iterdir()) if isinstance(path, Path) else []  # in a store there is no journal
    journal = next((file.name for file in files if is_journal(file)), "")
    if journal:
        return f"a judge's replies in {journal}"
    manifest = manifest_of(path)
    judged = ", ".join(manifest.judged_columns)
    if judged:
        return "" if keeps_verdicts(Run(path)) else f"a judge's replies in it ({judged})"
    return ""


def _is_whole(path: Location) -> bool:
    """Whether a run has all questions of its dataset."""
    manifest = manifest_of(path)
    return manifest != Manifest() and manifest.limit is None


def manifest_of(path: Location) -> Manifest:
    """A run's manifest; one that says nothing where the run is damaged, which is there to be replaced."""
    try:
        return Run(path).manifest()
    except InputError:
        return Manifest()
