"""`ragmeter report`: runs as one page, and as figures and tables for papers."""

from __future__ import annotations

import argparse
from pathlib import Path

from ragmeter.cli.options import json_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps
from ragmeter.show.report import AUDIENCES, ENGINEER, MAX_ROWS

_DESCRIPTION = """\
Show a run, or several side by side, on one page: a single file that needs no network and no server.

A run is a folder, or the name of one in the folder of runs. Open the page in any browser; it can be sent, archived with
a release, or printed.
"""


def run(chosen: argparse.Namespace) -> int:
    """Write the page, and figures and tables if asked for, and say where."""
    from ragmeter.show.report.report import report
    from ragmeter.show.terminal.results import show_report

    if chosen.max_rows < 1:
        raise UsageError(f"--max-rows must be at least 1, got {chosen.max_rows}")
    result = report(
        chosen.runs,
        chosen.output,
        output_dir=chosen.output_dir,
        title=chosen.title,
        max_rows=chosen.max_rows,
        figures=chosen.figures,
        markdown=chosen.markdown,
        latex=chosen.latex,
        audience=chosen.audience,
    )
    if chosen.json:
        files = [str(path) for path in result.files]
        print(dumps({"page": str(result.page), "files": files, "rows": result.rows, "rows_shown": result.rows_shown}))
        return 0
    show_report(result, chosen.figures, (chosen.markdown, chosen.latex))
    return 0


def parser() -> Parser:
    """The parser of `ragmeter report`."""
    parser = command_parser("ragmeter report", _DESCRIPTION)
    add = parser.add_argument
    add("runs", metavar="RUN", nargs="+", help="a run's folder, or its name")
    add("--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html")
    runs_option(parser)
    add(
        "--for",
        dest="audience",
        choices=AUDIENCES,
        default=ENGINEER,
        help="an owner's page stops before the appendix (rows, distributions, how to reproduce)",
    )
    add("--title", help="the title of the page; default: the runs' names")
    add(
        "--max-rows",
        metavar="N",
        type=int,
        default=MAX_ROWS,
        help=f"the most rows on the page, of all runs together; default: {MAX_ROWS:,}",
    )
    papers = parser.add_argument_group("for papers")
    add = papers.add_argument
    add("--figures", metavar="DIR", type=Path, help="charts as PNG and SVG files (needs the extra `figures`)")
    add("--markdown", metavar="FILE", type=Path, help="the scores as Markdown, for example summary.md")
    add("--latex", metavar="FILE", type=Path, help="the scores as a LaTeX table")
    json_option(parser)
    return parser
