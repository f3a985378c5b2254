"""`ragmeter gate RUN ...`: is a run good enough? The exit code says so."""

from __future__ import annotations

import argparse

from ragmeter.cli.gate_options import FAILED, gate_options, pass_gate, print_verdict, read_gate
from ragmeter.cli.options import json_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps

_DESCRIPTION = f"""\
Check whether a run keeps its bounds, and is no worse than other runs.

The exit code is 0 if every check passed, {FAILED} if one failed, with the reason, and 2 if the call is invalid.
`ragmeter evaluate`, `ask`, `web` and `crag evaluate` take the same options, and score and check in one command.
"""


def parser() -> Parser:
    """The parser of `ragmeter gate`."""
    parser = command_parser("ragmeter gate", _DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help="a run's folder, or its name in --output-dir")
    runs_option(parser)
    gate_options(parser)
    json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Check, print the reasons, and write the files for CI."""
    gate = read_gate(chosen, chosen.output_dir)
    if gate is None:
        raise UsageError(
            "no rule is given: what does the run have to reach?",
            hint="for example --fail-under token_f1=0.6, or --no-worse-than main:token_f1:0.02",
        )
    from ragmeter.runs.lookup import find_run
    from ragmeter.show import terminal

    verdict = pass_gate(gate, chosen, find_run(chosen.run, chosen.output_dir))
    assert verdict is not None  # noqa: S101 - the gate is not None
    code = print_verdict(verdict, json=chosen.json)
    if chosen.json:
        print(dumps(verdict.as_dict(), indent=2))
    else:
        terminal.console().print(terminal.summary_table(verdict.metrics))
    return code
