"""The result of a comparison, for scripts, tables and the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, overload

from ragmeter import naming
from ragmeter.analysis.comparing.causes import CauseChanges
from ragmeter.analysis.comparing.changed_rows import ChangedRow
from ragmeter.analysis.comparing.ranking import Ranking
from ragmeter.documents.comparison import NumberOfTests
from ragmeter.documents.record import Interval, plain
from ragmeter.documents.summary import Unmatched
from ragmeter.io.tabular import Tabular, arrow_table, ends, html_lines, html_table
from ragmeter.wording.comparison import clustered_by, tests_made
from ragmeter.wording.metrics import titled
from ragmeter.wording.numbers import compared, deserved_decimals, percent, signed_interval
from ragmeter.wording.verdicts import TITLES, marked, test_sentence, where_sentence


@dataclass(frozen=True)
class Mover:
    """A row whose score differs much between the two runs, with its texts."""

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
    """One metric of two runs, on the rows that are scored in both, from the second run's point of view.

    `difference` is b - a; `better` and `worse` count rows by the metric's direction. `verdict` follows from `p_holm`,
    which is corrected over the tests of its kind (`NumberOfTests`: those of the headline metric, or all others), and
    from the interval at the level 1 - alpha (`excludes_zero`): where the two disagree there is none. A significant
    difference below `margin` is small. `sentence` is the result in words. With 80% power, at alpha and after the same
    correction, `needed` questions would detect a difference of `margin`, and these can detect a difference of
    `smallest`; both go by `shown_error`, which the interval's width stands for. `needed` is not known where no row has
    moved, and neither of them where the test of so few rows or clusters can't give a p below alpha, but `least_p`. The
    interval is clipped to the possible range of a difference: -1 to 1 for scores from 0 to 1. `binary`: all scores are
    0 or 1, so that the means are rates.

    `judges_differ` has each setting in which the two runs' judges differ, with its two values. If that is more than the
    endpoint, the metric is not tested, and its verdict is `judges differ`: the difference may be the judge's.
    """

    direction: str
    n: int
    n_questions: int
    n_clusters: int | None
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    standard_error: float | None
    shown_error: float | None
    interval: Interval | None
    interval_method: str
    excludes_zero: bool
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
    margin: float | None
    verdict: str
    movers: list[Mover]
    least_p: float | None = None
    needed: int | None = None
    smallest: float | None = None
    sentence: str = ""
    binary: bool = False
    judges_differ: dict[str, tuple[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class SliceDifference:
    """One metric on the rows of one slice.

    `verdict` follows from `p_adjusted`, corrected over all slices and metrics, and from the interval. `turns`: better,
    worse or different, and opposite in sign to the difference on all rows, which is significant itself.

    `differs`: the difference is another than that on the rows outside the slice, by `p_differs`, which is corrected
    over the slices of all columns by the headline metric that have 20 rows or more; None for all other slices.
    """

    column: str
    value: str
    metric: str
    n: int
    n_clusters: int | None
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    p: float
    p_adjusted: float
    verdict: str
    small: bool
    turns: bool
    p_differs: float | None = None
    differs: bool = False
    sentence: str = ""


@dataclass(frozen=True)
class Pair:
    """The comparison of two runs, the baseline `a` and the candidate `b`.

    `sentence` is the verdict by the metric `headline`, and `remarks` are what is to be said of all metrics, and of how
    many questions it would take. `warnings` say whose judges differ, so that no verdict can be given. `causes` says
    what moved by cause, where both runs have causes. `better_rows` and `worse_rows` are those that changed most by all
    metrics together. `missing` says which run lacks the metric that the other one is judged by, and `unscored` how many
    rows have a score in one run alone, and `declined` how many answers rightly decline: `sentence` has all three.
    """

    a: str
    b: str
    n_paired: int
    only_a: Unmatched
    only_b: Unmatched
    questions_differ: int
    metrics: dict[str, MetricDifference]
    left_out: dict[str, str]
    slices: list[SliceDifference]
    headline: str = ""
    sentence: str = ""
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    better_rows: list[ChangedRow] = field(default_factory=list)
    worse_rows: list[ChangedRow] = field(default_factory=list)
    causes: CauseChanges | None = None
    missing: str = ""
    unscored: str = ""
    declined: str = ""

    @property
    def mostly_reworded(self) -> bool:
        """Whether most of the paired questions are other questions: then there is no verdict."""
        return is_mostly_reworded(self.questions_differ, self.n_paired)

    @property
    def headline_slices(self) -> dict[str, list[SliceDifference]]:
        """By column, its slices of 20 rows or more by the headline metric: where the candidate gained most first."""
        slices: dict[str, list[SliceDifference]] = {}
        for part in self.slices:
            if part.p_differs is not None:
                slices.setdefault(part.column, []).append(part)
        way = -1 if self.metrics[self.headline].direction == "lower" else 1
        return {name: sorted(parts, key=lambda part: -way * part.difference) for name, parts in slices.items()}

    @property
    def texts(self) -> list[str]:
        """All that is to be said of the two runs, the verdict first."""
        return [self.sentence, *self.remarks, *self.warnings]


@dataclass(frozen=True)
class Comparison(Tabular):
    """The comparison of a baseline with other runs, or of every pair. p-values are corrected over its `tests`.

    `ranking` has the order of several systems by the headline metric; None for two, and where there is no order.

    `cluster` is the column whose rows were taken together; `other_clusters` has the runs whose own intervals are
    clustered by another column, and that column; `margins` those that were given. `where` is the slice whose rows were
    compared, empty for all rows.

    It is a sequence of pairs; with only two runs, `comparison["token_f1"]` is the difference by that metric.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("metrics", "slices", "movers")

    runs: list[str]
    level: float
    alpha: float
    test: str
    cluster: str | None
    seed: int
    draws: int
    tests: NumberOfTests
    pairs: list[Pair]
    other_clusters: dict[str, str] = field(default_factory=dict)
    margins: dict[str, float] = field(default_factory=dict)
    baseline: str = ""
    ranking: Ranking | None = None
    where: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as a dict for JSON."""
        return {**plain(self), "test_made": self.test_made}

    @property
    def test_made(self) -> str:
        """The test that the p-values are of: McNemar's is made of metrics of 0 and 1 alone, whatever was asked for."""
        made = {
            name: result.test for pair in self.pairs for name, result in pair.metrics.items() if result.p is not None
        }
        return tests_made(made) or self.test

    @property
    def clustered(self) -> str:
        """The end of a sentence about the test: how the rows were clustered."""
        return clustered_by(self.cluster, self.other_clusters)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @overload
    def __getitem__(self, key: int) -> Pair: ...
    @overload
    def __getitem__(self, key: str) -> MetricDifference: ...
    def __getitem__(self, key: int | str) -> Pair | MetricDifference:
        """A pair by its number; if there is only one pair, a difference by the metric's name."""
        if isinstance(key, int):
            return self.pairs[key]
        if len(self.pairs) > 1:
            raise KeyError(f"{key!r}: there are {len(self.pairs)} pairs of runs, so choose one: .pairs[0].metrics")
        metrics = self.pairs[0].metrics
        return metrics[naming.one_of(key, metrics, "this comparison")]

    def __repr__(self) -> str:
        return "\n".join(["<Comparison>", *(text for pair in self.pairs for text in pair.texts)])

    def _repr_html_(self) -> str:
        titles = [title.format(percent(self.level)) for title in TITLES]
        parts = []
        for pair in self.pairs:
            rows = [table_cells(name, result) for name, result in pair.metrics.items()]
            parts += [html_lines(text) for text in pair.texts]
            parts.append(html_lines(f"baseline: {pair.a}, candidate: {pair.b}"))
            parts.append(html_table(titles, rows, texts=(0, 1)))
        return "".join([*parts, html_lines(self.test_sentence)])

    @property
    def test_sentence(self) -> str:
        """The test and its correction, in a sentence."""
        return where_sentence(self.where) + test_sentence(self.test_made, self.clustered, self.tests, self.alpha)

    def _table(self, name: str) -> Any:
        if name == "movers":
            movers = [
                {"a": pair.a, "b": pair.b, "metric": metric, **_mover_record(mover)}
                for pair in self.pairs
                for metric, result in pair.metrics.items()
                for mover in result.movers
            ]
            return arrow_table(movers, ("a", "b", "metric", "qid", "score_a", "score_b", "difference"))
        if name == "slices":
            parts = [_record(pair, part) for pair in self.pairs for part in pair.slices]
            return arrow_table(parts, ("a", "b", "column", "value", "metric", "n", "difference", "low", "high"))
        results = [
            _record(pair, result, metric=metric) for pair in self.pairs for metric, result in pair.metrics.items()
        ]
        return arrow_table(results, ("a", "b", "metric", "mean_a", "mean_b", "difference", "low", "high"))


def is_mostly_reworded(questions_differ: int, n_paired: int) -> bool:
    """Whether most of the paired questions are other questions."""
    return 2 * questions_differ > n_paired


def table_cells(name: str, result: MetricDifference) -> tuple[str, ...]:
    """A metric's row of the table: the cells under `wording.verdicts.TITLES`."""
    decimals = deserved_decimals(result.interval)
    figures = compared(result.mean_a, result.mean_b, decimals)
    interval = signed_interval(result.interval, decimals)
    return titled(name, result.direction), marked(result.verdict), *figures, interval


def _record(pair: Pair, result: MetricDifference | SliceDifference, **more: str) -> dict[str, Any]:
    hidden = ("interval", "movers", "judges_differ")
    fields = {name: value for name, value in vars(result).items() if name not in hidden}
    return {"a": pair.a, "b": pair.b, **more, **fields, **ends(result.interval)}


def _mover_record(mover: Mover) -> dict[str, Any]:
    """A mover's fields. `a` and `b` are the runs' names in the table, so its scores become `score_a` and `score_b`."""
    return {{"a": "score_a", "b": "score_b"}.get(key, key): value for key, value in vars(mover).items()}
