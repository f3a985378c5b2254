"""`ragmeter compare`: is B better than A, by how much, and how sure is that?"""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.cli import options
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
    """Compare, and print the result."""
    chosen = _parser().parse_args(list(argv))

    from ragmeter.analysis.comparing import compare
    from ragmeter.runs.comparisons import comparison_file
    from ragmeter.runs.finding import find_runs
    from ragmeter.show.terminal import console, printable
    from ragmeter.show.terminal.comparison import show_comparison

    comparison = compare(
        chosen.runs,
        metrics=chosen.metrics,
        test=chosen.test,
        **options.read_statistics(chosen),
        slices=chosen.slice or None,
        alpha=chosen.alpha,
        draws=chosen.draws,
        movers=chosen.movers,
        keep=chosen.keep,
        output_dir=chosen.output_dir,
    )
    if chosen.json:
        print(dumps(comparison.as_dict(), indent=2))
    else:
        show_comparison(comparison)
        if chosen.keep:
            path = comparison_file(find_runs(chosen.runs, chosen.output_dir))
            console().print(printable(f"kept: {path}"), soft_wrap=True)
    return 0


def _parser() -> options.Parser:
    from ragmeter.stats.confidence import TESTS

    parser = options.command_parser("ragmeter compare", _DESCRIPTION)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="two runs or more, by folder or by name")
    default = "default: all columns of few values"
    options.part_options(parser, slices=f"by whose values to look for other verdicts; {default}")
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
    options.number_option(tests, "--alpha", "SHARE", 0.05, "of false alarms, over all metrics")
    tests.add_argument("--draws", metavar="N", type=int, default=9_999, help="default: 9999")
    options.statistics_options(parser)
    options.runs_option(parser)
    options.json_option(parser)
    return parser
