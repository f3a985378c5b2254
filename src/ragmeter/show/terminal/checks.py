"""Shows what `ragmeter doctor` has looked at."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Column, Figures
from ragmeter.wording.texts import printable

_STYLES = {"ok": "green", "missing": "yellow", "broken": "bold red"}


def show_checks(checks: Sequence[tuple[str, str, str]]) -> None:
    """A line for each: what it is, its state, and more."""
    table = Figures([Column(title, figures=False) for title in ("", "state", "what")])
    for name, state, what in checks:
        table.add(printable(name), Text(state, style=_STYLES.get(state, "")), printable(what))
    console().print(table)
