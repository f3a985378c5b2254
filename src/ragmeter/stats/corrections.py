"""Estimates of people's verdict on all rows, from a judge's scores of all rows and people's labels of some.

Three estimates of the same number, the share of answers that people would call correct:

- the labels alone;
- prediction-powered inference, tuned (PPI++, Angelopoulos, Duchi and Zrnic 2023): the judge's mean over the unlabelled
  rows, plus the judge's mean error on the labelled rows. With labels from a simple random sample, value and standard
  error equal those of the paper's reference implementation to the last digit. The labelled rows are part of the run;
  with the tuned weight the estimate is the same as the regression estimator over *all* rows, since the weight over the
  unlabelled rows is that over all times their share. Labels drawn with unequal probabilities use this second form: the
  unlabelled rows are not a fair sample then, but all rows together are. Its interval is no normal one, which holds too
  little near 0 and 1, but Wilson's at the effective number of labels;
- Rogan and Gladen (1978): the judge's rate, corrected by its sensitivity and specificity, with the interval of Lang
  and Reiczigel (2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ragmeter.stats.agreement import Estimate
from ragmeter.stats.design import Drawn, InClusters
from ragmeter.stats.intervals import wilson_at, wilson_interval
from ragmeter.table import Scores

#: The most of the judge's spread that one cluster is taken to make up.
_MOST_LEVERAGE = 0.5


@dataclass(frozen=True)
class Powered:
    """A prediction-powered estimate, the judge's weight in it, and the standard error of the labels alone."""

    estimate: Estimate
    weight: float
    labels_error: float

    @property
    def effective_labels(self) -> float | None:
        """The number of labels that would be as precise without a judge; None where the standard error is 0."""
        error = self.estimate.standard_error
        return self.estimate.n * (self.labels_error / error) ** 2 if error else None


def ppi_mean(
    people: Scores, judge: Scores, judge_of_rest: Scores, level: float = 0.95, weight: float | None = None
) -> Powered:
    """PPI++ for a mean: labels of a simple random sample, the judge's scores of the same rows, and of the others.

    `weight` is the method's lambda: 0 ignores the judge, 1 is plain PPI, None chooses the best.
    """
    n, n_rest = len(people), len(judge_of_rest)
    if weight is None:
        judge_of_all = np.concatenate([judge, judge_of_rest])
        spread = float(judge_of_all.var(ddof=1)) if len(judge_of_all) > 1 else 0.0
        together = float(np.mean((people - people.mean()) * (judge - judge.mean())))
        weight = min(1.0, max(0.0, together / ((1 + n / n_rest) * spread))) if spread > 0 else 0.0
    rectifier = people - weight * judge
    value = weight * float(judge_of_rest.mean()) + float(rectifier.mean())
    drawn = Drawn.stratified(np.zeros(n, dtype=np.intp), np.array([float(n + n_rest)]))
    error = math.sqrt(weight**2 * float(judge_of_rest.var()) / n_rest + float(rectifier.var()) / n)
    labels_error = float(people.std()) / math.sqrt(n)
    return Powered(_estimate("ppi++", value, error, drawn, people, judge, level), weight, labels_error)


def _estimate(
    method: str, value: float, error: float, drawn: Drawn, people: Scores, judge: Scores, level: float
) -> Estimate:
    """The estimate with Wilson's interval at the effective number of labels: whose share would vary as much.

    Strata in which the labels follow from the judge's verdicts, or are all the same, have no spread: the variance of
    what may be unseen there is added.
    """
    n, differ = len(people), people != judge
    error = math.sqrt(error**2 + drawn.unseen(differ, ~differ, people == 1, people == 0))
    clipped = min(1.0, max(0.0, value))
    rate = min(max(clipped, 1 / (n + 2)), 1 - 1 / (n + 2))  # at 0 and 1 there is no spread
    worth = rate * (1 - rate) / error**2 if error else float(n)
    return Estimate(value, wilson_at(clipped, worth, drawn.freedom, level), n, error, method)


def ppi_weighted(drawn: Drawn, people: Scores, judge: Scores, judge_of_all: Scores, level: float = 0.95) -> Powered:
    """The PPI++ estimate for labels drawn with unequal probabilities; unbiased for any probabilities.

    Rows that the judge could not score have NaN in `judge`, and are left out of the estimate.
    """
    scored = ~np.isnan(judge)
    judge_or_zero = np.where(scored, judge, 0.0)
    among = drawn.mean(scored.astype(np.float64))
    means = [drawn.mean(values * scored) / among for values in (people, judge_or_zero)]
    of_people, of_judge = (
        scored * (values - mean) / among for values, mean in zip((people, judge_or_zero), means, strict=True)
    )
    spread = drawn.covariance(of_judge, of_judge)
    weight = min(1.0, max(0.0, drawn.covariance(of_people, of_judge) / spread)) if spread > 0 else 0.0
    value = means[0] - weight * (means[1] - float(judge_of_all.mean()))
    rectifier = of_people - weight * of_judge
    variance = drawn.of_questions(of_people) + max(0.0, drawn.covariance(rectifier, rectifier))
    labels_error = math.sqrt(drawn.variance(of_people))
    sides = drawn.part(scored), people[scored], judge[scored]
    return Powered(_estimate("ppi++, weighted", value, math.sqrt(variance), *sides, level), weight, labels_error)


