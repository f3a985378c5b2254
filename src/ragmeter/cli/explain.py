"""`ragmeter explain RUN QID`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragmeter.cli.options import command_parser, json_option
from ragmeter.io.write import RUNS, dumps

_DESCRIPTION = """\
Say why the offline judge holds a row's answer for right or wrong.

Each piece of evidence is shown with its weight: by how much it moved the log-odds. Above 0 it speaks for the answer.
"""


def run(argv: Sequence[str]) -> int:
    """Explain one row, and print it."""
    parser = command_parser("ragmeter explain", _DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help=f"a run's folder, or its name in {RUNS}/")
    parser.add_argument("qid", metavar="QID", help="the row's qid")
    parser.add_argument(
        "--output-dir", metavar="DIR", type=Path, default=RUNS, help=f"where runs are; default: {RUNS}/"
    )
    parser.add_argument(
        "--language", help="the texts' language, by code or name; default: as in the run, or told from the question"
    )
    parser.add_argument(
        "--calibration",
        metavar="FILE",
        help="as `ragmeter calibrate --offline-judge` writes it; default: as in the run, or none",
    )
    json_option(parser)
    chosen = parser.parse_args(list(argv))
    from ragmeter.analysis.explaining import explain
    from ragmeter.show.terminal.explanation import show_explanation

    explanations = explain(
        chosen.run,
        chosen.qid,
        output_dir=chosen.output_dir,
        language=chosen.language,
        calibration=chosen.calibration,
    )
    if chosen.json:
        print(dumps([{"qid": chosen.qid, **explanation.as_dict()} for explanation in explanations], indent=2))
        return 0
    for explanation in explanations:
        show_explanation(chosen.qid, explanation)
    return 0
