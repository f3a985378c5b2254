"""The verdict of a comparison in words: the sentence that comes first, the table's signs, and what is said once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

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
from ragmeter.documents.metrics import is_few
from ragmeter.wording.comparison import JudgedDifference, Wording, listed
from ragmeter.wording.metrics import first_of, is_right
from ragmeter.wording.numbers import (
    about,
    compared,
    compared_percents,
    deserved_decimals,
    given,
    percent,
    signed_interval,
    two_digits,
)

#: Each verdict's sign and its words in a table, in the order in which verdicts are counted.
_MARKS = {
    BETTER: ("▲", "better"),
    WORSE: ("▼", "worse"),
    DIFFERENT: ("≠", "different"),
    SMALL: ("·", "small"),
    NOT_SIGNIFICANT: ("=", "not significant"),
    NO_VERDICT: ("?", "no verdict"),
    JUDGES_DIFFER: ("?", "judges differ"),
}
#: From this share of rows with a score in one run alone on, a verdict begins with it.
_MUCH = 0.2
#: Marks a slice whose difference is surely not that of the rows outside it.
SLICE_DIFFERS = "≠ differs from the other rows"
NO_SLICE_DIFFERS = "no slice differs significantly from the other rows"
#: The titles of the table of a comparison, whatever shows it; the interval's level comes in place of the {}.
TITLES = ("metric", "verdict", "baseline", "candidate", "difference", "{} interval")


def marked(verdict: str) -> str:
    """A verdict with its sign, as a table has it: `▲ better`."""
    return " ".join(_MARKS[verdict])


def sign(verdict: str) -> str:
    """A verdict's sign alone, for a narrow table; `signs_explained` says what it stands for."""
    return _MARKS[verdict][0]


def signs_explained(verdicts: Collection[str]) -> str:
    """What the signs of these verdicts stand for: `▲ better, = not significant`."""
    return ", ".join(marked(verdict) for verdict in _MARKS if verdict in verdicts)


def headline_metric(metrics: Mapping[str, JudgedDifference]) -> str:
    """The metric that the verdict goes by.

    One that no question has a score by in both runs is taken only if there is no other.
    """
    return first_of([name for name, result in metrics.items() if result.difference is not None] or list(metrics))


def verdict_sentence(metric: str, a: str, b: str, result: JudgedDifference, wording: Wording) -> str:
    """Whether the candidate b is better than the baseline a, by how much, and how sure that is."""
    verdict = _verdict(metric, a, b, result)
    if result.verdict == JUDGES_DIFFER:
        return f"{verdict}: their {metric} is from different judges."
    if result.difference is None:
        return f"{verdict}: no question has a score by {metric} in both."
    figures = _figures(metric, result)
    interval = f"{percent(wording.level)}: {figures.between}, " if figures.between else ""
    amounts = f"{figures.means} ({figures.difference}, {interval}{_questions(result)})"
    if result.verdict == SMALL:
        return f"{verdict}{wording.at_alpha}: {amounts}; less than {_amount(result, result.margin or 0.0)} is small."
    if result.verdict == NO_VERDICT:
        return f"{verdict}: {amounts}; {wording.undecided(result)}."
    impossible = wording.impossible(result) if result.verdict == NOT_SIGNIFICANT else ""
    return f"{verdict}{wording.at_alpha}: {amounts}{f'; {impossible}' if impossible else ''}."


@dataclass(frozen=True)
class VerdictHeading:
    """The verdict as a page has it: `B is better`, `70% right instead of 44%`, and in small letters the amounts.

    A verdict without means has the reason in their place.
    """

    verdict: str
    means: str
    amounts: str


