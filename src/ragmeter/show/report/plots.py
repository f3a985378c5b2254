"""Figures as PNG and SVG files: means with intervals, distributions, slices. Needs matplotlib, an extra."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.errors import MissingExtraError
from ragmeter.io.write import replacing
from ragmeter.runs.lookup import run_labels
from ragmeter.runs.run import Run
from ragmeter.show.page.shapes import axis_of_means, domain
from ragmeter.show.report.slices import slices
from ragmeter.wording.numbers import number
from ragmeter.wording.texts import one_line

FORMATS = ("svg", "png")
#: Okabe and Ito's colours, which colour-blind people can distinguish.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#8a8a8a")
_LONGEST_NAME = 48
_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "svg.hashsalt": "ragmeter",  # equal figures give equal files
    "figure.dpi": 100,
}


def write_figures(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write every figure as SVG and PNG; all of them, or none."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("drawing figures", "figures") from None
    paths: list[Path] = []
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # characters that the font lacks are drawn as boxes
        drawn = list(_figures(runs))
        paths = [folder / f"{name}.{extension}" for name, _ in drawn for extension in FORMATS]
        with replacing(*paths) as temporary:
            for place, file in enumerate(temporary):
                metadata = {"Date": None} if FORMATS[place % 2] == "svg" else {}
                drawn[place // 2][1].savefig(
                    file, format=FORMATS[place % 2], dpi=200, bbox_inches="tight", metadata=metadata
                )
    return paths


def _figures(runs: Sequence[Run]) -> Iterator[tuple[str, Any]]:
    taken_names: set[str] = set()
    labels = dict(zip(runs, run_labels(runs), strict=True))
    yield _named("means", taken_names), _means(labels)
    for name in dict.fromkeys(name for run in runs for name in run.row_metrics):
        yield (
            _named(f"distribution-{name}", taken_names),
            _distribution({run: label for run, label in labels.items() if name in run.row_metrics}, name),
        )
    for run, label in labels.items():
        for by_column in slices(run):
            run_part = f"-{label}" if len(runs) > 1 else ""
            yield _named(f"slices{run_part}-{by_column['column']}", taken_names), _heat_map(run, label, by_column)


def _named(name: str, taken_names: set[str]) -> str:
    """A valid and unique file name from the name of a metric or a column."""
    base = re.sub(r"[^\w.@-]+", "_", name).strip("._")[:80] or "figure"
    unique, number = base, 2
    while unique.casefold() in taken_names:
        unique, number = f"{base}-{number}", number + 1
    taken_names.add(unique.casefold())
    return unique


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(width, height))
    return drawn, drawn.subplots()


def _text(axes: Any, element: str, text: str) -> None:
    """Set a title or a label, without treating a dollar sign as a formula."""
    getattr(axes, f"set_{element}")(_short(text), parse_math=False)


def _short(text: str) -> str:
    """A name that fits a figure, with characters that XML allows."""
    return text if len(text := one_line(text)) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"


def _ticks(axes: Any, axis_name: str, places: Any, labels: Sequence[str], **settings: Any) -> None:
    """Set the labels at places of an axis, without formulas."""
    axis = getattr(axes, f"{axis_name}axis")
    axis.set_ticks(places)
    axis.set_ticklabels([_short(label) for label in labels], parse_math=False, **settings)


def _means(runs: Mapping[Run, str]) -> Any:
    """A panel for each metric, with its own axis: every run's mean as a dot, its interval as a line."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for run in runs for name in run.metrics()))
    drawn = Figure(figsize=(6.0, len(names) * (0.45 + 0.2 * len(runs))), layout="constrained")
    panels = drawn.subplots(len(names), 1, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        runs_with_it = [(place, run) for place, run in enumerate(runs) if name in run.metrics()]
        for place, run in runs_with_it:
            summary = run.metrics()[name]
            if summary.mean is None:
                continue
            low, high = summary.interval or (summary.mean, summary.mean)
            colour = COLOURS[place % len(COLOURS)]
            axes.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
            axes.plot(summary.mean, place, "o", color=colour, markersize=5)
            label = f"{number(summary.mean)}, n = {summary.n_scored:,}"
            axes.annotate(label, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=8)
        _text(axes, "title", name)
        _ticks(axes, "y", range(len(runs)), list(runs.values()))
        axes.set_ylim(len(runs) - 0.4, -0.6)
        axes.set_xlim(*axis_of_means([run.metrics()[name] for _, run in runs_with_it]))
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    return drawn


def _distribution(runs: Mapping[Run, str], name: str) -> Any:
    drawn, axes = _figure(4.5, 2.8)
    ends = [domain(run, name) for run in runs]
    bins = np.linspace(min(low for low, _ in ends), max(high for _, high in ends), 21)
    for place, run in enumerate(runs):
        scores = run.scores(name)
        values = scores[~np.isnan(scores)]
        colour = COLOURS[place % len(COLOURS)]
        if len(runs) == 1:
            axes.hist(values, bins=bins, color=colour, edgecolor="white", linewidth=0.5)
        else:
            axes.hist(values, bins=bins, histtype="step", linewidth=1.5, color=colour, label="_")
            axes.plot([], [], color=colour, linewidth=1.5, label=f"{place}")
    if len(runs) > 1:
        for text, label in zip(axes.legend(frameon=False, fontsize=8).get_texts(), runs.values(), strict=True):
            text.set_parse_math(False)
            text.set_text(_short(label))
    _text(axes, "xlabel", name)
    counts = ", ".join(f"{run.metrics()[name].n_scored:,}" for run in runs)
    _text(axes, "ylabel", f"rows (n = {counts})" if len(runs) == 1 else "rows")
    return drawn


def _heat_map(run: Run, label: str, by_column: dict[str, Any]) -> Any:
    names, values = run.row_metrics, by_column["values"]
    drawn, axes = _figure(1.6 + 1.0 * len(names), 0.8 + 0.42 * len(values))
    apart = [[value["cells"][name]["apart"] or 0.0 for name in names] for value in values]
    edges = np.arange(len(names) + 1) - 0.5, np.arange(len(values) + 1) - 0.5
    axes.pcolormesh(*edges, apart, cmap="PuOr", vmin=-1, vmax=1, edgecolors="white")  # sharper than imshow
    axes.invert_yaxis()
    for row, value in enumerate(values):
        for column, name in enumerate(names):
            cell = value["cells"][name]
            text = f"{number(cell['mean'])}\nn = {cell['n']:,}" + (" (few)" if cell["few"] else "")
            colour = "white" if abs(apart[row][column]) > 0.65 else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    _ticks(axes, "x", range(len(names)), names, rotation=30, ha="right")
    _ticks(axes, "y", range(len(values)), [value["value"] for value in values])
    _text(axes, "title", f"{label} by {by_column['column']}")
    return drawn
