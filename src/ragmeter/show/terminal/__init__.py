"""Output on the terminal: tables that fit its width, and lines about results."""

from ragmeter.show.terminal import summary
from ragmeter.show.terminal.answer_causes import show_causes
from ragmeter.show.terminal.console import console
from ragmeter.wording.texts import printable

asked, needs_retrieved, summary_table = summary.asked, summary.needs_retrieved, summary.summary_table
evaluation_table, percentiles = summary.evaluation_table, summary.percentiles
causes, truncated, unmatched = summary.causes, summary.truncated, summary.unmatched
show_headline, show_place = summary.show_headline, summary.show_place

__all__ = ["asked", "causes", "console", "evaluation_table", "needs_retrieved", "percentiles", "printable",
           "show_causes", "show_headline", "show_place", "summary_table", "truncated", "unmatched"]  # fmt: skip
