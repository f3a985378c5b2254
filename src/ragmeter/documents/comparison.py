"""The verdicts of a comparison; and one that was kept beside the last of its runs, for the report."""

from __future__ import annotations

from typing import Any

from ragmeter.documents.metrics import Draws, Seed
from ragmeter.documents.record import Count, Mean, Record, Share

#: The verdicts. `different` is for metrics without a direction, where neither higher nor lower is better; a small
#: difference is significant and below the margin; there is no verdict where the interval and the test disagree.
BETTER, WORSE, DIFFERENT, SMALL = "better", "worse", "different", "significant, but small"
NOT_SIGNIFICANT, NO_VERDICT = "not significant", "no verdict"
#: The verdict on a metric that the two runs have from different judges.
JUDGES_DIFFER = "judges differ"


class NumberOfTests(Record, frozen=True):
    """How many tests a comparison makes: of the headline metric, and of all others.

    Which metric is the headline follows from its name and not from its scores. So it is tested by itself, once for each
    pair of runs: Holm's correction is over each of the two numbers for itself.
    """

    headline: Count
    others: Count


class RunIdentity(Record, frozen=True):
    """Which run was compared: another one of the same name was made at another time, or has other means."""

    name: str
    created: str | None
    n_rows: Count
    means: dict[str, Mean]  # by metric


class ComparisonSettings(Record, frozen=True):
    """The settings of a comparison: the arguments of `compare()`."""

    metrics: list[str] | None  # None for all that both runs have
    test: str
    interval: str
    cluster: str | None
    slices: list[str] | None
    level: Share
    alpha: Share
    seed: Seed
    draws: Draws
    movers: Count
    better: Count
    worse: Count
    margin: dict[str, float] | None
    baseline: str | None
    all_pairs: bool
    where: dict[str, str] | None = None  # the slice whose rows were compared


class PairOfRuns(Record, frozen=True):
    """Two runs of a comparison; by metric what `analysis.comparing.MetricDifference` has."""

    metrics: dict[str, Any]


class ComparedRuns(Record, frozen=True):
    """The result, as far as it is read again: `analysis.comparing.Comparison` is all of it."""

    pairs: list[PairOfRuns]


class ComparisonDocument(Record, frozen=True):
    """The file of a kept comparison."""

    ragmeter: str  # its version
    created: str
    runs: list[RunIdentity]
    settings: ComparisonSettings
    comparison: ComparedRuns
