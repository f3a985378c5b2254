"""Compare: a baseline and one to four candidates, on one screen."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.analysis.comparing.selection import ALL_ROWS
from ragmeter.app import wording
from ragmeter.app.compare_list import listed_rows
from ragmeter.app.compare_query import MOST_RUNS, PAGE, CompareQuery
from ragmeter.app.compared import QUICK, Chosen, Comparisons, chosen_settings, command_of
from ragmeter.app.conditions import EQUAL, Condition
from ragmeter.app.queries import Database
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.metrics.causes import CAUSE
from ragmeter.runs.run import Run
from ragmeter.show.page.compare import slices
from ragmeter.show.page.compare.parts import first_screen, more_charts
from ragmeter.show.page.compare.view import Addresses, CompareView
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import command, copying, field, figure, folded, hidden, options, swatch, table, tints
from ragmeter.show.terminal.catalogue import day
from ragmeter.wording.metrics import titled
from ragmeter.wording.numbers import given

#: What htmx does with links and forms inside: the whole comparison is put in the place of the old one.
_SWAP = {
    "hx_boost": "true", "hx_target": "#compare", "hx_select": "#compare", "hx_swap": "outerHTML show:none",
}  # fmt: skip


class _Addresses(Addresses):
    """Addresses of the app, for what a query asks for."""

    def __init__(self, query: CompareQuery) -> None:
        self._query = query

    def rows(self, change: str) -> str:
        # the number of a card is of all rows by the headline metric
        return self._query.address(change=change, metric="", search="", filters=())

    def cut_to(self, column: str, value: str) -> str:
        return self._query.address(where=Condition(column, EQUAL, value) if column else None)

    def caused(self, letter: str, cause: str) -> str:
        written = f"{letter}:{Condition(CAUSE, EQUAL, cause).written}"
        return self._query.address(filters=(written,), change=ALL_ROWS, search="")

    def candidate(self, name: str) -> str:
        return self._query.address(candidate=name, filters=())

    def run(self, name: str) -> str:
        return address("run", name)

    def row(self, name: str, place: int) -> str:
        return address("run", name, "row", place)


def compare_page(
    runs: Sequence[Run], query: CompareQuery, names: Sequence[str], comparisons: Comparisons, database: Database,
    *, at_once: bool,
) -> Markup:  # fmt: skip
    """The page's content.

    Args:
        runs: the runs, the baseline first; without two of them, the page asks for more.
        query: what the address asks for.
        names: the runs that can be chosen.
        comparisons: those that were made already.
        database: where rows are searched.
        at_once: compare also large runs now; otherwise the page comes without the comparison, and then asks for it.
    """
    if len(runs) > MOST_RUNS:
        raise UsageError(f"choose 2 to {MOST_RUNS} runs, not {len(runs)}")
    if len(runs) < 2:
        chooser = element("p", wording.CHOOSE_TWO, class_="note")
        return _whole(element("h1", wording.COMPARE), _pickers(runs, query, names, None), chooser)
    for run in runs:
        if "qid" not in run.columns:
            raise UsageError(f"{run.name} has no qids, so its rows have no partners in the other runs")
    chosen = chosen_settings(runs, query)
    if not at_once and max(run.n_rows for run in runs) > QUICK and not comparisons.is_known(runs, chosen):
        return _whole(_pickers(runs, query, names, None), _pending(runs, query), _means(runs))
    try:
        view = comparisons.view(runs, chosen, query.candidate, _Addresses(query))
    except RagmeterError as error:
        if chosen.settings.where or (isinstance(error, UsageError) and (query.test or query.alpha or query.margin)):
            raise
        return _whole(_pickers(runs, query, names, None), element("p", text(error), class_="note"), _means(runs))
    return _whole(
        _pickers(runs, query, names, view),
        first_screen(view, *listed_rows(view, query, database), query.by, _columns(view, query)),
        more_charts(view, comparisons.all_pairs(view, runs, chosen)),
        _settings(runs, query, chosen),
    )


def _whole(*content: Content) -> Markup:
    return element("div", *content, id="compare", **_SWAP)


def _pending(runs: Sequence[Run], query: CompareQuery) -> Markup:
    """In the place of the comparison of large runs, until it is made."""
    rows = max(run.n_rows for run in runs)
    return element(
        "div",
        element("h1", wording.COMPARING.format(rows=rows)),
        element("progress", aria_label=wording.WAITING),
        hx_get=query.address(page=query.page),
        hx_trigger="load",
        hx_boost="false",
        class_="pending",
        role="status",
    )


def _means(runs: Sequence[Run]) -> Markup:
    """Each run's means, which are there without a comparison."""
    names = list(dict.fromkeys(name for run in runs for name in run.metrics()))
    summaries = {name: [run.metrics().get(name) for run in runs] for name in names}
    directions = {name: next(str(of.direction) for of in summaries[name] if of is not None) for name in names}
    rows = [[breakable(titled(name, directions[name])), *map(figure, summaries[name])] for name in names]
    titles = [wording.METRIC, *(link(text(run.name), address("run", run.name)) for run in runs)]
    return table(titles, rows, caption=wording.FIGURES)


