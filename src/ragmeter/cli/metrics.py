"""`ragmeter metrics [NAME]`."""

from __future__ import annotations

import argparse

from ragmeter import registry
from ragmeter.analysis.metric_list import DOCUMENTS, GROUPS, MODEL, PASSAGES, TEXTS, MetricInfo, list_metrics
from ragmeter.cli.options import json_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.io.write import dumps

#: The groups' titles.
_TITLES = {
    TEXTS: "needs nothing but texts",
    PASSAGES: "needs passages",
    DOCUMENTS: "needs gold documents",
    MODEL: "needs a model",
}


def parser() -> Parser:
    """The parser of `ragmeter metrics`."""
    parser = command_parser("ragmeter metrics", "List the metrics by what they need, or explain one.")
    parser.add_argument("name", nargs="?", help="a metric's name, for example ndcg@10")
    json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """List the metrics, or show one metric's page."""
    from ragmeter.show.terminal.results import show_metric, show_metrics

    if chosen.name is None:
        metrics = list_metrics()
        groups = {_TITLES[name]: [info for info in metrics if info.group == name] for name in GROUPS}
        print(dumps([info.as_dict() for info in metrics], indent=2)) if chosen.json else show_metrics(groups)
    else:
        metric = registry.get(chosen.name)
        print(dumps(MetricInfo.of(metric).as_dict(), indent=2)) if chosen.json else show_metric(metric)
    return 0
