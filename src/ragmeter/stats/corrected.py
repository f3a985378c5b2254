"""Estimates of people's verdict on all rows, from a judge's scores of all rows and people's labels of some.

Three estimates of the same number, the share of answers that people would call correct:

- the labels alone;
- prediction-powered inference, tuned (PPI++, Angelopoulos, Duchi and Zrnic 2023): the judge's mean over the unlabelled
  rows, plus the judge's mean error on the labelled rows. With labels from a simple random sample it equals the paper's
  reference implementation to the last digit. The labelled rows are part of the run; with the tuned weight the estimate
  is the same as the regression estimator over *all* rows, since the weight over the unlabelled rows is that over all
  times their share. Labels drawn with unequal probabilities use this second form: the unlabelled rows are not a fair
  sample then, but all rows together are;
- Rogan and Gladen (1978): the judge's rate, corrected by its sensitivity and specificity, with the interval of Lang
  and Reiczigel (2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ragmeter.stats.agreement import Estimate
from ragmeter.stats.design import Drawn, InClusters
from ragmeter.stats.distributions import t_quantile
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import Scores


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
    error = math.sqrt(weight**2 * float(judge_of_rest.var()) / n_rest + float(rectifier.var()) / n)
    margin = NormalDist().inv_cdf(0.5 + level / 2) * error
    estimate = Estimate(value, (value - margin, value + margin), n, error, "ppi++")
    return Powered(estimate, weight, float(people.std()) / math.sqrt(n))


def ppi_weighted(drawn: Drawn, people: Scores, judge: Scores, judge_of_all: Scores, level: float = 0.95) -> Powered:
    """The same for labels drawn with unequal probabilities; unbiased for any probabilities.

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
    n, error = int(scored.sum()), math.sqrt(variance)
    margin = t_quantile(0.5 + level / 2, max(1, n - len(np.unique(drawn.strata[scored])))) * error
    estimate = Estimate(value, (value - margin, value + margin), n, error, "ppi++, weighted")
    return Powered(estimate, weight, math.sqrt(drawn.variance(of_people)))


def ppi_clustered(
    drawn: InClusters, people: Scores, judge: Scores, judge_of_rows: Scores, level: float = 0.95
) -> Powered:
    """The same for labels of parts of rows, such as claims; `judge_of_rows` is the judge's mean of each row's parts.

    The clusters of `drawn` are the rows' places in `judge_of_rows`. The variance is that of the rows' influence on the
    estimate, so that parts of one row may depend on each other in any way.
    """
    mean_of_people, mean_of_judge, mean = drawn.mean(people), drawn.mean(judge), float(judge_of_rows.mean())
    rows = len(judge_of_rows)
    of_people = drawn.by_cluster(people - mean_of_people, rows)
    of_judge = drawn.by_cluster(judge - mean_of_judge, rows) - (judge_of_rows - mean) / rows
    spread = float(of_judge @ of_judge)
    weight = min(1.0, max(0.0, float(of_people @ of_judge) / spread)) if spread > 0 else 0.0
    value = mean_of_people - weight * (mean_of_judge - mean)
    influence = of_people - weight * of_judge
    error = math.sqrt(drawn.enlarged * float(influence @ influence))
    margin = t_quantile(0.5 + level / 2, max(1, drawn.n_clusters - 1)) * error
    estimate = Estimate(value, (value - margin, value + margin), len(people), error, "ppi++, clustered")
    return Powered(estimate, weight, math.sqrt(drawn.enlarged * float(of_people @ of_people)))


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
