"""The figures of runs, and their differences, as LaTeX for a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ragmeter
from ragmeter.documents.comparison import BETTER, DIFFERENT, SMALL, WORSE
from ragmeter.documents.metrics import MetricSummary
from ragmeter.runs.lookup import run_labels
from ragmeter.runs.run import Run
from ragmeter.wording.methods import Methods
from ragmeter.wording.metrics import common_level, differing_level, level
from ragmeter.wording.numbers import MISSING, compared, deserved_decimals, number, p_value, percent, signed_interval
from ragmeter.wording.orders import apart_sentence
from ragmeter.wording.texts import in_latex

if TYPE_CHECKING:
    from ragmeter.analysis.comparing import Comparison, MetricDifference

#: The hyphen before a negative number in a sentence.
_NEGATIVE = re.compile(r"(?<![\w.])-(?=\d)")
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


def comparison_as_latex(comparison: Comparison, runs: Sequence[Run], more: str = "") -> str:
    """A table of the differences with their intervals, and a paragraph on the methods; `more` comes last."""
    titles = ("metric", "baseline", "candidate", f"difference [{percent(comparison.level)}]", "$p$", "$n$")
    lines = [
        "% \\usepackage{booktabs}",
        "{\\small\\setlength{\\tabcolsep}{4pt}\\noindent",
        "\\begin{tabular}{lrrrrr}",
        "\\toprule",
        " & ".join(title if title.startswith("$") else in_latex(title) for title in titles) + " \\\\",
    ]
    for pair in comparison.pairs:
        lines += ["\\midrule", f"\\multicolumn{{6}}{{l}}{{{in_latex(pair.b)} vs. {in_latex(pair.a)}}} \\\\"]
        lines += [_difference(name, result) for name, result in pair.metrics.items()]
    lines += ["\\bottomrule", "\\end{tabular}\\par}", ""]
    said = list(dict.fromkeys(text for pair in comparison.pairs for text in (pair.sentence, *pair.warnings)))
    if comparison.ranking is not None:
        said.append(apart_sentence(comparison.ranking.best, comparison.ranking.groups, comparison.baseline))
    lines += [_NEGATIVE.sub("$-$", in_latex(text)) for text in (*said, more) if text]
    *sentences, signature = map(in_latex, _methods(comparison, runs).sentences())
    lines += ["", "{\\sloppy\\paragraph{Methods}", *sentences, f"{_breakable(signature)}\\par}}", ""]
    return "\n".join(lines)


def _breakable(signature: str) -> str:
    """The sentence with the signature, which has no blanks, with places to break its line at."""
    for mark in ("\\textbar{}", ",", "\\_"):
        signature = signature.replace(mark, f"{mark}\\allowbreak{{}}")
    return signature


def _methods(comparison: Comparison, runs: Sequence[Run]) -> Methods:
    results = [result for pair in comparison.pairs for result in pair.metrics.values()]
    baselines = list(dict.fromkeys(pair.a for pair in comparison.pairs))
    judges = [model for run in runs if (model := run.manifest().judge_model)]
    return Methods(
        version=ragmeter.__version__,
        baseline=" and ".join(baselines),
        candidates=list(dict.fromkeys(pair.b for pair in comparison.pairs)),
        questions=[pair.n_paired for pair in comparison.pairs],
        level=comparison.level,
        alpha=comparison.alpha,
        tests_made=list(dict.fromkeys(result.test for result in results if result.p is not None)),
        draws=comparison.draws,
        seed=comparison.seed,
        tests=comparison.tests,
        cluster=comparison.cluster,
        interval_methods=sorted({result.interval_method for result in results if result.interval is not None}),
        judges=list(dict.fromkeys(judges)),
        headlines=list(dict.fromkeys(pair.headline for pair in comparison.pairs)),
        metrics=list(dict.fromkeys(name for pair in comparison.pairs for name in pair.metrics)),
    )


def _difference(name: str, result: MetricDifference) -> str:
    """A metric's line; an asterisk marks a significant difference."""
    decimals = deserved_decimals(result.interval)
    ends = "" if result.interval is None else f"[{signed_interval(result.interval, decimals).replace(' to ', ', ')}]"
    star = "$^{*}$" if result.verdict in (BETTER, WORSE, DIFFERENT, SMALL) else ""
    *means, difference = map(_dashes, compared(result.mean_a, result.mean_b, decimals))
    difference = f"{difference}{star} {{\\small{_dashes(ends)}}}"
    p = p_value(result.p_holm)
    p = f"$<${p[1:]}" if p.startswith("<") else _dashes(p)
    cells = (in_latex(name) + _ARROWS.get(result.direction, ""), *means, difference, p, f"{result.n:,}")
    return " & ".join(cells) + " \\\\"


def _dashes(text: str) -> str:
    """Figures with minus signs in math mode, and a dash for what is missing."""
    return "--" if text == MISSING else text.replace("-", "$-$")


def _cell(summary: MetricSummary | None, usual: str) -> str:
    if summary is None or summary.mean is None:
        return "--"
    decimals = deserved_decimals(summary.interval)
    ends = [_figure(float(end), decimals) for end in summary.interval or ()]
    between = f" {{\\small[{in_latex(differing_level(summary, usual))}{', '.join(ends)}]}}" if ends else ""
    return f"{_figure(summary.mean, decimals)}{between} {{\\small({summary.n_scored:,})}}"


def _figure(value: float, decimals: int | None) -> str:
    """A number with a minus sign in math mode: a bare - is a hyphen in LaTeX."""
    return _dashes(number(value, decimals=decimals))