def _pickers(runs: Sequence[Run], query: CompareQuery, names: Sequence[str], view: CompareView | None) -> Markup:
    """The baseline, the candidates, one more run, the slice, and what can be done with the page."""
    of_page = [run.name for run in runs]
    colours = tints(runs)
    choices = {name: name for name in dict.fromkeys([*of_page, *names])}
    letters = ("A", "B", "C", "D", "E")
    controls: list[Content] = []
    for place, (name, tint) in enumerate(zip(of_page, colours, strict=True)):
        role = wording.BASELINE if place == 0 else wording.CANDIDATE
        label = joined(role, " ", swatch(tint), element("b", letters[place]))
        picked = options("run" if place else "baseline", choices, name, id=f"pick-{place}", aria_label=f"{role} {name}")
        controls.append(element("label", label, " ", picked, class_="pick"))
        if place == 0 and view is not None:
            controls.append(_swap(query, view))
    if len(of_page) < MOST_RUNS:
        more = wording.ADD_RUN if len(of_page) > 1 else wording.CHOOSE_RUN
        others = {"": more} | {name: name for name in choices if name not in of_page}
        name = "run" if of_page else "baseline"
        controls.append(options(name, others, "", id="pick-more", aria_label=more, class_="add"))
    form = element(
        "form",
        controls,
        hidden({name: value for name, value in query.fields().items() if name in ("where", "test", "alpha", "margin")}),
        element("button", wording.COMPARE, class_="quiet without-script"),
        action=address(PAGE),
        method="get",
        hx_trigger="change, submit",
        class_="pickers",
    )
    actions = [copying("", wording.COPY_LINK)]
    if view is not None:
        report = query.address("report")
        actions.append(link(wording.REPORT, report, class_="quiet", download=True, hx_boost="false", data_waits=True))
    return element(
        "div",
        form,
        slices.cut(view) if view else None,
        element("span", actions, class_="actions"),
        class_="bar-of-runs",
    )


def _swap(query: CompareQuery, view: CompareView) -> Markup:
    """A link that makes the shown candidate the baseline."""
    a, b = view.pair.a, view.pair.b
    others = [name for name in query.runs if name not in (a, b)]
    where = query.address(runs=(b, a, *others), candidate=a if others else "", filters=())
    return link("⇄", where, class_="quiet", aria_label=wording.SWAP, title=wording.SWAP)


def _columns(view: CompareView, query: CompareQuery) -> Content:
    """Links to the slices of each column."""
    names = slices.columns(view)
    if query.by and query.by not in names:
        raise UsageError(f"{query.by[:60]!r} is no column with slices", hint=f"there are {', '.join(names) or 'none'}")
    if len(names) < 2:
        return None
    links = [
        link(text(name or wording.FARTHEST), query.address(by=name), aria_current="true" if name == query.by else None)
        for name in ("", *names)
    ]
    return element("span", [joined(of, " ") for of in links], class_="tabs")


def _settings(runs: Sequence[Run], query: CompareQuery, chosen: Chosen) -> Markup:
    """The test, alpha and the margins, kept with the runs if wanted, and the command that does the same."""
    settings = chosen.settings
    margins = " ".join(f"{name}={given(margin)}" for name, margin in (settings.margin or {}).items())
    alpha = element("input", type="number", name="alpha", value=given(settings.alpha), min="0", max="1", step="any")
    margin = element("input", name="margin", value=margins, placeholder="token_f1=0.02")
    form = element(
        "form",
        hidden({name: value for name, value in query.fields().items() if name not in ("test", "alpha", "margin")}),
        field(wording.TEST, options("test", wording.TESTS, settings.test)),
        field(wording.ALPHA, alpha),
        field(wording.MARGIN, margin),
        element("button", wording.COMPARE, class_="quiet"),
        element("button", wording.KEEP, type="button", id="keep", class_="quiet"),
        action=address(PAGE),
        method="get",
        id="comparison",
        class_="filter",
    )
    note: Content = None
    if chosen.kept is not None and not chosen.kept.current:
        note = element("p", wording.KEPT_BEFORE, class_="note")
    elif chosen.is_kept and chosen.kept is not None:
        note = element("p", wording.KEPT.format(day=day(chosen.kept.created)), class_="note good")
    is_chosen = bool(query.test or query.alpha or query.margin)
    return folded(wording.SETTINGS, note, form, command(command_of(runs, chosen)), opened=is_chosen, name="settings")
