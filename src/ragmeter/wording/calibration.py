"""A judge's calibration in a sentence, and the warnings about it.

The warnings are templates; `analysis` decides which apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragmeter.documents.record import Interval
from ragmeter.wording.numbers import deserved_decimals, number, percent, with_interval

_NAMED = 5

FEW_LABELS = "{n:,} labels are few: the corrected interval is wide, and more labels make it narrower"
UNKNOWN_DESIGN = (
    "the labels have no column `weight` or `stratum_rows`: they are treated as a simple random sample; if they were "
    "chosen in another way, every number here is biased"
)
CHANGED_ANSWERS = "{n:,} labels belong to answers that have changed since, and don't count"
MANY_SKIPPED = "{n:,} rows were skipped: if they are harder than the others, the estimate is off"
TIED = "{n:,} rows are left out because people are split evenly on them"
UNSCORED_LABELS = "{n:,} labelled rows have no score of {metric}, and are left out"
UNSCORED_ROWS = "{n:,} of the run's {total:,} rows have no score of {metric}: the result does not cover them"
DRAWN_FROM_OTHERS = (
    "the labels were drawn from {drawn:,} rows; the run has {total:,}, and {scored:,} with a score: the result does "
    "not cover rows without an answer or a score"
)
FEW_CLUSTERS = (
    "rows that belong together, as the turns of a conversation, count as one draw, and the labels are of {n:,} such "
    "groups: with so few the intervals hold a little less often than they say"
)
NONE_OF_A_KIND = "people call no labelled {unit} {kind}: the judge can't help, and the corrected value is the labels'"
FEW_OF_A_KIND = "people call only {n:,} labelled {unit}s {kind}: too few to say how well the judge does on these"
WORSE_THAN_CHANCE = (
    "it and people agree less often than chance would have it: see whether its verdicts are the wrong way round"
)
NO_BETTER_THAN_CHANCE = "its verdicts can't be told from chance: that number means little"
NOT_NARROWER = "the judge does not make the interval narrower: the labels alone tell as much"


class Estimate(Protocol):
    """A number with its interval and its n, or the reason why there is no number, as a sentence needs it."""

    @property
    def value(self) -> float | None: ...
    @property
    def interval(self) -> Interval | None: ...
    @property
    def n(self) -> int: ...
    @property
    def undefined(self) -> str | None: ...


def corrected_sentence(
    metric: str,
    corrected: Estimate,
    raw: Estimate,
    level: float,
    unit: str = "answer",
    *,
    counts_wrong: bool = False,
    doubt: str = "",
) -> str:
    """The share that people would call correct, or wrong, and whether the judge is too strict or too lenient.

    `doubt`: why that can't be said of the judge.
    """
    if corrected.value is None or corrected.interval is None or raw.value is None:
        return f"What people would say of all {unit}s can't be told yet: {corrected.undefined}."
    low, high = corrected.interval
    called = f"The share of answers that people would call {'wrong' if counts_wrong else 'correct'}"
    share = called if unit == "answer" else f"By people, {metric}"
    value, ends = with_interval(corrected.value, corrected.interval)
    raw_value = number(raw.value, decimals=deserved_decimals(corrected.interval))
    text = f"{share} is {value} ({percent(level)}: {ends}, from {corrected.n:,} labels); {metric} says {raw_value}"
    if doubt:
        return f"{text}, but {doubt}."
    if low <= raw.value <= high:
        return f"{text}, which the labels don't contradict."
    return f"{text}, which is too {'strict' if (raw.value < low) != counts_wrong else 'lenient'}."


def unlabelled_strata(strata: Sequence[str]) -> str:
    """Why there is no estimate for all rows while a stratum has no label."""
    named = ", ".join(strata[:_NAMED]) + (", …" if len(strata) > _NAMED else "")
    return f"no row of {len(strata):,} strata is labelled yet ({named})"


def always_agrees(n: int) -> str:
    """Warns of a judge that agrees with people on all labels: by the rule of three, 3 of n may still be wrong."""
    wrong = percent(min(1.0, 3 / n), decimals=1)
    return (
        f"judge and people agree on all {n:,} labels, and up to {wrong} of its verdicts may still be wrong "
        "(rule of three): the interval allows for one mistake more"
    )
