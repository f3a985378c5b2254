"""The page of a test set: its card, and its questions."""

from __future__ import annotations

import html
from pathlib import Path

import ragmeter
from ragmeter.runs.run import Run
from ragmeter.show.page import elements, parts
from ragmeter.show.page.elements import element, in_own_direction, joined
from ragmeter.show.page.test_set_card import test_set_card
from ragmeter.show.report.page import Page, page_policy
from ragmeter.table import QID
from ragmeter.wording.testsets import GOOD_FOR, KINDS

_COLUMNS = (QID, "question", "reference", "kind", "source")


def render_test_set(run: Run, *, title: str | None, max_rows: int) -> Page:
    """The whole page, with at most `max_rows` questions."""
    places = list(range(min(run.n_rows, max_rows)))
    names = [name for name in _COLUMNS if name in run.columns]
    records = list(run.records(places, names))
    names = [name for name in names if any(record[name] for record in records)]  # without a model there are no answers
    rows = []
    for record in records:
        shown = {**record, "kind": KINDS.get(str(record.get("kind")), record.get("kind"))}
        rows.append([in_own_direction(_text(shown[name])) for name in names])
    caption = f"{len(places):,} of {run.n_rows:,} questions"
    body = joined(
        element("section", element("h1", title or run.name, id="title")),
        parts.section(GOOD_FOR, *test_set_card(run.summary()), name="card"),
        parts.section("Questions", parts.table(names, rows, caption=caption), name="rows", about=caption),
        element("p", f"ragmeter {ragmeter.__version__}", class_="soft"),
    )
    main = element("main", body, id="main")
    style = Path(elements.__file__).with_name("style.css").read_text(encoding="utf-8")
    return Page(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(page_policy(style, ""))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(title or run.name)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>{main}</body>\n</html>\n",
        len(places),
    )


def _text(cell: object) -> str:
    return " / ".join(map(str, cell)) if isinstance(cell, list) else str(cell or "")
