"""What a person sees: tables that fit the terminal, and a progress bar that keeps out of pipes."""

from ragmeter.show.terminal.console import console, progress
from ragmeter.show.terminal.summary import (
    asked,
    causes,
    evaluation_table,
    needs_retrieved,
    percentiles,
    summary_table,
    truncated,
    unmatched,
)
from ragmeter.show.texts import printable

__all__ = [
    "asked",
    "causes",
    "console",
    "evaluation_table",
    "needs_retrieved",
    "percentiles",
    "printable",
    "progress",
    "summary_table",
    "truncated",
    "unmatched",
]
