"""Draws a metric over time on the terminal: a line for each look, with its interval."""

from __future__ import annotations

from rich.text import Text

from ragmeter.analysis.watching import Look, Watched
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.metrics import titled
from ragmeter.wording.numbers import MISSING, deserved_decimals, given, number, signed, signed_interval
from ragmeter.wording.numbers import interval as plain_interval
from ragmeter.wording.texts import printable
from ragmeter.wording.times import day
from ragmeter.wording.watching import watched_lines

_WIDTH = 31
#: What is drawn: the margin's end, what the looks are compared with, an interval's ends and middle, its estimate.
_MARGIN, _CENTRE, _LEFT, _BETWEEN, _RIGHT, _ESTIMATE = "┊", "│", "├", "─", "┤", "●"


def show_watched(watched: Watched) -> None:
    """The verdict, a line for each look, and what the drawing means."""
    out = console()
    first, *others = watched_lines(watched)
    out.sentence(first, "bold green" if watched.passed else "bold red")
    title = "difference" if watched.baseline is not None else "mean"
    titles = ["mean"] if watched.baseline is not None else []
    dated = ["date"] if _has_dates(watched) else []
    table = Figures.of(*dated, "run", *titles, title, "interval", "n", "", names=len(dated) + 1, optional=("n", ""))
    for look in watched.looks:
        table.add(*(printable(cell) for cell in _cells(watched, look)), _drawn(watched, look))
    out.print(table)
    ends = _scale(watched)
    drawn = f"{titled(watched.metric, watched.direction)}, drawn from {number(ends[0])} to {number(ends[1])}"
    margin = f", {_MARGIN} the margin of {given(watched.margin)}" if watched.margin else ""
    centre = f"the baseline {watched.baseline}" if watched.target is None else f"the target {given(watched.target)}"
    out.sentence(f"{drawn}: {_CENTRE} {centre}{margin}")
    for line in others:
        out.sentence(line)


def _has_dates(watched: Watched) -> bool:
    """Whether there are dates that are not the names of the looks themselves."""
    return watched.is_dated and any(look.created != look.name for look in watched.looks)


def _cells(watched: Watched, look: Look) -> list[str]:
    decimals = deserved_decimals(look.interval)
    mean = number(look.mean, decimals=decimals)
    n = f"{look.n:,}" if look.n == look.n_total else f"{look.n:,} of {look.n_total:,}"
    dated = [day(look.created)] if _has_dates(watched) else []
    if watched.baseline is None:
        return [*dated, look.name, mean, plain_interval(look.interval, decimals=decimals), n]
    difference = MISSING if look.value is None else signed(look.value, decimals=decimals)
    return [*dated, look.name, mean, difference, signed_interval(look.interval, decimals), n]


def _scale(watched: Watched) -> tuple[float, float]:
    """The ends of the drawing: of all intervals, and of the margin."""
    centre = watched.target or 0.0
    ends = [end for look in watched.looks for end in look.interval or ()]
    return min([*ends, centre - watched.margin]), max([*ends, centre + watched.margin])


def _drawn(watched: Watched, look: Look) -> Text:
    """A look's interval as a line of characters."""
    (low, high), centre = _scale(watched), watched.target or 0.0

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (_WIDTH - 1)) if high > low else 0

    cells = [" "] * _WIDTH
    for value in (centre - watched.margin, centre + watched.margin) if watched.margin else ():
        cells[place(value)] = _MARGIN
    cells[place(centre)] = _CENTRE
    if look.interval is not None and look.value is not None:
        first, last = place(look.interval[0]), place(look.interval[1])
        for cell in range(first, last + 1):
            cells[cell] = _BETWEEN if cells[cell] == " " else cells[cell]
        cells[first], cells[last] = _LEFT, _RIGHT
        cells[place(look.value)] = _ESTIMATE
    return Text("".join(cells), style="bold red" if look.beyond else "")
