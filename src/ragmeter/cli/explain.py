"""`ragmeter explain RUN QID`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.cli.options import command_parser, json_option
from ragmeter.io.write import RUNS, dumps

if TYPE_CHECKING:
    from ragmeter.metrics.offline.evidence import Explanation

_DESCRIPTION = """\
Say why the offline judge holds a row's answer for right or wrong.

Each piece of evidence is shown with its weight: by how much it moved the log-odds. Above 0 it speaks for the answer.
"""
#: Evidence of less weight than this is left out of the table; --json has it all.
_SLIGHT = 0.05


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

    found = explain(
        chosen.run,
        chosen.qid,
        output_dir=chosen.output_dir,
        language=chosen.language,
        calibration=chosen.calibration,
    )
    if chosen.json:
        print(dumps([{"qid": chosen.qid, **each.as_dict()} for each in found], indent=2))
        return 0
    for each in found:
        _show(chosen.qid, each)
    return 0


def _show(qid: str, found: Explanation) -> None:
    from rich.text import Text

    from ragmeter.show.numbers import number
    from ragmeter.show.terminal import console, printable
    from ragmeter.show.terminal.tables import Column, Figures

    out = console()
    verdict = "right" if found.correct else "wrong"
    out.print(printable(f"{qid}: {verdict}, probability of being right {number(found.probability)}"), style="bold")
    out.print(printable(f"compared with: {found.reference}"), soft_wrap=True)
    if found.uncalibrated is not None:
        said = f"the evidence makes it {number(found.uncalibrated)}; your labels ({found.calibration}) bend that"
        out.print(printable(said), soft_wrap=True)
    table = Figures([Column("evidence", figures=False), Column("weight"), Column("what was found", figures=False)])
    for each in found.evidence:
        if abs(each.weight) >= _SLIGHT:
            style = "green" if each.weight > 0 else "red"
            table.add(each.about, Text(f"{each.weight:+.2f}", style=style), printable(each.says))
    table.add("before all evidence", f"{found.prior:+.2f}", "")
    out.print(table)
