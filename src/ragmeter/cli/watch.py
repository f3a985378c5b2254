"""`ragmeter watch RUN …`: a metric over time, of runs or of logs; the exit code says if it left the margin."""

from __future__ import annotations

import argparse

from ragmeter.cli import options
from ragmeter.cli.gate_options import FAILED
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.io.write import dumps

_DESCRIPTION = f"""\
Draw a metric over time, and say whether it got worse than the margin allows.

The runs are compared with the one that is named first, on the same questions; all looks at it are counted. A file is a
log of answers, which need no references: it is scored offline, and compared with the mean that --target names. The exit
code is {FAILED} if the metric got worse than the margin allows, or has scores for too few questions.
"""


def parser() -> Parser:
    """The parser of `ragmeter watch`."""
    parser = command_parser("ragmeter watch", _DESCRIPTION)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="runs, by folder or by name, or files of answers")
    what = "default: what runs are judged by, offline_hallucinated for a file"
    parser.add_argument("--metric", metavar="NAME", help=f"a metric, or a file's column of numbers; {what}")
    options.number_option(parser, "--margin", "X", 0.0, "so much worse is allowed")
    parser.add_argument("--target", metavar="X", type=float, help="the mean to keep; default: that of the first run")
    parser.add_argument(
        "--bounds", metavar=("LOW", "HIGH"), type=float, nargs=2, help="clip to these values what has no bounds"
    )
    parser.add_argument("--by", metavar="COLUMN", help="in files: each value here, or each day of a time, is a look")
    parser.add_argument("--sample", metavar="N", type=int, help="of files: so many rows of each look, drawn at random")
    options.number_option(parser, "--seed", "N", 0, "of the sample")
    options.number_option(parser, "--level", "SHARE", 0.95, "the confidence of all looks together")
    options.runs_option(parser)
    options.json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Look, and draw."""
    from ragmeter.analysis.watching import watch
    from ragmeter.show.terminal.watching import show_watched

    names = ("metric", "margin", "target", "by", "sample", "level", "seed", "output_dir")
    bounds = None if chosen.bounds is None else tuple(chosen.bounds)
    watched = watch(chosen.runs, bounds=bounds, **{name: getattr(chosen, name) for name in names})
    if chosen.json:
        print(dumps(watched.as_dict(), indent=2))
    else:
        show_watched(watched)
    return 0 if watched.passed else FAILED
