"""What a calibration says in plain words: one sentence, and a warning wherever the labels don't help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragmeter.analysis.people.matching import UNKNOWN
from ragmeter.show.numbers import interval, number
from ragmeter.stats.confidence import percent

if TYPE_CHECKING:
    from ragmeter.analysis.people.calibration import Calibration

_FEW, _FEW_OF_A_KIND = 100, 10
_MANY_SKIPPED = 0.1
#: An interval is not narrower by the judge's help unless it loses at least this share of its width.
_NARROWER = 0.02
_NAMED = 5


def sentence(found: Calibration) -> str:
    """What people would say of all answers, and whether the judge is off."""
    corrected, raw = found.corrected, found.raw
    if corrected.value is None or corrected.interval is None or raw.value is None:
        return f"What people would say of all answers can't be told yet: {corrected.undefined}."
    low, high = corrected.interval
    said = (
        f"The share of answers that people would call correct is {number(corrected.value)} ({percent(found.level)}: "
        f"{interval(corrected.interval)}, from {corrected.n:,} labels); {found.metric} says {number(raw.value)}"
    )
    if low <= raw.value <= high:
        return f"{said}, which the labels don't contradict."
    return f"{said}, which is too {'strict' if raw.value < low else 'lenient'}."


def empty(strata: tuple[str, ...]) -> str:
    """Why nothing can be told of all rows while a stratum has no label."""
    named = ", ".join(strata[:_NAMED]) + (", …" if len(strata) > _NAMED else "")
    return f"no row of {len(strata):,} strata is labelled yet ({named})"


def warnings(found: Calibration) -> list[str]:
    """Everything that a reader should know before trusting the numbers."""
    return [*_of_labels(found), *_of_rows(found), *_of_judge(found)]


def _of_labels(found: Calibration) -> Iterator[str]:
    n = found.corrected.n or found.labels.labelled
    if n < _FEW:
        yield f"{n:,} labels are few: with so few the corrected interval holds a little less often than it says"
    if found.design == UNKNOWN:
        yield (
            "the labels have no column `weight` or `stratum_rows`: they are taken for a simple random sample, and if "
            "they were chosen otherwise, every number here is off"
        )
    if found.labels.changed:
        yield f"{found.labels.changed:,} labels belong to answers that have changed since, and count for nothing"
    if found.labels.skipped > _MANY_SKIPPED * (found.labels.labelled + found.labels.skipped):
        yield f"{found.labels.skipped:,} rows were skipped: if they are harder than the others, the estimate is off"
    if found.labels.tied:
        yield f"{found.labels.tied:,} rows are left out because people are split evenly on them"
    if found.n_unscored_labels:
        yield f"{found.n_unscored_labels:,} labelled rows have no score of {found.metric}, and are left out"


def _of_rows(found: Calibration) -> Iterator[str]:
    if found.drawn_from in (None, found.n_scored) and found.n_scored < found.n_rows:
        yield (
            f"{found.n_rows - found.n_scored:,} of the run's {found.n_rows:,} rows have no score of {found.metric}: "
            "they are not spoken for"
        )
    if found.drawn_from is not None and found.drawn_from not in (found.n_rows, found.n_scored):
        yield (
            f"the labels were drawn from {found.drawn_from:,} rows; the run has {found.n_rows:,}, and "
            f"{found.n_scored:,} with a score: the rows without an answer or a score are not spoken for"
        )
    if found.clustered:
        yield "rows of one conversation are not independent, and the intervals take them for it: they are too narrow"


def _of_judge(found: Calibration) -> Iterator[str]:
    judge = found.judge
    for each, word in ((judge.sensitivity, "correct"), (judge.specificity, "wrong")):
        if each.n == 0:
            yield f"people call no labelled answer {word}: the judge can't help, and the corrected value is the labels'"
        elif each.value is not None and each.n < _FEW_OF_A_KIND:
            yield f"people call only {each.n:,} labelled answers {word}: how the judge does on such is hardly known"
    kappa = judge.kappa.interval or (judge.kappa.value,)
    if kappa[0] is not None and kappa[0] <= 0:
        yield "the judge can't be told from chance: it helps little, and its raw mean means little"
    wrong = judge.judge_alone_correct + judge.people_alone_correct
    n = wrong + judge.both_correct + judge.both_wrong
    if wrong == 0 and found.judge_weight is not None:
        yield (
            f"judge and people agree on all {n:,} labels, so the interval takes the judge for perfect: up to "
            f"{min(1.0, 3 / n):.1%} of its verdicts may still be wrong (rule of three)"
        )
    elif found.effective_labels is not None and found.effective_labels < n / (1 - _NARROWER) ** 2:
        yield "the judge does not make the interval narrower: the labels alone tell as much"