def verdict_heading(metric: str, a: str, b: str, result: JudgedDifference, wording: Wording) -> VerdictHeading:
    """The same as `verdict_sentence`, in parts."""
    verdict = _verdict(metric, a, b, result)
    if result.difference is None:
        return VerdictHeading(verdict, f"no question has a score by {metric} in both", "")
    figures = _figures(metric, result)
    between = f" ({percent(wording.level)}: {figures.between})" if figures.between else ""
    amounts = f"{figures.difference}{between} on {_questions(result)}"
    if result.verdict == JUDGES_DIFFER:
        return VerdictHeading(verdict, f"their {metric} is from different judges", "")
    if result.verdict == SMALL:
        amounts += f"; less than {_amount(result, result.margin or 0.0)} is small"
    if result.verdict == NO_VERDICT:
        amounts += f"; {wording.undecided(result)}"
    elif result.verdict == NOT_SIGNIFICANT and (impossible := wording.impossible(result)):
        amounts += f"; {impossible}"
    verdict += "" if result.verdict == NO_VERDICT else wording.at_alpha
    return VerdictHeading(verdict, figures.means, amounts)


def _verdict(metric: str, a: str, b: str, result: JudgedDifference) -> str:
    """The verdict; what it rests on comes first where many rows have a score in one run alone."""
    verdict, one_sided = _on_both(metric, a, b, result), result.scored_only_a + result.scored_only_b
    if result.difference is None or one_sided < _MUCH * (result.n + one_sided):
        return verdict
    begin = f"On {result.n:,} of {result.n + one_sided:,} rows"
    return f"{begin}, {verdict[0].lower()}{verdict[1:]}" if verdict.startswith("No ") else f"{begin}, {verdict}"


def _on_both(metric: str, a: str, b: str, result: JudgedDifference) -> str:
    on, between = "" if is_right(metric) else f" on {metric}", f"between {b} and {a}"
    if result.verdict == JUDGES_DIFFER or result.difference is None:
        return f"No verdict {between}"
    if result.verdict in (BETTER, WORSE, DIFFERENT):
        return f"{b} is {result.verdict}{on}"
    if result.verdict == SMALL:
        return f"{b} is {_way(result)}{on}, but by little"
    if result.verdict == NO_VERDICT:
        return f"No verdict {between}{on}"
    return f"No difference seen {between}{on}"


def with_missing(sentence: str, missing: str, unscored: str, declined: str = "") -> str:
    """A verdict with what it does not rest on: a metric that one run lacks, rows without a score in one run, and
    answers that rightly decline and do not count as right.
    """
    parts = [
        sentence.removesuffix("."),
        *([f", {unscored}"] if unscored else []),
        *([f"; {declined}"] if declined else []),
    ]
    whole = f"{''.join(parts)}."
    return f"{missing}: {whole}" if missing else whole


def declined_besides(metric: str, before: int, after: int) -> str:
    """How many more answers of both runs rightly decline than the metric calls right, where that has changed."""
    return f"rightly declined besides: {after:,} instead of {before:,}" if is_right(metric) and before != after else ""


def no_verdict_reworded(questions: int, pairs: int) -> str:
    """Says that the two runs have other questions under the same ids."""
    return f"No verdict: {reworded_sentence(questions, pairs)}"


def reworded_sentence(questions: int, pairs: int) -> str:
    """How many questions are not the same in both runs."""
    are = "is" if questions == 1 else "are"
    return f"{questions:,} of {pairs:,} questions under the same qid {are} worded otherwise."


def metric_missing(metric: str, run: str, answers: str) -> str:
    """Says that a run has no scores by the metric that the other one is judged by."""
    return f"{run} has no {metric}{f' ({answers})' if answers else ''}"


def rows_unscored(n: int, total: int, lacking: Mapping[str, int], what: str, unit: str) -> str:
    """On how many rows a verdict rests, and how many of which run lack an answer or a score."""
    others = " and ".join(f"{count:,} of the {run}" for run, count in lacking.items() if count)
    both = f"on the {n:,} of {total:,} {unit} that both have a score for"
    have = "has" if sum(lacking.values()) == 1 else "have"
    return f"{both} ({others} {have} no {what})" if others else ""


