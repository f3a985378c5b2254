"""Which run is meant: by its results, its folder, a path or a name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS
from ragmeter.runs.files import MANIFEST, unknown_run
from ragmeter.runs.run import Run
from ragmeter.runs.temporary import TemporaryRun


@runtime_checkable
class HasRun(Protocol):
    """What `evaluate()` and `ask()` return: results with a run behind them."""

    def run_folder(self) -> Run:
        """The run."""


#: Every way to say which run is meant.
RunLike = str | os.PathLike[str] | Run | HasRun


def is_run(given: object) -> bool:
    """Whether this is one run, and not several."""
    return isinstance(given, str | os.PathLike | Run | HasRun)


def find_run(run: RunLike, output_dir: str | Path = RUNS) -> Run:
    """The run that is meant: by its results, its folder, the path of its folder, or its name in `output_dir`."""
    if isinstance(run, Run):
        run.check()
        return run
    if isinstance(run, HasRun):
        return run.run_folder()
    if not isinstance(run, str | os.PathLike):
        raise UsageError(
            f"{type(run).__name__} is no run",
            hint="a run is what evaluate() or ask() returned, a RunFolder, the path of a run's folder, or its name in "
            f"{output_dir}/",
        )
    for path in (Path(run), Path(output_dir) / run):
        if (path / MANIFEST).is_file():
            return Run(path)
    if (Path(output_dir) / run).is_dir():
        return Run.at(Path(output_dir) / run)  # which says what it lacks
    raise unknown_run(str(run), Path(output_dir))


def find_runs(runs: RunLike | Iterable[RunLike], output_dir: str | Path = RUNS) -> list[Run]:
    """One run, or several."""
    if is_run(runs) or not isinstance(runs, Iterable):
        return [find_run(cast(RunLike, runs), output_dir)]  # which says so if it is none
    return [find_run(run, output_dir) for run in runs]


def run_labels(runs: Sequence[Run]) -> list[str]:
    """The runs' names. Where two have the same name, their paths tell them apart; if they were not kept, numbers do."""
    counts = Counter(run.name for run in runs)
    numbers: Counter[str] = Counter()
    labels = []
    for run in runs:
        label = run.name
        if counts[label] > 1:
            numbers[label] += 1
            temporary = isinstance(run, TemporaryRun)
            label = f"{label.removeprefix('this ')} {numbers[label]}" if temporary else str(run.path)
        labels.append(label)
    return labels
