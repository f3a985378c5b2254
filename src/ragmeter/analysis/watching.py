"""A metric over time, of runs or of logs of answers, by intervals that hold however often one looks."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ragmeter.analysis.comparing.comparison import is_mostly_reworded
from ragmeter.analysis.comparing.judges import forbids_verdict
from ragmeter.analysis.comparing.row_pairs import cluster_column, pair, paired_clusters
from ragmeter.documents.record import Interval, plain
from ragmeter.engine.evaluation import evaluate
from ragmeter.errors import InputError, UnknownNameError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.io.cells import as_number, is_missing
from ragmeter.io.source import open_source
from ragmeter.io.write import RUNS
from ragmeter.runs.judges import differing_judges
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import Run, full_name
from ragmeter.stats.anytime import anytime_interval, level_of_look
from ragmeter.stats.clusters import Clustered, Codes, cluster_codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import difference_limits, limits_of
from ragmeter.table import Measure, NewRow, Scores
from ragmeter.wording.metrics import first_of
from ragmeter.wording.numbers import given

#: What is looked at in a log of answers, which has no references; and the column that makes its rows depend.
_OF_LOGS, _SESSION = "offline_hallucinated", "session_id"
#: How the names of numbers begin of which less is better; of others, any change counts.
_LESS_IS_BETTER = ("latency", "time_to", "cost", "duration", "tokens")
_UNBOUNDED = (-math.inf, math.inf)
#: A value of time is cut to its day.
_DAY = 10


@dataclass(frozen=True)
class Look:
    """One run, or a part of a log: its mean, and what is judged by its interval at this look's own level.

    That is the mean, or its difference from the baseline on the same questions. `beyond`: the whole interval is worse
    than the margin allows. Without enough scores there is no interval.
    """

    name: str
    created: str
    n: int
    n_total: int
    mean: float | None
    value: float | None
    interval: Interval | None
    level: float
    beyond: bool


@dataclass(frozen=True)
class Watched:
    """The looks in the order of time. `baseline` is the run that they are compared with; None: `target` is a mean.

    `n_clipped` scores were outside of the bounds that were given.
    """

    metric: str
    direction: str
    margin: float
    level: float
    baseline: str | None
    target: float | None
    n_clipped: int
    is_dated: bool
    looks: list[Look]

    @property
    def beyond(self) -> list[Look]:
        """The looks that left the margin."""
        return [look for look in self.looks if look.beyond]

    @property
    def without_scores(self) -> list[Look]:
        """The looks that say nothing, for want of scores."""
        return [look for look in self.looks if look.interval is None]

    @property
    def passed(self) -> bool:
        """Whether every look has an interval, and none left the margin."""
        return not (self.beyond or self.without_scores)

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        return {**plain(self), "passed": self.passed}


def watch(
    runs: Sequence[RunLike],
    *,
    metric: str | None = None,
    margin: float = 0.0,
    target: float | None = None,
    bounds: Interval | None = None,
    by: str | None = None,
    sample: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    output_dir: str | Path = RUNS,
) -> Watched:
    """Look at a metric over time: does it leave the margin?

    All looks together, and those at a run or a log that is still growing, give a false alarm in at most 1 - `level`.

    Args:
        runs: runs on the same questions, of which the first one is the baseline; or files of answers.
        metric: a metric, or of files a column of numbers; by default that which runs are judged by.
        margin: so much worse is allowed.
        target: the mean that is expected; without it, that of the first run on the same questions.
        bounds: the least and the greatest value, for a metric without bounds: others are clipped to them.
        by: a column of the files: each of its values, or each day of a time, is a look.
        sample: so many rows of each look are drawn from a file.
        level: the confidence of all looks together.
        seed: the seed of the sample.
        output_dir: the folder of runs.
    """
    Confidence(level=level, seed=seed)  # checks them
    if sample is not None and sample < 1:
        raise UsageError(f"{parameter('sample')} must be at least 1, got {sample:,}")
    points = [
        point
        for run in runs
        for point in (
            _of_file(Path(run), metric, by, sample, seed)
            if isinstance(run, str | Path) and Path(run).is_file()
            else [_of_run(find_run(run, output_dir), metric)]
        )
    ]
    if any(point.run is not None for point in points):
        for name, value in (("by", by), ("sample", sample)):
            if value is not None:
                raise UsageError(f"{parameter(name)} is for files of answers; a run is scored already")
    is_dated = all(point.created for point in points)
    points = sorted(points, key=lambda point: point.created) if is_dated else points
    names = {point.measure.name for point in points}
    if len(names) > 1:
        raise UsageError(f"the runs have several metrics: {', '.join(sorted(names))}", hint="name one with --metric")
    limits = _limits(points, bounds)
    _check(points[0].measure.name, margin, target, limits)
    if target is None and len(points) < 2:
        raise UsageError(
            f"there is nothing to compare {points[0].name} with",
            hint=f"name a second run, or the mean to keep with {option('target', 0.8)}",
        )
    n_clipped = sum(int(((point.scores < limits[0]) | (point.scores > limits[1])).sum()) for point in points)
    baseline = points[0] if target is None else None
    looks = [
        _look(point, number, baseline, target, margin, limits, level)
        for number, point in enumerate(points if baseline is None else points[1:], 1)
    ]
    measure, of_baseline = points[0].measure, None if baseline is None else baseline.name
    return Watched(measure.name, measure.direction, margin, level, of_baseline, target, n_clipped, is_dated, looks)


@dataclass(frozen=True)
class _Point:
    """The scores of a run, or of a part of a log, and the clusters of the rows; `run` is None for a log."""

    name: str
    created: str
    measure: Measure
    scores: Scores
    codes: Codes | None
    run: Run | None = None


def _of_run(run: Run, metric: str | None) -> _Point:
    if not run.measures:
        raise UsageError(f"{run.name} has no metrics", hint="score it: `ragmeter evaluate` and `ask` do")
    name = first_of(list(run.measures)) if metric is None else full_name(metric, run.measures, run.name)
    codes = run.clusters(run.confidence)[1]
    return _Point(run.name, run.manifest().created or "", run.measure(name), run.scores(name), codes, run)


def _of_file(path: Path, metric: str | None, by: str | None, sample: int | None, seed: int) -> Iterator[_Point]:
    """The parts of a log, each scored offline, or with the numbers of one of its columns."""
    parts: dict[str, list[NewRow]] = {}
    name = metric or _OF_LOGS
    for line, row in open_source(path).records():
        if by is not None and by not in row:
            raise UnknownNameError("column", by, row, hint=f"{path} has {', '.join(row)}")
        if by is not None and is_missing(row[by]):
            raise InputError(f"there is no {by}", file=str(path), line=line, hint="each row needs one, to be in a look")
        if name in row:
            try:
                number = as_number(row[name])
            except ValueError:
                raise InputError(f"{name} is no number", file=str(path), line=line) from None
            row = {**row, name: math.nan if number is None else number}
        parts.setdefault("" if by is None else str(row[by])[:_DAY], []).append(row)
    for value, rows in sorted(parts.items()):
        drawn = rows if sample is None or sample >= len(rows) else random.Random(seed).sample(rows, sample)  # noqa: S311
        if name in drawn[0]:
            scores = np.array([row.get(name, math.nan) for row in drawn])
            sessions = [row.get(_SESSION) for row in drawn]
            codes = cluster_codes(pa.array(map(str, sessions))) if all(sessions) else None
            way = "lower" if name.startswith(_LESS_IS_BETTER) else "none"
            yield _Point(value or path.name, value, Measure(name, direction=way, bounds=_UNBOUNDED), scores, codes)
        else:
            run = evaluate(drawn, metrics=name).run
            point = _of_run(run, name)
            yield _Point(value or path.name, value, point.measure, point.scores, point.codes)


def _limits(points: Sequence[_Point], bounds: Interval | None) -> Interval:
    """The bounds that were given, or those of the metric; an error for one that has none."""
    if bounds is not None:
        if not (math.isfinite(bounds[0]) and math.isfinite(bounds[1]) and bounds[0] < bounds[1]):
            raise UsageError(f"{parameter('bounds')} must be two numbers, the lower one first, got {bounds}")
        return bounds
    limits = points[0].measure.bounds
    for point in points:
        limits = limits_of(limits, point.scores[~np.isnan(point.scores)])
    if not math.isfinite(limits[1] - limits[0]):
        raise UsageError(
            f"{points[0].measure.name} has no bounds, and an interval that holds at any time needs them",
            hint=f"name the least and the greatest value that count with {option('bounds', '0 5000')}",
        )
    return limits


def _check(metric: str, margin: float, target: float | None, limits: Interval) -> None:
    """Refuse a margin or a mean that the metric can't have."""
    low, high = limits
    if not 0 <= margin <= high - low:
        raise UsageError(
            f"{parameter('margin')} must be between 0 and {given(high - low)} for {metric}, got {given(margin)}"
        )
    if target is not None and not low <= target <= high:
        raise UsageError(f"{parameter('target')}: {metric} lies between {given(low)} and {given(high)}")


