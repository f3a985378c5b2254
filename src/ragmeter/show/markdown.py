"""Results as Markdown: runs, for a repository or a ticket; a gate's verdict, for a pull request; a metric's page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ragmeter
from ragmeter.analysis.comparing.comparison import table_cells
from ragmeter.definition.judge_columns import ENCODER, OFFLINE
from ragmeter.show.slice_table import SliceTable
from ragmeter.show.system_tables import ORDER_TITLES, SystemTables, order_rows
from ragmeter.table import IDS_AS_WRITTEN
from ragmeter.wording import verdicts
from ragmeter.wording.answer_causes import cause_lines, cause_titles
from ragmeter.wording.causes import answers_sentence, counted_causes, failures
from ragmeter.wording.limits import limit_lines
from ragmeter.wording.metrics import (
    FEW,
    about_intervals,
    better,
    common_level,
    differing_level,
    headline,
    level,
    no_rates,
    result_unit,
    titled,
)
from ragmeter.wording.numbers import MISSING, given, number, percent, scored
from ragmeter.wording.texts import in_markdown

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison, Pair
    from ragmeter.analysis.gating.checks import Verdict
    from ragmeter.analysis.preferences import Order
    from ragmeter.definition import Metric
    from ragmeter.documents.metrics import MetricSummary
    from ragmeter.runs.run import Run

_LEFT, _RIGHT, _MIDDLE = "---", "--:", ":-:"


def runs_as_markdown(runs: Sequence[Run], comparison: Comparison | None = None, kept: str = "") -> str:
    """The metrics with intervals and n, failures, differences and slices of runs; `kept` is said of the comparison."""
    from ragmeter.runs.lookup import run_labels  # a metric's page needs no Arrow

    labels = [in_markdown(label) for label in run_labels(runs)]
    lines = [f"# {' · '.join(labels)}", ""]
    if comparison:
        lines += [*_compared(comparison), in_markdown(comparison.test_sentence), ""]
        lines += [in_markdown(kept), ""] if kept else []
    directions = {name: summary.direction for run in runs for name, summary in run.metrics().items()}
    levels = [level(summary) for run in runs for summary in run.metrics().values()]
    usual = common_level(levels)
    cells = [
        [titled(in_markdown(name), direction), *(_mean(run.metrics().get(name), usual) for run in runs)]
        for name, direction in directions.items()
    ]
    lines += _table(["metric", *labels], cells)
    distinct_levels = " or ".join(dict.fromkeys(levels))
    lines += ["", f"Mean, {distinct_levels} interval, and rows scored. {about_intervals(levels)}", ""]
    lines += [text for line in no_rates(directions) for text in (in_markdown(f"{line}."), "")]
    for run, label in zip(runs, labels, strict=True):
        lines += [text for line in limit_lines(run.manifest()) for text in (f"**{label}**: {line}", "")]
        lines += [text for line in _answers(run) for text in (f"**{label}**: {line}", "")]
        lines += _failures(run, label) + _judge(run, label)
    for run, label in zip(runs, labels, strict=True):
        lines += _causes(run, label)
    for run, label in zip(runs, labels, strict=True):
        lines += _slices(run, label)
    created = [in_markdown(str(run.manifest().created or "unknown")) for run in runs]
    dated_labels = [f"{label}: {when}" for label, when in zip(labels, created, strict=True)]
    lines += [f"Made by ragmeter {ragmeter.__version__}. Runs of {'; '.join(dated_labels)}.", ""]
    return "\n".join(lines)


def _answers(run: Run) -> list[str]:
    """How many answers there are, where some are missing or empty."""
    summary = run.summary()
    sentence = answers_sentence(summary.answers, summary.n_rows, result_unit(run.manifest()))
    return [sentence] if sentence else []


def comparison_as_markdown(comparison: Comparison, more: str = "") -> str:
    """The verdict, one table and the test, to paste into a pull request; `more` is a sentence that comes last."""
    lines = [*_compared(comparison), in_markdown(comparison.test_sentence), ""]
    return "\n".join([*lines, in_markdown(more), ""] if more else lines)


def order_as_markdown(order: Order) -> str:
    """The ratings of several systems by a judge's preference."""
    rows = [(in_markdown(name), *cells) for name, *cells in order_rows(order)]
    return "\n".join(["", *_table(ORDER_TITLES, rows), ""])


