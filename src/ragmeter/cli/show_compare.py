"""A comparison, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ragmeter.cli import show
from ragmeter.comparing import Comparison, MetricDifference, Mover, Pair
from ragmeter.stats.confidence import percent
from ragmeter.stats.intervals import SMALL

_STYLES = {"better": "bold green", "worse": "bold red", "no evidence": ""}
_LONGEST = 200


def show_comparison(comparison: Comparison) -> None:
    """Each pair of runs: a sentence, a table, what to mind, and the rows that moved most."""
    out = show.console()
    for pair in comparison.pairs:
        out.print(show.printable(pair.sentence), style="bold")
        out.print(_table(pair, comparison.level, comparison.alpha))
        out.print(show.printable(f"A: {pair.a}, B: {pair.b}"), soft_wrap=True)
        for line in _cautions(pair):
            out.print(show.printable(line), style="red", soft_wrap=True)
        for line in _slices(pair):
            out.print(show.printable(line), soft_wrap=True)
        for line in _movers(pair):
            out.print(show.printable(line), soft_wrap=True)
        out.print()
    number = sum(each.p is not None for pair in comparison.pairs for each in pair.metrics.values())
    cluster = f", clustered by {comparison.cluster}" if comparison.cluster else ""
    out.print(
        show.printable(
            f"test: {comparison.test}{cluster}; p: corrected (Holm) over {number} tests; "
            f"* alone below {comparison.alpha:g}"
        ),
        soft_wrap=True,
    )


def _table(pair: Pair, level: float, alpha: float) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("metric", overflow="fold", min_width=14)
    for title in ("A", "B", f"B − A ({percent(level)})", "p", "better/worse"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, each in pair.metrics.items():
        table.add_row(
            Text(show.titled(name, each.direction, 14)),
            _figure(each.mean_a),
            _figure(each.mean_b),
            Text(_difference(each), style=_STYLES[each.verdict]),
            _p(each, alpha),
            f"{each.better:,}/{each.worse:,}",
        )
    return table


def _difference(each: MetricDifference) -> str:
    if each.difference is None:
        return "–"
    found = _signed(each.difference)
    return found if each.interval is None else f"{found} [{_signed(each.interval[0])}, {_signed(each.interval[1])}]"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}" if abs(value) < 10 else f"{value:+,.1f}"


def _p(each: MetricDifference, alpha: float) -> str:
    if each.p is None or each.p_holm is None:
        return "–"
    shown = "<0.0001" if each.p_holm < 0.0001 else f"{each.p_holm:.4f}"
    return shown + ("*" if each.p < alpha <= each.p_holm else "")


def _cautions(pair: Pair) -> Iterator[str]:
    """What keeps these figures from meaning what they seem to mean."""
    for run, alone in ((pair.a, pair.only_a), (pair.b, pair.only_b)):
        if alone["count"]:
            more = ", …" if alone["count"] > 5 else ""
            yield f"rows only in {run}: {alone['count']:,} (qid {', '.join(map(str, alone['qids'][:5]))}{more})"
    if pair.questions_differ:
        yield f"another question under the same qid: {pair.questions_differ:,} of {pair.n_paired:,} pairs"
    by_one: dict[tuple[int, int], list[str]] = {}
    for name, each in pair.metrics.items():
        by_one.setdefault((each.scored_only_a, each.scored_only_b), []).append(name)
    for (in_a, in_b), names in by_one.items():
        if in_a or in_b:
            which = "all metrics" if len(names) == len(pair.metrics) else ", ".join(names)
            yield f"left out, scored by one run alone: {in_a:,} by {pair.a}, {in_b:,} by {pair.b} ({which})"
    few = sorted({units for each in pair.metrics.values() if (units := _units(each)) < SMALL})
    if few:
        what = "clusters" if any(each.n_clusters is not None for each in pair.metrics.values()) else "rows"
        yield f"few {what}: {few[0]:,}; such an interval is rough"
    for name, where in pair.left_out.items():
        yield f"not compared: {name}, {where}"


def _units(each: MetricDifference) -> int:
    return each.n if each.n_clusters is None else each.n_clusters


def _slices(pair: Pair) -> Iterator[str]:
    for each in pair.slices:
        if each.turns:
            between = f" [{_signed(each.interval[0])}, {_signed(each.interval[1])}]" if each.interval else ""
            yield (
                f"the other way round where {each.column} is {each.value}: {each.metric} "
                f"{_signed(each.difference)}{between}, n = {each.n:,}, p = {each.p_adjusted:.2g} corrected"
            )


def _movers(pair: Pair) -> Iterator[str]:
    """The rows that moved most by any metric, each of them once."""
    moved: dict[str, list[tuple[str, Mover]]] = {}
    for name, each in pair.metrics.items():
        for mover in each.movers:
            moved.setdefault(mover.qid, []).append((name, mover))
    for qid, found in moved.items():
        by = ", ".join(f"{name} {_figure(mover.a)} → {_figure(mover.b)}" for name, mover in found)
        first = found[0][1]
        yield f"\nqid {qid}, {by}: {_short(first.question)}"
        yield f"  reference: {_short(' | '.join(first.reference or []))}"
        yield f"  A: {_short(first.answer_a)}"
        yield f"  B: {_short(first.answer_b)}"


def _short(text: str | None) -> str:
    one_line = " ".join((text or "–").split())
    return one_line if len(one_line) <= _LONGEST else one_line[: _LONGEST - 1] + "…"
