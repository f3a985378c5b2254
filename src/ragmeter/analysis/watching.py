"""A metric over time, of runs or of logs of answers, by intervals that hold however often one looks."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ragmeter.analysis.comparing import compare
from ragmeter.analysis.gating.rules import MOST_FAILED
from ragmeter.documents.comparison import JUDGES_DIFFER
from ragmeter.documents.record import Interval, plain
from ragmeter.engine.evaluation import evaluate
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.io.cells import as_number, is_missing
from ragmeter.io.source import open_source
from ragmeter.io.write import RUNS
from ragmeter.runs.looks import earlier_looks
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.question_set import missing_questions
from ragmeter.runs.run import Run, full_name
from ragmeter.stats.anytime import anytime_interval, level_of_look
from ragmeter.stats.clusters import Clustered, Codes, cluster_codes
from ragmeter.stats.confidence import ANYTIME, Confidence
from ragmeter.stats.intervals import limits_of
from ragmeter.table import Measure, NewRow, Scores
from ragmeter.wording.metrics import first_of
from ragmeter.wording.numbers import given

#: What is looked at in a log of answers, which has no references; and the column that makes its rows depend.
_OF_LOGS, _SESSION = "offline_hallucinated", "session_id"
#: How the names of numbers begin of which less is better; of others, any change counts.
_LESS_IS_BETTER = ("latency", "time_to", "cost", "duration", "tokens")
#: A time is cut to its day.
_DAY = 10
#: Numbers from here on are Unix seconds, and from there on milliseconds.
_SECONDS, _MILLISECONDS = 1e9, 1e11
#: What people read as a date, though not in ISO 8601.
_OTHER_DATE = re.compile(r"(\d{1,2}[/.-]){1,2}\d{4}\b.*|\d{4}[/.]\d{1,2}\b.*|\d{1,2}/\d{1,2}/\d{2}", re.DOTALL)


@dataclass(frozen=True)
class Look:
    """One run, or a part of a log: its mean, and what is judged by its interval at this look's own level.

    That is the mean, or its difference from the baseline on the same questions. `beyond`: the whole interval is worse
    than the margin allows. `lacking`: of more of the baseline's questions than a gate allows it has no score. Without
    enough scores there is no interval.
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
    lacking: bool = False


@dataclass(frozen=True)
class Watched:
    """The looks in the order of time, compared with the run `baseline`; without one, with the mean `target`.

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
    def passed(self) -> bool:
        """Whether every look has an interval and its scores, and none left the margin."""
        return not any(look.beyond or look.lacking or look.interval is None for look in self.looks)

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        return {**plain(self), "passed": self.passed}


@dataclass(frozen=True)
class _Point:
    """The scores of a run, or of a part of a log, and the clusters of the rows; `run` is None for a log."""

    name: str
    created: str
    measure: Measure
    scores: Scores
    codes: Codes | None
    run: Run | None = None


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

    All looks at a baseline together, whenever they were made, give a false alarm in at most 1 - `level`: they are
    counted beside it. Of looks beside a target, those that are named together do.

    Args:
        runs: runs on the same questions, of which the first one named is the baseline; or files of answers.
        metric: a metric, or of files a column of numbers; by default that which runs are judged by.
        margin: so much worse is allowed.
        target: the mean that is expected; without it, that of the first run on the same questions.
        bounds: beside a target, the least and the greatest value of what has no bounds: others are clipped to them.
        by: a column of the files: each of its values, or each day of a time, is a look.
        sample: so many rows of each look are drawn from a file.
        level: the confidence of all looks together.
        seed: the seed of the sample.
        output_dir: the folder of runs.
    """
    Confidence(level=level, seed=seed)  # checks them
    if sample is not None and sample < 1:
        raise UsageError(f"{parameter('sample')} must be at least 1, got {sample:,}")
    if not runs:
        raise UsageError("there is nothing to look at", hint="name runs, or files of answers")
    points: list[_Point] = []
    for place, run in enumerate(runs):
        if run in runs[:place]:
            raise UsageError(f"{run} is named twice")
        is_file = isinstance(run, str | Path) and Path(run).is_file()
        if not is_file and (by is not None or sample is not None):
            name = "by" if sample is None else "sample"
            raise UsageError(f"{parameter(name)} is for files of answers; a run is scored already")
        points += _of_file(Path(str(run)), metric, by, sample, seed) if is_file else [_of_run(run, metric, output_dir)]
    names = sorted({point.measure.name for point in points})
    if len(names) > 1:
        raise UsageError(f"the runs have several metrics: {', '.join(names)}", hint=f"name one: {option('metric')}")
    first, rest = points[0], points[1:] if target is None else points
    is_dated = all(point.created for point in rest)
    rest = sorted(rest, key=lambda point: point.created) if is_dated else rest
    if target is None and not all(point.run and rest for point in points):
        raise UsageError(
            f"there is no run on the same questions to compare {first.name} with",
            hint=f"name the mean that {names[0]} should have with {parameter('target')}",
        )
    limits = _limits(points, bounds, margin, target)
    looks = [
        _beside_run(point, first, level, margin)
        if target is None
        else _beside_target(point, limits, level_of_look(number, level), target, margin)
        for number, point in enumerate(rest, 1)
    ]
    n_clipped = sum(int(((point.scores < limits[0]) | (point.scores > limits[1])).sum()) for point in points)
    baseline = first.name if target is None else None
    return Watched(names[0], first.measure.direction, margin, level, baseline, target, n_clipped, is_dated, looks)


