"""Two to five runs beside each other: their figures, their comparison, and their answers row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rapidfuzz.distance import Indel

from ragmeter.app import wording
from ragmeter.app.changes import ALL_ROWS, CHANGES, ChangedRows
from ragmeter.app.comparison import comparison_part, settings_fields
from ragmeter.app.layout import downloads, paged
from ragmeter.app.queries import Database
from ragmeter.app.row_query import RowQuery, as_number, page_number
from ragmeter.app.scores import score
from ragmeter.errors import UsageError
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import (
    Content,
    Markup,
    address,
    breakable,
    element,
    in_own_direction,
    joined,
    link,
    text,
)
from ragmeter.show.page.parts import field, figure, options, section, table
from ragmeter.table import Row, outcome_column
from ragmeter.wording.metrics import titled

FEWEST, MOST = 2, 5
_LONGEST = 1_500
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def side_by_side(runs: Sequence[Run], database: Database, query: Any) -> list[Content]:
    """The page's content."""
    chosen = chosen_rows(runs, query)
    settings = settings_fields(query)
    return [
        section(wording.FIGURES, _figures(runs), name="figures"),
        section(wording.COMPARISON, comparison_part(runs, query), name="comparison"),
        section(
            wording.ROWS,
            _filter(runs, chosen, settings),
            _downloads(runs, chosen),
            _rows(runs, database, chosen, page_number(query), settings),
            name="rows",
        ),
    ]


def chosen_rows(runs: Sequence[Run], query: Any) -> ChangedRows:
    """The rows that an address asks for. Values that make no sense are an error that says so."""
    if not FEWEST <= len(runs) <= MOST:
        raise UsageError(f"choose {FEWEST} to {MOST} runs, not {len(runs)}")
    for run in runs:
        if "qid" not in run.columns:
            raise UsageError(f"{run.name} has no qids, so its rows have no partners in the other runs")
    metrics = _shared_metrics(runs)
    if not metrics:
        raise UsageError("these runs have no metric in common")
    change = query.get("change", ALL_ROWS)
    if change not in CHANGES:
        raise UsageError(f"{change[:40]!r} is not one of {', '.join(CHANGES)}")
    metric = query.get("metric", "") if query.get("metric", "") in metrics else metrics[0]
    return ChangedRows(metric, change, as_number(query.get("low", "") or "0"))


def _shared_metrics(runs: Sequence[Run]) -> list[str]:
    return [name for name in runs[0].row_metrics if all(name in run.row_metrics for run in runs)]


def _figures(runs: Sequence[Run]) -> Markup:
    names = list(dict.fromkeys(name for run in runs for name in run.metrics()))
    rows = []
    for name in names:
        summaries = [run.metrics().get(name) for run in runs]
        direction = next(str(summary.direction) for summary in summaries if summary is not None)
        rows.append([breakable(titled(name, direction)), *map(figure, summaries)])
    titles = [wording.METRIC, *(link(text(run.name), address("run", run.name)) for run in runs)]
    return table(titles, rows, caption=wording.FIGURES)


def _filter(runs: Sequence[Run], chosen: ChangedRows, settings: Mapping[str, str]) -> Markup:
    hidden = [element("input", type="hidden", name="run", value=run.name) for run in runs]
    hidden += [element("input", type="hidden", name=name, value=value) for name, value in settings.items()]
    low = f"{chosen.threshold:g}" if chosen.threshold else ""
    return element(
        "form",
        hidden,
        field(wording.METRIC, options("metric", {name: name for name in _shared_metrics(runs)}, chosen.metric)),
        field(wording.CHANGE, options("change", wording.CHANGES, chosen.change)),
        field(wording.BY_MORE_THAN, element("input", type="number", step="any", min="0", name="low", value=low)),
        element("button", wording.FILTER, class_="quiet"),
        action="/side-by-side#rows-title",
        method="get",
        class_="filter",
    )


def _fields(runs: Sequence[Run], chosen: ChangedRows) -> dict[str, object]:
    """The rows that are shown, for an address."""
    low = chosen.threshold or None
    return {"run": [run.name for run in runs], "metric": chosen.metric, "change": chosen.change, "low": low}


def _downloads(runs: Sequence[Run], chosen: ChangedRows) -> Markup:
    fields = _fields(runs, chosen)
    report = link(wording.REPORT, address("side-by-side", "report", run=fields["run"]))
    return downloads(("side-by-side",), fields, before=[report, " · "])


def _rows(
    runs: Sequence[Run], database: Database, chosen: ChangedRows, page: int, settings: Mapping[str, str]
) -> Markup:
    selection = database.side_by_side(runs, chosen, page)
    own = ["answer", chosen.metric, outcome_column(chosen.metric)]
    records = [
        database.records(run, places, own if number else ["qid", "question", "reference", *own])
        for number, (run, places) in enumerate(zip(runs, selection.of_runs, strict=True))
    ]
    cards = [
        _card(runs, places, of_row, chosen.metric)
        for places, of_row in zip(zip(*selection.of_runs, strict=True), zip(*records, strict=True), strict=True)
    ]
    return paged(cards, selection, RowQuery(page=page), ("side-by-side",), **_fields(runs, chosen), **settings)


def _card(runs: Sequence[Run], places: Sequence[int], records: Sequence[Row], metric: str) -> Markup:
    """One question, with the answers of all runs; words that differ from the first run's answer are marked."""
    first = records[0]
    base = first.get("answer") or ""
    answers = []
    for number, (run, place, record) in enumerate(zip(runs, places, records, strict=True)):
        answer = record.get("answer")
        lacking = element("span", wording.NO_ANSWER, class_="lacking")
        shown = lacking if answer is None else _marked(base, answer, number > 0)
        row = link(text(run.name), address("run", run.name, "row", place))
        answers.append(
            element(
                "div",
                element("h4", element("span", class_=f"swatch run-{number}"), row),
                element("p", metric, " ", score(record.get(metric), record.get(outcome_column(metric))), class_="soft"),
                element("p", shown),
                class_="answer",
            )
        )
    reference = first.get("reference") or []
    references = " / ".join([reference] if isinstance(reference, str) else reference)
    return element(
        "article",
        element("h3", text(first.get("question") or first["qid"])),
        element("p", f"{wording.REFERENCE}: ", text(references[:_LONGEST]), class_="soft") if references else None,
        element("div", answers, class_=f"columns-{len(runs)}"),
        class_="card pair",
    )


def _marked(base: str, answer: str, compared: bool) -> Markup:
    shown = answer[:_LONGEST] + (" …" if len(answer) > _LONGEST else "")
    if not compared:
        return text(shown)
    return in_own_direction(list(_differences(base[:_LONGEST], shown)))


def _differences(before: str, after: str) -> Iterator[Markup]:
    """The second text, with its new words in <ins> and the first one's lost words in <del>.

    White space between two changes is part of the change, so that what changed can be read in one piece.
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    lost, added = "", ""
    for part in Indel.opcodes(old, new):
        source, result = "".join(old[part.src_start : part.src_end]), "".join(new[part.dest_start : part.dest_end])
        if part.tag == "equal" and (result.strip() or not (lost or added)):
            yield from _change(lost, added)
            lost = added = ""
            yield joined(result)
        else:
            lost, added = lost + source, added + result
    yield from _change(lost, added)


def _change(lost: str, added: str) -> Iterator[Markup]:
    if lost:
        yield element("del", lost)
    if added:
        yield element("ins", added)
