"""One row: everything that is known about it, and links to its neighbours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ragmeter.analysis.claim_support import ClaimSet, claim_columns
from ragmeter.analysis.explanation import METRICS, explain_rows, settings_of
from ragmeter.app import wording
from ragmeter.app.calls import calls
from ragmeter.app.conversations import conversation_address
from ragmeter.app.queries import Database, RowQuery
from ragmeter.app.row_claims import claims, for_claims, marked, row_claims, supported_in_passage, unsupported_in_answer
from ragmeter.app.scores import score
from ragmeter.errors import RagmeterError
from ragmeter.metrics.causes import CAUSE, CAUSE_EVIDENCE, CAUSES
from ragmeter.metrics.support import as_passages
from ragmeter.runs.conversations import SESSION, conversation
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import section, table
from ragmeter.table import LIST_COLUMNS, SCORED, Row, outcome_column
from ragmeter.wording import numbers
from ragmeter.wording.answer_causes import row_sentence

#: A text that is longer is cut, and says so: a page with a passage of a megabyte helps nobody.
_LONGEST = 20_000
_MOST_PASSAGES = 50
_LONGEST_LABEL = 40


def one_row(run: Run, database: Database, query: RowQuery, place: int) -> list[Content]:
    """The page's content."""
    (row,) = database.records(run, [place], run.columns)
    sets = row_claims(run, place)
    return [
        _neighbours(run, database, query, place),
        _conversation(run, row, place),
        section(wording.QUESTION, _text(row.get("question")), name="question"),
        section(wording.REFERENCE, _texts(row.get("reference")), name="reference"),
        section(wording.ANSWER, _answer(row, sets), name="answer"),
        section(wording.SCORES, _cause(row), _scores(run, row), name="scores"),
        section(wording.JUDGE, _judges(run, row), name="judge"),
        section(wording.CLAIMS, claims(sets), name="claims"),
        section(wording.EVIDENCE, _evidence(run, row), name="evidence"),
        section(wording.CONTEXTS, _passages(run, row, sets), name="contexts"),
        section(wording.CALLS, calls(run, place, row), name="calls"),
        section(wording.OTHER, _others(run, row), name="others"),
    ]


def _neighbours(run: Run, database: Database, query: RowQuery, place: int) -> Markup:
    before, after = database.neighbours(run, query, place)
    selection = query.as_query()
    links: list[Content] = [link(wording.BACK, address("run", run.name, **selection) + "#rows-title")]
    if before is not None:
        links.append(link(wording.PREVIOUS, address("run", run.name, "row", before, **selection), rel="prev"))
    if after is not None:
        links.append(link(wording.NEXT, address("run", run.name, "row", after, **selection), rel="next"))
    return element("p", [joined(item, " ") for item in links], class_="pager")


def _conversation(run: Run, row: Row, place: int) -> Content:
    """A link to the conversation that the row is a turn of."""
    turns = conversation(run, row)
    if place not in turns:
        return None
    label = wording.TURN_OF.format(turn=turns.index(place) + 1, total=len(turns))
    return element("p", link(label, conversation_address(run, row[SESSION])))


def _text(value: Any) -> Content:
    if value is None or value == "":
        return None
    return element("div", text(_cut(str(value))), class_="card")


def _cut(whole: str) -> str:
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]} … ({len(whole):,} characters)"


def _texts(values: Any) -> Content:
    """A text, or several: references, documents."""
    if not values:
        return None
    listed = [values] if isinstance(values, str) else list(values)
    if len(listed) == 1:
        return _text(listed[0])
    items = [element("li", _text(value)) for value in listed[:_MOST_PASSAGES]]
    return joined(element("ul", items, class_="texts"), _more(len(listed)))


def _more(count: int) -> Content:
    return element("p", wording.AND_MORE.format(count=count - _MOST_PASSAGES)) if count > _MOST_PASSAGES else None


def _answer(row: Row, sets: Sequence[ClaimSet]) -> Content:
    answer = row.get("answer")
    if answer is None:
        why = f": {row['error']}" if row.get("error") else ""
        return element("p", text(wording.NO_ANSWER + why), class_="lacking")
    if not answer:
        return element("p", "“”", class_="soft")
    spans = [] if len(answer) > _LONGEST else unsupported_in_answer(answer, as_passages(row.get("contexts")), sets)
    if not spans:
        return _text(answer)
    note = _legend("unsupported", wording.UNSUPPORTED)
    return joined(element("div", marked(answer, spans, "unsupported"), class_="card"), note)