def _compared(comparison: Comparison) -> list[str]:
    """The verdict and the table of two runs, or of several systems."""
    if len(comparison.pairs) > 1:
        return _systems(comparison)
    (pair,) = comparison.pairs
    titles = [title.format(percent(comparison.level)) for title in verdicts.TITLES]
    titles[2:4] = f"baseline: {in_markdown(pair.a)}", f"candidate: {in_markdown(pair.b)}"
    rows = [list(map(in_markdown, table_cells(name, result))) for name, result in pair.metrics.items()]
    said = [text for line in (*pair.remarks, *pair.warnings) for text in (in_markdown(line), "")]
    moved = pair.causes.lines if pair.causes else []
    more = [f"- {in_markdown(text)}" for text in (*moved, *(part.sentence for part in pair.slices if part.turns))]
    table = _table(titles, rows, (_LEFT, _LEFT, *[_RIGHT] * 4))
    slices = _differing_slices(pair, comparison.level)
    return [f"**{in_markdown(pair.sentence)}**", "", *said, *table, "", *more, *[""] * bool(more), *slices]


def _differing_slices(pair: Pair, level: float) -> list[str]:
    """The slices whose difference is farthest from the whole's."""
    slices = SliceTable(pair, level)
    rows = [list(map(in_markdown, row)) for row in slices.rows]
    if not rows:
        return []
    return [in_markdown(slices.sentence), "", *_table(slices.titles, rows, (_LEFT, _LEFT, *[_RIGHT] * 5)), ""]


def _systems(comparison: Comparison) -> list[str]:
    """The verdict on the first system, the order of all, and each metric of each."""
    tables = SystemTables(comparison)
    first, *others = map(in_markdown, tables.first_sentences)
    warnings = dict.fromkeys(in_markdown(text) for pair in tables.pairs.values() for text in pair.warnings)
    order = [[in_markdown(cell.text) for cell in row] for row in tables.order()]
    metrics = [[in_markdown(cell.text) for cell in row] for row in tables.metrics()]
    lines = [f"**{first}**", "", *(text for line in (*others, *warnings) for text in (line, ""))]
    lines += [*_table(list(map(in_markdown, tables.order_titles)), order, (_LEFT, _LEFT, *[_RIGHT] * 5)), ""]
    if metrics:
        lines += [*_table(["metric", *map(in_markdown, tables.systems), "n"], metrics), ""]
    return [*lines, *(text for line in (tables.signs, tables.n_differs) if line for text in (in_markdown(line), ""))]


def verdict_as_markdown(verdict: Verdict) -> str:
    """Whether the gate passed, every check with its reason, the comparisons with baselines, and the run's metrics."""
    outcome = "passed" if verdict.passed else "failed"
    lines = [f"## {_mark(verdict.passed)} Gate {outcome}: {in_markdown(verdict.run)}", ""]
    checks = [
        (_mark(check.passed), in_markdown(check.rule), in_markdown(check.reason)) for check in verdict.failed_first
    ]
    lines += [*_table(("", "asked", "found"), checks, (_MIDDLE, _LEFT, _LEFT)), ""]
    for sentence in verdict.sentences:
        lines += [in_markdown(sentence), ""]
    figures = [_figures(name, summary) for name, summary in verdict.metrics.items()]
    titles = ("metric", "mean", "interval", "n", "no score")
    lines += _table(titles, figures, (_LEFT, _RIGHT, _RIGHT, _RIGHT, _LEFT))
    return "\n".join(lines) + "\n"


