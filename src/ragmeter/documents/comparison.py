"""A comparison that was kept beside the last of its runs, so that a report shows the one that was made."""

from __future__ import annotations

from typing import Any

from ragmeter.documents.metrics import Draws, Seed
from ragmeter.documents.record import Count, Mean, Record, Share


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
    margin: dict[str, float] | None


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
