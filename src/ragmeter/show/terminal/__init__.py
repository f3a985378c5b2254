"""Output on the terminal: tables that fit its width, and lines about results."""

from ragmeter.show.terminal.answer_causes import show_causes
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.summary import (
    asked,
    evaluation_table,
    needs_retrieved,
    percentiles,
    show_headline,
    show_not_scored,
    show_place,
    summary_table,
    truncated,
    unmatched,
)
from ragmeter.wording.texts import printable

__all__ = ["asked", "console", "evaluation_table", "needs_retrieved", "percentiles", "printable", "show_causes",
           "show_headline", "show_not_scored", "show_place", "summary_table", "truncated", "unmatched"]  # fmt: skip
