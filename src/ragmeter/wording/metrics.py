"""Metrics in words: descriptions, directions, and means with interval and n."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragmeter import naming, registry
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.record import Interval
from ragmeter.wording import numbers
from ragmeter.wording.causes import because
from ragmeter.wording.signs import ARROWS

_BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "neither high nor low is better"}
#: An interval up to this has no width but rounding errors.
_NO_WIDTH = 1e-9


def titled(name: str, direction: str) -> str:
    """A metric's name with its arrow."""
    return f"{name} {ARROWS.get(direction, '')}".rstrip()


def better(direction: str) -> str:
    """The better direction, in words."""
    return _BETTER.get(direction, _BETTER["none"])


def explained(metrics: Sequence[str]) -> dict[str, str]:
    """The first sentence of each metric's description. Unknown names are not imported: a run may not be trusted."""
    sentence_of = {metric.base: (metric.__doc__ or "").partition("\n")[0] for metric in registry.known()}
    return {name: sentence_of.get(naming.base_of(name), "") for name in metrics}


def level(summary: MetricSummary) -> str:
    """The level of its interval, `95%`."""
    return numbers.percent(summary.level)


def differing_level(summary: MetricSummary, usual: str = "95%") -> str:
    """What stands before an interval of another level than the usual one, `80%: `."""
    return "" if level(summary) == usual else f"{level(summary)}: "


def common_level(levels: Sequence[str]) -> str:
    """The level that all intervals have; none if they differ, so that each is shown with its own."""
    return levels[0] if len(set(levels)) == 1 else ""


def about_intervals(levels: Sequence[str]) -> str:
    """Explains an interval in two sentences."""
    stated = " or ".join(dict.fromkeys(levels))
    return (
        f"The {stated} interval says how far chance alone may have moved a mean: if questions like these were drawn "
        f"again and again, {stated} of the intervals made this way would hold the true mean. More questions make it "
        "narrower."
    )


def headline(summary: MetricSummary) -> tuple[str, Interval | None]:
    """The mean and its interval; where most rows have no verdict, the bounds of the mean, which has no interval."""
    bounds = summary.bounds_of_mean
    if bounds is not None:
        return numbers.interval(bounds), None
    return numbers.number(summary.mean), summary.interval


def within(bounds: Interval) -> str:
    """Bounds of a mean: `between 0.2500 and 1.0000`."""
    return f"between {numbers.number(bounds[0])} and {numbers.number(bounds[1])}"


def summary_sentence(name: str, summary: MetricSummary) -> str:
    """A metric in one line: `token_f1 0.4308 (95%: 0.1479 to 0.7137), 7 of 8 scored`."""
    scored = f"{summary.n_scored:,} of {summary.n_total:,} scored"
    mean, interval = headline(summary)
    between = "" if interval is None else f" ({level(summary)}: {numbers.interval(interval)})"
    return f"{name} {mean}{between}, {scored}"


def cautions(metrics: Mapping[str, MetricSummary]) -> list[str]:
    """Cautions about means, to be read before the means are believed."""
    lines = []
    for name, summary in metrics.items():
        if (bounds := summary.bounds_of_mean) is not None:
            lines.append(
                f"{name}: most rows have no verdict, and the mean of the other {summary.n_scored:,} "
                f"({numbers.number(summary.mean)}) does not stand for them: the mean of all is {within(bounds)}"
            )
    return [
        *lines,
        *without_width({name: s for name, s in metrics.items() if s.bounds_of_mean is None}),
        *no_rates(metrics),
    ]


def without_width(metrics: Mapping[str, MetricSummary]) -> list[str]:
    """A caution for metrics whose few scores are all the same, because an interval of no width looks like certainty."""
    names = [
        name
        for name, summary in metrics.items()
        if summary.interval is not None and summary.interval[1] - summary.interval[0] <= _NO_WIDTH and summary.is_few
    ]
    why = "the scores are all the same, but few: an interval of no width does not make the mean certain"
    return [f"{', '.join(names)}: {why}"] if names else []


def no_rates(metrics: Iterable[str]) -> list[str]:
    """A line for each metric whose mean reads like a share of answers and is none, or only by a threshold for equal
    numbers of good and bad ones. Unknown names are not imported.
    """
    known = {metric.base: metric for metric in registry.known()}
    of_name = {name: known[base] for name in metrics if (base := naming.base_of(name)) in known}
    by_threshold = {metric.rate for metric in known.values() if metric.rate}
    return [
        *(
            f"the mean of {name} is no share of answers; {metric.rate or 'it puts answers in an order'}"
            f"{' is' if metric.rate else ''}"
            for name, metric in of_name.items()
            if not metric.mean_is_rate
        ),
        *(
            f"{name}: its threshold is for equal numbers of good and bad answers; about 100 labels give the rate that "
            "people would find (`ragmeter label`, `ragmeter calibrate`)"
            for name, metric in of_name.items()
            if metric.base in by_threshold
        ),
    ]


def brief(summary: MetricSummary, limit: float | None = None) -> str:
    """A mean with its interval and its n; with `few` where the interval has too few rows to be accurate.

    Beside a `limit` the numbers have the digits that tell on which side of it they are.
    """
    if summary.mean is None:
        return f"nothing scored of {summary.n_total:,}{because(summary.n_not_scored)}"
    if (bounds := summary.bounds_of_mean) is not None:
        of_all = f"{within(bounds)}: most rows have no verdict"
        return f"{of_all}, n = {numbers.scored(summary.n_scored, summary.n_total)}{because(summary.n_not_scored)}"
    between = "no interval"
    if summary.interval is not None:
        between = f"{numbers.percent(summary.level)}: {numbers.interval(summary.interval, limit)}"
    few = ""
    if summary.is_few:
        few = " (few)" if summary.n_clusters is None else f" (few: {summary.n_clusters:,} groups)"
    n = numbers.scored(summary.n_scored, summary.n_total)
    return f"{numbers.number(summary.mean, limit)} ({between}), n = {n}{few}"


def bracketed(value: float, interval: Interval | None, n: str) -> str:
    """An estimate for a repr: `0.4308 [0.1479 to 0.7137], n = 7 of 8`."""
    between = "" if interval is None else f" [{numbers.interval(interval)}]"
    return f"{numbers.number(value)}{between}, n = {n}"
