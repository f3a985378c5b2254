"""The figures of a report as text: `summary.md` for a repository or a ticket, a LaTeX table for a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import ragmeter
from ragmeter.show.numbers import MISSING, interval, number, scored
from ragmeter.show.report.runs import ShownRun
from ragmeter.show.report.slices import slices
from ragmeter.show.report.words import about_intervals, failures, level, one_line
from ragmeter.stats.intervals import SMALL

#: What means something in Markdown: emphasis, code, links and tables; what begins a block; what is made a link.
_MARKUP = re.compile(r"[\\`*_\[\]|~$]|^\s*[#+>=-]|(?<=:)//|(?<=www)\.|@")
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': '{"}', "[": "{[}", "]": "{]}",
}  # fmt: skip
_ARROWS = {"higher": "↑", "lower": "↓", "none": ""}
_LATEX_ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "none": ""}


def markdown(runs: Sequence[ShownRun], comparison: Mapping[str, Any] | None = None) -> str:
    """Figures with intervals and n, what failed, what differs, and the slices."""
    lines = [f"# {' · '.join(plain(run.name) for run in runs)}", ""]
    if comparison:
        lines += [f"- {plain(pair['sentence'])}" for pair in comparison["pairs"]] + [""]
        lines += [plain(comparison["kept"]), ""] if comparison.get("kept") else []
    titles = ["metric", *(f"{plain(run.name)}" for run in runs)]
    lines += _table(titles, [[_titled(name, runs), *(_cell(run, name) for run in runs)] for name in _names(runs)])
    levels = [level(each) for run in runs for each in run.metrics.values()]
    said = " or ".join(dict.fromkeys(levels))
    lines += ["", f"Mean, {said} interval, and rows scored. {about_intervals(levels)}", ""]
    for run in runs:
        lines += _failures(run)
    for run in runs:
        lines += _slices(run)
    made = [f"{plain(run.name)}: {plain(str(run.manifest.get('created', 'unknown')))}" for run in runs]
    lines += [f"Made by ragmeter {ragmeter.__version__}. Runs of {'; '.join(made)}.", ""]
    return "\n".join(lines)


def latex(runs: Sequence[ShownRun]) -> str:
    """A table for a paper, with booktabs: metrics by runs, each mean with its interval and n."""
    head = " & ".join(["metric", *(escaped(run.name) for run in runs)])
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{l" + "r" * len(runs) + "}",
        "\\toprule",
        f"{head} \\\\",
        "\\midrule",
    ]
    for name in _names(runs):
        direction = next(run.metrics[name]["direction"] for run in runs if name in run.metrics)
        cells = [escaped(name) + _LATEX_ARROWS.get(direction, "")]
        cells += [_latex_cell(run.metrics.get(name)) for run in runs]
        lines.append(" & ".join(cells) + " \\\\")
    said = " or ".join(dict.fromkeys(level(each) for run in runs for each in run.metrics.values()))
    lines += ["\\bottomrule", "\\end{tabular}", f"% Mean, {said} interval in brackets, rows scored in parentheses.", ""]
    return "\n".join(lines)


def plain(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    harmless = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(lambda found: re.sub(r"(\S)", r"\\\1", found[0], count=1), harmless)


def escaped(text: str) -> str:
    """A text that LaTeX shows as it is, on one line."""
    return "".join(_LATEX.get(character, character) for character in one_line(text))


def _names(runs: Sequence[ShownRun]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.metrics))


def _titled(name: str, runs: Sequence[ShownRun]) -> str:
    direction = next(run.metrics[name]["direction"] for run in runs if name in run.metrics)
    return f"{plain(name)} {_ARROWS.get(direction, '')}".rstrip()


def _cell(run: ShownRun, name: str) -> str:
    held = run.metrics.get(name)
    if held is None:
        return MISSING
    between = "" if held["interval"] is None else f" ({interval(held['interval'])})"
    return f"{number(held['mean'])}{between}, n = {scored(held['n_scored'], held['n_total'])}"


def _latex_cell(held: Mapping[str, Any] | None) -> str:
    if held is None or held["mean"] is None:
        return "--"
    ends = held["interval"]
    between = "" if ends is None else f" {{\\small[{_minus(number(ends[0]))}, {_minus(number(ends[1]))}]}}"
    return f"{_minus(number(held['mean']))}{between} {{\\small({held['n_scored']:,})}}"


def _minus(figure: str) -> str:
    """LaTeX takes a bare - for a hyphen."""
    return figure.replace("-", "$-$")


def _failures(run: ShownRun) -> list[str]:
    found = failures(run.metrics)
    if not found:
        return []
    lines = [f"**Not scored, {plain(run.name)}**", ""]
    for each in found:
        meaning = f", {each['meaning']}" if each["meaning"] else ""
        where = "all metrics" if each["all"] else ", ".join(plain(name) for name in each["metrics"])
        lines.append(f"- {each['count']:,}: {plain(each['cause'])}{meaning} ({where})")
    return [*lines, ""]


def _slices(run: ShownRun) -> list[str]:
    lines = []
    for part in slices(run):
        lines += [f"## {plain(run.name)} by {plain(part['column'])}", ""]
        cells = []
        for value in part["values"]:
            row = [plain(value["value"])]
            for name in run.row_metrics:
                cell = value["cells"][name]
                few = " (few)" if cell["few"] else ""
                row.append(f"{number(cell['mean'])}, n = {cell['n']:,}{few}")
            cells.append(row)
        lines += [*_table([plain(part["column"]), *map(plain, run.row_metrics)], cells), ""]
        if any(cell["few"] for value in part["values"] for cell in value["cells"].values()):
            lines += [f"few: fewer than {SMALL} rows", ""]
    return lines


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---", *["---:"] * (len(titles) - 1)]
    return ["| " + " | ".join(row) + " |" for row in (titles, rule, *rows)]
