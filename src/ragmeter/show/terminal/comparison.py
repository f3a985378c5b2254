"""Shows a comparison on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from ragmeter.analysis.comparing import JUDGES_DIFFER, Comparison, MetricDifference, Mover, Pair
from ragmeter.documents.metrics import SMALL
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.causes import first_ids
from ragmeter.wording.metrics import titled
from ragmeter.wording.numbers import MISSING, given, number, p_value, percent, signed, signed_interval
from ragmeter.wording.texts import printable, shortened

_STYLES = {"better": "bold green", "worse": "bold red", "different": "bold"}
_LONGEST = 200


def show_comparison(comparison: Comparison) -> None:
    """Show each pair of runs: a sentence, a table, cautions, and the rows that changed most."""
    out = console()
    corrected = comparison.tests > 1
    for pair in comparison.pairs:
        out.sentence(pair.sentence, "bold red" if pair.warnings else "bold")
        out.print(comparison_table(pair, comparison.level, corrected=corrected))
        out.sentence(f"A: {pair.a}, B: {pair.b}")
        for line in _cautions(pair):
            out.sentence(line, "red")
        for part in pair.slices:
            if part.turns:
                out.sentence(part.sentence)
        for line in _movers(pair):
            out.sentence(line)
        out.print()
    correction = f"; p: corrected (Holm) over {comparison.tests:,} tests" if corrected else ""
    test = f"test: {comparison.test_made}{comparison.clustered}"
    out.sentence(f"{test}{correction}; significant: p below {given(comparison.alpha)}")


def comparison_table(pair: Pair, level: float, *, corrected: bool) -> Figures:
    """A row for each metric of two runs."""
    p, counts = "Holm p" if corrected else "p", "better/\nworse"
    table = Figures.of("metric", "A", "B", "B − A", f"{percent(level)} interval", p, counts, optional=[counts])
    for name, result in pair.metrics.items():
        style = _STYLES.get(result.verdict, "")
        table.add(
            printable(titled(name, result.direction)),
            number(result.mean_a),
            number(result.mean_b),
            Text(signed(result.difference), style=style),
            signed_interval(result.interval),
            Text(p_value(result.p_holm), style=style),
            MISSING if result.verdict == JUDGES_DIFFER else f"{result.better:,}/{result.worse:,}",
        )
    return table


def _cautions(pair: Pair) -> Iterator[str]:
    """Cautions: rows without a partner, changed questions, missing scores, too few rows."""
    for run, alone in ((pair.a, pair.only_a), (pair.b, pair.only_b)):
        if alone.count:
            yield f"rows only in {run}: {alone.count:,} ({first_ids(alone)})"
    if pair.questions_differ:
        yield f"another question under the same qid: {pair.questions_differ:,} of {pair.n_paired:,} pairs"
    by_counts: dict[tuple[int, int], list[str]] = {}
    for name, result in pair.metrics.items():
        by_counts.setdefault((result.scored_only_a, result.scored_only_b), []).append(name)
    for (in_a, in_b), names in by_counts.items():
        if in_a or in_b:
            concerned = "all metrics" if len(names) == len(pair.metrics) else ", ".join(names)
            yield f"left out, scored by one run alone: {in_a:,} by {pair.a}, {in_b:,} by {pair.b} ({concerned})"
    few = sorted({units for result in pair.metrics.values() if (units := _units(result)) < SMALL})
    if few:
        unit = "clusters" if any(result.n_clusters is not None for result in pair.metrics.values()) else "rows"
        yield f"few {unit}: {few[0]:,}; such an interval is rough"
    for name, reason in pair.left_out.items():
        yield f"not compared: {name}, {reason}"


def _units(result: MetricDifference) -> int:
    return result.n if result.n_clusters is None else result.n_clusters


def _movers(pair: Pair) -> Iterator[str]:
    """The rows that changed most by any metric, each once."""
    moved: dict[str, list[tuple[str, Mover]]] = {}
    for name, result in pair.metrics.items():
        for mover in result.movers:
            moved.setdefault(mover.qid, []).append((name, mover))
    for qid, moves in moved.items():
        by = ", ".join(f"{name} {number(mover.a)} → {number(mover.b)}" for name, mover in moves)
        first = moves[0][1]
        yield f"\nqid {qid}, {by}: {_short(first.question)}"
        yield f"  reference: {_short(' | '.join(first.reference or []))}"
        yield f"  A: {_short(first.answer_a)}"
        yield f"  B: {_short(first.answer_b)}"


def _short(text: str | None) -> str:
    return shortened(text or MISSING, _LONGEST)
