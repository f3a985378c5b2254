"""Reads the rows that a page of Compare shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragmeter.analysis.comparing.selection import Gains
from ragmeter.metrics.causes import CAUSE
from ragmeter.runs.run import Run
from ragmeter.show.page.compare.row_list import OfRun, PairedRow
from ragmeter.show.page.compare.view import CompareView
from ragmeter.table import NewRow, Row, outcome_column
from ragmeter.wording.causes import cause_name

#: Reads some columns of the rows at some places of a run.
Reader = Callable[[Run, Sequence[int], Sequence[str]], list[NewRow]]


def read_pairs(
    view: CompareView, metric: str, gains: Gains, places: Sequence[int], read: Reader = Run.records
) -> list[PairedRow]:
    """The pairs at these places of the view's pairing, with their texts."""
    own = ["qid", "question", "reference", "answer", "error", CAUSE, outcome_column(metric)]
    sides = []
    for run, rows in ((view.baseline, view.pairing.a), (view.candidate, view.pairing.b)):
        of_run = [int(rows[place]) for place in places]
        sides.append(list(zip(of_run, read(run, of_run, own), strict=True)))
    names = view.pair.a, view.pair.b
    pairs = []
    for place, (row_a, before), (row_b, after) in zip(places, *sides, strict=True):
        scores, gain = (gains.a[place], gains.b[place]), float(gains.gain[place])
        pairs.append(
            PairedRow(
                qid=str(before.get("qid") or ""),
                question=str(before.get("question") or after.get("question") or before.get("qid") or ""),
                reference=_reference(before) or _reference(after),
                a=_of_run(view, names[0], row_a, before, metric, float(scores[0])),
                b=_of_run(view, names[1], row_b, after, metric, float(scores[1])),
                gain=None if gain != gain else gain,
            )
        )
    return pairs


def _reference(row: Row) -> str:
    reference = row.get("reference") or []
    return str(reference) if isinstance(reference, str) else " / ".join(map(str, reference))


def _of_run(view: CompareView, name: str, place: int, row: Row, metric: str, score: float) -> OfRun:
    answer, outcome = row.get("answer"), row.get(outcome_column(metric))
    return OfRun(
        answer=None if answer is None else str(answer),
        score=None if score != score else score,
        cause=row.get(CAUSE) and str(row[CAUSE]),
        href=view.addresses.row(name, place),
        lacking=str(row.get("error") or (cause_name(str(outcome)) if outcome else "")),
    )
