"""One row: everything that is known about it, on a page of its own or in a drawer beside the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from ragmeter.analysis.claim_support import ClaimSet, claim_columns
from ragmeter.analysis.explanation import METRICS, explain_rows, row_cause, settings_of
from ragmeter.app import wording
from ragmeter.app.calls import calls
from ragmeter.app.conditions import EQUAL, Condition
from ragmeter.app.conversations import conversation_address
from ragmeter.app.labelling import LABELS
from ragmeter.app.markdown import rendered
from ragmeter.app.queries import Database
from ragmeter.app.row_claims import claims, row_claims, unsupported_in_answer
from ragmeter.app.row_passages import labels_of_passages, passages
from ragmeter.app.row_query import RowQuery
from ragmeter.app.row_to_label import shown_hash
from ragmeter.app.scores import score
from ragmeter.app.word_marks import marked, shared_words
from ragmeter.errors import RagmeterError
from ragmeter.metrics.support import as_passages
from ragmeter.runs.conversations import SESSION, conversation
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import folded, section, swatch, table, tints
from ragmeter.table import LIST_COLUMNS, QID, SCORED, Row, outcome_column
from ragmeter.wording import numbers
from ragmeter.wording.answer_causes import hop_sentence, row_sentence
from ragmeter.wording.metrics import first_of, is_right, titled

#: A text that is longer is cut, and says so: a page with a passage of a megabyte helps nobody.
_LONGEST = 20_000
_MOST_TEXTS = 50
#: Other runs whose answers to the same question are shown.
MOST_OTHERS = 4


def one_row(
    run: Run, database: Database, query: RowQuery, place: int, others: Sequence[Run], *, in_drawer: bool
) -> Markup:
    """All of it. In a drawer, the links to its neighbours stay in the drawer."""
    (row,) = database.records(run, [place], run.columns)
    sets = row_claims(run, place)
    return element(
        "article",
        _head(run, database, query, place, row, in_drawer=in_drawer),
        _conversation(run, row, place),
        section(wording.QUESTION, _text(row.get("question")), name="question"),
        section(
            wording.ANSWER,
            _answer(row, sets, query),
            name="answer",
            about=_markdown_switch(run, query, place, row, in_drawer=in_drawer),
        ),
        section(wording.REFERENCE, _references(row), name="reference"),
        section(wording.VERDICT, _verdict(run, row), _cause(row), _buttons(run, row), name="verdict"),
        section(wording.CONTEXTS, passages(run, row, sets), name="contexts"),
        section(wording.CLAIMS, claims(sets), name="claims"),
        section(wording.SCORES, _scores(run, row), name="scores"),
        section(wording.OTHER_RUNS, _other_runs(database, others, row), name="other-runs"),
        section(wording.CALLS, calls(run, place, row), name="calls"),
        _folded(wording.JUDGE, _judges(run, row), "judge"),
        _folded(wording.EVIDENCE, _evidence(run, row), "evidence"),
        _folded(wording.OTHER, _others(run, row), "others"),
        id="row",
        aria_labelledby="row-title",
        data_place=place,
        data_shown=shown_hash(row),
        data_label=address("run", run.name, "row", place, "label"),
    )


def _head(run: Run, database: Database, query: RowQuery, place: int, row: Row, *, in_drawer: bool) -> Markup:
    """The id, links to the neighbours among the rows that were asked for, and the way back."""
    before, after = database.neighbours(run, query, place)
    links: list[Content] = []
    for words, neighbour, rel in ((wording.PREVIOUS, before, "prev"), (wording.NEXT, after, "next")):
        if neighbour is not None:
            links.append(_row_link(run, query, neighbour, words, in_drawer=in_drawer, rel=rel))
    rows = address("run", run.name, **query.as_query())
    if in_drawer:
        own = link(wording.OWN_PAGE, address("run", run.name, "row", place, **query.as_query()))
        close = link("✕", rows, id="close", class_="quiet button", aria_label=wording.CLOSE)
        links += [own, close]
    else:
        links.insert(0, link(wording.BACK, rows + "#rows"))
    title = element("h1", text(row.get(QID) or place + 1), id="row-title", tabindex="-1")
    return element("header", title, element("p", [joined(item, " ") for item in links], class_="pager"))


def _row_link(
    run: Run, query: RowQuery, place: int, words: Content, *, in_drawer: bool, rel: str | None = None
) -> Markup:
    """A link to a row, which stays in the drawer if it stands there."""
    where = address("run", run.name, "row", place, **query.as_query())
    if not in_drawer:
        return link(words, where, rel=rel)
    beside = address("run", run.name, **query.as_query(), row=place)
    return link(
        words, where, rel=rel, hx_get=where, hx_target="#drawer", hx_select="#row", hx_push_url=beside,
        hx_swap="innerHTML show:#drawer:top",
    )  # fmt: skip


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
    listed = _listed(values)
    if len(listed) < 2:
        return _text(listed[0]) if listed else None
    more = len(listed) - _MOST_TEXTS
    items = [element("li", _text(value)) for value in listed[:_MOST_TEXTS]]
    return joined(
        element("ul", items, class_="texts"),
        element("p", wording.AND_MORE.format(count=more)) if more > 0 else None,
    )


def _listed(values: Any) -> list[Any]:
    return [] if not values else [values] if isinstance(values, str) else list(values)


def _references(row: Row) -> Content:
    """The references; words that the answer does not have are marked."""
    references, answer = _listed(row.get("reference")), row.get("answer")
    if not answer or len(answer) > _LONGEST or any(len(str(reference)) > _LONGEST for reference in references):
        return _texts(references)
    cards = []
    for reference in map(str, references[:_MOST_TEXTS]):
        missing = _missing(reference, answer)
        cards.append(element("div", marked(reference, {"missing": missing} if missing else {}), class_="card"))
    if len(cards) < 2:
        return cards
    return element("ul", [element("li", card) for card in cards], class_="texts")


def _missing(reference: str, answer: str) -> list[tuple[int, int]]:
    """The words of the reference that the answer does not have; none if it has no word of it at all."""
    shared = shared_words(reference, answer)
    return [span for span in shared_words(reference, reference) if span not in shared] if shared else []


def _answer(row: Row, sets: Sequence[ClaimSet], query: RowQuery) -> Content:
    answer = row.get("answer")
    if answer is None:
        why = f": {row['error']}" if row.get("error") else ""
        return element("p", text(wording.NO_ANSWER + why), class_="lacking")
    if not answer:
        return element("p", "“”", class_="soft")
    if len(answer) > _LONGEST:
        return _text(answer)
    if query.markdown:
        return element("div", rendered(answer), class_="card")
    unsupported = unsupported_in_answer(answer, as_passages(row.get("contexts")), sets)
    shared = shared_words(answer, " ".join(map(str, _listed(row.get("reference")))))
    kinds = {kind: spans for kind, spans in (("shared", shared), ("unsupported", unsupported)) if spans}
    legend = [joined(element("mark", wording.MARKED, class_=kind), f": {wording.MARKS[kind]} ") for kind in kinds]
    note = element("p", legend, class_="soft legend-line") if legend else None
    return joined(element("div", marked(answer, kinds), class_="card"), note)


def _markdown_switch(run: Run, query: RowQuery, place: int, row: Row, *, in_drawer: bool) -> Content:
    """A link that shows the answer as the Markdown that it is written in, or as it is."""
    if not row.get("answer"):
        return None
    words = wording.AS_WRITTEN if query.markdown else wording.AS_MARKDOWN
    return _row_link(run, replace(query, markdown=not query.markdown), place, words, in_drawer=in_drawer)


def _verdict(run: Run, row: Row) -> Content:
    """Right or wrong by the metric that counts most, with the judge's reason."""
    right = [name for name in run.row_metrics if is_right(name)]
    if not right:
        return None
    name = first_of(right)
    value, outcome = row.get(name), row.get(outcome_column(name))
    by = element("span", " ", wording.BY_METRIC, " ", breakable(name), class_="soft")
    if value is None or value != value:
        return element("p", score(value, outcome), by)
    sign, tone, words = ("✓", "better", wording.RIGHT) if value else ("✗", "worse", wording.WRONG_ANSWER)
    told = element("strong", element("span", sign, aria_hidden="true"), " ", words, class_=f"tone {tone}")
    reason = row.get("reason") if name.startswith("llm_correct") else None
    return element("p", told, by, element("span", " – ", text(_cut(str(reason)))) if reason else None)


