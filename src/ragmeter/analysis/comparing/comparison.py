"""What a comparison says, ready for a script, a table or a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, overload

from ragmeter import naming
from ragmeter.show.numbers import number, p_value, percent, signed, signed_interval
from ragmeter.show.sentences.metrics import titled
from ragmeter.show.tabular import Tabular, arrow_table, ends, html_lines, html_table
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
class Comparison(Tabular):
    """Two runs or more, every pair of them. `tests` is the number of tests that p-values are corrected over.

    It is a sequence of pairs; of two runs alone, `comparison["token_f1"]` is the difference by a metric.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("metrics", "slices", "movers")

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

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @overload
    def __getitem__(self, which: int) -> Pair: ...
    @overload
    def __getitem__(self, which: str) -> MetricDifference: ...
    def __getitem__(self, which: int | str) -> Pair | MetricDifference:
        """A pair by its number; where there is one pair alone, a metric's difference by the metric's name."""
        if isinstance(which, int):
            return self.pairs[which]
        if len(self.pairs) > 1:
            raise KeyError(f"{which!r}: there are {len(self.pairs)} pairs of runs, so say which: .pairs[0].metrics")
        metrics = self.pairs[0].metrics
        return metrics[naming.one_of(which, metrics, "this comparison")]

    def __repr__(self) -> str:
        return "\n".join(["<Comparison>", *(pair.sentence for pair in self.pairs)])

    def _repr_html_(self) -> str:
        titles = ("metric", "mean A", "mean B", "B − A", f"{percent(self.level)} interval", "p (Holm)", "n", "verdict")
        parts = []
        for pair in self.pairs:
            rows = [_cells(name, each) for name, each in pair.metrics.items()]
            parts.append(html_lines(f"A: {pair.a}, B: {pair.b}"))
            parts.append(html_table(titles, rows, texts=(0, 7)))
            parts.append(html_lines(pair.sentence))
        return "".join(parts)

    def _table(self, name: str) -> Any:
        if name == "metrics":
            return arrow_table([record for pair in self.pairs for record in _metric_records(pair)])
        if name == "slices":
            records = [_slice_record(pair, each) for pair in self.pairs for each in pair.slices]
            return arrow_table(records, ("a", "b", "column", "value", "metric", "n", "difference", "low", "high"))
        movers = [
            {"a": pair.a, "b": pair.b, "metric": metric, **_renamed(mover)}
            for pair in self.pairs
            for metric, each in pair.metrics.items()
            for mover in each.movers
        ]
        return arrow_table(movers, ("a", "b", "metric", "qid", "score_a", "score_b", "difference"))


def _cells(name: str, each: MetricDifference) -> tuple[str, ...]:
    p = p_value(each.p_holm)
    ends = signed_interval(each.interval)
    means = (number(each.mean_a), number(each.mean_b))
    return titled(name, each.direction), *means, signed(each.difference), ends, p, f"{each.n:,}", each.verdict


def _metric_records(pair: Pair) -> Iterator[dict[str, Any]]:
    for name, each in pair.metrics.items():
        figures = {
            key: value for key, value in vars(each).items() if key not in ("interval", "movers", "mean_a", "mean_b")
        }
        means = {"mean_a": each.mean_a, "mean_b": each.mean_b, "difference": each.difference}
        yield {"a": pair.a, "b": pair.b, "metric": name, **means, **ends(each.interval), **figures}


def _slice_record(pair: Pair, each: SliceDifference) -> dict[str, Any]:
    known = {key: value for key, value in vars(each).items() if key != "interval"}
    return {"a": pair.a, "b": pair.b, **known, **ends(each.interval)}


def _renamed(mover: Mover) -> dict[str, Any]:
    """A mover's cells; `a` and `b` are the runs' names in the table, so its scores are called otherwise."""
    return {{"a": "score_a", "b": "score_b"}.get(key, key): value for key, value in vars(mover).items()}