def _passages(run: Run, row: Row, sets: Sequence[ClaimSet]) -> Content:
    """The passages, with a judge's labels; where the answer's claims are known, with the words that these have too."""
    passages = as_passages(row.get("contexts"))
    if not passages:
        return None
    whole = sum(map(len, passages))
    spans = [supported_in_passage(passage, sets) if whole <= _LONGEST * 5 else [] for passage in passages]
    labels = _labels_of_passages(run, row)
    items = [
        element(
            "li",
            element("div", marked(_cut(passage), _within(own), "supported"), class_="card"),
            for_claims(rank, sets),
            [element("p", f"{name}: ", text(of_passages[rank - 1]), class_="soft") for name, of_passages in labels],
            id=f"passage-{rank}",
        )
        for rank, (passage, own) in enumerate(zip(passages[:_MOST_PASSAGES], spans, strict=False), 1)
    ]
    note = _legend("supported", wording.SUPPORTED) if any(spans) else None
    return joined(element("ol", items, class_="texts"), _more(len(passages)), note)


def _labels_of_passages(run: Run, row: Row) -> list[tuple[str, list[str]]]:
    """The columns of a judge that have a label for each passage."""
    n_passages = len(as_passages(row.get("contexts")))
    columns = [(name, _labels(row.get(name))) for columns in run.judged_columns.values() for name in columns]
    return [(name, labels) for name, labels in columns if labels and len(labels) == n_passages]


def _labels(value: Any) -> list[str]:
    """A list of short texts, as a judge's column has them; anything else is empty."""
    try:
        labels = json.loads(value) if isinstance(value, str) and value.startswith("[") else []
    except (ValueError, RecursionError):
        return []
    return labels if all(isinstance(label, str) and len(label) <= _LONGEST_LABEL for label in labels) else []


def _legend(kind: str, meaning: str) -> Markup:
    return element("p", element("mark", wording.MARKED, class_=kind), f": {meaning}", class_="soft")


def _within(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(begin, end) for begin, end in spans if end <= _LONGEST]


def _cause(row: Row) -> Content:
    """Where the answer failed, in words."""
    cause = row.get(CAUSE)
    return element("p", text(row_sentence(cause, row.get(CAUSE_EVIDENCE)))) if cause in CAUSES else None


def _scores(run: Run, row: Row) -> Content:
    cells = [[breakable(name), score(row[name], row.get(outcome_column(name)))] for name in run.row_metrics]
    return table([wording.METRIC, wording.VALUE], cells, caption=wording.SCORES, figures=(1,)) if cells else None


def _judges(run: Run, row: Row) -> Content:
    """The columns that a judge has filled: its verdict, its reason, who decided; or why it has not.

    Claims and labels of passages have a place of their own.
    """
    shown = {*claim_columns(run), *(name for name, _ in _labels_of_passages(run, row))}
    cells = []
    for columns in run.judged_columns.values():
        outcome = row.get(outcome_column(columns[0]), SCORED)
        if row.get(columns[0]) is None and outcome not in (SCORED, None):
            cells.append([breakable(columns[0]), element("span", text(outcome), class_="lacking")])
        cells += [
            [breakable(name), text(_shown(row[name]))]
            for name in columns
            if row.get(name) is not None and name not in shown
        ]
    return table([wording.COLUMN, wording.VALUE], cells, caption=wording.JUDGE) if cells else None


def _evidence(run: Run, row: Row) -> Content:
    """Why the offline judge takes the answer for right or wrong, where the run was judged by it."""
    if not any(name.partition("[")[0] in METRICS for name in run.row_metrics):
        return None
    if not (row.get("question") is not None and row.get("reference") and row.get("answer") is not None):
        return None
    settings = settings_of(run)
    try:
        (explanation,) = explain_rows([row], language=settings.get("language"), calibration=settings.get("calibration"))
    except RagmeterError as error:  # the calibration's file is missing
        return element("p", text(error), class_="soft")
    cells = [
        [text(piece.about), text(piece.says), numbers.hundredths(piece.weight, sign=True)]
        for piece in explanation.evidence
    ]
    probability = element("p", f"probability that it is correct: {numbers.number(explanation.probability)}")
    return joined(probability, table(["about", "says", "weight"], cells, caption=wording.EVIDENCE, figures=(2,)))


def _others(run: Run, row: Row) -> Content:
    """Every column that has no place of its own."""
    judged = {name for columns in run.judged_columns.values() for name in columns}
    shown = {"question", "reference", "answer", "contexts", "error", *run.row_metrics, *judged}
    shown |= set(map(outcome_column, shown))
    cells = [
        [breakable(name), text(_shown(value)) if name not in LIST_COLUMNS else _texts(value)]
        for name, value in row.items()
        if name not in shown and not name.startswith("outcome.") and value not in (None, [])
    ]
    return table([wording.COLUMN, wording.VALUE], cells, caption=wording.OTHER) if cells else None


def _shown(value: Any) -> str:
    return numbers.significant(value, 6) if isinstance(value, float) else str(value)[:_LONGEST]
