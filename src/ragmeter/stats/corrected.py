"""What people would say of all rows, from what a judge says of all and people of some.

Three estimates of one number, the share of answers that people would call correct:

- the labels alone;
- prediction-powered inference, tuned (PPI++, Angelopoulos, Duchi and Zrnic 2023): the judge's mean over the rows that
  nobody labelled, plus what the labelled rows say that the judge is off by. With labels from a simple random sample
  it is that paper's, to the last digit of its reference implementation. The labelled rows are part of the run; with
  the tuned weight the estimate is the same as the regression estimator over *all* rows, since the weight over the
  rest is that over all times the rest's share. This is the form that labels drawn with unequal probabilities have
  here: the rest is no fair sample then, but all rows together still are;
- Rogan and Gladen (1978): the judge's rate, undone by its sensitivity and specificity, with the interval of Lang and
  Reiczigel (2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ragmeter.stats.agreement import Estimate
from ragmeter.stats.design import Drawn
from ragmeter.stats.distributions import t_quantile
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import Scores


@dataclass(frozen=True)
class Powered:
    """A prediction-powered estimate, the weight that the judge got in it, and what labels alone come to."""

    estimate: Estimate
    weight: float
    labels_error: float

    @property
    def effective_labels(self) -> float | None:
        """How many labels alone would have told as much; None where the interval has no width."""
        error = self.estimate.standard_error
        return self.estimate.n * (self.labels_error / error) ** 2 if error else None


def ppi_mean(
    people: Scores, judge: Scores, judge_of_rest: Scores, level: float = 0.95, weight: float | None = None
) -> Powered:
    """PPI++ for a mean: labels of a simple random sample, the judge's scores of the same rows, and of the rest.

    `weight` is the method's lambda: 0 leaves the judge out, 1 trusts it as it is, None takes the best.
    """
    n, rest = len(people), len(judge_of_rest)
    if weight is None:
        both = np.concatenate([judge, judge_of_rest])
        spread = float(both.var(ddof=1)) if len(both) > 1 else 0.0
        together = float(np.mean((people - people.mean()) * (judge - judge.mean())))
        weight = min(1.0, max(0.0, together / ((1 + n / rest) * spread))) if spread > 0 else 0.0
    rectifier = people - weight * judge
    value = weight * float(judge_of_rest.mean()) + float(rectifier.mean())
    error = math.sqrt(weight**2 * float(judge_of_rest.var()) / rest + float(rectifier.var()) / n)
    margin = NormalDist().inv_cdf(0.5 + level / 2) * error
    found = Estimate(value, (value - margin, value + margin), n, error, "ppi++")
    return Powered(found, weight, float(people.std()) / math.sqrt(n))


def ppi_weighted(drawn: Drawn, people: Scores, judge: Scores, judge_of_all: Scores, level: float = 0.95) -> Powered:
    """The same for labels that were drawn with unequal probabilities: unbiased, whatever they were.

    Rows that the judge could not score have NaN in `judge`, and are no part of what is estimated.
    """
    scored = ~np.isnan(judge)
    known = np.where(scored, judge, 0.0)
    among = drawn.mean(scored.astype(np.float64))
    means = [drawn.mean(values * scored) / among for values in (people, known)]
    of_people, of_judge = (
        scored * (values - mean) / among for values, mean in zip((people, known), means, strict=True)
    )
    spread = drawn.covariance(of_judge, of_judge)
    weight = min(1.0, max(0.0, drawn.covariance(of_people, of_judge) / spread)) if spread > 0 else 0.0
    value = means[0] - weight * (means[1] - float(judge_of_all.mean()))
    rectifier = of_people - weight * of_judge
    variance = drawn.of_questions(of_people) + max(0.0, drawn.covariance(rectifier, rectifier))
    n, error = int(scored.sum()), math.sqrt(variance)
    margin = t_quantile(0.5 + level / 2, max(1, n - len(np.unique(drawn.strata[scored])))) * error
    found = Estimate(value, (value - margin, value + margin), n, error, "ppi++, weighted")
    return Powered(found, weight, math.sqrt(drawn.variance(of_people)))


def rogan_gladen(
    judged: float, n: int, sensitivity: Estimate, specificity: Estimate, level: float = 0.95, *, worth: tuple[int, int]
) -> Estimate:
    """The rate that lies behind a judge's, given how often it is right about either kind; cut to 0..1.

    `judged` is the judge's rate over n rows, and `worth` the number of labels that stand behind either error rate.
    """
    for each, kind in ((sensitivity, "correct"), (specificity, "wrong")):
        if each.value is None:
            return Estimate.none(f"no labelled answer is {kind}, so the judge's errors on such answers are not known")
    assert sensitivity.value is not None  # noqa: S101 - seen above
    assert specificity.value is not None  # noqa: S101
    better = sensitivity.value + specificity.value - 1
    if better <= 0:
        return Estimate.none(
            "the judge does no better than chance: its sensitivity and specificity add up to 1 or less"
        )
    value = min(1.0, max(0.0, (judged + specificity.value - 1) / better))
    # Lang and Reiczigel's: each rate is moved towards the middle before the delta method is applied.
    z = NormalDist().inv_cdf(0.5 + level / 2)
    trials, right, left = n + z * z, worth[0] + 2, worth[1] + 2
    rate = (n * judged + z * z / 2) / trials
    sens = (worth[0] * sensitivity.value + 1) / right
    spec = (worth[1] * specificity.value + 1) / left
    if sens + spec <= 1:
        return Estimate.none("there are too few labels to tell the judge from chance")
    centre = (rate + spec - 1) / (sens + spec - 1)
    missed, passed = sens * (1 - sens) / right, spec * (1 - spec) / left
    shift = 2 * z * z * (centre * missed - (1 - centre) * passed)
    variance = rate * (1 - rate) / trials + centre**2 * missed + (1 - centre) ** 2 * passed
    error = math.sqrt(variance) / (sens + spec - 1)
    low, high = centre + shift - z * error, centre + shift + z * error
    return Estimate(value, (_cut(low), _cut(high)), n, error, "rogan-gladen, lang-reiczigel")


def labels_alone(drawn: Drawn | None, people: Scores, level: float = 0.95) -> Estimate:
    """The share that people call correct, from the labels and nothing else."""
    everything = np.ones(len(people), dtype=np.bool_)
    if drawn is not None:
        return drawn.share(people == 1, everything, level, of="labels")
    n, share = len(people), float(people.mean())
    interval = wilson_interval(float(people.sum()), n, level)
    return Estimate(share, interval, n, float(people.std()) / math.sqrt(n), "wilson")


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))
