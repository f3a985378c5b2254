"""Agreement between a judge and people, or among people."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ragmeter.documents.record import Interval
from ragmeter.errors import UsageError
from ragmeter.stats.intervals import wilson_interval, within
from ragmeter.table import Scores


@dataclass(frozen=True)
class Estimate:
    """A number with its interval and its n, or the reason why there is no number."""

    value: float | None
    interval: Interval | None
    n: int
    standard_error: float | None = None
    method: str = ""
    undefined: str | None = None

    @classmethod
    def none(cls, reason: str, n: int = 0) -> Estimate:
        """An estimate without a value, for this reason."""
        return cls(None, None, n, undefined=reason)

    def complement(self) -> Estimate:
        """The estimate of one minus this share."""
        if self.value is None:
            return self
        ends = None if self.interval is None else (1 - self.interval[1], 1 - self.interval[0])
        return replace(self, value=1 - self.value, interval=ends)


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha with its numbers of units, values and raters, or the reason why it is undefined."""

    value: float | None
    n_units: int
    n_values: int
    n_raters: int
    undefined: str | None = None


def rate(successes: int, n: int, level: float = 0.95, *, of: str = "rows") -> Estimate:
    """A share with Wilson's interval. `of` names the rows, for the reason if there are none."""
    if n == 0:
        return Estimate.none(f"there are no {of}")
    share = successes / n
    error = math.sqrt(share * (1 - share) / n)
    return Estimate(share, wilson_interval(successes, n, level), n, error, "wilson")


def sensitivity_specificity(judge: Scores, people: Scores, level: float = 0.95) -> tuple[Estimate, Estimate]:
    """The share of the answers called correct by people that the judge calls correct, and the same for wrong."""
    correct = people == 1
    return (
        rate(int((judge[correct] == 1).sum()), int(correct.sum()), level, of="answers that people call correct"),
        rate(int((judge[~correct] == 0).sum()), int((~correct).sum()), level, of="answers that people call wrong"),
    )


def confusion(first: Scores, second: Scores) -> npt.NDArray[np.float64]:
    """How often each pair of values occurs: a row for each value of the first column, in ascending order."""
    values = np.union1d(first, second)
    table = np.zeros((len(values), len(values)))
    np.add.at(table, (np.searchsorted(values, first), np.searchsorted(values, second)), 1)
    return table


def cohens_kappa(table: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Agreement beyond chance of two raters, from the table of their pairs, with its asymptotic standard error.

    Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa", 1969.
    """
    counts = np.asarray(table, dtype=np.float64)
    n = float(counts.sum())
    if n == 0:
        return Estimate.none("nothing was rated twice")
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agreed, chance = float(np.trace(p)), float(rows @ columns)
    if chance >= 1 - 1e-15:
        return Estimate.none("everything has the same value, so agreement by chance is certain", int(n))
    kappa = (agreed - chance) / (1 - chance)
    diagonal = np.diag(p)
    same = float(np.sum(diagonal * (1 - (rows + columns) * (1 - kappa)) ** 2))
    apart = float(np.sum(p * (columns[:, None] + rows[None, :]) ** 2))
    apart -= float(np.sum(diagonal * (columns + rows) ** 2))
    variance = (same + (1 - kappa) ** 2 * apart - (kappa - chance * (1 - kappa)) ** 2) / ((1 - chance) ** 2 * n)
    error = math.sqrt(max(0.0, variance))
    return Estimate(kappa, around(kappa, error, level), int(n), error, "asymptotic")


def around(kappa: float, error: float, level: float) -> Interval | None:
    """Kappa's interval; None if the standard error is 0, as for perfect agreement: its width would be 0 too."""
    margin = NormalDist().inv_cdf(0.5 + level / 2) * error
    return within((kappa - margin, kappa + margin), (-1.0, 1.0)) if error > 1e-6 else None


def pairwise_agreement(ratings: Scores) -> tuple[float | None, int]:
    """The share of pairs of raters that agree on a unit, over all units, and the number of pairs. NaN is missing."""
    counts, _ = _counts(ratings)
    per_unit = counts.sum(axis=1)
    pairs = float((per_unit * (per_unit - 1)).sum()) / 2
    agreed = float((counts * (counts - 1)).sum()) / 2
    return (agreed / pairs if pairs else None), int(pairs)


_Distance = Callable[[Scores, Scores], npt.NDArray[np.float64]]


def _nominal(values: Scores, _: Scores) -> npt.NDArray[np.float64]:
    return np.asarray(values[:, None] != values[None, :], dtype=np.float64)


def _ordinal(_: Scores, totals: Scores) -> npt.NDArray[np.float64]:
    """The number of ratings between two values, with half of each value's own, squared."""
    up_to = np.cumsum(totals) - totals / 2
    return np.asarray((up_to[:, None] - up_to[None, :]) ** 2)


def _interval(values: Scores, _: Scores) -> npt.NDArray[np.float64]:
    return np.asarray((values[:, None] - values[None, :]) ** 2)


def _ratio(values: Scores, _: Scores) -> npt.NDArray[np.float64]:
    total = values[:, None] + values[None, :]
    apart = values[:, None] - values[None, :]
    return np.asarray(np.divide(apart, total, out=np.zeros_like(total), where=total != 0) ** 2)


DISTANCES: dict[str, _Distance] = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}


def krippendorff_alpha(ratings: npt.ArrayLike, measurement: str = "nominal") -> Alpha:
    """Krippendorff's alpha of a table with a line for each rater and a column for each unit; NaN is missing.

    A unit with only one rating says nothing about agreement, and is left out.
    """
    distance = DISTANCES.get(measurement)
    if distance is None:
        raise UsageError(f"unknown level of measurement {measurement!r}", hint=f"choose from {', '.join(DISTANCES)}")
    table = np.asarray(ratings, dtype=np.float64)
    counts, values = _counts(table)
    counts = counts[counts.sum(axis=1) > 1]
    per_unit = counts.sum(axis=1)
    raters = int((~np.isnan(table)).any(axis=1).sum())
    n = float(per_unit.sum())
    if n == 0:
        return Alpha(None, 0, 0, raters, "no unit was rated by two people")
    shares = counts / (per_unit - 1)[:, None]
    coincidences = counts.T @ shares - np.diag(shares.sum(axis=0))
    totals = coincidences.sum(axis=0)
    apart = distance(values, totals)
    expected = float(totals @ apart @ totals)
    counted = (len(counts), int(n), raters)
    if expected == 0:
        return Alpha(None, *counted, "all ratings have the same value, so alpha is undefined")
    return Alpha(1 - (n - 1) * float((coincidences * apart).sum()) / expected, *counted)


def _counts(ratings: Scores) -> tuple[Scores, Scores]:
    """How often each unit got each value, and the values."""
    is_rated = ~np.isnan(ratings)
    values = np.unique(ratings[is_rated])
    counts = np.stack([(ratings == value).sum(axis=0) for value in values], axis=1) if len(values) else None
    return (np.zeros((ratings.shape[1], 0)) if counts is None else counts.astype(np.float64)), values
