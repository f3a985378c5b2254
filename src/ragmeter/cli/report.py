"""`ragmeter report`: runs as one page, and as figures and tables for papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragmeter.cli.options import Parser, command_parser, json_option
from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS, dumps
from ragmeter.show.report import MAX_ROWS

_DESCRIPTION = """\
Show a run, or several beside each other, on one page: a file of its own that needs no network and no server.

A run is a folder, or the name of one in the folder of runs. Open the page in any browser; it can be sent to somebody,
kept beside a release, or printed.
"""


def run(argv: Sequence[str]) -> int:
    """Write the page and what else was asked for, and say where."""
    from ragmeter.show.report.report import report
    from ragmeter.show.terminal.report import show_report

    chosen = _parser().parse_args(list(argv))
    if chosen.max_rows < 1:
        raise UsageError(f"--max-rows must be at least 1, and is {chosen.max_rows}")
    made = report(
        chosen.runs,
        chosen.output,
        output_dir=chosen.output_dir,
        title=chosen.title,
        max_rows=chosen.max_rows,
        figures=chosen.figures,
        markdown=chosen.markdown,
        latex=chosen.latex,
    )
    if chosen.json:
        files = [str(path) for path in made.files]
        print(dumps({"page": str(made.page), "files": files, "rows": made.rows, "rows_shown": made.rows_shown}))
        return 0
    show_report(made, chosen.figures, (chosen.markdown, chosen.latex))
    return 0


def _parser() -> Parser:
    parser = command_parser("ragmeter report", _DESCRIPTION)
    add = parser.add_argument
    add("runs", metavar="RUN", nargs="+", help="a run's folder, or its name")
    add("--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html")
    add("--output-dir", metavar="DIR", type=Path, default=RUNS, help=f"where runs are kept; default: {RUNS}/")
    add("--title", help="what stands above the page; default: the runs' names")
    add(
        "--max-rows",
        metavar="N",
        type=int,
        default=MAX_ROWS,
        help=f"the most rows on the page, of all runs together; default: {MAX_ROWS:,}",
    )
    papers = parser.add_argument_group("for papers")
    add = papers.add_argument
    add("--figures", metavar="DIR", type=Path, help="figures as PNG and SVG files (needs the extra `figures`)")
    add("--markdown", metavar="FILE", type=Path, help="the figures as Markdown, for example summary.md")
    add("--latex", metavar="FILE", type=Path, help="the figures as a LaTeX table")
    json_option(parser)
    return parser
