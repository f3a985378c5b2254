"""Plain words: what a metric is, what a cause means, and figures as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragmeter import naming, registry
from ragmeter.errors import UsageError
from ragmeter.runs.comparisons import KeptComparison
from ragmeter.show.numbers import interval, number
from ragmeter.stats.confidence import percent
from ragmeter.table import (
    JUDGE_ERROR,
    NO_RESULT,
    REFUSED,
    SKIPPED_BUDGET,
    TARGET_ERROR,
    TIED,
    TIMEOUT,
    UNDEFINED,
    UNPARSABLE,
)

_CAUSES = {
    TARGET_ERROR: "the system failed to answer",
    NO_RESULT: "the results have no such question",
    UNPARSABLE: "the judge's reply could not be read",
    REFUSED: "the judge refused",
    TIED: "the judge's verdicts were tied",
    TIMEOUT: "no reply in time",
    JUDGE_ERROR: "the judge could not be reached",
    SKIPPED_BUDGET: "not asked: the budget was spent",
    UNDEFINED: "the metric has no value here",
}
#: Scores that a judge's run has, and no metric computes.
_OF_JUDGES = {
    "is_correct": "Share of turns that were answered correctly.",
    "is_exact_match": "Share of turns whose answer is the expected one, word for word.",
    "is_miss": "Share of turns that the system declined to answer, or that came after a conversation had ended.",
    "is_hallucination": "Share of turns that were answered, and wrongly.",
    "multi_turn_conversation_score": "Mean over conversations: a right answer counts 1, none 0, a wrong one -1.",
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")
_BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "neither high nor low is better"}


def explained(metrics: Sequence[str]) -> dict[str, str]:
    """The first sentence of each metric's description. Only known names are looked up: a run may come from anywhere."""
    known = {each.base: (each.__doc__ or "").partition("\n")[0] for each in registry.known()}
    return {name: _OF_JUDGES.get(name) or known.get(_base(name), "") for name in metrics}


def _base(name: str) -> str:
    try:
        return naming.parse(name).base
    except UsageError:
        return name


def is_rate(summary: Mapping[str, Any]) -> bool:
    """Whether its scores are 0 or 1, so that its mean is a share of the rows."""
    return bool(summary.get("binary", summary["interval_method"] == "wilson"))


def level(summary: Mapping[str, Any]) -> str:
    """The level of its interval, `95%`."""
    return percent(summary.get("level", 0.95))


def about_intervals(levels: Sequence[str]) -> str:
    """What an interval means, in a sentence or two."""
    said = " or ".join(dict.fromkeys(levels))
    return (
        f"The {said} interval says how far chance alone may have moved a mean: if questions like these were drawn "
        f"again and again, {said} of the intervals made this way would hold the true mean. More questions make it "
        "narrower."
    )


def better(direction: str) -> str:
    """Which way is up."""
    return _BETTER.get(direction, _BETTER["none"])


def cause_meaning(cause: str) -> str:
    """A cause in words, or nothing where it speaks for itself."""
    if cause.startswith("no_") and cause not in _CAUSES:
        return f"the row has no {cause.removeprefix('no_').replace('_', ' ')}"
    return _CAUSES.get(cause, "")


def failures(metrics: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each reason why rows were not scored, with how many and for which metrics; most first."""
    by_cause: dict[tuple[str, int], list[str]] = {}
    for name, each in metrics.items():
        for cause, count in each["n_not_scored"].items():
            by_cause.setdefault((cause, count), []).append(name)
    found = [
        {
            "cause": cause,
            "meaning": cause_meaning(cause),
            "count": count,
            "metrics": names,
            "all": len(names) == len(metrics),
        }
        for (cause, count), names in by_cause.items()
    ]
    return sorted(found, key=lambda each: -int(each["count"]))


def one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return _CONTROL.sub(" ", text)


def sentence(name: str, summary: Mapping[str, Any]) -> str:
    """A metric in one line: `token_f1 0.4308 (95%: 0.1479 to 0.7137), 7 of 8 scored`."""
    scored = f"{summary['n_scored']:,} of {summary['n_total']:,} scored"
    between = "" if summary["interval"] is None else f" ({level(summary)}: {interval(summary['interval'])})"
    return f"{name} {number(summary['mean'])}{between}, {scored}"


def about_kept(kept: KeptComparison) -> str:
    """Which comparison a page shows, where one was kept: that one, or another because its runs have changed since."""
    if not kept.current:
        changed = f"A comparison was kept on {kept.created}, but the runs have changed since"
        return f"{changed}. This one is made anew, with the usual settings."
    slices = kept.settings["slices"]
    by = "" if slices is None else f", slices: {', '.join(slices) or 'none'}"
    settings = f"test: {kept.settings['test']}, alpha: {kept.settings['alpha']:g}{by}"
    return f"The comparison that was kept on {kept.created}; {settings}."
