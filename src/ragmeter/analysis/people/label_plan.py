"""How many labels people should give, and on which rows: from a run's judges, and from the labels there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from ragmeter.analysis.people.estimates import row_weights
from ragmeter.analysis.people.jury import jury_votes
from ragmeter.analysis.people.label_matches import match
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.sample import choose_sample
from ragmeter.analysis.people.verdicts import Answers, binary_metrics, read_columns, verdicts
from ragmeter.errors import UsageError
from ragmeter.runs.run import Run
from ragmeter.stats.labels import half_width_of, labels_for, labels_to_tell
from ragmeter.table import Scores
from ragmeter.wording.numbers import given

_HALF_WIDTHS, _DIFFERENCES = (0.1, 0.05, 0.03), (0.02, 0.05, 0.1)
#: From fewer labels nobody knows how a judge and people go together; so many are asked for next by default.
_FEWEST, _NEXT = 10, 100


class LabelsNeeded(NamedTuple):
    """The labels for an interval of this half width, with the judge's help and without; None: too few rows."""

    half_width: float
    with_judge: int | None
    alone: int | None


class JudgePair(NamedTuple):
    """The labels, all of rows on which two judges differ, that show such a difference in agreement with people.

    `rows` are how many such labels take, where as many of them differ as of this run's.
    """

    first: str
    second: str
    differing: float  # of the rows that both have judged
    n_differing: int
    needed: dict[float, int | None]
    rows: dict[float, int | None]


class Stratum(NamedTuple):
    """Rows that the judges see alike, or don't: how many there are, and how many to label."""

    name: str
    rows: int
    draw: int


@dataclass(frozen=True)
class LabelPlan:
    """How many labels, and which next. `correlation` is that of judge and people on the labels there are, if known."""

    run: str
    metric: str
    power: float
    alpha: float
    n_rows: int
    n_labels: int
    correlation: float | None
    needed: tuple[LabelsNeeded, ...]
    pairs: tuple[JudgePair, ...]
    n_next: int
    half_width_next: float
    strata: tuple[Stratum, ...]

    def as_dict(self) -> dict[str, Any]:
        """The plan as a dict for JSON."""
        lists = {name: [item._asdict() for item in getattr(self, name)] for name in ("needed", "pairs", "strata")}
        return {**asdict(self), **lists}


def plan_labels(
    run: Run,
    labels: Sequence[Any] = (),
    *,
    metric: str | None = None,
    half_widths: Sequence[float] = (),
    differences: Sequence[float] = (),
    n: int | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> LabelPlan:
    """Plan labels of a run's answers, for a metric of 0 and 1 that people's labels are to correct."""
    for wanted in (*half_widths, *differences):
        if not 0 < wanted < 1:
            raise UsageError(f"a half width and a difference are between 0 and 1, got {given(wanted)}")
    name, judge = verdicts(run, metric, None)
    labelled, n_labels, share, correlation = _pilot(run, labels, judge)
    rows, known = int((~np.isnan(judge)).sum()), correlation or 0.0
    needed = (
        LabelsNeeded(width, labels_for(width, share, known, rows), labels_for(width, share, 0.0, rows))
        for width in half_widths or _HALF_WIDTHS
    )
    judges = judges_of(run)
    by = "disagreement" if len(judges) > 1 else "random"
    sample = choose_sample(run, min(n or _NEXT, rows), by=by, leave_out=labelled)
    n_next = len(sample)
    drawn = Counter((row.stratum, row.stratum_rows) for row in sample)
    return LabelPlan(
        run.name, name, power, alpha, rows, n_labels, correlation, tuple(needed),
        tuple(_pairs(judges, differences or _DIFFERENCES, alpha, power)),
        n_next, half_width_of(max(1, n_labels + n_next), share, known, rows),
        tuple(Stratum(*stratum, count) for stratum, count in sorted(drawn.items())),
    )  # fmt: skip


def judges_of(run: Run) -> dict[str, Scores]:
    """What each judge of a run says of each row: the jurors, or the metrics of 0 and 1. NaN where it says nothing."""
    return jury_votes(run) or {name: run.scores(name) for name in binary_metrics(run)}


def _pilot(run: Run, labels: Sequence[Any], judge: Scores) -> tuple[list[int], int, float, float | None]:
    """The rows with a label, how many of these the judge has judged, the share of right answers, and the correlation.

    It is that of people and judge, if it is known.
    """
    mean = float(np.nanmean(judge))
    if not labels:
        return [], 0, mean, None
    matched = match(read_labels(list(labels)), read_columns(run, ["qid"])["qid"], Answers(run))
    labelled, by_judge = matched.places.tolist(), judge[matched.places]
    both = ~np.isnan(by_judge)
    weights, people, by_judge = row_weights(matched, len(judge))[both], matched.people[both], by_judge[both]
    if len(people) < _FEWEST:
        return labelled, len(people), mean, None
    spread = np.cov(people, by_judge, aweights=weights)
    scale = float(np.sqrt(spread[0, 0] * spread[1, 1]))
    correlation = max(0.0, float(spread[0, 1]) / scale) if scale > 0 else None
    return labelled, len(people), float(np.average(people, weights=weights)), correlation


def _pairs(judges: dict[str, Scores], differences: Sequence[float], alpha: float, power: float) -> list[JudgePair]:
    pairs = []
    for (a, first), (b, second) in combinations(judges.items(), 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        differing = float(np.mean(first[both] != second[both])) if both.any() else 0.0
        needed = {difference: labels_to_tell(difference, differing, alpha, power) for difference in differences}
        takes = {by: None if count is None else ceil(count / differing) for by, count in needed.items()}
        pairs.append(JudgePair(a, b, differing, round(differing * both.sum()), needed, takes))
    return pairs
