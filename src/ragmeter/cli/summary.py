"""`ragmeter summary`: a kept run's figures, with other intervals, and by slices."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.cli.options import (
    command_parser,
    json_option,
    part_options,
    read_statistics,
    runs_option,
    statistics_options,
)
from ragmeter.io.write import dumps

_DESCRIPTION = """\
A run's figures again, on all rows and by slices:

  ragmeter summary english --slice domain --slice domain,language
"""


def run(argv: Sequence[str]) -> int:
    """Summarise, and print."""
    parser = command_parser("ragmeter summary", _DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help="a run's folder, or its name")
    part_options(parser, slices="whose values part the rows")
    statistics_options(parser)
    runs_option(parser)
    json_option(parser)
    chosen = parser.parse_args(list(argv))

    from ragmeter.analysis.slicing import summarise_run
    from ragmeter.show import terminal
    from ragmeter.stats.intervals import SMALL

    found = summarise_run(
        chosen.run,
        metrics=chosen.metrics,
        slices=chosen.slice,
        **read_statistics(chosen),
        output_dir=chosen.output_dir,
    )
    if chosen.json:
        print(dumps(found.as_dict(), indent=2))
        return 0
    out = terminal.console()
    metrics = {name: each.as_dict() for name, each in found.metrics.items()}
    out.print(terminal.summary_table(metrics))
    for name in dict.fromkeys(each.column for each in found.slices):
        out.print(terminal.slice_table(name, [each for each in found.slices if each.column == name]))
    for line in terminal.causes(metrics):
        out.print(line, style="red", soft_wrap=True)
    if any(each.small for each in found.slices):
        out.print(f"few: fewer than {SMALL} rows scored; such an interval is rough", soft_wrap=True)
    cluster = f", clustered by {found.statistics.cluster}" if found.statistics.cluster else ""
    out.print(terminal.printable(f"rows: {found.n_rows:,}{cluster}"), soft_wrap=True)
    return 0
