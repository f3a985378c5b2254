"""Shows a judge's lines and the estimated cost of judging on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragmeter.hints import for_command_line
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.estimate import estimate_lines
from ragmeter.wording.judging import CAUSE, PLAIN, STRONG, WARNING, Line

_STYLES = {WARNING: "red", CAUSE: "red", STRONG: "bold", PLAIN: ""}


def print_lines(lines: Iterable[Line]) -> None:
    """Print each line in the style of its kind."""
    out = console()
    for line, kind in lines:
        out.sentence(for_command_line(line), _STYLES[kind])


def estimated(estimate: Mapping[str, Any], *, unit: str = "rows", note: str = "") -> None:
    """The estimated calls, tokens and cost of judging."""
    print_lines(estimate_lines(estimate, unit, note))
    console().print("nothing was asked", soft_wrap=True)
