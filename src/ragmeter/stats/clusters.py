"""Clusters of dependent rows: turns of a conversation, questions on one document. The effective n is smaller."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.stats.distributions import t_quantile
from ragmeter.table import Scores

Codes = npt.NDArray[np.int64]


def cluster_codes(column: pa.Array) -> Codes:
    """For each row the number of its cluster. A row without a value is a cluster of its own."""
    codes = pc.dictionary_encode(column).indices
    numbers: Codes = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = len(column) + np.arange(len(alone))
    return numbers


def has_clusters(column: pa.Array) -> bool:
    """Whether any value occurs more than once."""
    return bool(pc.count_distinct(column, mode="only_valid").as_py() < len(column) - column.null_count)


@dataclass(frozen=True)
class Clustered:
    """Sums and counts by cluster, from which a mean and its interval are computed."""

    sums: Scores
    counts: Scores

    @classmethod
    def of(cls, values: Scores, codes: Codes | None) -> Clustered:
        """Add up the values of each cluster; without codes each value is a cluster of its own."""
        if codes is None:
            return cls(values, np.ones(len(values)))
        _, places = np.unique(codes, return_inverse=True)
        sums = np.bincount(places, values).astype(np.float64)  # without values, bincount gives integers
        return cls(sums, np.bincount(places).astype(np.float64))

    def __len__(self) -> int:
        return len(self.sums)

    @property
    def n(self) -> float:
        """The number of rows."""
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean of the rows, not of the clusters' means."""
        return float(self.sums.sum() / self.n)

    def standard_error(self) -> float:
        """Of the mean, robust to any dependence within clusters, with the correction C / (C - 1)."""
        number = len(self)
        strays = self.sums - self.counts * self.mean
        return math.sqrt(number / (number - 1) * float(strays @ strays)) / self.n

    def interval(self, level: float) -> tuple[float, float] | None:
        """Student's interval with C - 1 degrees of freedom; None for fewer than two clusters."""
        if len(self) < 2:
            return None
        margin = t_quantile(0.5 + level / 2, len(self) - 1) * self.standard_error()
        return self.mean - margin, self.mean + margin
