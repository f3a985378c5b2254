"""The list of all runs in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.runs.catalogue import RunEntry
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording import numbers
from ragmeter.wording.limits import rows_shown
from ragmeter.wording.metrics import differing_level, headline, titled
from ragmeter.wording.texts import printable, shortened

#: The figures of a run that fit a line.
_HEADLINES = 3
_LONGEST = 40


def show_runs(entries: Sequence[RunEntry], folder: str) -> None:
    """A line for each run, and the errors of those that can't be read."""
    out = console()
    readable = [entry for entry in entries if not entry.error]
    if readable:
        names = headlines(readable)
        table = Figures.of(
            "run",
            "system",
            "created",
            "rows",
            "failed",
            "cost",
            *_titles(readable, names),
            names=2,
            optional=("cost", "created"),
        )
        for entry in readable:
            table.add(
                printable(" ".join([entry.name, *(f"#{tag}" for tag in entry.tags)])),
                printable(shortened(entry.system, _LONGEST)),
                day(entry.created),
                rows_shown(entry.n_rows, limited=entry.limited),
                f"{entry.n_failed:,}" if entry.n_failed else "",
                "" if entry.cost_usd is None else numbers.money(entry.cost_usd),
                *(_figure(entry, name) for name in names),
            )
        out.print(table)
    for entry in entries:
        if entry.error:
            out.sentence(f"{entry.name} can't be read: {entry.error}", style="yellow")
    out.sentence(f"{len(entries):,} runs in {folder}/" if len(entries) != 1 else f"1 run in {folder}/")


def headlines(entries: Sequence[RunEntry]) -> list[str]:
    """The metrics that most of these runs have, in the order of the first run that has them."""
    counts: dict[str, int] = {}
    for entry in entries:
        for name in entry.metrics:
            counts[name] = counts.get(name, 0) + 1
    most = sorted(counts, key=lambda name: -counts[name])[:_HEADLINES]
    return [name for name in counts if name in most]


def day(created: str) -> str:
    """A time to the minute, as people read it."""
    return created[:16].replace("T", " ")


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1_000:
            return f"{numbers.significant(count, 3)} {unit}"
        count /= 1_000
    return f"{numbers.significant(count, 3)} GB"


def _titles(entries: Sequence[RunEntry], names: Sequence[str]) -> list[str]:
    directions = {name: figures.direction for entry in entries for name, figures in entry.metrics.items()}
    return [titled(name, directions[name]) for name in names]


def _figure(entry: RunEntry, name: str) -> str:
    figures = entry.metrics.get(name)
    if figures is None:
        return ""
    mean, interval = headline(figures)
    return mean if interval is None else f"{mean} ({differing_level(figures)}{interval})"
