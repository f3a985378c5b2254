"""What a reader should know before trusting a calibration: which warnings apply to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragmeter.analysis.people.matching import UNKNOWN
from ragmeter.show.sentences import calibration as words

if TYPE_CHECKING:
    from ragmeter.analysis.people.calibration import Calibration

_FEW, _FEW_OF_A_KIND = 100, 10
_MANY_SKIPPED = 0.1
#: An interval is not narrower by the judge's help unless it loses at least this share of its width.
_NARROWER = 0.02


def cautions(result: Calibration) -> Iterator[str]:
    """The warnings: of the labels, of the rows that they were drawn from, and of the judge."""
    labels, n = result.labels, result.corrected.n or result.labels.labelled
    if n < _FEW:
        yield words.FEW_LABELS.format(n=n)
    if result.design == UNKNOWN:
        yield words.UNKNOWN_DESIGN
    if labels.changed:
        yield words.CHANGED_ANSWERS.format(n=labels.changed)
    if labels.skipped > _MANY_SKIPPED * (labels.labelled + labels.skipped):
        yield words.MANY_SKIPPED.format(n=labels.skipped)
    if labels.tied:
        yield words.TIED.format(n=labels.tied)
    if result.n_unscored_labels:
        yield words.UNSCORED_LABELS.format(n=result.n_unscored_labels, metric=result.metric)
    yield from _of_rows(result)
    yield from _of_judge(result)


def _of_rows(result: Calibration) -> Iterator[str]:
    total, scored, drawn = result.n_rows, result.n_scored, result.drawn_from
    if drawn in (None, scored) and scored < total:
        yield words.UNSCORED_ROWS.format(n=total - scored, total=total, metric=result.metric)
    if drawn is not None and drawn not in (total, scored):
        yield words.DRAWN_FROM_OTHERS.format(drawn=drawn, total=total, scored=scored)
    if result.clustered:
        yield words.CLUSTERED


def _of_judge(result: Calibration) -> Iterator[str]:
    judge = result.judge
    for share, kind in ((judge.sensitivity, "correct"), (judge.specificity, "wrong")):
        if share.n == 0:
            yield words.NONE_OF_A_KIND.format(kind=kind)
        elif share.value is not None and share.n < _FEW_OF_A_KIND:
            yield words.FEW_OF_A_KIND.format(n=share.n, kind=kind)
    kappa = judge.kappa.interval or (judge.kappa.value,)
    if kappa[0] is not None and kappa[0] <= 0:
        yield words.NO_BETTER_THAN_CHANCE
    wrong = judge.judge_alone_correct + judge.people_alone_correct
    n = wrong + judge.both_correct + judge.both_wrong
    if wrong == 0 and result.judge_weight is not None:
        yield words.always_agrees(n)
    elif result.effective_labels is not None and result.effective_labels < n / (1 - _NARROWER) ** 2:
        yield words.NOT_NARROWER
