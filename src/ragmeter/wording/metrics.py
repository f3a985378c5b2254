"""Metrics in words: descriptions, directions, and means with interval and n."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from ragmeter import naming, registry
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.metrics import FEW_ROWS, MetricSummary
from ragmeter.documents.record import Interval
from ragmeter.table import NUMBER_COLUMNS
from ragmeter.wording import numbers
from ragmeter.wording.causes import because
from ragmeter.wording.signs import ARROWS

_BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "neither high nor low is better"}
#: What `few` means beside a mean.
FEW = f"few: fewer than {FEW_ROWS} rows, or groups of rows; such an interval is rough"
#: What there is to do about ties.
_ODD = "; an odd number of jurors or of repeats leaves hardly any tie"
#: An interval up to this has no width but rounding errors.
_NO_WIDTH = 1e-9
#: Of a mean without an interval, which nobody knows the uncertainty of.
_DECIMALS_WITHOUT = 2


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


#: What metrics are about, in the order in which they are shown.
ANSWER, RETRIEVAL, GROUNDING, COST = "answer", "retrieval", "grounding", "cost"


def groups_of(metrics: Iterable[str]) -> dict[str, str]:
    """What each metric is about, by the columns that it reads: retrieval, grounding or the answer; of times, cost.

    The metrics of a group stand together, in their order otherwise. Unknown names are not imported.
    """
    reads = {metric.base: frozenset(metric.reads) for metric in registry.known()}
    groups = {name: _group(name, reads.get(naming.base_of(name), frozenset())) for name in metrics}
    order = (ANSWER, RETRIEVAL, GROUNDING, COST)
    return dict(sorted(groups.items(), key=lambda item: order.index(item[1])))


def _group(name: str, reads: frozenset[str]) -> str:
    if name in NUMBER_COLUMNS:
        return COST
    if reads & {"relevant", "retrieved"}:
        return RETRIEVAL
    return GROUNDING if "contexts" in reads else ANSWER


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


#: The metrics whose mean is the share of right answers, the most trustworthy first.
_RIGHT = ("jury_correct", "llm_correct", "offline_correct")


def headline_metric(metrics: Mapping[str, MetricSummary]) -> str | None:
    """The metric that a run is judged by: the share of right answers by a model, or offline, or the first metric.

    One that has no score is taken only if no other has one.
    """
    names = [name for name, summary in metrics.items() if summary.n_scored] or list(metrics)
    return first_of(names) if names else None


def first_of(names: Sequence[str]) -> str:
    """The metric of these that counts most: the share of right answers by a model, or offline, or the first one."""
    return next((name for base in _RIGHT for name in names if naming.base_of(name) == base), names[0])


def is_right(metric: str) -> bool:
    """Whether the metric's mean is the share of right answers."""
    return naming.base_of(metric) in _RIGHT


def result_unit(manifest: Manifest) -> str:
    """What a run's rows are: questions, or answers where each question was asked several times."""
    return "answers" if (manifest.repeats or 1) > 1 else "questions"


def headline_sentence(metrics: Mapping[str, MetricSummary], unit: str = "questions", rightly_declined: int = 0) -> str:
    """The result in a sentence: `72% right (66 to 78), on 212 of 220 questions`; an empty text without metrics.

    `rightly_declined`: so many answers are as they should be, and are not among the right ones.
    """
    name = headline_metric(metrics)
    if name is None:
        return ""
    summary = metrics[name]
    unit = unit.removesuffix("s") if summary.n_total == 1 else unit
    on = f"on {numbers.scored(summary.n_scored, summary.n_total)} {unit}"
    if summary.mean is None:
        return f"no score by {name}, on {summary.n_total:,} {unit}{because(summary.n_not_scored)}"
    if (bounds := summary.bounds_of_mean) is not None:
        return f"{name} {within(bounds)}, as {without_score(summary, unit)} ({on})"
    if summary.binary:
        mean, ends = numbers.rate_with_interval(summary.mean, summary.interval)
    else:
        mean, interval = headline(summary)
        ends = interval or ""
    between = f" ({differing_level(summary)}{ends})" if ends else ""
    if not is_right(name):
        return f"{name} {mean}{between}, {on}"
    return f"{mean} right{between}, {on}{f'; {rightly_declined:,} more rightly declined' * bool(rightly_declined)}"


def headline(summary: MetricSummary) -> tuple[str, str | None]:
    """The mean and its interval, with the digits that they deserve.

    Where most rows have no score or many are tied, the bounds of the mean, which has no interval.
    """
    bounds = summary.bounds_of_mean
    if bounds is not None:
        return numbers.interval(bounds, decimals=numbers.deserved_decimals(bounds)), None
    decimals = numbers.deserved_decimals(summary.interval)
    if summary.interval is None:
        decimals = _DECIMALS_WITHOUT
    ends = None if summary.interval is None else numbers.interval(summary.interval, decimals=decimals)
    return numbers.number(summary.mean, decimals=decimals), ends


