"""One metric's difference between two runs on some rows, measured alike for the whole and for a slice."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ragmeter.documents.record import Interval
from ragmeter.stats.anytime import anytime_p
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import ANYTIME, MCNEMAR, RANDOMISATION, Confidence
from ragmeter.stats.distributions import t_quantile, t_two_sided
from ragmeter.stats.intervals import difference_interval
from ragmeter.stats.paired_tests import least_p, paired_p
from ragmeter.table import Measure, Scores


@dataclass(frozen=True)
class Settings:
    """The settings of a comparison; `movers` are rows for each metric, `better` and `worse` rows by all together."""

    confidence: Confidence
    test: str
    alpha: float
    movers: int = 0
    better: int = 0
    worse: int = 0


@dataclass(frozen=True)
class PairedScores:
    """One metric's scores of two runs, row by row, NaN where there is none, and the clusters of the rows.

    `limits` is the range of a difference; a difference smaller than `margin` is small.
    """

    measure: Measure
    a: Scores
    b: Scores
    codes: Codes | None
    limits: Interval
    margin: float | None

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        """The rows that have a score in both runs, as flags."""
        return ~np.isnan(self.b - self.a)

    def part(self, selected: npt.NDArray[np.bool_]) -> PairedScores:
        """The scores of some rows."""
        codes = None if self.codes is None else self.codes[selected]
        return replace(self, a=self.a[selected], b=self.b[selected], codes=codes)


@dataclass(frozen=True)
class Difference:
    """The mean of the differences b - a, its interval, and the p-value of no difference.

    `shown_error` is the standard error that the interval's width stands for: half of it, divided by its quantile. With
    pseudo-rows it is more than `standard_error`. `p` is None for fewer than two rows or clusters, and where a test has
    no result; `least_p` is the smallest that the test can give of so few. `excludes_zero` says whether the interval at
    the level 1 - alpha excludes a difference of 0, as a p-value below alpha does.
    """

    n: int
    n_clusters: int | None
    mean: float | None
    standard_error: float | None
    shown_error: float | None
    interval: Interval | None
    interval_method: str
    test: str
    p: float | None
    least_p: float | None
    excludes_zero: bool


def difference_of(scores: PairedScores, settings: Settings, *, enough: int | None = None) -> Difference:
    """Measure and test a difference on rows that are scored in both runs; `enough` is that of `randomisation_p`."""
    differences, confidence, binary = scores.b - scores.a, settings.confidence, scores.measure.binary
    n = len(differences)
    units = Clustered.of(differences, scores.codes)
    testable = len(units) >= 2
    test = RANDOMISATION if settings.test == MCNEMAR and not binary else settings.test

    if confidence.method == ANYTIME:  # a test that is made once would disagree with such an interval
        test, p = ANYTIME, anytime_p(units, (-1.0, 1.0) if binary else scores.limits)
    else:
        p = paired_p(units, test, confidence.draws, confidence.seed, enough=enough) if testable else None

    interval, method = _interval(scores, confidence)
    of_test = interval
    if not math.isclose(confidence.level, 1 - settings.alpha):
        of_test, _ = _interval(scores, replace(confidence, level=1 - settings.alpha))
    error = units.standard_error() if testable else None
    return Difference(
        n=n,
        n_clusters=None if scores.codes is None else len(units),
        mean=float(differences.mean()) if n else None,
        standard_error=error,
        shown_error=None if error is None else max(error, _shown_error(interval, units.df, confidence.level)),
        interval=interval,
        interval_method=method,
        test=test,
        p=p,
        least_p=None if p is None else least_p(test, len(units)),
        excludes_zero=of_test is not None and (of_test[0] > 0 or of_test[1] < 0),
    )


def p_of_unequal(scores: PairedScores, selected: npt.NDArray[np.bool_], confidence: Confidence) -> float | None:
    """The p-value of the selected rows having the same mean difference as the others, by Welch's test.

    All rows are scored in both runs. The errors are those that intervals stand for, so that rows of which none moved
    are not taken for certain; and none is smaller than the spread of all rows makes it for so many rows: that of a few
    skewed differences is small by chance just where their mean strays. None where there are too few rows or clusters,
    or where nothing is known of how far they may move.
    """
    whole = _spread(scores, confidence)
    parts = [_spread(scores.part(rows), confidence) for rows in (selected, ~selected)]
    spreads = [spread for spread in parts if spread is not None]
    if whole is None or len(spreads) < 2:
        return None
    variances = [max(spread.error**2, whole.error**2 * whole.n / spread.n) for spread in spreads]
    if not sum(variances) > 0:
        return None
    degrees = [variance**2 / spread.df for variance, spread in zip(variances, spreads, strict=True)]
    distance = (spreads[0].mean - spreads[1].mean) / math.sqrt(sum(variances))
    return t_two_sided(distance, sum(variances) ** 2 / sum(degrees))


@dataclass(frozen=True)
class _Spread:
    """The mean difference of n rows, the standard error that its interval stands for, and its degrees of freedom."""

    n: float
    mean: float
    error: float
    df: float


def _spread(scores: PairedScores, confidence: Confidence) -> _Spread | None:
    units = Clustered.of(scores.b - scores.a, scores.codes)
    if len(units) < 2:
        return None
    interval, _ = _interval(scores, confidence)
    error = max(units.standard_error(), _shown_error(interval, units.df, confidence.level))
    return _Spread(units.n, units.mean, error, units.df)


def _interval(scores: PairedScores, confidence: Confidence) -> tuple[Interval | None, str]:
    return difference_interval(
        scores.a, scores.b, confidence, binary=scores.measure.binary, codes=scores.codes, limits=scores.limits
    )


def _shown_error(interval: Interval | None, df: float, level: float) -> float:
    """The standard error of which an interval of this width would be Student's."""
    return 0.0 if interval is None else (interval[1] - interval[0]) / 2 / t_quantile(0.5 + level / 2, df)
