"""Three to five runs: each beside the baseline by the headline metric, which can't be told apart, and all metrics."""

from __future__ import annotations

from ragmeter.analysis.comparing import Comparison
from ragmeter.show.page.charts.intervals import Difference, forest
from ragmeter.show.page.compare.differences import with_n
from ragmeter.show.page.compare.verdict import sign_of
from ragmeter.show.page.compare.view import CompareView, tone, turned, way
from ragmeter.show.page.elements import Content, Markup, breakable, element, joined, link, text
from ragmeter.show.page.parts import table
from ragmeter.show.system_tables import SystemTables
from ragmeter.wording.numbers import deserved_decimals, number, signed

ALL_RUNS, ALL_METRICS, BASELINE, CANDIDATE = "All runs", "Every other metric of all runs", "baseline", "candidate"


def best_candidate(comparison: Comparison) -> str:
    """The candidate that a page of several runs shows first: the best one, or the first where they have no order."""
    ranking = comparison.ranking
    names = [rank.run for rank in ranking.ranks] if ranking else [pair.b for pair in comparison.pairs]
    return next(name for name in names if name != comparison.baseline)


def all_runs(view: CompareView) -> Markup:
    """Each run against the baseline, the best one first; a click shows that one below. Nothing for two runs."""
    if len(view.names) < 3:
        return Markup()
    tables = SystemTables(view.comparison)
    results = {name: pair.metrics.get(tables.headline) for name, pair in tables.pairs.items()}
    most = max((result.n for result in results.values() if result is not None), default=0)
    rows = []
    for name in tables.systems:
        result = results.get(name)
        if result is None:
            rows.append(Difference(view.named(name), tables.mean_of_baseline, None, None, "even", BASELINE))
            continue
        decimals, factor, shade = deserved_decimals(result.interval), way(result.direction), tone(result.verdict)
        rows.append(
            Difference(
                name=_candidate(view, name),
                figures=[number(result.mean_b, decimals=decimals), with_n(result.n, most)],
                shift=None if result.difference is None else factor * result.difference,
                interval=turned(result.interval, factor),
                tone=shade,
                words=f"{sign_of(shade)} {signed(result.difference, decimals=decimals)}",
                title=f"{result.verdict}; n = {result.n:,}",
            )
        )
    sentences = [] if view.comparison.ranking else tables.first_sentences
    verdicts, note = (
        [element("p", text(line), class_="soft") for line in lines]
        for lines in (sentences, filter(None, [tables.n_differs]))
    )
    return joined(verdicts, forest(rows, ALL_RUNS, ("run", tables.headline, "drawing", "difference")), note)


def all_metrics(view: CompareView) -> Markup:
    """The other metrics, a column for each run, with the sign of its verdict beside the baseline."""
    tables = SystemTables(view.comparison)
    rows = [
        [breakable(cells[0].text), *(_cell(cell.text, cell.verdict) for cell in cells[1:])]
        for cells in tables.metrics()
    ]
    if len(view.names) < 3 or not rows:
        return Markup()
    titles: list[Content] = ["metric", *(view.lettered(name) for name in tables.systems), "n"]
    figures = range(1, len(titles))
    signs = element("p", tables.signs, class_="soft")
    return joined(table(titles, rows, caption=ALL_METRICS, figures=list(figures)), signs)


def _cell(words: str, verdict: str) -> Markup:
    return element("span", words, class_=f"change {tone(verdict)}" if verdict else None)


def _candidate(view: CompareView, name: str) -> Markup:
    """A run's name, which shows it below; the one that is shown is marked."""
    address = view.addresses.candidate(name)
    is_shown = name == view.pair.b
    shown = link(text(name), address, aria_current="true" if is_shown else None) if address else text(name)
    return view.named(name, shown)
