"""The runs of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ragmeter.errors import InputError, UsageError
from ragmeter.io.write import RUNS
from ragmeter.runs.finding import RunLike, find_runs
from ragmeter.runs.run import Run
from ragmeter.runs.temporary import TemporaryRun


def load_runs(runs: RunLike | Iterable[RunLike], output_dir: str | Path = RUNS) -> list[Run]:
    """The runs, in the order given, with all of their columns: the page needs most of them."""
    loaded = find_runs(runs, output_dir)
    if not loaded:
        raise UsageError("no run was named", hint=f"a run is a folder, or the name of one in {output_dir}/")
    counts = Counter(run if isinstance(run, TemporaryRun) else run.path.resolve() for run in loaded)
    repeated = [run.name if isinstance(run, Run) else run for run, count in counts.items() if count > 1]
    if repeated:
        raise UsageError(f"{repeated[0]} is named twice", hint="name each run once")
    for run in loaded:
        if not run.metrics():
            raise InputError("the run has no metrics", file=str(run.path))
        run.rows()
    return loaded
