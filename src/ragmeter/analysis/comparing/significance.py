"""Verdicts on differences, what the questions could show, and the sentences about both."""

from __future__ import annotations

from dataclasses import replace

from ragmeter.analysis.comparing.comparison import MetricDifference, Pair, SliceDifference
from ragmeter.documents.comparison import (
    BETTER,
    DIFFERENT,
    JUDGES_DIFFER,
    NO_VERDICT,
    NOT_SIGNIFICANT,
    SMALL,
    WORSE,
    NumberOfTests,
)
from ragmeter.stats.power import Variances, questions_needed, smallest_difference
from ragmeter.wording.comparison import Wording
from ragmeter.wording.verdicts import (
    no_verdict_reworded,
    outlook,
    tally,
    verdict_sentence,
    with_missing,
)

#: A standard error below this share of the difference is rounding: all differences are the same.
_ROUNDING = 1e-9


def is_significant(p_holm: float, alpha: float, *, excludes_zero: bool) -> bool | None:
    """Whether a difference is significant by the corrected p-value; None where the interval says otherwise."""
    return p_holm < alpha if (p_holm < alpha) == excludes_zero else None


def verdict(result: MetricDifference, alpha: float) -> str:
    """The verdict by the corrected p-value and the interval, which have to agree."""
    if result.p is None or result.p_holm is None or result.difference is None:
        return NO_VERDICT
    significant = is_significant(result.p_holm, alpha, excludes_zero=result.excludes_zero)
    return verdict_on(result.difference, result.direction, result.margin, significant=significant)


def verdict_on(difference: float, direction: str, margin: float | None, *, significant: bool | None) -> str:
    """The verdict on a difference that is significant or not, or None where interval and test disagree."""
    if not significant:
        return NO_VERDICT if significant is None else NOT_SIGNIFICANT
    if margin is not None and abs(difference) < margin:
        return SMALL
    if direction not in ("higher", "lower"):
        return DIFFERENT
    return BETTER if (difference > 0) == (direction == "higher") else WORSE


def with_verdicts(pair: Pair, wording: Wording, tests: NumberOfTests) -> Pair:
    """Add verdicts, plans and sentences to a pair with corrected p-values."""
    if pair.mostly_reworded:  # its metrics have no test
        return replace(pair, sentence=no_verdict_reworded(pair.questions_differ, pair.n_paired))
    metrics = {}
    for name, result in pair.metrics.items():
        if result.verdict == JUDGES_DIFFER:
            metrics[name] = result
            continue
        of_kind = replace(wording, tests=tests.headline if name == pair.headline else tests.others)
        judged = _planned(replace(result, verdict=verdict(result, wording.alpha)), of_kind)
        metrics[name] = replace(judged, sentence=of_kind.difference(name, pair.a, pair.b, judged))
    of_slices = replace(wording, tests=len(pair.slices))
    slices = [_turned(part, metrics[part.metric], of_slices) for part in pair.slices]
    result = metrics[pair.headline]
    sentence = verdict_sentence(pair.headline, pair.a, pair.b, result, replace(wording, tests=tests.headline))
    causes = pair.causes
    if causes is not None and result.verdict not in (BETTER, WORSE, DIFFERENT, SMALL):
        causes = replace(causes, sentence="")  # nobody's work is a difference that may be chance
    return replace(
        pair,
        metrics=metrics,
        slices=slices,
        causes=causes,
        sentence=with_missing(sentence, pair.missing, pair.unscored, pair.declined),
        remarks=[remark for remark in (tally(metrics), outlook(result)) if remark],
    )


def _turned(part: SliceDifference, whole: MetricDifference, wording: Wording) -> SliceDifference:
    """A slice with its sentence, if it turns. Where the whole is not significant, its sign is chance: nothing turns."""
    if not part.turns or whole.verdict not in (BETTER, WORSE, DIFFERENT, SMALL):
        return replace(part, turns=False)
    return replace(part, sentence=wording.turned(f"{part.column} is {part.value}", part.metric, part))


def _planned(result: MetricDifference, wording: Wording) -> MetricDifference:
    """Add what these questions can show, and how many would show the margin, at the alpha that this test gets.

    Holm's correction gives the smallest p-value of m the alpha / m, and no other test less.
    """
    error, shown = result.standard_error, result.shown_error
    if error is None or shown is None or shown <= _ROUNDING * abs(result.difference or 0.0):
        return result  # too few rows, or all alike without a known range: neither says what a test could show
    alpha, n = wording.alpha / max(1, wording.tests), result.n_questions
    if result.least_p is not None and result.least_p >= alpha:  # no difference whatever would be significant
        return result
    variances = Variances.of_interval(error, shown, n)
    moved = result.better or result.worse
    needed = questions_needed(variances, result.margin, alpha=alpha) if result.margin and moved else None
    return replace(result, needed=needed, smallest=smallest_difference(variances, n, alpha=alpha))