def _buttons(run: Run, row: Row) -> Content:
    """A label of one's own, by a click or a key; the script asks for a name once."""
    if QID not in run.columns or row.get("answer") is None:
        return None
    words = (wording.CORRECT, wording.WRONG, wording.SKIP)
    buttons = [
        element("button", word, " ", element("kbd", key), type="button", class_="quiet", data_label=label)
        for word, label, key in zip(words, LABELS, "cws", strict=True)
    ]
    name = element("input", id="rater", aria_label=wording.RATER, placeholder=wording.RATER, maxlength=60)
    status = {"data_saved": wording.SAVED, "data_nameless": wording.NAME_NEEDED}
    return element(
        "p",
        element("span", wording.YOUR_LABEL, class_="soft"),
        [joined(" ", button) for button in buttons],
        " ",
        name,
        element("span", id="labelled", role="status", **status),
        class_="your-label",
    )


def _cause(row: Row) -> Content:
    """Where the answer failed, in words."""
    cause = row_cause(row)
    if cause is None:
        return None
    kind = "failed-part" if cause.cause == "failed" else cause.cause
    mark = element("span", class_=f"swatch square {kind}", aria_hidden="true")
    hop = "" if cause.hop is None else f"; {hop_sentence(**asdict(cause.hop))}"
    return element("p", mark, text(f"{row_sentence(cause.cause, cause.evidence)}{hop}"))


