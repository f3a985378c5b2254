"""The rows of a run: filters as chips, ready-made choices, a choice of columns, and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragmeter.app import wording
from ragmeter.app.conditions import EQUAL, WITHOUT_VALUE, Condition, comparisons
from ragmeter.app.conversations import conversation_address
from ragmeter.app.figures import Figures
from ragmeter.app.layout import beside
from ragmeter.app.queries import PAGE, Database, Selection
from ragmeter.app.row_query import RowQuery, presets
from ragmeter.app.scores import score
from ragmeter.errors import UsageError
from ragmeter.metrics.causes import CAUSE
from ragmeter.runs.conversations import SESSION
from ragmeter.runs.run import NOTHING, Run
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import boxes, chip, hidden, options, section, table
from ragmeter.table import LIST_COLUMNS, QID, Measure, Row, outcome_column
from ragmeter.wording import numbers
from ragmeter.wording.answer_causes import cause_words
from ragmeter.wording.causes import cause_name
from ragmeter.wording.metrics import titled
from ragmeter.wording.texts import shortened

#: Characters of a text in the table, of which two lines are shown.
_LONGEST = 400
#: Metrics among the usual columns.
_METRICS = 5
#: With more columns than this, the table moves sideways by itself.
_FITTING = 9


def rows_part(run: Run, database: Database, query: RowQuery, opened: int | None) -> Markup:
    """All of it; htmx replaces it as a whole, and what a filter changes elsewhere on the page."""
    selection = database.rows(run, query)
    return element(
        "div",
        section(wording.ROWS, _filters(run, query), _table(run, database, query, selection, opened), name="rows"),
        id="rows-part",
        hx_boost="true",
        hx_target="#rows-part",
        hx_select="#rows-part",
        hx_select_oob="#parts",
        hx_swap="outerHTML show:none",
    )


def usual_columns(run: Run) -> tuple[str, ...]:
    """The columns that are shown if nobody has chosen others."""
    texts = [name for name in ("question", "answer", CAUSE) if name in run.columns]
    return (*texts, *run.row_metrics[:_METRICS])


def _columns(run: Run, query: RowQuery) -> list[str]:
    """The columns of the table besides the id: those that were chosen, or the usual ones with what is asked for."""
    if query.columns:
        return [name for name in query.columns if name != QID]
    asked = [query.sort, *(condition.column for condition in query.conditions)]
    metrics = [name for name in asked if name in run.measures]
    return list(dict.fromkeys((*usual_columns(run), *metrics)))


def _downloads(run: Run, query: RowQuery) -> Markup:
    """Links to the rows as files, under a click. The script says that one is being made until it comes."""
    fields = query.as_query(page=1)
    files = [
        link(kind, address("run", run.name, "export", kind, **fields), hx_boost="false", data_waits=True)
        for kind in ("csv", "jsonl", "parquet")
    ]
    return element(
        "details",
        element("summary", wording.DOWNLOAD),
        element("p", [joined(file, " ") for file in files]),
        class_="menu",
    )


def _filters(run: Run, query: RowQuery) -> Markup:
    search = element(
        "input", type="search", name="search", id="search-rows", value=query.search, dir="auto",
        placeholder=wording.SEARCH_ROWS, aria_label=wording.SEARCH_ROWS,
    )  # fmt: skip
    form = element(
        "form",
        hidden(query.as_query(page=1, search="")),
        search,
        new_filter(run, "", None),
        element("button", wording.ADD, class_="quiet"),
        action=address("run", run.name),
        method="get",
        class_="filter",
        id="filters",
        role="search",
        hx_trigger="submit, input changed delay:250ms from:#search-rows",
        hx_sync="this:replace",
    )
    menus = (_choice_of_columns(run, query), _downloads(run, query))
    return joined(element("div", form, menus, class_="controls"), _chips(run, query))


def new_filter(run: Run, column: str, figures: Figures | None) -> Markup:
    """The controls of one more filter. Once its column is chosen, they are those that fit its values."""
    measures = run.measures
    others = [name for name in run.columns if name not in measures]
    names = {"": wording.FILTER_BY, **{name: name for name in (*measures, *others)}}
    control = options(
        "column", names, column, aria_label=wording.COLUMN, id="new-column", hx_get=address("run", run.name, "filter"),
        hx_trigger="change", hx_target="#new-filter", hx_select="#new-filter",
        hx_swap="outerHTML ignoreTitle:true",
        hx_select_oob="unset", hx_push_url="false", hx_boost="false", hx_include="this", hx_params="column",
    )  # fmt: skip
    if not column:
        return element("span", control, id="new-filter")
    if column not in run.columns:
        raise UsageError(f"{run.name} has no column {column[:60]!r}")
    known = comparisons(run, column)
    compared = options(
        "is", {name: wording.COMPARISONS[name] for name in known}, known[0], aria_label=wording.COMPARISON_OF
    )
    return element("span", control, " ", compared, " ", _value(run, column, figures), id="new-filter")


def _value(run: Run, column: str, figures: Figures | None) -> Markup:
    label = wording.VALUE
    if column in run.measures:
        if run.measures[column].binary:
            return options("value", {"1": wording.YES_NO[1], "0": wording.YES_NO[0]}, "0", aria_label=label)
        return element("input", type="number", step="any", name="value", value="0", aria_label=label)
    values = figures.values(run, column) if figures is not None and column not in LIST_COLUMNS else []
    if values:
        return options("value", {value: _value_words(column, value) for value in values}, values[0], aria_label=label)
    return element("input", name="value", dir="auto", aria_label=label)


def _choice_of_columns(run: Run, query: RowQuery) -> Markup:
    shown = {QID, *_columns(run, query)}
    names = [QID, *(name for name in run.columns if name != QID and not name.endswith(outcome_column("")))]
    form = element(
        "form",
        hidden(query.as_query(columns=())),
        element("fieldset", element("legend", wording.COLUMNS, class_="hidden"), boxes("columns", names, shown)),
        element("button", wording.SHOW_COLUMNS, class_="quiet"),
        " ",
        link(wording.USUAL_COLUMNS, _rows(run, replace(query, columns=()))),
        action=address("run", run.name),
        method="get",
    )
    return element("details", element("summary", wording.COLUMNS), form, class_="menu", id="columns")


def _chips(run: Run, query: RowQuery) -> Markup:
    """The ready-made choices, and every filter with a cross that removes it."""
    ready = [
        link(
            wording.PRESETS[name],
            _rows(run, query.with_condition(show=tuple(other for other in query.show if other != name)))
            if name in query.show
            else _rows(run, query.with_condition(show=(*query.show, name))),
            class_="chip preset",
            aria_current="true" if name in query.show else None,
            title=", ".join(columns),
        )
        for name, columns in presets(run).items()
    ]
    chips = [
        chip(
            condition_words(run, condition),
            remove=_rows(run, query.without(condition)),
            label=wording.REMOVE.format(what=condition.column),
        )
        for condition in query.conditions
    ]
    clear = None
    if not query.is_everything:
        clear = link(wording.CLEAR, _rows(run, query.with_condition(search="", conditions=(), show=())))
    parts = [*ready, *chips, clear]
    return element("p", [joined(part, " ") for part in parts if part], id="chips") if any(parts) else Markup()


def condition_words(run: Run, condition: Condition) -> Markup:
    """A condition as a chip says it."""
    column, comparison, value = condition.column, condition.comparison, condition.value
    if comparison in WITHOUT_VALUE:
        return joined(breakable(column), " ", wording.COMPARISONS[comparison])
    measure = run.measures.get(column)
    metric = column.removesuffix(outcome_column(""))
    if comparison == EQUAL and metric in run.measures and metric != column:
        return joined(breakable(metric), wording.HAS_OUTCOME, cause_name(value).replace("_", " "))
    if measure is not None and measure.binary and comparison == EQUAL and condition.number in (0, 1):
        value = wording.YES_NO[int(condition.number)]
    shown = text(shortened(_value_words(column, value), 60) or "“”")
    return joined(breakable(column), f" {wording.COMPARISONS[comparison]} ", shown)


def _value_words(column: str, value: str) -> str:
    return cause_words(value) if column == CAUSE else value


def _rows(run: Run, query: RowQuery) -> str:
    return address("run", run.name, **query.as_query())


def _table(run: Run, database: Database, query: RowQuery, selection: Selection, opened: int | None) -> Markup:
    columns = _columns(run, query)
    wanted = [QID, SESSION, *columns, *map(outcome_column, columns)]
    records = database.records(run, selection.places, wanted)
    titles: list[Content] = [_sortable(run, name, query) for name in (QID, *columns)]
    measures = run.measures
    lines = [
        [_opener(run, query, place, record, opened), *(_cell(measures, name, record) for name in columns)]
        for place, record in zip(selection.places, records, strict=True)
    ]
    figures = tuple(at for at, name in enumerate(columns, 1) if name in measures)
    texts = tuple(at for at, name in enumerate(columns, 1) if name not in measures and name != CAUSE)
    shown = table(titles, lines, caption=wording.ROWS, figures=figures, texts=texts) if lines else None
    kind = "rows-table" if len(columns) < _FITTING else "rows-table wide"
    framed = element("div", shown, class_=kind) if shown else None
    if not selection.total:
        return element("p", wording.NO_ROWS, class_="soft")
    first, last = (query.page - 1) * PAGE + 1, -(-selection.total // PAGE)
    said = wording.SHOWN.format(first=first, last=first + len(selection.places) - 1, total=selection.total)
    pages = beside(query.page, last, lambda page: _rows(run, replace(query, page=page)), said)
    return joined(pages, framed, pages if last > 1 else None)


def _opener(run: Run, query: RowQuery, place: int, record: Row, opened: int | None) -> Content:
    """The row's id, which opens the row beside the table, and its conversation."""
    name = text(record.get(QID) or place + 1)
    where = address("run", run.name, "row", place, **query.as_query())
    opener = link(
        name, where, class_="opens", hx_get=where, hx_target="#drawer", hx_select="#row", hx_select_oob="unset",
        hx_swap="innerHTML show:none", hx_push_url=address("run", run.name, **query.as_query(), row=place),
        id=f"opens-{place}", aria_current="true" if place == opened else None,
    )  # fmt: skip
    session = record.get(SESSION)
    if not session:
        return opener
    words = element("span", text(session), class_="soft")
    label = f"{wording.CONVERSATION} {session}"
    return joined(opener, " ", link(words, conversation_address(run, session), aria_label=label, hx_boost="false"))


