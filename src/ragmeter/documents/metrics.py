"""What a summary says of scores: each metric's figures, and how their intervals were made."""

from __future__ import annotations

import math
from typing import Annotated

from ragmeter.documents.record import UNSET, Count, Interval, Mean, Meta, Record, Share, UnsetType
from ragmeter.table import OUTCOMES_WITHOUT_VERDICT, TIED

AUTO = "auto"
#: How an interval can be made.
METHODS = (AUTO, "t", "wilson", "bootstrap", "bca", "anytime")
#: With fewer draws, an interval or a p-value is too noisy; more would not end in a day.
FEWEST_DRAWS, MOST_DRAWS = 999, 100_000_000

#: With fewer values, the coverage of an interval may be below its level; a warning is shown.
FEW_ROWS = 30

#: Which scores are better.
Direction = Annotated[str, Meta(pattern="^(higher|lower|none)$")]
Method = Annotated[str, Meta(pattern=f"^({'|'.join(METHODS)})$")]
Seed = Annotated[int, Meta(ge=0, le=2**53)]
Draws = Annotated[int, Meta(ge=FEWEST_DRAWS, le=MOST_DRAWS)]


def is_few(n: int, clusters: int | None) -> bool:
    """Whether there are too few rows, or clusters of rows, for an interval to reach its level."""
    return (n if clusters is None else clusters) < FEW_ROWS


#: Values that differ by less than this share of their size differ by rounding.
_ROUNDING = 1e-9
#: With a greater share of ties, the rows that are decided are the clear cases.
_MANY_TIES = 0.1


def _is_between(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether a value lies between two ends but for rounding; None: there is none of it."""
    if value is None:
        return True
    slack = _ROUNDING * max(1.0, *(abs(end) for end in (value, low, high) if end is not None))
    return (low is None or value >= low - slack) and (high is None or value <= high + slack)


def _ends(low: float | None, high: float | None) -> str:
    return f"{'…' if low is None else low} to {'…' if high is None else high}"


class MetricSummary(Record, frozen=True):
    """The summary of one metric's scores. Everything but the counts is None where nothing was scored."""

    mean: Mean
    sd: Mean  # None for a single score, too
    min: Mean
    max: Mean
    median: Mean
    interval: Interval | None
    interval_method: str  # the one that was used, such as wilson_clustered
    direction: Direction
    range: tuple[float | None, float | None]  # of the metric; None for an end that is infinite
    n_total: Count
    n_scored: Count
    n_not_scored: dict[str, Count]  # by cause
    level: Share = 0.95  # the interval's
    n_clusters: Count | None = None  # of the rows with a score; None where rows are independent
    binary: bool = False  # all scores are 0 or 1

    def __post_init__(self) -> None:
        if self.n_scored > self.n_total:
            raise ValueError(f"{self.n_scored} rows are scored, of {self.n_total}")
        if (self.mean is None) != (self.n_scored == 0):
            raise ValueError(f"the mean does not agree with {self.n_scored} scored rows")
        for what, (low, high) in (("interval", self.interval or (None, None)), ("range", self.range)):
            if low is not None and high is not None and low > high:
                raise ValueError(f"the {what} ends before it begins")
        self._check_values()

    def _check_values(self) -> None:
        """Refuse what no scores can have: a value outside of the range or the interval, or of the least and greatest.

        A bootstrap's interval alone need not have the mean in it: with few draws or a low level it is that of others.
        """
        low, high = self.interval or (None, None)
        values = {"mean": self.mean, "min": self.min, "max": self.max, "median": self.median}
        for name, value in {**values, "interval[0]": low, "interval[1]": high}.items():
            if not _is_between(value, *self.range):
                raise ValueError(f"its {name} {value} is outside of the range {_ends(*self.range)}")
        for name in ("mean", "median"):
            if not _is_between(values[name], self.min, self.max):
                raise ValueError(f"its {name} {values[name]} is outside of min and max, {_ends(self.min, self.max)}")
        if not self.interval_method.startswith(("bootstrap", "bca")) and not _is_between(self.mean, low, high):
            raise ValueError(f"its mean {self.mean} is outside of the interval {_ends(low, high)}")

    @property
    def bounds(self) -> Interval:
        """The metric's range, with infinity for an end that there is not."""
        low, high = self.range
        return -math.inf if low is None else low, math.inf if high is None else high

    @property
    def is_few(self) -> bool:
        """Whether there are too few scores for the interval to reach its level."""
        return is_few(self.n_scored, self.n_clusters)

    @property
    def has_many_ties(self) -> bool:
        """Whether more than one row of ten has a tied verdict."""
        tied = self.n_not_scored.get(TIED, 0)
        return tied > _MANY_TIES * (self.n_scored + tied)

    @property
    def bounds_of_mean(self) -> Interval | None:
        """The bounds of the mean where most rows that were to be scored have no verdict, or many are tied.

        The rows with a score are no sample of the others then: of a judge that could not be read, they are the exact
        matches, which nobody was asked about; of a tie, the clear cases. None where most have a score and few are tied,
        and where the metric has no range.
        """
        missing = sum(count for cause, count in self.n_not_scored.items() if cause in OUTCOMES_WITHOUT_VERDICT)
        n, mean = self.n_scored, self.mean
        low, high = self.range
        if (missing <= n and not self.has_many_ties) or mean is None or low is None or high is None:
            return None
        low, high = ((n * mean + missing * end) / (n + missing) for end in (low, high))
        return low, high


class Percentiles(Record, frozen=True):
    """The number of values of a column that is no metric, such as latency, with their mean and percentiles."""

    n: Count
    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class Statistics(Record, frozen=True):
    """How a run's intervals were made."""

    method: Method = AUTO
    cluster: str | None = AUTO  # the column whose values are the clusters; None where rows are independent
    level: Share = 0.95
    seed: Seed | UnsetType = UNSET  # where the method draws, as `draws`
    draws: Draws | UnsetType = UNSET
