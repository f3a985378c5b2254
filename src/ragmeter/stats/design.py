"""Estimates and variances from rows that were drawn with known probabilities.

Every estimate here is a smooth function of weighted means. Its variance is that of its linearised values `u` (how much
one row changes the estimate), and has two parts: the run's rows are a sample of all possible questions, and the
labelled rows are a sample of the run's rows. Särndal, Swensson and Wretman, "Model Assisted Survey Sampling", 1992.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.stats.agreement import Estimate, around
from ragmeter.stats.intervals import wilson_at
from ragmeter.table import Scores


@dataclass(frozen=True)
class Drawn:
    """Labelled rows. `weights` has the number of the run's rows that each stands for, `strata` the stratum that it was
    drawn from, `fractions` the share of that stratum that was drawn. `rows` is the number of rows they stand for.
    """

    weights: Scores
    strata: npt.NDArray[np.intp]
    fractions: Scores
    rows: float

    @classmethod
    def stratified(cls, strata: npt.NDArray[np.intp], sizes: Scores) -> Drawn:
        """Drawn at random within strata of these sizes; every stratum has labelled rows."""
        drawn = np.bincount(strata, minlength=len(sizes))
        weights = (sizes / np.maximum(drawn, 1))[strata]
        return cls(weights, strata, 1 / np.maximum(weights, 1.0), float(sizes.sum()))

    @classmethod
    def weighted(cls, weights: Scores, rows: int) -> Drawn:
        """Drawn one by one, with probabilities in inverse proportion to the weights."""
        shares = weights / weights.max()  # first, so that the sum of huge weights can't overflow
        scaled = shares * (rows / shares.sum())
        return cls(scaled, np.zeros(len(weights), dtype=np.intp), 1 / np.maximum(scaled, 1.0), float(rows))

    def part(self, among: npt.NDArray[np.bool_]) -> Drawn:
        """The labelled rows in `among`, standing for their share of the rows."""
        rows = self.rows * self.mean(among.astype(np.float64))
        return Drawn(self.weights[among], self.strata[among], self.fractions[among], rows)

    def mean(self, values: Scores) -> float:
        """The weighted mean."""
        return float(self.weights @ values / self.weights.sum())

    def covariance(self, first: Scores, second: Scores) -> float:
        """The covariance of two weighted means due to the draw of the labelled rows, given their linearised values."""
        scale = self.weights / self.weights.sum()
        a, b = scale * first, scale * second
        counts = np.bincount(self.strata)
        alone = counts[self.strata] < 2  # a stratum of one row has no spread: use the distance from the overall mean
        per_row = np.maximum(counts, 1)
        mean_a = (np.bincount(self.strata, a) / per_row)[self.strata]
        mean_b = (np.bincount(self.strata, b) / per_row)[self.strata]
        enlarged = (counts / np.maximum(counts - 1, 1))[self.strata]
        products = np.where(alone, a * b, (a - mean_a) * (b - mean_b) * enlarged)
        return float(products @ (1 - self.fractions))

    def of_questions(self, linearised: Scores) -> float:
        """The variance that remains if every row is labelled, because the run's questions are a sample too."""
        n = len(linearised)
        return self.mean(linearised**2) * n / max(1, n - 1) / self.rows

    def variance(self, linearised: Scores) -> float:
        """The variance of an estimate with these linearised values."""
        return max(0.0, self.of_questions(linearised) + self.covariance(linearised, linearised))

    def unseen(self, *mistakes: npt.NDArray[np.bool_]) -> float:
        """The variance to add for strata in which no labelled row is a mistake, by any of these notions of a mistake.

        Their labels have no spread, which does not show that there are no mistakes: it is as if there were one more in
        two more rows (Laplace), as in the audit of a cascade.
        """
        without = np.zeros(len(self.weights), dtype=np.bool_)
        for flags in mistakes:
            without |= np.bincount(self.strata, flags)[self.strata] == 0
        n = int(without.sum())
        chance = 1 / (n + 2)
        shares = np.where(without, self.weights / self.weights.sum(), 0.0)
        return chance * (1 - chance) * float(shares**2 @ (1 - self.fractions))

    @property
    def freedom(self) -> int:
        """The degrees of freedom of a variance."""
        return max(1, len(self.weights) - len(np.unique(self.strata)))

    def share(self, hits: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_], level: float, *, of: str) -> Estimate:
        """The share of `hits` among the rows `among`, with Wilson's interval at the effective number of rows."""
        n = int(among.sum())
        if n == 0:
            return Estimate.none(f"there are no {of}")
        share = self.mean((hits & among).astype(np.float64)) / self.mean(among.astype(np.float64))
        share = min(1.0, max(0.0, share))
        part = self.part(among)
        variance = self.variance(among * (hits - share) / self.mean(among.astype(np.float64)))
        if 0 < share < 1:  # else the effective n is not from the spread
            variance += part.unseen(hits[among], ~hits[among])
        worth = self.worth(share, variance, among)
        interval = wilson_at(share, worth, part.freedom, level)
        return Estimate(share, interval, n, math.sqrt(variance), "wilson, at the design's effective n")

    def worth(self, share: float, variance: float, among: npt.NDArray[np.bool_]) -> int:
        """The effective n: the number of rows of a simple random sample with the same precision; at least 1."""
        weights = self.part(among).unit_weights
        kish = float(weights.sum() ** 2 / (weights**2).sum())
        spread = share * (1 - share)
        return max(1, int(spread / variance + 1e-9 if spread > 1e-12 and variance > 0 else kish + 1e-9))

    @property
    def unit_weights(self) -> Scores:
        """The weights of what is independent of each other: the rows."""
        return self.weights

    def worth_of(self, share: Estimate, among: npt.NDArray[np.bool_]) -> int:
        """The effective n of an estimate made by `share()`; 0 if it has no value."""
        if share.value is None or share.standard_error is None:
            return 0
        return self.worth(share.value, share.standard_error**2, among)

    def kappa(self, judge: Scores, people: Scores, level: float) -> Estimate:
        """Cohen's kappa of two columns of 0 and 1."""
        agree = (judge == people).astype(np.float64)
        agreed, p, q = self.mean(agree), self.mean(judge), self.mean(people)
        chance = p * q + (1 - p) * (1 - q)
        if chance >= 1 - 1e-15:
            return Estimate.none("everything has the same value, so agreement by chance is certain", len(judge))
        kappa = (agreed - chance) / (1 - chance)
        moved = (2 * q - 1) * (judge - p) + (2 * p - 1) * (people - q)
        linearised = (agree - agreed) / (1 - chance) + (agreed - 1) / (1 - chance) ** 2 * moved
        error = math.sqrt(self.variance(linearised))
        return Estimate(kappa, around(kappa, error, level), len(judge), error, "linearised")


