"""What a comparison says, ready for a script, a table or a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ragmeter.stats.intervals import Interval

#: The verdicts. `different` is for metrics of which neither more nor less is better.
BETTER, WORSE, DIFFERENT, NOT_SIGNIFICANT = "better", "worse", "different", "not significant"


@dataclass(frozen=True)
class Mover:
    """A row whose score moved far from one run to the other, with its texts."""

    qid: str
    a: float
    b: float
    difference: float
    question: str | None
    reference: list[str] | None
    answer_a: str | None
    answer_b: str | None


@dataclass(frozen=True)
class MetricDifference:
    """One metric of two runs, on the rows that both have scored; all from the second run's point of view.

    `difference` is b - a; `better` and `worse` count rows by the metric's direction. `needed` is the number of rows
    that would show a difference of `point`, and `smallest` the difference that these rows can show, with 80% power.
    `verdict` goes by `p_holm`, which knows how many metrics and pairs of runs were looked at. `sentence` says it in
    words, wherever it is shown. The interval is clipped to what a difference can be: -1 to 1 for scores from 0 to 1.
    """

    direction: str
    n: int
    n_clusters: int | None
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    interval: Interval | None
    interval_method: str
    p: float | None
    p_holm: float | None
    p_bh: float | None
    test: str
    effect_size: float | None
    better: int
    worse: int
    same: int
    scored_only_a: int
    scored_only_b: int
    point: float | None
    needed: int | None
    smallest: float | None
    verdict: str
    movers: list[Mover]
    sentence: str = ""


@dataclass(frozen=True)
class SliceDifference:
    """One metric on the rows of one slice. `turns`: significantly the other way round than on all rows."""

    column: str
    value: str
    metric: str
    n: int
    difference: float
    interval: Interval | None
    p: float
    p_adjusted: float
    small: bool
    turns: bool
    sentence: str = ""


@dataclass(frozen=True)
class Pair:
    """Two runs."""

    a: str
    b: str
    n_paired: int
    only_a: dict[str, Any]
    only_b: dict[str, Any]
    questions_differ: int
    metrics: dict[str, MetricDifference]
    left_out: dict[str, str]
    slices: list[SliceDifference]
    sentence: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two runs or more, every pair of them. `tests` is the number of tests that p-values are corrected over."""

    runs: list[str]
    level: float
    alpha: float
    test: str
    cluster: str | None
    seed: int
    draws: int
    tests: int
    pairs: list[Pair]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        return "\n".join(["<Comparison>", *(pair.sentence for pair in self.pairs)])