def left_out(a: str, b: str, metrics: Mapping[str, JudgedDifference]) -> list[str]:
    """How many rows of two runs are left out by metrics, as the other run has no score of them."""
    by_counts: dict[tuple[int, int], list[str]] = {}
    for name, result in metrics.items():
        by_counts.setdefault((result.scored_only_a, result.scored_only_b), []).append(name)
    lines = []
    for (in_a, in_b), names in by_counts.items():
        if in_a or in_b:
            concerned = "all metrics" if len(names) == len(metrics) else ", ".join(names)
            counts = [f"{count:,} of {run}" for run, count in ((a, in_a), (b, in_b)) if count]
            lines.append(f"left out, no score in the other run: {' and '.join(counts)} ({concerned})")
    return lines


def _way(result: JudgedDifference) -> str:
    if result.direction not in ("higher", "lower"):
        return DIFFERENT
    return BETTER if ((result.difference or 0.0) > 0) == (result.direction == "higher") else WORSE


@dataclass(frozen=True)
class _Figures:
    """The means of the candidate and the baseline, their difference, and its interval, with the digits deserved."""

    means: str
    difference: str
    between: str


def _figures(metric: str, result: JudgedDifference) -> _Figures:
    words = " right" if is_right(metric) else ""
    if result.binary:
        ends = None if result.interval is None else [100 * end for end in result.interval]
        whole = max(0, (deserved_decimals(ends) or 1) - 1)  # of a percentage, a digit less
        before, after, difference, whole = compared_percents(result.mean_a, result.mean_b, whole)
        difference, between = _in_points(difference), signed_interval(ends, whole)
    else:
        decimals = deserved_decimals(result.interval)
        before, after, difference = compared(result.mean_a, result.mean_b, decimals)
        between = signed_interval(result.interval, decimals)
    return _Figures(f"{after}{words} instead of {before}", difference, between if result.interval else "")


def _questions(result: JudgedDifference) -> str:
    """The number of questions that the verdict rests on, and of answers or clusters where these are others."""
    n = f"{result.n_questions:,} question{'' if result.n_questions == 1 else 's'}"
    if result.n != result.n_questions:
        return f"{result.n:,} answers to {n}"
    clusters = result.n_clusters
    return n if clusters is None else f"{n} in {clusters:,} cluster{'' if clusters == 1 else 's'}"


def _amount(result: JudgedDifference, value: float) -> str:
    """A difference that questions would show, or that counts as small: `1 point`, or 0.01."""
    if not result.binary:
        return given(two_digits(value))
    return _in_points(given(two_digits(100 * value)))


def not_ruled_out(what: str, most: float, margin: float, result: JudgedDifference) -> str:
    """After a sentence that no difference was seen: the loss, or difference, for which a gate has failed."""
    amount, limit = (_amount(result, value) for value in (most, margin))
    if amount == limit:
        return f"{what.capitalize()} of more than {limit} can't be ruled out."
    return f"{what.capitalize()} of up to {amount} can't be ruled out, and the margin is {limit}."


def _in_points(text: str) -> str:
    return f"{text} point{'' if text.lstrip('+-') == '1' else 's'}"


def tally(metrics: Mapping[str, JudgedDifference]) -> str:
    """How many metrics have which verdict; an empty text for a single one."""
    if len(metrics) < 2:
        return ""
    names: dict[str, list[str]] = {BETTER: [], WORSE: []}
    for name, result in metrics.items():
        names.setdefault(result.verdict, []).append(name)
    worse = f" ({listed(names[WORSE])})" if 0 < len(names[WORSE]) < len(metrics) else ""
    counts = [
        f"{len(names[verdict]):,} {words}{worse if verdict == WORSE else ''}"
        for verdict, (_, words) in _MARKS.items()
        if verdict in names
    ]
    return f"Of {len(metrics):,} metrics: {', '.join(counts)}."


