"""`ragmeter export`: a run in the formats of other tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from ragmeter.cli.options import formula_option, json_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.io.write import dumps

_DESCRIPTION = """\
Write a run in the format of another tool:

  ragmeter export nightly --to csv
  ragmeter export nightly --output nightly.parquet
  ragmeter export nightly --to xlsx                            # for Excel
  ragmeter export nightly --to trec --output nightly.run       # and nightly.qrels; for trec_eval
  ragmeter export nightly --to openinference                   # spans as OTLP JSON, for Phoenix or a collector
  ragmeter export nightly --to mlflow --tracking-uri http://127.0.0.1:5000
  ragmeter export questions --to qa-pairs                      # a test set; also beir, qrels, ragas, deepeval

Data is sent only to the MLflow that --tracking-uri names: scores and settings, no questions, no answers.
"""
_FORMATS = (
    "csv",
    "xlsx",
    "parquet",
    "jsonl",
    "trec",
    "openinference",
    "mlflow",
    "qa-pairs",
    "beir",
    "qrels",
    "ragas",
    "deepeval",
)


def parser() -> Parser:
    """The parser of `ragmeter export`."""
    parser = command_parser("ragmeter export", _DESCRIPTION)
    add = parser.add_argument
    add("run", metavar="RUN", help="a run's folder, or its name")
    add("--to", choices=_FORMATS, help="the format; default: that of --output, by its ending")
    add("--output", metavar="FILE", type=Path, help="default: the run's name with the format's ending, here")
    add("--tracking-uri", metavar="URI", help="MLflow's: http://... or sqlite:///mlflow.db")
    add("--experiment", metavar="NAME", help="in MLflow; default: ragmeter")
    formula_option(parser)
    runs_option(parser)
    json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Export, and say where it went."""
    from ragmeter.show.exports.export import export

    places = export(
        chosen.run,
        chosen.to,
        chosen.output,
        tracking_uri=chosen.tracking_uri,
        experiment=chosen.experiment,
        guard=chosen.guard,
        output_dir=chosen.output_dir,
    )
    if chosen.json:
        print(dumps({"written": places}, indent=2))
        return 0
    for place in places:
        print(f"written: {place}")
    return 0
