"""The list of rows on a page of Compare, and what chooses them: how they changed, a search, filters, an order."""

from __future__ import annotations

from collections.abc import Mapping

from ragmeter.analysis.comparing.selection import ALL_ROWS, CHANGES, DIFFERS, FAILED
from ragmeter.app import wording
from ragmeter.app.compare_query import PAGE, ROWS, SORTS, CompareQuery
from ragmeter.app.compare_rows import chosen_pairs, filter_of, page_of, shown_metric
from ragmeter.app.conditions import EQUAL
from ragmeter.app.layout import beside
from ragmeter.app.queries import Database
from ragmeter.app.rows_table import condition_words
from ragmeter.show.page.compare.row_list import row_list
from ragmeter.show.page.compare.rows import read_pairs
from ragmeter.show.page.compare.verdict import change_words
from ragmeter.show.page.compare.view import CompareView
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text
from ragmeter.show.page.parts import chip, field, folded, hidden, options

#: Changes that can be chosen whatever the metric.
_ALWAYS = (ALL_ROWS, DIFFERS, FAILED)


def listed_rows(view: CompareView, query: CompareQuery, database: Database) -> tuple[Content, Content]:
    """The list of rows with what chooses them, and which rows they are."""
    metric = shown_metric(view, query)
    gains, places = chosen_pairs(view, database, query)
    shown = page_of(places, query.page, ROWS)
    words = _change_words(view, metric).get(query.shown_change, wording.CHANGES[query.shown_change])
    if metric != view.pair.headline:
        words = f"{metric}: {words}"
    about = joined(text(words), f" · {wording.counted_rows(len(places))}")
    rows = row_list(view, metric, read_pairs(view, metric, gains, shown, database.records))
    return joined(
        _controls(view, query, metric), element("div", rows, _pager(query, len(places)), class_="listed")
    ), about


def _change_words(view: CompareView, metric: str) -> Mapping[str, str]:
    words = change_words(metric, view.pair.metrics[metric])
    return {name: words_of.partition(" —")[0] for name, words_of in words.items()}


def _controls(view: CompareView, query: CompareQuery, metric: str) -> Markup:
    """What chooses rows: how they changed, a search, an order, and filters."""
    words = _change_words(view, metric)
    changes = {name: words.get(name, wording.CHANGES[name]) for name in CHANGES if name in words or name in _ALWAYS}
    chosen_here = ("change", "search", "sort")
    kept = {name: value for name, value in query.fields().items() if name not in chosen_here}
    search = element(
        "input",
        type="search",
        name="search",
        value=query.search,
        aria_label=wording.SEARCH,
        placeholder=wording.SEARCH,
        id="search-rows",
    )
    return joined(
        element(
            "form",
            hidden(kept),
            options("change", changes, query.shown_change, aria_label=wording.CHANGE, id="rows-change"),
            options(
                "sort",
                {name: wording.SORTS[name] for name in SORTS},
                query.sort,
                aria_label=wording.ORDER,
                id="rows-sort",
            ),
            search,
            element("button", wording.FILTER, class_="quiet without-script"),
            action=address(PAGE),
            method="get",
            hx_trigger="change, submit",
            class_="choosing",
        ),
        _chips(view, query),
        folded(
            wording.MORE_FILTERS,
            _metric_form(view, query, metric),
            _filter_form(view, query),
        ),
    )


def _metric_form(view: CompareView, query: CompareQuery, metric: str) -> Content:
    """The metric by which rows got better or worse."""
    metrics = {name: name for name in view.pair.metrics}
    others = hidden({name: value for name, value in query.fields().items() if name != "metric"})
    by = field(wording.BY, options("metric", metrics, metric, id="rows-by"))
    shown = {"action": address(PAGE), "method": "get", "hx_trigger": "change", "class_": "choosing"}
    return element("form", others, by, **shown) if len(metrics) > 1 else None


def _chips(view: CompareView, query: CompareQuery) -> Content:
    """The filters, all of which hold, each with a cross that removes it."""
    chips = []
    for written in query.filters:
        rest = tuple(other for other in query.filters if other != written)
        run, condition = filter_of(view, written)
        words = joined(f"{view.letters[run.name]}: ", condition_words(run, condition))
        label = wording.REMOVE.format(what=condition.column)
        chips.append(joined(chip(words, remove=query.address(filters=rest), label=label), " "))
    return element("p", chips, class_="chips") if chips else None


def _filter_form(view: CompareView, query: CompareQuery) -> Markup:
    """One more condition, which holds besides all others."""
    names = {name: name for name in (*view.candidate.measures, *view.candidate.columns)}
    letters = {"": view.letters[view.pair.b], "A": view.letters[view.pair.a]}
    return element(
        "form",
        hidden(query.fields(change=query.change or ALL_ROWS)),
        options("of", letters, "", aria_label=wording.RUN),
        options("column", names, view.pair.headline, aria_label=wording.COLUMN),
        options("is", wording.COMPARISONS, EQUAL, aria_label=wording.COMPARISON_OF),
        element("input", name="value", value="0", dir="auto", aria_label=wording.VALUE),
        element("button", wording.ADD, class_="quiet"),
        action=address(PAGE),
        method="get",
        class_="choosing",
    )


def _pager(query: CompareQuery, total: int) -> Content:
    last = -(-total // ROWS)
    files = [
        link(kind, query.address("export", kind), download=True, hx_boost="false", data_waits=True)
        for kind in ("csv", "jsonl", "parquet")
    ]
    exports = element("span", wording.EXPORT, " ", [joined(file, " ") for file in files], class_="soft")
    position = wording.PAGE_OF.format(page=query.page, last=last) if last > 1 else None
    return beside(query.page, last, lambda page: query.address(page=page), position, " ", exports)