def metric_page(metric: Metric) -> str:
    """A metric's first sentence, range, needs and settings, and the rest of its description."""
    low, high = ("−∞" if end == -math.inf else "∞" if end == math.inf else given(end) for end in metric.bounds)
    bounds = "0 or 1" if metric.binary else f"{low} to {high}"
    judged = ", and a judge" if metric.judge_columns else ""
    if judged and metric.accepts("judge", OFFLINE):
        judged += (
            " (or `judge=offline`)" if not metric.accepts("judge", ENCODER) else " (or `judge=offline`, `encoder`)"
        )
    facts = f"**Range.** {bounds}; {better(metric.direction)}. **Needs** {_needed(metric)}{judged}."
    if metric.settings:
        facts += f" **Settings** {', '.join(metric.settings)}."
    first, _, description = (metric.__doc__ or "").partition("\n")
    return f"{first}\n\n{facts}\n\n{description.strip()}"


def _needed(metric: Metric) -> str:
    """The columns that it needs, and those that it uses where they are there."""
    needed = ", ".join(metric.reads)
    used = ", ".join(sorted(metric.may_lack - {IDS_AS_WRITTEN}))  # a mark, and nobody's column
    return f"{needed}, and uses {used} where it is there" if used else needed


def _mark(passed: bool) -> str:
    return "✅" if passed else "❌"


def _mean(summary: MetricSummary | None, usual: str) -> str:
    if summary is None:
        return MISSING
    own_level = differing_level(summary, usual)
    mean, ends = headline(summary)
    between = "" if ends is None else f" ({own_level}{ends})"
    return f"{mean}{between}, n = {scored(summary.n_scored, summary.n_total)}"


def _figures(name: str, summary: MetricSummary) -> tuple[str, ...]:
    mean, ends = headline(summary)
    between = MISSING if ends is None else f"{ends} ({percent(summary.level)})"
    n, causes = scored(summary.n_scored, summary.n_total), in_markdown(counted_causes(summary.n_not_scored))
    return titled(in_markdown(name), summary.direction), mean, between, n, causes


def _causes(run: Run, label: str) -> list[str]:
    lines = cause_lines(run.summary().cause)
    if not lines:
        return []
    rows = [tuple(map(in_markdown, line.cells)) for line in lines]
    table = _table(cause_titles(lines), rows, (_LEFT, _RIGHT, _RIGHT, _RIGHT, _LEFT))
    return [f"**Where it failed, {label}**", "", *table, ""]


def _failures(run: Run, label: str) -> list[str]:
    lines = []
    for reason in failures(run.metrics()):
        meaning = f", {reason.meaning}" if reason.meaning else ""
        concerned = in_markdown(reason.which_metrics)
        lines.append(f"- {reason.count:,}: {in_markdown(reason.cause)}{meaning} ({concerned})")
    return [f"**No score, {label}**", "", *lines, ""] if lines else []


def _judge(run: Run, label: str) -> list[str]:
    from ragmeter.wording.judging import judge_lines  # a metric's page needs no judges

    model = run.manifest().judge_model
    lines = [f"- {in_markdown(line.strip())}" for line, _ in judge_lines(run.summary(), run.manifest())]
    title = f"**The judge, {label}**" + (f": {in_markdown(model)}" if model else "")
    return [title, "", *lines, ""] if lines else []


def _slices(run: Run, label: str) -> list[str]:
    from ragmeter.show.report.slices import slices  # a metric's page and a verdict need no Arrow

    lines = []
    for by_column in slices(run):
        column = in_markdown(by_column["column"])
        cells = [
            [in_markdown(value["value"]), *(_slice_cell(value["cells"][name]) for name in run.row_metrics)]
            for value in by_column["values"]
        ]
        lines += [f"## {label} by {column}", ""]
        lines += [*_table([column, *map(in_markdown, run.row_metrics)], cells), ""]
        if any(cell["few"] for value in by_column["values"] for cell in value["cells"].values()):
            lines += [FEW, ""]
    return lines


def _slice_cell(cell: Mapping[str, Any]) -> str:
    return f"{number(cell['mean'])}, n = {cell['n']:,}{' (few)' if cell['few'] else ''}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], rule: Sequence[str] = ()) -> list[str]:
    """A table, by default with names aligned to the left and figures to the right."""
    aligned = rule or [_LEFT, *[_RIGHT] * (len(titles) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (titles, aligned, *rows)]
