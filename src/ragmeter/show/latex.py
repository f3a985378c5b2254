"""The figures of runs as a LaTeX table, for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmeter.documents.metrics import MetricSummary
from ragmeter.runs.finding import run_labels
from ragmeter.runs.run import Run
from ragmeter.wording.metrics import common_level, differing_level, level
from ragmeter.wording.numbers import number
from ragmeter.wording.texts import in_latex

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison

_ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "none": ""}


def latex_table(runs: Sequence[Run], comparison: Comparison | None = None) -> str:
    """A table with booktabs: metrics by runs, each mean with its interval and n.

    Under it stands what the runs' comparison warns of.
    """
    head = " & ".join(["metric", *map(in_latex, run_labels(runs))])
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{l" + "r" * len(runs) + "}",
        "\\toprule",
        f"{head} \\\\",
        "\\midrule",
    ]
    levels = [level(summary) for run in runs for summary in run.metrics().values()]
    usual = common_level(levels)
    for name in dict.fromkeys(name for run in runs for name in run.metrics()):
        direction = next(run.metrics()[name].direction for run in runs if name in run.metrics())
        cells = [in_latex(name) + _ARROWS.get(direction, "")]
        cells += [_cell(run.metrics().get(name), usual) for run in runs]
        lines.append(" & ".join(cells) + " \\\\")
    warnings = [text for pair in comparison.pairs for text in pair.warnings] if comparison else []
    lines += ["\\bottomrule", "\\end{tabular}", *(f"\n\\textbf{{{in_latex(text)}}}" for text in warnings)]
    lines += [f"% Mean, {' or '.join(dict.fromkeys(levels))} interval in brackets, rows scored in parentheses.", ""]
    return "\n".join(lines)


def _cell(summary: MetricSummary | None, usual: str) -> str:
    if summary is None or summary.mean is None:
        return "--"
    ends = [_figure(float(end)) for end in summary.interval or ()]
    between = f" {{\\small[{in_latex(differing_level(summary, usual))}{', '.join(ends)}]}}" if ends else ""
    return f"{_figure(summary.mean)}{between} {{\\small({summary.n_scored:,})}}"


def _figure(value: float) -> str:
    """A number with a minus sign in math mode: a bare - is a hyphen in LaTeX."""
    return number(value).replace("-", "$-$")
