"""The comparison at the head of a report: the parts that the app shows, with five examples each way."""

from __future__ import annotations

from collections.abc import Mapping

from ragmeter.analysis.comparing import Comparison, MetricDifference, compare
from ragmeter.analysis.comparing.selection import BETTER, WORSE, Gains
from ragmeter.errors import RagmeterError
from ragmeter.runs.run import Run
from ragmeter.show.page.compare import causes, differences, slices, systems
from ragmeter.show.page.compare.parts import first_screen, more_charts
from ragmeter.show.page.compare.row_list import row_list
from ragmeter.show.page.compare.rows import read_pairs
from ragmeter.show.page.compare.verdict import change_words
from ragmeter.show.page.compare.view import Addresses, CompareView
from ragmeter.show.page.elements import Markup, element, joined, text
from ragmeter.show.page.parts import folded
from ragmeter.table import NUMBER_COLUMNS
from ragmeter.wording.verdicts import where_sentence

BASELINE, CANDIDATE = "Baseline", "Candidate"
_EXAMPLES = 5


class _InPage(Addresses):
    """The rows that changed are on the page itself."""

    def rows(self, change: str) -> str | None:
        return f"#rows-{change}" if change in (BETTER, WORSE) else None


def report_view(comparison: Comparison, runs: Mapping[str, Run], *, for_owner: bool = False) -> CompareView:
    """The baseline and the best candidate."""
    name = systems.best_candidate(comparison)
    pair = next((pair for pair in comparison.pairs if (pair.a, pair.b) == (comparison.baseline, name)), None)
    times = _times(comparison, runs, name)
    return CompareView(
        comparison, pair or comparison.pairs[0], runs, _InPage(), times, where=comparison.where, for_owner=for_owner
    )


def compared(view: CompareView) -> Markup:
    """The first screen, and what the other pairs of runs come to."""
    cut = element("p", text(where_sentence(view.where)), class_="note") if view.where else None
    return joined(
        element("p", _runs(view), class_="which-runs"), cut, first_screen(view, _examples(view)), _other_pairs(view)
    )


def _runs(view: CompareView) -> list[Markup]:
    """The runs with their letters: which is the baseline, and which are candidates."""
    named = [
        joined(element("span", BASELINE if place == 0 else CANDIDATE, class_="soft"), " ", view.named(name))
        for place, name in enumerate(view.names)
    ]
    return [element("span", run, class_="whose") for run in named]


def charts(view: CompareView) -> Markup:
    """What stands in the appendix besides."""
    return more_charts(view, None)


def _examples(view: CompareView) -> Markup:
    """The rows that changed most, first those that got worse."""
    metric = view.pair.headline
    gains = Gains.of(view.baseline, view.candidate, view.pairing, metric)
    words = change_words(view.pair.headline, view.headline)
    parts = []
    for change in (WORSE, BETTER):
        places = gains.largest_first(gains.that(change).nonzero()[0])
        rows = read_pairs(view, metric, gains, places[:_EXAMPLES].tolist())
        shown = "" if len(places) <= _EXAMPLES else f", {_EXAMPLES} of them"
        title = f"{words[change].partition(' —')[0]}: {len(places):,} rows{shown}"
        parts.append(element("h3", title, id=f"rows-{change}"))
        parts.append(row_list(view, metric, rows))
    return joined(parts)


def _other_pairs(view: CompareView) -> Markup:
    """Every other pair of runs, folded: its sentence, and open its differences, slices and causes."""
    parts = []
    for pair in view.comparison.pairs:
        if pair is view.pair or pair.mostly_reworded:
            continue
        other = CompareView(view.comparison, pair, view.runs, where=view.where, for_owner=view.for_owner)
        shown = [differences.by_how_much(other), slices.where(other), causes.why(other)]
        inside = [element("div", part, class_="card") for part in shown if part]
        parts.append(folded(text(pair.sentence), element("div", inside, class_="four")))
    return element("div", parts, class_="other-pairs") if parts else Markup()


def _times(comparison: Comparison, runs: Mapping[str, Run], candidate: str) -> dict[str, MetricDifference]:
    """The differences in latency, tested by themselves; none where a run has no latency."""
    pair = runs[comparison.baseline], runs[candidate]
    names = [name for name in NUMBER_COLUMNS if all(name in run.measures for run in pair)]
    if not names:
        return {}
    try:
        tested = compare(
            list(pair), metrics=names, slices=[], alpha=comparison.alpha, level=comparison.level,
            cluster=comparison.cluster, seed=comparison.seed, draws=comparison.draws, where=comparison.where or None,
            better=0, worse=0,
        )  # fmt: skip
    except RagmeterError:  # nothing is shown of it
        return {}
    return tested.pairs[0].metrics
