"""`ragmeter compare`: is B better than A, by how much, and how sure is that?"""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.cli.options import (
    Parser,
    command_parser,
    json_option,
    part_options,
    read_statistics,
    runs_option,
    statistics_options,
)
from ragmeter.io.write import dumps

_DESCRIPTION = """\
Compare runs on the questions that they share, each run with each later one:

  ragmeter compare before after
  ragmeter compare before after --metrics token_f1,ndcg@10 --slice domain --json

A report shows the comparison that was kept, and not one with the usual settings:
  ragmeter compare before after --test t --alpha 0.01 --keep
  ragmeter report before after
"""


def run(argv: Sequence[str]) -> int:
    """Compare, and print what was found."""
    chosen = _parser().parse_args(list(argv))

    from ragmeter.analysis.comparing import compare
    from ragmeter.runs.comparisons import comparison_file
    from ragmeter.runs.finding import find_runs
    from ragmeter.show.terminal import console, printable
    from ragmeter.show.terminal.comparison import show_comparison

    found = compare(
        chosen.runs,
        metrics=chosen.metrics,
        test=chosen.test,
        **read_statistics(chosen),
        slices=chosen.slice or None,
        alpha=chosen.alpha,
        draws=chosen.draws,
        movers=chosen.movers,
        keep=chosen.keep,
        output_dir=chosen.output_dir,
    )
    if chosen.json:
        print(dumps(found.as_dict(), indent=2))
    else:
        show_comparison(found)
        if chosen.keep:
            path = comparison_file(find_runs(chosen.runs, chosen.output_dir))
            console().print(printable(f"kept: {path}"), soft_wrap=True)
    return 0


def _parser() -> Parser:
    from ragmeter.stats.confidence import TESTS

    parser = command_parser("ragmeter compare", _DESCRIPTION)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="two runs or more, by folder or by name")
    part_options(parser, slices="by whose values to look for other verdicts; default: all columns of few values")
    parser.add_argument("--movers", metavar="N", type=int, default=3, help="rows to show that moved most; default: 3")
    parser.add_argument(
        "--keep", action="store_true", help="keep the comparison beside the last run, where `ragmeter report` finds it"
    )
    tests = parser.add_argument_group("tests")
    tests.add_argument(
        "--test",
        default=TESTS[0],
        choices=TESTS,
        help=f"default: {TESTS[0]}; mcnemar is for scores of 0 and 1, others get {TESTS[0]}",
    )
    tests.add_argument(
        "--alpha", metavar="SHARE", type=float, default=0.05, help="of false alarms, over all metrics; default: 0.05"
    )
    tests.add_argument("--draws", metavar="N", type=int, default=9_999, help="default: 9999")
    statistics_options(parser)
    runs_option(parser)
    json_option(parser)
    return parser
