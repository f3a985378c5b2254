"""Shows a comparison on the terminal: the verdict, one table, what differs where, and rows to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.text import Text

from ragmeter.analysis.comparing import ChangedRow, Comparison, MetricDifference, Pair
from ragmeter.analysis.comparing.comparison import table_cells
from ragmeter.documents.comparison import BETTER, DIFFERENT, NO_VERDICT, WORSE
from ragmeter.documents.metrics import FEW_ROWS
from ragmeter.show.slice_table import SliceTable
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording import verdicts
from ragmeter.wording.causes import first_ids
from ragmeter.wording.numbers import MISSING, number, percent
from ragmeter.wording.texts import printable, shortened

STYLES = {BETTER: "bold green", WORSE: "bold red", DIFFERENT: "bold"}
_LONGEST = 160
_INDENT = " " * 5
#: The most slices that are shown; --json has all.
_MOST_SLICES = 3


def show_comparison(comparison: Comparison) -> None:
    """Show two runs, or several systems beside the baseline."""
    if len(comparison.pairs) == 1:
        _show_pair(comparison, comparison.pairs[0])
        return
    from ragmeter.show.terminal.systems import show_systems

    show_systems(comparison)


def _show_pair(comparison: Comparison, pair: Pair) -> None:
    out = console()
    show_verdict(pair)
    out.sentence(f"baseline: {pair.a}, candidate: {pair.b}")
    show_table(pair, comparison.level)
    out.sentence(comparison.test_sentence)
    for line in cautions(pair):
        out.sentence(line, "yellow")
    for line in pair.causes.lines if pair.causes else []:
        out.sentence(line, indent=_INDENT)
    show_turned(pair)
    _show_slices(pair, comparison.level)
    _show_changed(pair, "worse", pair.worse_rows)
    _show_changed(pair, "better", pair.better_rows)
    for line in _movers(pair):
        out.sentence(line, indent=_INDENT)


def _show_changed(pair: Pair, way: str, rows: Sequence[ChangedRow]) -> None:
    """The rows that got better or worse: first those that did by the headline metric, then those by others alone."""
    out, headline, result = console(), pair.headline, pair.metrics[pair.headline]
    total = result.worse if way == "worse" else result.better
    by_headline = [row for row in rows if headline in row.scores and result.direction != "none"]
    others = [row for row in rows if row not in by_headline]
    for title, part in (
        (verdicts.changed_title(way, len(by_headline), total, headline), by_headline),
        (verdicts.changed_otherwise_title(way, headline), others),
    ):
        if part:
            out.sentence(title, "bold")
        for line in _changed(part, headline):
            out.sentence(line, indent=_INDENT)
    if not (total or by_headline) and result.direction != "none":
        out.sentence(verdicts.changed_title(way, 0, 0, headline), "bold")


def show_verdict(pair: Pair) -> None:
    """The sentence that comes first, and what is to be said of all metrics."""
    out = console()
    verdict = NO_VERDICT if pair.mostly_reworded else pair.metrics[pair.headline].verdict
    out.sentence(pair.sentence, STYLES.get(verdict, "bold"))
    for line in pair.remarks:
        out.sentence(line)
    for line in pair.warnings:
        out.sentence(line, "red")


def show_table(pair: Pair, level: float) -> None:
    """A row for each metric of two runs; where words take too much room, with signs alone, which are explained."""
    out = console()
    room = None if out.whole_tables else out.width
    words = _metric_table(pair, level, verdicts.marked, verdicts.TITLES)
    if words.fits(room):
        out.print(words)
        return
    titles = ["" if title == "verdict" else title for title in verdicts.TITLES]
    out.print(_metric_table(pair, level, verdicts.sign, titles))
    out.sentence(verdicts.signs_explained({result.verdict for result in pair.metrics.values()}))


def _metric_table(pair: Pair, level: float, marks: Callable[[str], str], titles: Sequence[str]) -> Figures:
    table = Figures.of(*(title.format(percent(level)) for title in titles), names=2)
    for name, result in pair.metrics.items():
        metric, _, *figures = map(printable, table_cells(name, result))
        table.add(metric, Text(marks(result.verdict), style=STYLES.get(result.verdict, "")), *figures)
    return table


def _show_slices(pair: Pair, level: float) -> None:
    """The slices whose difference is farthest from the whole's."""
    table = SliceTable(pair, level)
    if not table.rows:
        return
    console().sentence(table.sentence)
    figures = Figures.of(*table.titles, names=2)
    for row in table.rows:
        figures.add(*map(printable, row))
    console().print(figures)


def show_turned(pair: Pair, whose: str = "") -> None:
    """The slices on which it is the other way round."""
    turned = [part.sentence for part in pair.slices if part.turns]
    for sentence in turned[:_MOST_SLICES]:
        console().sentence(f"{whose}{sentence}")
    if len(turned) > _MOST_SLICES:
        console().sentence(f"{whose}and {len(turned) - _MOST_SLICES:,} slices more (--json)")


def cautions(pair: Pair) -> Iterator[str]:
    """Cautions: rows without a partner, missing scores, too few rows."""
    for run, alone in ((pair.a, pair.only_a), (pair.b, pair.only_b)):
        if alone.count:
            yield f"rows only in {run}: {alone.count:,} ({first_ids(alone)})"
    yield from verdicts.left_out(pair.a, pair.b, pair.metrics)
    few = sorted({units for result in pair.metrics.values() if (units := _units(result)) < FEW_ROWS})
    if few:
        unit = "clusters" if any(result.n_clusters is not None for result in pair.metrics.values()) else "rows"
        least_to_most = f"{few[0]:,}" if len(few) == 1 else f"{few[0]:,} to {few[-1]:,}"
        yield f"few {unit}: {least_to_most}; such an interval is rough"
    for name, reason in pair.left_out.items():
        yield f"not compared: {name}, {reason}"


def _units(result: MetricDifference) -> int:
    return result.n if result.n_clusters is None else result.n_clusters


def _changed(rows: Sequence[ChangedRow], headline: str) -> Iterator[str]:
    """Each row with its question and reference, and both answers."""
    for row in rows:
        by = ""
        if headline not in row.scores:  # another metric put it here
            by = ", ".join(f"{name} {_score(a)} → {_score(b)}" for name, (a, b) in row.scores.items())
        yield f" {row.qid}: {_short(row.question)} ({_reference(row.reference)}){f' {by}' if by else ''}"
        yield f"   baseline: {_short(row.answer_a)}"
        yield f"   candidate: {_short(row.answer_b)}"


def _movers(pair: Pair) -> Iterator[str]:
    """The rows that changed most by each metric."""
    for name, result in pair.metrics.items():
        if result.movers:
            yield f"{name} moved most on:"
        for mover in result.movers:
            yield f" {mover.qid}: {_short(mover.question)}: {_score(mover.a)} → {_score(mover.b)}"


def _score(score: float) -> str:
    """A single row's score: two decimals tell enough."""
    return number(score, decimals=2)


def _reference(reference: Sequence[str] | None) -> str:
    return f"reference: {_short(' | '.join(reference or []))}"


def _short(text: str | None) -> str:
    return shortened(text or MISSING, _LONGEST)
