"""The controls of the list of runs: search, facets, and which metrics it shows; all lead to addresses."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.app import wording
from ragmeter.app.run_list import FACETS, MOST_METRICS, ListQuery, RunList
from ragmeter.runs.catalogue import RunEntry
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text
from ragmeter.show.page.parts import boxes, chip, hidden

#: Values that a facet lists; the search finds the others.
_MOST_VALUES = 40


def search(query: ListQuery) -> Markup:
    """The search, which keeps the facets."""
    control = element(
        "input", type="search", name="search", value=query.search, aria_label=wording.SEARCH_RUNS,
        placeholder=wording.SEARCH_RUNS, title=wording.SEARCH_FINDS,
    )  # fmt: skip
    button = element("button", wording.SEARCH, class_="quiet")
    return element("form", control, hidden(query.as_query(search="")), " ", button, method="get", role="search")


def facets(runs: RunList) -> list[Markup]:
    """A list for each facet, with the number of runs of each value; then what is chosen, to be removed."""
    chips = [
        chip(
            joined(f"{wording.FACETS[facet]}: ", text(runs.label(facet, value))),
            remove=address(**runs.query.toggled(facet, value)),
            label=f"{wording.CLEAR} {wording.FACETS[facet]}",
        )
        for facet, values in runs.query.chosen.items()
        for value in values
    ]
    lists = [_facet(runs, facet) for facet in FACETS]
    return [*lists, element("p", chips, class_="chips") if chips else Markup()]


def _facet(runs: RunList, facet: str) -> Markup:
    counts, chosen = runs.counts(facet), runs.query.chosen[facet]
    values = list(counts)
    if facet == "when":  # the spans first, then months, the newest first
        values = [name for name in wording.DATES if name in counts]
        values += sorted((name for name in counts if name not in wording.DATES), reverse=True)
    entries = [
        element(
            "li",
            link(
                joined(text(runs.label(facet, value)), " ", element("span", f"{counts[value]:,}", class_="soft")),
                address(**runs.query.toggled(facet, value)),
                aria_current="true" if value in chosen else None,
            ),
        )
        for value in values[:_MOST_VALUES]
    ]
    more = wording.MORE_VALUES.format(count=len(values) - _MOST_VALUES) if len(values) > _MOST_VALUES else None
    nothing = None if values else wording.NO_VALUE
    return _unfolding(wording.FACETS[facet], element("ul", entries) if entries else None, nothing, more)


def _unfolding(title: str, *content: Content) -> Markup:
    """What unfolds below its title, one at a time."""
    return element("details", element("summary", title), element("div", *content), class_="facet", name="facet")


def column_choice(runs: RunList, chosen: Sequence[RunEntry]) -> Markup:
    """Up to five metrics as columns of the list."""
    available = runs.all_metrics(chosen)
    form = element(
        "form",
        element("p", wording.UP_TO_METRICS.format(count=MOST_METRICS), class_="soft"),
        element("div", boxes("metrics", available, runs.metrics(chosen)), class_="boxes"),
        hidden(runs.query.as_query(metrics=())),
        element("button", wording.FILTER, class_="quiet"),
        method="get",
    )
    return _unfolding(wording.COLUMNS, form) if available else Markup()
