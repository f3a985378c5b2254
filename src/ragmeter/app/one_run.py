"""One run: its result in a sentence, what is to be known before, its figures, causes and slices, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmeter.app import wording
from ragmeter.app.alarms import alarms, notes
from ragmeter.app.figures import Figures
from ragmeter.app.queries import Database
from ragmeter.app.row_query import RowQuery
from ragmeter.app.rows_table import rows_part
from ragmeter.app.run_parts import run_parts
from ragmeter.documents.summary import Summary
from ragmeter.errors import InputError
from ragmeter.io.write import dumps
from ragmeter.runs.catalogue import RunEntry
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import alarm, chip, field, folded, swatch, tints
from ragmeter.show.page.test_set_card import test_set_card
from ragmeter.wording.metrics import headline_sentence, result_unit
from ragmeter.wording.testsets import GOOD_FOR

#: Runs that are offered for a comparison.
_OTHERS = 12


@dataclass(frozen=True)
class Surroundings:
    """What is known of a run besides itself: its tags, and the runs of the same questions, the newest first."""

    tags: Sequence[str] = ()
    others: Sequence[RunEntry] = ()
    created: str = ""


def one_run(
    run: Run,
    database: Database,
    query: RowQuery,
    figures: Figures,
    around: Surroundings,
    drawer: Content = None,
    opened: int | None = None,
) -> list[Content]:
    """The page's content. `drawer` is the row that is open beside the table, at the place `opened`."""
    summary = run.summary()
    return [
        _head(run, summary, around),
        alarms(run, summary),
        folded(GOOD_FOR, *card, name="card") if (card := test_set_card(summary)) else None,
        run_parts(run, summary, query, figures),
        rows_part(run, database, query, opened),
        notes(run, summary),
        folded(wording.SIGNATURE, element("pre", text(dumps(run.manifest(), indent=2))), name="signature"),
        element("aside", drawer, id="drawer", aria_label=wording.ROW, tabindex="-1"),
    ]


def damaged_run(run: Run, problem: InputError) -> list[Content]:
    """A run whose rows can't be read: nothing that its summary says counts."""
    title = element("h1", swatch(tints([run])[0]), breakable(run.name))
    return [title, alarm(joined(element("strong", wording.ROWS_UNREADABLE), " ", text(problem)), failed=True)]


def _head(run: Run, summary: Summary, around: Surroundings) -> Markup:
    (tint,) = tints([run])
    sentence = headline_sentence(summary.metrics, result_unit(run.manifest()))
    return element(
        "div",
        element(
            "div",
            element("h1", swatch(tint), breakable(run.name)),
            [joined(" ", chip(tag)) for tag in around.tags],
            element("p", text(sentence), class_="sentence") if sentence else None,
        ),
        element("div", _actions(run, around), class_="actions"),
        class_="run-head",
    )


def _actions(run: Run, around: Surroundings) -> list[Content]:
    return [
        _compared(run, around),
        link(wording.LABEL, address("run", run.name, "label"), class_="quiet button"),
        link(wording.DOCUMENTS, address("run", run.name, "documents"), class_="quiet button")
        if "retrieved" in run.columns
        else None,
        link(wording.REPORT, address("run", run.name, "report"), class_="quiet button", data_waits=True),
        _tags(around.tags),
    ]


def _compared(run: Run, around: Surroundings) -> Content:
    """Links to comparisons with runs of the same questions; the older run is the baseline."""
    if not around.others:
        return None
    links = []
    for other in around.others[:_OTHERS]:
        names = [other.name, run.name] if other.created <= around.created else [run.name, other.name]
        links.append(element("li", link(text(other.name), address("compare", run=names))))
    return element("details", element("summary", wording.COMPARE_WITH), element("ul", links), class_="menu")


def _tags(tags: Sequence[str]) -> Markup:
    """A field to change the run's tags."""
    control = element("input", name="tags", value=" ".join(tags), maxlength=400)
    form = element("form", field(wording.TAGS, control), element("button", wording.SAVE, class_="quiet"), id="tags")
    return element("details", element("summary", wording.TAGS), form, class_="menu")
