"""`ragmeter gate RUN ...`: is a run good enough? The exit code says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragmeter.cli.gate_options import FAILED, gate_options, pass_gate, read_gate, tell
from ragmeter.cli.options import command_parser, json_option
from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS, dumps

_DESCRIPTION = f"""\
Hold a run against what is asked of it.

The exit code is 0 if every check passed, {FAILED} if one failed, with the reason, and 2 if the call makes no sense.
`ragmeter evaluate`, `ask`, `web` and `crag evaluate` take the same options, and score and check in one go.
"""


def run(argv: Sequence[str]) -> int:
    """Decide, print the reasons, and write what CI shows."""
    parser = command_parser("ragmeter gate", _DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help="a run's folder, or its name in --output-dir")
    parser.add_argument(
        "--output-dir", metavar="DIR", type=Path, default=RUNS, help=f"where runs are kept; default: {RUNS}/"
    )
    gate_options(parser)
    json_option(parser)
    chosen = parser.parse_args(list(argv))
    gate = read_gate(chosen, chosen.output_dir)
    if gate is None:
        raise UsageError(
            "say what the run has to reach",
            hint="for example --fail-under token_f1=0.6, or --no-worse-than main:token_f1:0.02",
        )
    from ragmeter.runs.finding import find_run
    from ragmeter.show import terminal

    verdict = pass_gate(gate, chosen, find_run(chosen.run, chosen.output_dir))
    assert verdict is not None  # noqa: S101 - there is a gate
    if chosen.json:
        print(dumps(verdict.as_dict(), indent=2))
    else:
        metrics = {name: summary.as_dict() for name, summary in verdict.metrics.items()}
        terminal.console().print(terminal.summary_table(metrics))
    return tell(verdict, json=chosen.json)
