"""A run's page in a real browser: filters that apply at once, the row beside the table, labels on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

import ragmeter
from ragmeter.analysis.people.labels import read_labels
from tests.app.serving import serving
from tests.app.test_browser import Visit
from tests.browser import chromium, missing
from tests.show.report.helpers import PAYLOADS, keep_hostile

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
ROWS = [
    {
        "qid": f"q{i}",
        "question": f"Where is museum {i}?",
        "answer": ("**In Lisbon**", "In Porto", "In Lisbon")[i % 3],
        "reference": "In Lisbon",
        "contexts": [f"Museum {i} is in Lisbon.", "Porto is a town."],
        "kind": "even" if i % 2 == 0 else "odd",
    }
    for i in range(60)
]
METRICS = "exact_match,token_f1"


@pytest.fixture(scope="module")
def browser(browser_address: str) -> Iterator[Any]:
    with chromium(browser_address) as started:
        yield started


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Visit]:
    ragmeter.evaluate(ROWS, metrics=METRICS, run="r", output_dir=tmp_path)
    with serving(tmp_path) as client:
        visit = Visit(browser, client, viewport={"width": 1440, "height": 900})
        visit.page.goto(f"{visit.origin}/run/r")
        visit.page.wait_for_selector("html[data-ready]")
        yield visit
        visit.check()
        visit.context.close()


def shown(page: Any, total: int) -> None:
    page.locator(f"#rows .pager:has-text('of {total} rows')").first.wait_for()


def fields(page: Any) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(page.url).query, keep_blank_values=True)


def test_filters_are_joined_by_and_and_apply_at_once(visit: Visit) -> None:
    page = visit.page
    page.select_option("#new-column", "exact_match")
    page.select_option("#new-filter select[name=value]", "0")
    page.click("button:text-is('Add')")
    shown(page, 40)
    page.select_option("#new-column", "token_f1")
    page.select_option("#new-filter select[name=is]", ">=")
    page.fill("#new-filter input[name=value]", "0.9")
    page.click("button:text-is('Add')")
    shown(page, 20)
    page.select_option("#new-column", "kind")
    page.select_option("#new-filter select[name=value]", "odd")
    page.click("button:text-is('Add')")
    shown(page, 10)
    page.fill("#search-rows", "museum 3")  # museums 3, 33 and 39, without a press of a key
    shown(page, 3)
    assert page.evaluate("document.activeElement.id") == "search-rows"
    filters = [value for name, value in fields(page) if name == "filter"]
    assert filters == ["exact_match=0", "token_f1>=0.9", "kind=odd"]
    page.reload()
    shown(page, 3)
    page.click("#chips .chip:has-text('token_f1') a")
    shown(page, 5)  # without it, also those that are in Porto
    page.go_back()
    shown(page, 3)
    page.click("#chips >> text=Clear")
    shown(page, 60)


def test_bars_of_a_histogram_are_filters_also_several_at_once(visit: Visit) -> None:
    page = visit.page
    bars = page.locator("svg[data-column=token_f1] a")
    first, last = bars.nth(10).bounding_box(), bars.nth(19).bounding_box()
    page.mouse.move(first["x"] + 2, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 2, last["y"] + 5, steps=4)
    page.mouse.up()
    page.locator("#chips .chip:has-text('≥ 0.5')").wait_for()
    page.locator("#chips .chip:has-text('≤ 1')").wait_for()
    shown(page, 60)
    page.wait_for_selector("html[data-ready]")
    page.locator("svg[data-column=exact_match] a").nth(1).click()
    shown(page, 20)


def test_a_row_opens_beside_the_table_and_keys_go_on(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/run/r?filter=kind%3Dodd")
    page.wait_for_selector("html[data-ready]")
    page.locator(".rows-table tbody tr").nth(1).locator("td").nth(1).click()
    page.locator("#drawer h1 :text-is('q3')").wait_for()
    assert ("row", "3") in fields(page)
    assert page.evaluate("document.activeElement.id") == "row-title"
    assert page.locator(".opens[aria-current]").inner_text() == "q3"
    page.keyboard.press("j")
    page.locator("#drawer h1 :text-is('q5')").wait_for()
    page.keyboard.press("k")
    page.locator("#drawer h1 :text-is('q3')").wait_for()
    assert page.locator(".rows-table tbody tr").count() == 30  # the table stays
    page.keyboard.press("Escape")
    page.locator("#drawer:empty").wait_for(state="attached")
    assert page.evaluate("document.activeElement.id") == "opens-3"
    assert "row" not in dict(fields(page))
    page.go_back()
    page.locator("#drawer h1 :text-is('q3')").wait_for()
    page.goto(f"{visit.origin}/run/r/row/3")  # its own page
    page.locator("main h1 :text-is('q3')").wait_for()
    assert page.locator(".rows-table").count() == 0


def test_a_label_on_the_spot(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/run/r?row=4")
    page.wait_for_selector("html[data-ready]")
    page.keyboard.press("c")
    page.locator("#labelled:has-text('a label needs your name')").wait_for()
    assert page.evaluate("document.activeElement.id") == "rater"
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    page.keyboard.press("w")
    page.locator("[data-label=wrong][aria-pressed=true]").wait_for()
    page.keyboard.press("j")
    page.locator("#drawer h1 :text-is('q5')").wait_for()
    page.keyboard.press("c")
    page.locator("[data-label=correct][aria-pressed=true]").wait_for()
    page.keyboard.press("k")
    page.locator("#drawer h1 :text-is('q4')").wait_for()
    page.locator("[data-label=wrong][aria-pressed=true]").wait_for()  # what Ann has said is shown
    labels = read_labels(tmp_path / "labels-r-Ann.csv")
    assert [(label.qid, label.label, label.rater) for label in labels] == [
        ("q4", "wrong", "Ann"),
        ("q5", "correct", "Ann"),
    ]


def test_markdown_on_a_switch(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.origin}/run/r?row=0")
    page.wait_for_selector("html[data-ready]")
    assert "**In Lisbon**" in page.inner_text("#answer")
    page.click("text=show as Markdown")
    page.locator("#answer strong:text-is('In Lisbon')").wait_for()
    page.keyboard.press("j")
    page.locator("#drawer h1 :text-is('q1')").wait_for()
    page.locator("text=show as it is written").wait_for()  # it stays so from row to row


def test_a_download_is_waited_for_with_a_sign(visit: Visit) -> None:
    page = visit.page
    page.click("#rows summary:has-text('Download')")
    with page.expect_download() as download:
        page.click("#rows a:text-is('csv')")
    assert download.value.suggested_filename == "r.csv"
    page.wait_for_selector("html:not(.waits)")
    assert page.evaluate("document.cookie") == ""


@pytest.mark.parametrize("context", [{}, {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}])
def test_a_payload_in_every_field_does_nothing_in_the_drawer(browser: Any, tmp_path: Path, context: Any) -> None:
    name = quote(keep_hostile(tmp_path).name, safe="")
    with serving(tmp_path) as client:
        visit = Visit(browser, client, **context)
        for place in range(10):
            visit.open(f"/run/{name}?row={place}&markdown=1")
            visit.page.wait_for_selector("html[data-ready] #row")
        visit.open(f"/run/{name}")
        visit.page.wait_for_selector("html[data-ready]")
        visit.page.locator(".opens").first.click()
        visit.page.wait_for_selector("#drawer #row")
        visit.page.click("text=show as Markdown")
        visit.page.wait_for_selector("#drawer .markdown")
        visit.page.fill("#search-rows", PAYLOADS[0]) if not context else None
        visit.check()
        visit.context.close()