def median(summary: MetricSummary) -> str:
    """The median, with as many decimals as the mean has; that of zeros and ones says nothing."""
    if summary.binary:
        return numbers.MISSING
    return numbers.number(summary.median, decimals=numbers.deserved_decimals(summary.interval))


def without_score(summary: MetricSummary, unit: str = "rows") -> str:
    """Why there are bounds in place of a mean: `most rows have no score`."""
    return f"many {unit} are tied" if summary.has_many_ties else f"most {unit} have no score"


def within(bounds: Interval) -> str:
    """Bounds of a mean: `between 0.25 and 1.00`."""
    ends = numbers.interval(bounds, decimals=numbers.deserved_decimals(bounds))
    return f"between {ends.replace(' to ', ' and ')}"


def summary_sentence(name: str, summary: MetricSummary) -> str:
    """A metric in one line: `token_f1 0.4308 (95%: 0.1479 to 0.7137), 7 of 8 scored`."""
    scored = f"{summary.n_scored:,} of {summary.n_total:,} scored"
    mean, interval = headline(summary)
    between = "" if interval is None else f" ({level(summary)}: {interval})"
    return f"{name} {mean}{between}, {scored}"


def cautions(metrics: Mapping[str, MetricSummary]) -> list[str]:
    """Cautions about means, to be read before the means are believed."""
    lines = []
    for name, summary in metrics.items():
        if (bounds := summary.bounds_of_mean) is not None:
            mean = numbers.number(summary.mean, decimals=numbers.deserved_decimals(bounds))
            lines.append(
                f"{name}: {without_score(summary)}, and the mean of the other {summary.n_scored:,} ({mean}) does not "
                f"stand for them: the mean of all is {within(bounds)}{_ODD if summary.has_many_ties else ''}"
            )
    return [
        *lines,
        *without_width({name: s for name, s in metrics.items() if s.bounds_of_mean is None}),
        *no_rates(name for name, summary in metrics.items() if summary.n_scored),
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
    return _no_rates(tuple(metrics))


@lru_cache(maxsize=256)  # to look for the metrics of installed packages takes longer than most pages of the app
def _no_rates(metrics: tuple[str, ...]) -> list[str]:
    known = {metric.base: metric for metric in registry.known()}
    of_name = {name: known[base] for name in metrics if (base := naming.base_of(name)) in known}
    by_threshold = {metric.rate for metric in known.values() if metric.rate}
    return [
        *(
            f"the mean of {name} is not a share of answers; {metric.rate or 'it only ranks them'}"
            f"{' is' if metric.rate else ''}"
            for name, metric in of_name.items()
            if not metric.mean_is_rate
        ),
        *(
            f"{name} finds too many bad answers where few are bad, and too few where most are: don't quote its mean "
            "as a rate before people have judged about 100 answers (`ragmeter label`, then `ragmeter calibrate`)"
            for name, metric in of_name.items()
            if metric.base in by_threshold
        ),
    ]


def brief(summary: MetricSummary, limit: float | None = None) -> str:
    """A mean with its interval and its n; with `few` where the interval has too few rows to be accurate.

    Beside a `limit` the numbers have the digits that tell on which side of it they are.
    """
    if summary.mean is None:
        return f"none of {summary.n_total:,} rows has a score{because(summary.n_not_scored)}"
    if (bounds := summary.bounds_of_mean) is not None:
        of_all = f"{within(bounds)}: {without_score(summary)}"
        return f"{of_all}, n = {numbers.scored(summary.n_scored, summary.n_total)}{because(summary.n_not_scored)}"
    between, decimals = "no interval", numbers.deserved_decimals(summary.interval)
    if summary.interval is not None:
        between = f"{numbers.percent(summary.level)}: {numbers.interval(summary.interval, limit, decimals)}"
    few = ""
    if summary.is_few:
        few = " (few)" if summary.n_clusters is None else f" (few: {summary.n_clusters:,} groups)"
    n = numbers.scored(summary.n_scored, summary.n_total)
    return f"{numbers.number(summary.mean, limit, decimals)} ({between}), n = {n}{few}"


def bracketed(value: float, interval: Interval | None, n: str) -> str:
    """An estimate for a repr: `0.43 [0.15 to 0.71], n = 7 of 8`."""
    decimals = numbers.deserved_decimals(interval)
    between = "" if interval is None else f" [{numbers.interval(interval, decimals=decimals)}]"
    return f"{numbers.number(value, decimals=decimals)}{between}, n = {n}"