def ppi_clustered(
    drawn: InClusters,
    people: Scores,
    judge: Scores,
    judge_of_rows: Scores,
    level: float = 0.95,
    clusters: npt.NDArray[np.intp] | None = None,
) -> Powered:
    """The PPI++ estimate for dependent labels: of claims of the same rows, or of rows of the same conversations.

    `judge_of_rows` has the judge's score of each of the run's rows, of claims the mean of the row's, and `clusters` the
    cluster of each, numbered as in `drawn`; by default each row is one. The variance is that of the clusters' influence
    on the estimate, so that what is in one cluster may depend on each other in any way.
    """
    rows = len(judge_of_rows)
    codes = np.arange(rows) if clusters is None else clusters
    count = int(codes.max()) + 1
    mean_of_people, mean_of_judge, mean = drawn.mean(people), drawn.mean(judge), float(judge_of_rows.mean())
    of_people = drawn.by_cluster(people - mean_of_people, count)
    of_judge = drawn.by_cluster(judge - mean_of_judge, count)
    of_judge -= np.bincount(codes, judge_of_rows - mean, minlength=count) / rows
    spread = float(of_judge @ of_judge)
    weight = min(1.0, max(0.0, float(of_people @ of_judge) / spread)) if spread > 0 else 0.0
    value = mean_of_people - weight * (mean_of_judge - mean)
    influence = of_people - weight * of_judge
    if spread > 0:  # the weight follows what few clusters say where the judge differs, so that they seem to err less
        influence /= 1 - np.minimum(_MOST_LEVERAGE, of_judge**2 / spread)  # as a jackknife finds
    error = math.sqrt(drawn.enlarged * float(influence @ influence))
    labels_error = math.sqrt(drawn.enlarged * float(of_people @ of_people))
    return Powered(_estimate("ppi++, clustered", value, error, drawn, people, judge, level), weight, labels_error)


def rogan_gladen(
    judged: float, n: int, sensitivity: Estimate, specificity: Estimate, level: float = 0.95, *, worth: tuple[int, int]
) -> Estimate:
    """The true rate, from a judge's rate and its sensitivity and specificity; clipped to 0..1.

    `judged` is the judge's rate over n rows, and `worth` the effective number of labels behind each of the two.
    """
    for estimate, verdict in ((sensitivity, "correct"), (specificity, "wrong")):
        if estimate.value is None:
            return Estimate.none(
                f"no labelled answer is {verdict}, so the judge's errors on such answers are not known"
            )
    assert sensitivity.value is not None  # noqa: S101 - checked above
    assert specificity.value is not None  # noqa: S101
    better = sensitivity.value + specificity.value - 1
    if better <= 0:
        return Estimate.none(
            "the judge does no better than chance: its sensitivity and specificity add up to 1 or less"
        )
    value = min(1.0, max(0.0, (judged + specificity.value - 1) / better))
    # Lang and Reiczigel: each rate is shrunk towards one half before the delta method is applied.
    z = NormalDist().inv_cdf(0.5 + level / 2)
    trials, n_correct, n_wrong = n + z * z, worth[0] + 2, worth[1] + 2
    rate = (n * judged + z * z / 2) / trials
    sens = (worth[0] * sensitivity.value + 1) / n_correct
    spec = (worth[1] * specificity.value + 1) / n_wrong
    if sens + spec <= 1:
        return Estimate.none("there are too few labels to tell the judge from chance")
    centre = (rate + spec - 1) / (sens + spec - 1)
    missed, passed = sens * (1 - sens) / n_correct, spec * (1 - spec) / n_wrong
    shift = 2 * z * z * (centre * missed - (1 - centre) * passed)
    variance = rate * (1 - rate) / trials + centre**2 * missed + (1 - centre) ** 2 * passed
    error = math.sqrt(variance) / (sens + spec - 1)
    low, high = centre + shift - z * error, centre + shift + z * error
    return Estimate(value, (_cut(low), _cut(high)), n, error, "rogan-gladen, lang-reiczigel")


def labels_alone(drawn: Drawn | None, people: Scores, level: float = 0.95) -> Estimate:
    """The share that people call correct, from the labels alone."""
    everything = np.ones(len(people), dtype=np.bool_)
    if drawn is not None:
        return drawn.share(people == 1, everything, level, of="labels")
    n, share = len(people), float(people.mean())
    interval = wilson_interval(float(people.sum()), n, level)
    return Estimate(share, interval, n, float(people.std()) / math.sqrt(n), "wilson")


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))
