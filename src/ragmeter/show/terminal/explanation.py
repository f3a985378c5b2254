"""Why the offline judge holds an answer for right or wrong, as a person reads it."""

from __future__ import annotations

from rich.text import Text

from ragmeter.metrics.offline.evidence import Explanation
from ragmeter.show.numbers import hundredths, number
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Column, Figures
from ragmeter.show.texts import printable

#: Evidence of less weight than this is left out of the table; --json has it all.
_SLIGHT = 0.05


def show_explanation(qid: str, explanation: Explanation) -> None:
    """The verdict, and each piece of evidence with its weight."""
    out = console()
    verdict = "right" if explanation.correct else "wrong"
    chance = number(explanation.probability)
    out.print(printable(f"{qid}: {verdict}, probability of being right {chance}"), style="bold")
    out.sentence(f"compared with: {explanation.reference}")
    if explanation.uncalibrated is not None:
        before = number(explanation.uncalibrated)
        out.sentence(f"the evidence makes it {before}; your labels ({explanation.calibration}) bend that")
    table = Figures([Column("evidence", figures=False), Column("weight"), Column("what was found", figures=False)])
    for piece in explanation.evidence:
        if abs(piece.weight) >= _SLIGHT:
            weight = Text(hundredths(piece.weight, sign=True), style="green" if piece.weight > 0 else "red")
            table.add(piece.about, weight, printable(piece.says))
    table.add("before all evidence", hundredths(explanation.prior, sign=True), "")
    out.print(table)
