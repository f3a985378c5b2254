"""`ragmeter explain RUN QID`."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.cli.options import command_parser, json_option, runs_option
from ragmeter.io.write import RUNS, dumps

_DESCRIPTION = """\
Show why the offline judge takes a row's answer for right or wrong.

Each piece of evidence is shown with its weight: by how much it moved the log-odds. A weight above 0 is evidence for the
answer.
"""


def run(argv: Sequence[str]) -> int:
    """Explain a row's verdict, and print it."""
    parser = command_parser("ragmeter explain", _DESCRIPTION)
    parser.add_argument("run", metavar="RUN", help=f"a run's folder, or its name in {RUNS}/")
    parser.add_argument("qid", metavar="QID", help="the row's qid")
    runs_option(parser)
    parser.add_argument(
        "--language", help="the texts' language, by code or name; default: as in the run, or detected from the question"
    )
    parser.add_argument(
        "--calibration",
        metavar="FILE",
        help="as `ragmeter calibrate --offline-judge` writes it; default: as in the run, or none",
    )
    json_option(parser)
    chosen = parser.parse_args(list(argv))
    from ragmeter.analysis.explaining import explain
    from ragmeter.show.terminal.results import show_explanation

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
