"""Where a report was written, and what it leaves out."""

from __future__ import annotations

from pathlib import Path

from ragmeter.show.report.report import Report
from ragmeter.show.terminal.console import console


def show_report(report: Report, figures: Path | None, texts: tuple[Path | None, ...]) -> None:
    """The files, with the figures in their folder counted; `texts` are the other files that were asked for."""
    out = console()
    if report.rows_shown < report.rows:
        out.sentence(
            f"the page has {report.rows_shown:,} of {report.rows:,} rows, those that failed and the worst first; "
            "its figures are of all rows (--max-rows)",
            "red",
        )
    drawn = [path for path in report.files if figures is not None and path.parent == figures and path not in texts]
    for path in (report.page, *report.files):
        if path not in drawn:
            out.sentence(f"written: {path}")
    if drawn:
        out.sentence(f"written: {len(drawn)} figures in {figures}/")
