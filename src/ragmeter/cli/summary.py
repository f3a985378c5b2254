"""`ragmeter summary`: a kept run's figures, with other intervals, and by slices."""

from __future__ import annotations

import argparse

from ragmeter.cli import options
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.io.write import dumps

_DESCRIPTION = """\
Show a run's scores again, over all rows and by slices:

  ragmeter summary english --slice domain --slice domain,language
"""


def parser() -> Parser:
    """The parser of `ragmeter summary`."""
    parser = command_parser("ragmeter summary", _DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help="a run's folder, or its name")
    options.part_options(parser, slices="whose values part the rows")
    options.statistics_options(parser, cluster="the run's own", own=True)
    options.runs_option(parser)
    options.json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Summarise, and print."""
    from ragmeter.analysis.slices import summarise_run
    from ragmeter.cli.judge_options import print_judge
    from ragmeter.cli.repeats import print_repeats, repeats_json
    from ragmeter.runs.lookup import find_run
    from ragmeter.show.terminal.answer_causes import show_causes
    from ragmeter.show.terminal.judging import print_lines
    from ragmeter.show.terminal.summary import show_headline, show_summary
    from ragmeter.wording.limits import limit_lines
    from ragmeter.wording.testsets import card_lines

    stored_run = find_run(chosen.run, chosen.output_dir)
    settings = options.read_statistics(chosen)
    summary = summarise_run(stored_run, metrics=chosen.metrics, slices=chosen.slice, **settings)
    level = summary.statistics.level
    if chosen.json:
        print(dumps({**summary.as_dict(), **repeats_json(stored_run, level)}, indent=2))
    else:
        kept = stored_run.summary()
        show_headline(summary.metrics, stored_run.manifest(), kept)
        show_causes(kept.cause)
        if kept.test_set is not None:
            print_lines(card_lines(kept.test_set, kept.judge_usage))
            return 0
        show_summary(summary, limit_lines(stored_run.manifest()))
        print_repeats(stored_run, level)
        print_judge(stored_run.summary(), stored_run.manifest())
    return 0