def tally_in_short(metrics: Mapping[str, JudgedDifference], times: Mapping[str, JudgedDifference]) -> str:
    """How many metrics got better and worse: `better on 8 of 9 metrics, none worse`; empty for a single one.

    Times are no metrics, but one that got worse is said with them.
    """
    if len(metrics) < 2:
        return ""
    better, worse = (sum(result.verdict == verdict for result in metrics.values()) for verdict in (BETTER, WORSE))
    slower = "".join(f"; worse: {name}" for name, result in times.items() if result.verdict == WORSE)
    return (
        f"better on {better:,} of {len(metrics):,} metrics, {f'worse on {worse:,}' if worse else 'none worse'}{slower}"
    )


def test_in_short(test: str, tests: NumberOfTests) -> str:
    """The test and its correction, for small letters."""
    return f"paired {test} test{_corrections(tests)}"


def outlook(result: JudgedDifference) -> str:
    """Where no difference is sure: how many questions would show a small one, and which one these would."""
    if result.verdict not in (NOT_SIGNIFICANT, NO_VERDICT) or not (result.smallest and result.margin):
        return ""
    if is_few(result.n, result.n_clusters):  # what so few show is no basis for a plan
        return ""
    if not (result.better or result.worse):
        return "No row has moved, so how many questions would show a difference can't be told."
    if not result.needed:
        return ""
    if result.interval and result.smallest < (result.interval[1] - result.interval[0]) / 2:
        return ""  # of few clusters the interval knows less than the plan takes for known
    seen = _amount(result, result.smallest)
    if result.smallest <= result.margin:
        return f"A difference of {seen} would probably have been seen."
    margin = _amount(result, result.margin)
    return f"To see a difference of {margin}, about {about(result.needed)} questions are needed; these can show {seen}."


def test_sentence(test: str, clustered: str, tests: NumberOfTests, alpha: float) -> str:
    """The test and its correction, said once for the whole table."""
    return f"Paired {test} test{clustered}{_corrections(tests)}; significant: p below {given(alpha)}."


def where_sentence(where: Mapping[str, str]) -> str:
    """Which slice's rows were compared, before the test's sentence; an empty text for all rows."""
    parts = [f"{column} is {value}" for column, value in where.items()]
    return f"Only rows where {' and '.join(parts)}. " if parts else ""


def _corrections(tests: NumberOfTests) -> str:
    """What p-values are corrected over: those of the headline metric apart from all others."""
    headline, others = tests.headline, tests.others
    if not (headline and others):
        return f"; p corrected (Holm) over {headline + others:,} tests" if headline + others > 1 else ""
    first = "is tested by itself" if headline == 1 else f"is Holm-corrected over {headline:,} tests"
    if others == 1:
        return (
            f"; the headline metric {first}, and so is the other one"
            if headline == 1
            else f"; the headline metric {first}"
        )
    alike = "are Holm-corrected" if headline == 1 else "among themselves"
    return f"; the headline metric {first}, the other {others:,} tests {alike}"


def n_differs(baseline: str) -> str:
    """Says that each system is compared with the baseline on rows of its own, so that the baseline's means differ."""
    return f"n differs: each system is compared with {baseline} on the rows that both have a score for."


def slices_sentence(metric: str, slices: int, *, any_differs: bool) -> str:
    """What a table of slices has, and how sure it is that they differ from the other rows."""
    tested = f"Holm-corrected over {slices:,} slices of at least 20 rows"
    if any_differs:
        return f"Where? By {metric}, {SLICE_DIFFERS} ({tested}); other slices may stray by chance:"
    return f"Where? By {metric}, {NO_SLICE_DIFFERS} ({tested}); farthest from the whole are:"


def changed_title(way: str, shown: int, total: int, metric: str) -> str:
    """The title of the rows that got better or worse by a metric: how many there are."""
    if not total:
        return f"no row got {way} by {metric}"
    rows = f"{total:,} row{'' if total == 1 else 's'} got {way} by {metric}"
    return f"{rows}:" if shown >= total else f"{rows}; {shown:,} of them (--{way} N shows more):"


def changed_otherwise_title(way: str, metric: str) -> str:
    """The title of the rows that got better or worse by other metrics than this one, which says nothing of them."""
    return f"got {way} by other metrics, not by {metric}:"
