"""Clusters of dependent rows: turns of a conversation, questions on one document. The effective n is smaller."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.stats.distributions import t_quantile
from ragmeter.stats.pseudo_rows import UNKNOWN, Ends, around_mean, size_of
from ragmeter.table import Scores

Codes = npt.NDArray[np.int64]


def cluster_codes(column: pa.Array) -> Codes:
    """The number of each row's cluster. A row without a value is a cluster of its own."""
    codes = pc.dictionary_encode(column).indices
    numbers: Codes = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = len(column) + np.arange(len(alone))
    return numbers


def joined(first: Codes, second: Codes) -> Codes:
    """The finest groups in which rows are together that share a cluster by either of two groupings."""
    (_, first), (_, second) = (np.unique(codes, return_inverse=True) for codes in (first, second))
    links = np.unique(np.column_stack([first, second]), axis=0)
    if len(links) == first.max(initial=-1) + 1 == second.max(initial=-1) + 1:  # the same groups
        return first
    parents = list(range(int(first.max()) + 1))  # of the groups by `first`

    def root(group: int) -> int:
        while parents[group] != group:
            parents[group] = group = parents[parents[group]]
        return group

    seen: dict[int, int] = {}
    for group, other in links.tolist():
        parents[root(group)] = root(seen.setdefault(other, group))
    roots = np.fromiter(map(root, range(len(parents))), dtype=np.int64)
    return roots[first]


def has_clusters(column: pa.Array) -> bool:
    """Whether any value occurs more than once."""
    return bool(pc.count_distinct(column, mode="only_valid").as_py() < len(column) - column.null_count)


@dataclass(frozen=True)
class Clustered:
    """Sums and counts by cluster, from which a mean and its interval are computed.

    `rows` are the values themselves, where these are in memory: whether they vary decides about pseudo-clusters.
    """

    sums: Scores
    counts: Scores
    rows: Scores | None = None

    @classmethod
    def of(cls, values: Scores, codes: Codes | None) -> Clustered:
        """Add up the values of each cluster; without codes each value is a cluster of its own."""
        if codes is None:
            return cls(values, np.ones(len(values)))
        _, places = np.unique(codes, return_inverse=True)
        sums = np.bincount(places, values).astype(np.float64)  # without values, bincount gives integers
        return cls(sums, np.bincount(places).astype(np.float64), values)

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

    @property
    def usual_size(self) -> float:
        """The number of rows that count as one: with equal clusters their size, else more (Kish)."""
        return float(self.counts @ self.counts) / self.n

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom of the standard error: C - 1 for equal clusters, else fewer."""
        shares = self.counts / self.n
        others = shares**2 / (1 - shares)
        return 1 / float(shares @ shares + others.sum() ** 2 - others @ others)

    def standard_error(self) -> float:
        """The standard error of the mean, robust to any dependence within clusters: Bell and McCaffrey's CR2.

        A cluster draws the mean towards itself, so its stray is enlarged by its share of the rows.
        """
        strays = (self.sums - self.counts * self.mean) / np.sqrt(1 - self.counts / self.n)
        return math.sqrt(float(strays @ strays)) / self.n

    def padded(self, size: float, limits: Ends) -> Clustered:
        """A copy with a pseudo-cluster at each end of the range, of this size in clusters."""
        if not size:
            return self
        rows = size * self.usual_size
        sums = np.concatenate([self.sums, [rows * limits[0], rows * limits[1]]])
        return Clustered(sums, np.concatenate([self.counts, [rows, rows]]))

    def pseudo_size(self, limits: Ends) -> float:
        """The size of a pseudo-cluster, by the heap of the rows and that of the clusters' means, whichever is smaller.

        The means of a few clusters may be close together by chance though all rows vary.
        """
        size = size_of(self.sums / self.counts, limits)
        return (
            size if self.rows is None or self.rows is self.sums or not size else min(size, size_of(self.rows, limits))
        )

    def interval(self, level: float, limits: Ends = UNKNOWN) -> Ends | None:
        """Student's interval, with pseudo-clusters if the range is known; None for fewer than two clusters."""
        if len(self) < 2:
            return None
        padded = self.padded(self.pseudo_size(limits), limits)
        error = max(self.standard_error(), padded.standard_error())
        return around_mean(self.mean, padded.mean, t_quantile(0.5 + level / 2, self.df) * error)