@dataclass(frozen=True)
class InClusters(Drawn):
    """Labelled parts of clusters: claims of rows, or rows of conversations. `clusters` has the cluster of each.

    Parts of one cluster are not independent. The variance is the sandwich estimate: clusters are a sample of all that
    are possible, and so are their labelled parts. How the parts were drawn counts by their weights alone.
    """

    clusters: npt.NDArray[np.intp]

    @classmethod
    def of(cls, weights: Scores, clusters: npt.NDArray[np.intp]) -> InClusters:
        """Parts that were drawn at random from all parts of all rows, and count by these weights."""
        n = len(weights)
        return cls(weights, np.zeros(n, dtype=np.intp), np.zeros(n), float(weights.sum()), clusters)

    def part(self, among: npt.NDArray[np.bool_]) -> InClusters:
        """The labelled parts in `among`."""
        return InClusters.of(self.weights[among], self.clusters[among])

    def by_cluster(self, values: Scores, rows: int = 0) -> Scores:
        """How much each row moves the weighted mean, given linearised values; with zeros, for this many rows."""
        share = self.weights / self.weights.sum() * values
        return np.asarray(np.bincount(self.clusters, share, minlength=rows), dtype=np.float64)

    def covariance(self, first: Scores, second: Scores) -> float:
        """The covariance of two weighted means, given their linearised values."""
        return float(self.by_cluster(first) @ self.by_cluster(second)) * self.enlarged

    def of_questions(self, linearised: Scores) -> float:
        """The variance from drawing questions: 0 here, since it is part of the covariance."""
        return 0.0

    def unseen(self, *mistakes: npt.NDArray[np.bool_]) -> float:
        """The variance of mistakes that may be unseen, counted by clusters and not by rows."""
        if all(flags.any() for flags in mistakes):
            return 0.0
        chance = 1 / (self.n_clusters + 2)
        return chance * (1 - chance) * float(np.sum((self.unit_weights / self.weights.sum()) ** 2))

    @property
    def unit_weights(self) -> Scores:
        """The weights of the clusters."""
        return np.asarray(np.bincount(np.unique(self.clusters, return_inverse=True)[1], self.weights))

    @property
    def freedom(self) -> int:
        """The degrees of freedom of a variance."""
        return max(1, self.n_clusters - 1)

    @property
    def n_clusters(self) -> int:
        """The number of clusters with labels."""
        return len(np.unique(self.clusters))

    @property
    def enlarged(self) -> float:
        """The correction of a variance from so few clusters."""
        return self.n_clusters / max(1, self.n_clusters - 1)