def _of_run(run: RunLike, metric: str | None, output_dir: str | Path) -> _Point:
    opened = find_run(run, output_dir)
    if not opened.measures:
        raise UsageError(f"{opened.name} has no metrics", hint="score it: `ragmeter evaluate` and `ask` do")
    name = first_of(list(opened.measures)) if metric is None else full_name(metric, opened.measures, opened.name)
    created, codes = opened.manifest().created or "", opened.clusters(opened.confidence)[1]
    return _Point(opened.name, created, opened.measure(name), opened.scores(name), codes, opened)


def _of_file(path: Path, metric: str | None, by: str | None, sample: int | None, seed: int) -> Iterator[_Point]:
    """The parts of a log, each scored offline, or with the numbers of one of its columns."""
    rows_by_value: dict[str, list[NewRow]] = {}
    lines: dict[str, int] = {}
    name = metric or _OF_LOGS
    for line, row in open_source(path).records():
        if by is not None and is_missing(row.get(by)):
            raise InputError(f"there is no {by}", file=str(path), line=line, hint=f"the row has {', '.join(row)}")
        try:
            numbers = {name: as_number(row[name])} if name in row else {}
        except ValueError:
            raise InputError(f"{name} is no number", file=str(path), line=line) from None
        value = "" if by is None else str(row[by])
        lines.setdefault(value, line)
        rows_by_value.setdefault(value, []).append({**row, **numbers})
    titles, is_dated = ({"": ""}, False) if by is None else _titles(lines, by, path)
    parts: dict[str, list[NewRow]] = {}
    for value, title in titles.items():
        parts.setdefault(title, []).extend(rows_by_value[value])
    for value, rows in parts.items():
        created = value if is_dated else ""
        drawn = rows if sample is None or sample >= len(rows) else random.Random(seed).sample(rows, sample)  # noqa: S311
        if name not in drawn[0]:
            scored = _of_run(evaluate(drawn, metrics=name).run, name, RUNS)
            yield replace(scored, name=value or path.name, created=created, run=None)
            continue
        scores = np.array([row.get(name) for row in drawn], dtype=np.float64)
        sessions = [row.get(_SESSION) for row in drawn]
        codes = cluster_codes(pa.array(map(str, sessions))) if all(sessions) else None
        way = "lower" if name.startswith(_LESS_IS_BETTER) else "none"
        measure = Measure(name, direction=way, bounds=(-math.inf, math.inf))
        yield _Point(value or path.name, created, measure, scores, codes)