def _sortable(run: Run, name: str, query: RowQuery) -> Markup:
    """A title that sorts. The mark of the order is none of the arrows, which say what is better."""
    is_sorted = query.sort == name
    descending = is_sorted and not query.descending
    where = _rows(run, query.with_condition(sort=name, descending=descending))
    words = breakable(titled(name, run.measures[name].direction) if name in run.measures else name)
    mark = None
    if is_sorted:
        order = wording.DESCENDING if query.descending else wording.ASCENDING
        mark = joined(
            element("span", class_=f"order {'down' if query.descending else 'up'}", aria_hidden="true"),
            element("span", f" ({order})", class_="hidden"),
        )
    return link(joined(words, mark), where, class_="sorts")


def _cell(measures: Mapping[str, Measure], name: str, record: Row) -> Content:
    value = record.get(name)
    measure = measures.get(name)
    if measure is not None:
        return score(value, record.get(outcome_column(name)), binary=measure.binary)
    if value is None:
        lacking = wording.NO_ANSWER if name == "answer" else NOTHING
        return element("span", lacking, class_="lacking" if name == "answer" else "soft")
    if name == CAUSE:
        kind = "failed-part" if value == "failed" else str(value)
        return joined(element("span", class_=f"swatch square {kind}", aria_hidden="true"), text(cause_words(value)))
    return element("div", text(shortened(_text(value), _LONGEST)), class_="clamp")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return numbers.significant(value, 6)
    return " · ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
