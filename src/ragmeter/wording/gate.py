"""The reasons of a gate: the requirement and the result of each check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragmeter.documents.metrics import MetricSummary
from ragmeter.wording.causes import because
from ragmeter.wording.metrics import brief
from ragmeter.wording.numbers import about, given, number, percent, signed


def bound_reason(metric: str, summary: MetricSummary, bound: float, *, under: bool, whole: bool, doubtful: bool) -> str:
    """A mean against a bound. `whole`: the whole interval must meet it; `doubtful`: it does not, and need not."""
    if summary.mean is None:
        return f"{metric}: no row has a score{because(summary.n_not_scored)}"
    asked = f"{'at least' if under else 'at most'} {given(bound, thousands=True)} is asked for"
    by_interval = ", by the whole interval" if whole else ""
    doubt = f"; a true mean {'below' if under else 'above'} that can't be ruled out" if doubtful else ""
    return f"{metric} is {brief(summary, bound)}: {asked}{by_interval}{doubt}"


def unscored_reason(
    metrics: str, what: str, failed: int, total: int, causes: Mapping[str, int], most: float, n_fine: int = 0
) -> str:
    """The number of rows without a score, against the limit; `n_fine` more rightly have none."""
    beside = f" beside {n_fine:,} of questions without an answer" if n_fine else ""
    have = f"{metrics}: {failed:,} of {total:,} {what} have no score{beside}"
    return f"{have}{because(causes)}: at most {percent(most)} may have none"


def margin_reason(
    sentence: str,
    margin: float,
    worst: float,
    *,
    passed: bool,
    lost: bool,
    needed: float | None,
    few: str | None,
    unmoved: int | None = None,
    alike: bool = False,
    unit: str = "questions",
    what: str = "a loss",
) -> str:
    """A comparison's sentence, and whether its interval rules out a loss (or a difference: `what`) beyond the margin.

    `worst` is the interval's end on the side of a loss, and below 0 if that is one. `lost`: the whole interval is
    beyond the margin. `needed` is the number of questions that would show that two runs are equally good. `unmoved` is
    the number of questions or clusters (`unit`) if no score has moved: then up to 3 of so many may (the rule of three,
    at 95%). `alike`: the interval has no width, as all rows moved alike and the metric has no known range. `few` names
    the units (rows or clusters) if there are too few for an accurate interval.
    """
    loss = f"{what} of more than {given(margin)}"
    decision = f"the interval {'rules out' if passed else 'does not rule out'} {loss}"
    if unmoved is not None:
        decision = f"no row moved: up to {min(3, unmoved)}/{unmoved:,} of the {unit} may, so {decision}"
    elif alike:
        decision = f"all rows moved alike, and how far others may is not known without a range, so {decision}"
    if lost:
        decision = f"the whole interval is {loss}"
    elif needed is not None:
        decision += f"; if they are alike, about {about(needed)} questions would show it"
    if signed(worst, -margin) != signed(worst):  # the sentence has rounded it to the margin
        decision += f" (at worst {number(-worst, margin)})"
    rough = f"; few {few}, so it is rough" if few else ""
    return f"{sentence}: {decision}{rough}"


def looked_before(baseline: str, runs: Sequence[str], level: float, *, sequential: bool) -> list[str]:
    """Says that others were compared with a baseline before, and what that does to false alarms; nothing without."""
    if not runs:
        return []
    names = ", ".join(runs[-3:]) + (f" and {len(runs) - 3:,} more" if len(runs) > 3 else "")
    look = f"this is look {len(runs) + 1:,} at the baseline {baseline}, after {names}"
    if sequential:
        return [f"{look}: its interval has {percent(level)}, so that all looks together have 95%"]
    chance = percent(min(1.0, (len(runs) + 1) * (1 - level)), decimals=0)
    alarm = f"some false alarm among so many has a chance of up to {chance}"
    return [f"{look}: {alarm}; `ragmeter gate --sequential` keeps it at 5%"]


def no_interval(sentence: str) -> str:
    """A comparison without an interval, which can't be checked against a margin."""
    return f"{sentence}: there is no interval"


def other_questions(metric: str, questions: int, pairs: int, baseline: str) -> str:
    """Why a margin is not checked: most questions are others."""
    return f"{metric}: {questions:,} of {pairs:,} questions under the same qid are worded otherwise in {baseline}"


def reworded(questions: int, baseline: str) -> str:
    """A note for a baseline that has other questions under the same ids."""
    return f" (and {questions:,} of the questions are worded otherwise in {baseline})"