def _look(
    point: _Point, number: int, baseline: _Point | None, target: float | None, margin: float, limits: Interval,
    level: float,
) -> Look:  # fmt: skip
    """The look at one point, at its share of the error."""
    scores, codes, centre = np.clip(point.scores, *limits), point.codes, target or 0.0
    own = scores[~np.isnan(scores)]
    if baseline is not None:
        scores, codes = _difference(baseline, point, limits)
        limits = difference_limits(limits)
    is_scored = ~np.isnan(scores)
    units = Clustered.of(scores[is_scored], None if codes is None else codes[is_scored])
    own_level = level_of_look(number, level)
    interval = anytime_interval(units, limits, own_level)
    worse = {"higher": (True, False), "lower": (False, True)}.get(point.measure.direction, (True, True))
    beyond = interval is not None and (
        (worse[0] and interval[1] < centre - margin) or (worse[1] and interval[0] > centre + margin)
    )
    n = int(is_scored.sum())
    mean = float(own.mean()) if len(own) else None
    return Look(point.name, point.created, n, len(scores), mean, units.mean if n else None, interval, own_level, beyond)


def _difference(baseline: _Point, point: _Point, limits: Interval) -> tuple[Scores, Codes | None]:
    """The differences of a run's scores from the baseline's on the same questions, and their clusters."""
    a, b, metric = baseline.run, point.run, point.measure.name
    pairing = None if a is None or b is None else pair(a, b)
    if a is None or b is None or pairing is None or not len(pairing):
        raise UsageError(
            f"{baseline.name} and {point.name} have no questions in common to compare",
            hint=f"say which mean {metric} should have, with {option('target', 0.8)}",
        )
    if is_mostly_reworded(pairing.questions_differ, len(pairing)):
        raise UsageError(
            f"{baseline.name} and {point.name} have other questions under the same qid",
            hint=f"say which mean {metric} should have, with {option('target', 0.8)}",
        )
    if forbids_verdict(differing_judges(a, b, [metric]).get(metric, {})):
        raise UsageError(
            f"{baseline.name} and {point.name} have {metric} from different judges", hint="judge them alike"
        )
    column, _ = cluster_column([a, b], [a.name, b.name], Confidence())
    scores_a, scores_b = (np.clip(scores, *limits) for scores in (baseline.scores[pairing.a], point.scores[pairing.b]))
    return scores_b - scores_a, paired_clusters(a, b, pairing, Confidence(cluster=column))
