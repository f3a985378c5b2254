"""Draws a metric over time on the terminal: a line for each look, with its interval."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from ragmeter.analysis.watching import Look, Watched
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.metrics import titled
from ragmeter.wording.numbers import deserved_decimals, given, interval, number, percent, scored

from ragmeter.wording.numbers import signed, signed_interval  # isort: skip
from ragmeter.wording.texts import printable
from ragmeter.wording.times import day

_WIDTH = 31
#: What is drawn: the margin's ends, what the looks are compared with, an interval, and its estimate.
_MARGIN, _CENTRE, _LEFT, _BETWEEN, _RIGHT, _ESTIMATE = "┊│├─┤●"


def show_watched(watched: Watched) -> None:
    """The verdict, a line for each look, and what the drawing means."""
    out = console()
    first, *others = _lines(watched)
    out.sentence(first, "bold green" if watched.passed else "bold red")
    dated = watched.is_dated and any(look.created != look.name for look in watched.looks)
    names = ["date", "run"] if dated else ["run"]
    value = ["mean", "difference"] if watched.target is None else ["mean"]
    table = Figures.of(*names, *value, "interval", "n", "drawing", names=len(names), optional=("n", "drawing"))
    for look in watched.looks:
        means = [number(look.mean, decimals=deserved_decimals(look.interval)), *_figures(watched, look)]
        cells = [*([day(look.created)] if dated else []), look.name, *means[len(means) - len(value) - 1 :]]
        table.add(*map(printable, cells), scored(look.n, look.n_total), _drawn(watched, look))
    out.print(table)
    for line in others:
        out.sentence(line)


def _lines(watched: Watched) -> Iterator[str]:
    """The verdict, what is drawn, and what the intervals rest on."""
    looks, beyond = watched.looks, [look for look in watched.looks if look.beyond]
    against = f"the baseline {watched.baseline}" if watched.target is None else f"the target {given(watched.target)}"
    by = f" by more than {given(watched.margin)}" if watched.margin else ""
    clipped = f" {watched.n_clipped:,} scores are clipped to the bounds." if watched.n_clipped else ""
    left, leave = ("left", "leave") if watched.direction == "none" else ("got worse than", "get worse than")
    if beyond:
        figures = ", ".join(_figures(watched, beyond[0]))
        more = f", and {len(beyond) - 1:,} more" if len(beyond) > 1 else ""
        yield f"{watched.metric} {left} {against}{by}: {beyond[0].name} ({figures}){more}.{clipped}"
    elif silent := [look.name for look in looks if look.interval is None]:
        yield f"{watched.metric} has too few scores to say anything: {_listed(silent)}.{clipped}"
    elif lacking := [f"{look.name} ({look.n:,} of {look.n_total:,})" for look in looks if look.lacking]:
        yield f"{watched.metric} has scores for too few of the baseline's questions: {_listed(lacking)}."
    else:
        n_looks = f"{len(looks):,} look{'s'[: len(looks) != 1]}"
        yield f"{watched.metric} is not seen to {leave} {against}{by}: {n_looks}.{clipped}"
    margin = f", {_MARGIN} the margin of {given(watched.margin)}" if watched.margin else ""
    ends = interval(_scale(watched))
    yield f"{titled(watched.metric, watched.direction)}, drawn from {ends}: {_CENTRE} {against}{margin}"
    these = "These looks together hold"
    if watched.target is None:
        these = "All looks at the baseline that were ever made together hold"
    yield f"{these} at {percent(watched.level)}: the last one has {percent(looks[-1].level)} for itself."
    if not watched.is_dated and any(look.created for look in looks):
        yield "some have no date, so they are in the order in which they were named"


def _listed(names: list[str]) -> str:
    """The first three of many."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _margins(watched: Watched) -> list[float]:
    """Where the margin ends: on the side that is worse, or on both."""
    centre, sides = watched.target or 0.0, {"higher": [-1], "lower": [1]}.get(watched.direction, [-1, 1])
    return [centre + side * watched.margin for side in sides]


def _figures(watched: Watched, look: Look) -> tuple[str, str]:
    """What is judged, and its interval."""
    decimals = deserved_decimals(look.interval)
    if watched.target is None:
        return signed(look.value, decimals=decimals), signed_interval(look.interval, decimals)
    return number(look.value, decimals=decimals), interval(look.interval, decimals=decimals)


def _scale(watched: Watched) -> tuple[float, float]:
    """The ends of the drawing: of all intervals, and of the margin."""
    centre = watched.target or 0.0
    ends = [end for look in watched.looks for end in look.interval or ()]
    ends += [centre, *_margins(watched)]
    return min(ends), max(ends)


def _drawn(watched: Watched, look: Look) -> Text:
    """A look's interval as a line of characters."""
    (low, high), centre = _scale(watched), watched.target or 0.0

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (_WIDTH - 1)) if high > low else 0

    cells = [" "] * _WIDTH
    for value in _margins(watched) if watched.margin else ():
        cells[place(value)] = _MARGIN
    cells[place(centre)] = _CENTRE
    if look.interval is not None and look.value is not None:
        first, last = map(place, look.interval)
        cells[first : last + 1] = [_BETWEEN if cell == " " else cell for cell in cells[first : last + 1]]
        cells[first], cells[last] = _LEFT, _RIGHT
        cells[place(look.value)] = _ESTIMATE
    return Text("".join(cells), style="bold red" if look.beyond else "")
