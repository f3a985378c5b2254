"""Printing how much a system's answers vary, where each question was asked several times."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragmeter.runs.run import Run


def print_repeats(run: Run, level: float = 0.95) -> None:
    """The variances and pass rates of a run whose questions were asked several times; nothing for others."""
    if run.manifest().repeats:
        from ragmeter.analysis.repeats import repeats
        from ragmeter.show.terminal.repeats import show_repeats

        show_repeats(repeats(run, level=level))


def repeats_json(run: Run, level: float = 0.95) -> dict[str, object]:
    """The variances and pass rates as a part of a command's JSON; empty if each question was asked once."""
    if not run.manifest().repeats:
        return {}
    from ragmeter.analysis.repeats import repeats

    return {"repeats": repeats(run, level=level).as_dict()}