def _titles(lines: Mapping[str, int], by: str, path: Path) -> tuple[dict[str, str], bool]:
    """The title of the look that each value belongs to, in order, and whether these are days.

    Days of times in ISO 8601 or in Unix seconds, numbers in their order, or else texts.
    """
    try:
        numbers = {value: float(value) for value in lines}
    except ValueError:
        days = {value: value[:_DAY] for value in lines if _is_time(value)}
        for value, line in lines.items():
            if value not in days and (days or _OTHER_DATE.fullmatch(value.strip())):
                raise InputError(
                    f"{by} is no date: {value}", file=str(path), line=line, hint="write all as 2026-01-31"
                ) from None
        return dict(sorted((days or {value: value for value in lines}).items())), bool(days)
    ordered = sorted(numbers, key=lambda value: numbers[value])
    if not all(_SECONDS <= number < _MILLISECONDS * 100 for number in numbers.values()):
        return {value: value for value in ordered}, False
    seconds = {value: numbers[value] / (1 if numbers[value] < _MILLISECONDS else 1000) for value in ordered}
    return {value: datetime.fromtimestamp(second, UTC).date().isoformat() for value, second in seconds.items()}, True


def _is_time(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _limits(points: Sequence[_Point], bounds: Interval | None, margin: float, target: float | None) -> Interval:
    """The bounds that were given, or else the metric's; an error where margin or mean don't fit them."""
    if bounds is not None and target is None:
        raise UsageError(f"{parameter('bounds')} needs {parameter('target')}")
    if bounds is not None and not bounds[0] < bounds[1]:
        raise UsageError(f"{parameter('bounds')} are two numbers, the lower one first")
    metric, (low, high) = points[0].measure.name, bounds or points[0].measure.bounds
    for point in points if bounds is None else ():
        low, high = limits_of((low, high), point.scores[~np.isnan(point.scores)])
    if not math.isfinite(high - low):
        raise UsageError(
            f"{metric} has no bounds, and an interval that holds at any time needs them",
            hint=f"name the least and greatest value that count: {parameter('bounds')}, beside {parameter('target')}",
        )
    if not 0 <= margin <= high - low:
        raise UsageError(f"{parameter('margin')} must be between 0 and {given(high - low)}, got {given(margin)}")
    if target is not None and not low <= target <= high:
        raise UsageError(f"{parameter('target')}: {metric} lies between {given(low)} and {given(high)}")
    return low, high


def _beside_run(point: _Point, baseline: _Point, level: float, margin: float) -> Look:
    """A run's difference from the baseline, as `compare()` has it."""
    assert point.run is not None and baseline.run is not None  # noqa: S101, PT018 - only runs are compared with a run
    level = level_of_look(len(earlier_looks(baseline.run, point.run, must_count=True)) + 1, level)
    how: dict[str, Any] = {
        "interval": ANYTIME,
        "level": level,
        "alpha": 1 - level,
        "slices": [],
        "better": 0,
        "worse": 0,
    }
    (pair,) = compare([baseline.run, point.run], metrics=[point.measure.name], **how)
    result = pair.metrics[point.measure.name]
    if pair.mostly_reworded or result.verdict == JUDGES_DIFFER:
        raise UsageError(result.sentence)
    beyond = _is_beyond(result.interval, point.measure, 0.0, margin)
    means = result.mean_b, result.difference
    required, missing = missing_questions(baseline.run, point.run, point.measure.name)
    lacking, n_total = len(missing) > MOST_FAILED * len(required), max(len(required), result.n)
    return Look(point.name, point.created, result.n, n_total, *means, result.interval, level, beyond, lacking)


def _beside_target(point: _Point, limits: Interval, level: float, target: float, margin: float) -> Look:
    """The mean of a run, or of a part of a log."""
    rows = np.flatnonzero(~np.isnan(point.scores))
    units = Clustered.of(np.clip(point.scores[rows], *limits), None if point.codes is None else point.codes[rows])
    interval, mean = anytime_interval(units, limits, level), units.mean if len(rows) else None
    beyond = _is_beyond(interval, point.measure, target, margin)
    return Look(point.name, point.created, len(rows), len(point.scores), mean, mean, interval, level, beyond)


def _is_beyond(interval: Interval | None, measure: Measure, centre: float, margin: float) -> bool:
    """Whether the whole interval is worse than the margin allows; without a direction, any way."""
    if interval is None:
        return False
    too_low, too_high = interval[1] < centre - margin, interval[0] > centre + margin
    return (too_low and measure.direction != "lower") or (too_high and measure.direction != "higher")
