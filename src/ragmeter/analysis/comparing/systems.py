"""The runs of a comparison: which one is the baseline, and which of them are compared with which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.io.locations import same_place
from ragmeter.runs.lookup import RunLike, check_distinct, find_run, find_runs, is_run, run_labels
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun

#: Two runs, by their places among the runs: the baseline of the two first.
Place = tuple[int, int]


@dataclass(frozen=True)
class Systems:
    """The runs in the order in which they were named, their labels, and the place of the baseline."""

    runs: list[Run]
    labels: list[str]
    baseline: int

    @property
    def with_baseline(self) -> list[Place]:
        """Every other run with the baseline."""
        return [(self.baseline, place) for place in range(len(self.runs)) if place != self.baseline]

    @property
    def all_pairs(self) -> list[Place]:
        """Every run with every later one, and with the baseline as such."""
        pairs = combinations(range(len(self.runs)), 2)
        return [(later, earlier) if later == self.baseline else (earlier, later) for earlier, later in pairs]


def open_systems(
    runs: Sequence[RunLike] | Mapping[str, RunLike], baseline: RunLike | None, output_dir: str | Path
) -> Systems:
    """Open the runs. A baseline that is none of them comes before them."""
    named = runs if isinstance(runs, Mapping) and not is_run(runs) else [] if is_run(runs) else list(runs)
    opened = find_runs(named, output_dir) if named else []
    check_distinct(opened)
    place = None if baseline is None else _place_of(baseline, opened, output_dir)
    if place is None and baseline is not None and opened:
        opened, place = [find_run(baseline, output_dir), *opened], 0
    if len(opened) < 2:
        raise UsageError(
            "a comparison needs two runs or more", hint=by_caller("ragmeter compare RUN_A RUN_B", "compare([a, b])")
        )
    return Systems(opened, run_labels(opened), _oldest(opened) if place is None else place)


def _place_of(baseline: RunLike, opened: Sequence[Run], output_dir: str | Path) -> int | None:
    """The place of the baseline among the runs, by its label, or as the same run; None if it is none of them."""
    labels = run_labels(opened)
    if isinstance(baseline, str) and baseline in labels:
        return labels.index(baseline)
    run = find_run(baseline, output_dir)
    return next((place for place, other in enumerate(opened) if _is_same(run, other)), None)


def _is_same(run: Run, other: Run) -> bool:
    if isinstance(run, TemporaryRun) or isinstance(other, TemporaryRun):
        return run is other
    return same_place(run.location, other.location)


def _oldest(opened: Sequence[Run]) -> int:
    """The place of the first of two runs, and of the oldest of more."""
    if len(opened) == 2:
        return 0
    created = [run.manifest().created for run in opened]
    return min(range(len(opened)), key=lambda place: (created[place] is None, created[place] or "", place))
