"""Find a run by what `evaluate()` returned, its folder, a path or a name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from ragmeter.errors import UsageError
from ragmeter.io.locations import Location, StorePath, location
from ragmeter.io.write import RUNS
from ragmeter.runs.layout import MANIFEST, unknown_run, unreadable
from ragmeter.runs.places import settle
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun


@runtime_checkable
class HasRun(Protocol):
    """What `evaluate()` and `ask()` return: results with a run behind them."""

    def run_folder(self) -> Run:
        """The run."""


#: Every way to name a run.
RunLike = str | os.PathLike[str] | StorePath | Run | HasRun


def is_run(value: object) -> bool:
    """Whether this names a single run, not several."""
    return isinstance(value, str | os.PathLike | StorePath | Run | HasRun)


def find_run(run: RunLike, output_dir: str | Location = RUNS) -> Run:
    """Find a run by what `evaluate()` returned, by its `Run`, the path of its folder, or its name in `output_dir`."""
    if isinstance(run, Run):
        run.check()
        return run
    if isinstance(run, HasRun):
        return run.run_folder()
    if not isinstance(run, str | os.PathLike | StorePath):
        raise UsageError(
            f"{type(run).__name__} is not a run",
            hint="a run is what evaluate() or ask() returned, a Run, the path of a run's folder, or its name in "
            f"{output_dir}/",
        )
    given, folder = location(run), location(output_dir)
    places = [given] if isinstance(given, StorePath) else [given, folder / given]
    for path in places:
        if _has_manifest(path):
            return Run(path)
    if _is_folder(places[-1]):
        return Run.at(places[-1])  # raises: the folder has no manifest
    if isinstance(given, StorePath):
        raise unknown_run(given.name, given.parent)
    raise unknown_run(str(run), folder)


def _has_manifest(path: Location) -> bool:
    """Whether this is a run's folder; an error if this user may not know."""
    try:
        if isinstance(path, Path):
            settle(path)
        return (path / MANIFEST).is_file()
    except PermissionError as error:
        raise unreadable(path, error.strerror, "change its permissions, or ask whoever made the run") from None
    except OSError:  # a name that no folder can have
        return False


def _is_folder(path: Location) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


#: Several runs: in their order, or evaluations that were not kept under the names that they are to have.
ManyRuns = Iterable[RunLike] | Mapping[str, RunLike]


def find_runs(runs: RunLike | ManyRuns, output_dir: str | Location = RUNS) -> list[Run]:
    """One run, or several."""
    if is_run(runs) or not isinstance(runs, Iterable):
        return [find_run(cast(RunLike, runs), output_dir)]  # raises if it is not a run
    if isinstance(runs, Mapping):
        return [_named(name, find_run(run, output_dir)) for name, run in runs.items()]
    return [find_run(run, output_dir) for run in runs]


def check_distinct(runs: Sequence[Run]) -> None:
    """Refuse one run that is named twice."""
    counts = Counter(run if isinstance(run, TemporaryRun) else run.location.resolve() for run in runs)
    for run in runs:
        if counts[run if isinstance(run, TemporaryRun) else run.location.resolve()] > 1:
            raise UsageError(f"{run.name} is named twice: it is one run", hint="name each run once")


def _named(name: str, run: Run) -> Run:
    """A run that was not kept, under this name; one that was has a name."""
    if isinstance(run, TemporaryRun):
        return TemporaryRun(name, run.rows(), run.manifest(), run.summary())
    if run.name != name:
        raise UsageError(
            f"the run {run.name} was kept under this name, and can't be called {name} here",
            hint="a name may be given to what was not kept; name runs in a list otherwise",
        )
    return run


def run_labels(runs: Sequence[Run]) -> list[str]:
    """The runs' names. Runs with the same name get their path, or a number if they were not kept."""
    counts = Counter(run.name for run in runs)
    numbers: Counter[str] = Counter()
    labels = []
    for run in runs:
        label = run.name
        if counts[label] > 1:
            numbers[label] += 1
            temporary = isinstance(run, TemporaryRun)
            label = f"{label.removeprefix('this ')} {numbers[label]}" if temporary else str(run.location)
        labels.append(label)
    return labels