def _scores(run: Run, row: Row) -> Content:
    measures = run.measures
    cells = [
        element(
            "div",
            element("dt", breakable(titled(name, measures[name].direction))),
            element("dd", score(row.get(name), row.get(outcome_column(name)), measures[name].binary, in_words=True)),
        )
        for name in measures
    ]
    return element("dl", cells, class_="scores") if cells else None


def _other_runs(database: Database, others: Sequence[Run], row: Row) -> Content:
    """What other runs of the same questions answer to this one."""
    qid = row.get(QID)
    if not qid:
        return None
    cards = []
    for run, tint in zip(others, tints(others), strict=True):
        places = database.rows(run, RowQuery(conditions=(Condition(QID, EQUAL, str(qid)),))).places[:1]
        right = [name for name in run.row_metrics if is_right(name)] or run.row_metrics[:1]
        for place, other in zip(
            places, database.records(run, places, ["answer", *right, *map(outcome_column, right)]), strict=True
        ):
            scores = [joined(" · ", breakable(name), " ", _short_score(run, name, other)) for name in right[:2]]
            name = link(text(run.name), address("run", run.name, "row", place))
            said = other.get("answer")
            answer = text(_cut(said)) if said is not None else element("span", wording.NO_ANSWER, class_="lacking")
            cards.append(element("li", element("p", swatch(tint), name, scores, class_="soft"), element("p", answer)))
    return element("ul", cards, class_="texts answers-of-others") if cards else None


def _short_score(run: Run, name: str, row: Row) -> Markup:
    return score(row.get(name), row.get(outcome_column(name)), binary=run.measures[name].binary)


def _folded(title: str, content: Content, name: str) -> Content:
    return folded(title, content, name=name) if content else None


def _judges(run: Run, row: Row) -> Content:
    """The columns that a judge has filled: its verdict, its reason, who decided; or why it has not.

    Claims and labels of passages have a place of their own.
    """
    shown = {*claim_columns(run), *(name for name, _ in labels_of_passages(run, row))}
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
