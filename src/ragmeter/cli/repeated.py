"""Printing how much a system's answers vary, where each question was asked several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragmeter.runs.run import Run

from ragmeter.table import REPEAT


def print_repeats(run: Run, level: float = 0.95) -> None:
    """The variances and pass rates of a run whose questions were asked several times; nothing for others."""
    if REPEAT in run.columns:
        from ragmeter.analysis.repeating import repeats
        from ragmeter.show.terminal.repeats import show_repeats

        show_repeats(repeats(run, level=level))


def repeats_json(run: Run, level: float = 0.95) -> dict[str, Any]:
    """The same as a part of a command's JSON."""
    if REPEAT not in run.columns:
        return {}
    from ragmeter.analysis.repeating import repeats

    return {"repeats": repeats(run, level=level).as_dict()}
