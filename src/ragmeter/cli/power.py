"""`ragmeter power`: how many questions a difference needs, and which difference a number of questions can show."""

from __future__ import annotations

import argparse
import math
from contextlib import suppress

from ragmeter.cli.modes import POWER, refuse_idle
from ragmeter.cli.options import json_option, number_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps
from ragmeter.stats.confidence import AUTO

_DESCRIPTION = """\
How many questions a difference needs, and which difference a number of questions can show.

From a pilot, one run or better two of the systems to be compared:
  ragmeter power before after --metric token_f1 --difference 0.02
From variances that you know, those of the difference of one question:
  ragmeter power --variance 0.111 --difference 0.03
"""


def run(chosen: argparse.Namespace) -> int:
    """Plan, and print."""
    refuse_idle(chosen, POWER)
    from ragmeter.analysis.power import plan, plan_from_pilot
    from ragmeter.runs.lookup import find_run
    from ragmeter.show.terminal.results import show_plan
    from ragmeter.stats.power import Variances

    if chosen.labels is not None:
        return _plan_labels(chosen)
    settings = {
        "differences": chosen.difference,
        "numbers": chosen.n,
        "repeats": chosen.repeats,
        "alpha": chosen.alpha,
        "power": chosen.power,
        "tests": chosen.tests,
    }
    if chosen.runs and chosen.variance is not None:
        raise UsageError("the variance comes from the runs, or from --variance", hint="leave one of them out")
    if chosen.runs:
        if chosen.metric is None:
            run = find_run(chosen.runs[0], chosen.output_dir)
            raise UsageError(
                "--metric is missing: which of the run's metrics is the plan for?",
                hint=f"{run.name} has {', '.join(run.measures)}",
            )
        cluster = None if chosen.cluster == "none" else chosen.cluster
        result = plan_from_pilot(
            chosen.runs,
            chosen.metric,
            cluster=cluster,
            correlation=chosen.correlation,
            output_dir=chosen.output_dir,
            **settings,
        )
    elif chosen.variance is not None:
        variances = Variances(chosen.variance, chosen.within, chosen.within, chosen.design_effect)
        result = plan(variances, metric=chosen.metric, bounds=_range(chosen.metric), **settings)
    else:
        raise UsageError("a plan needs a pilot run, or --variance", hint="`ragmeter power --help` shows both ways")
    if chosen.json:
        print(dumps(result.as_dict(), indent=2))
    else:
        show_plan(result)
    return 0


def _plan_labels(chosen: argparse.Namespace) -> int:
    """Plan people's labels of a run, and print the plan."""
    from ragmeter.analysis.people.label_plan import plan_labels
    from ragmeter.runs.lookup import find_run
    from ragmeter.show.terminal.label_plan import show_label_plan

    if len(chosen.runs) != 1:
        raise UsageError("labels are of the answers of one run", hint="ragmeter power RUN --labels [FILE ...]")
    result = plan_labels(
        find_run(chosen.runs[0], chosen.output_dir),
        chosen.labels,
        metric=chosen.metric,
        half_widths=chosen.half_width,
        differences=chosen.difference,
        n=chosen.n[0] if chosen.n else None,
        power=chosen.power,
        alpha=chosen.alpha,
    )
    print(dumps(result.as_dict(), indent=2)) if chosen.json else show_label_plan(result)
    return 0


def _range(metric: str | None) -> tuple[float, float]:
    """The range of a registered metric; unbounded for any other name."""
    from ragmeter import registry

    if metric is not None:
        with suppress(UsageError):
            return registry.get(metric).bounds
    return -math.inf, math.inf


def parser() -> Parser:
    """The parser of `ragmeter power`."""
    parser = command_parser("ragmeter power", _DESCRIPTION)
    parser.add_argument("runs", metavar="RUN", nargs="*", help="a pilot: one run, or two on the same questions")
    parser.add_argument("--metric", metavar="NAME", help="which of the runs' metrics")
    parser.add_argument(
        "--difference", metavar="D", type=float, nargs="+", default=[], help="how many questions would show it?"
    )
    parser.add_argument("--n", metavar="N", type=int, nargs="+", default=[], help="which difference would they show?")
    number_option(parser, "--power", "SHARE", 0.8, "the chance to see it")
    number_option(parser, "--alpha", "SHARE", 0.05, "of false alarms")
    number_option(
        parser,
        "--tests",
        "N",
        1,
        "how many tests share alpha (Holm): of the headline metric, pairs of runs; else all others",
    )
    number_option(parser, "--repeats", "K", 1, "how often each question is answered or judged")
    pilot = parser.add_argument_group("from a pilot")
    pilot.add_argument(
        "--cluster",
        metavar="COLUMN",
        default=AUTO,
        help="rows with the same value here belong together; none: no rows do; "
        "default: what the runs themselves are clustered by",
    )
    pilot.add_argument(
        "--correlation",
        metavar="R",
        type=float,
        default=0.0,
        help="with one run: the correlation with the other system's scores; default: 0, which is cautious",
    )
    runs_option(pilot)
    labels = parser.add_argument_group("labels by people")
    labels.add_argument(
        "--labels",
        metavar="FILE",
        nargs="*",
        help="how many labels instead, and of which rows; with the labels that there are, if any",
    )
    labels.add_argument(
        "--half-width",
        metavar="W",
        type=float,
        nargs="+",
        default=[],
        help="of the interval of the share that people would call correct: how many labels make it so narrow?",
    )
    variances = parser.add_argument_group("from variances")
    variances.add_argument("--variance", metavar="V", type=float, help="of the difference, over questions")
    variances.add_argument(
        "--within", metavar="V", type=float, default=0.0, help="of one system's score when a question is repeated"
    )
    number_option(variances, "--design-effect", "X", 1.0, "how many clustered rows count as one independent row")
    json_option(parser)
    return parser
