"""axe finds nothing to complain about: contrast, names, roles and structure for screen readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.runs.status import Status
from tests.app.serving import Client, serving
from tests.app.test_browser import Visit
from tests.browser import chromium, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")

MUSEUM = "The museum is in Lisbon, near the river."
#: One of every kind.
PAGES = (
    "/",
    "/?search=a&sort=token_f1",
    "/?search=nothing+like+it",
    "/run/a",
    "/run/a?show=no_score&filter=token_f1%3E%3D0&by=kind",
    "/run/a?row=0",
    "/run/a?row=0&markdown=1&columns=kind&sort=kind",
    "/run/a?search=nothing+like+it",
    "/run/a/row/0",
    "/run/a/row/1",
    "/run/a/conversation?session=s",
    "/compare?run=a&run=b",
    "/compare?run=a&run=b&change=better&test=t&alpha=0.01",
    "/compare?run=a&run=b&run=c&change=all&where=kind%3Deven&filter=exact_match%3C%3D1",
    "/compare",
    "/run/a/label",
    "/run/a/label?rater=Ann",
    "/run/a/label?rater=Ann&blind=1",
    "/run/a/label?rater=Bob",
    "/run/a/agreement",
    "/run/a/agreement?metric=llm_correct&cell=people_alone_correct",
    "/run/a/disagreements",
    "/run/a/documents",
    "/run/a/document?id=d1",
    "/run/nothing",
    "/run/damaged",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("runs")
    for name, answer in (("a", f"{MUSEUM[:24]} It opened in 1950."), ("b", "In Lisbon"), ("c", "In Porto")):
        rows = [
            {
                "qid": f"q{i}",
                "question": "Where is the museum?",
                "reference": "In Lisbon",
                "answer": None if i == 1 else answer,
                "contexts": [MUSEUM],
                "retrieved": [f"d{i % 3}"],
                "relevant": ["d1"],
                "kind": "even" if i % 2 else "odd",
                "session_id": "s" if i < 3 else f"s{i}",
                "turn_idx": i,
            }
            for i in range(12)
        ]
        judge = Judge(provider=FakeProvider("No"), check=False)
        metrics = "token_f1,llm_correct,faithfulness[judge=offline]"
        ragmeter.evaluate(rows, metrics=metrics, judge=judge, run=name, output_dir=folder)
    (folder / "damaged").mkdir()
    (folder / "damaged" / "manifest.json").write_text("{")
    with serving(folder) as client, Status(folder / "now", "judging", 8):
        for rater, label in (("Ann", "correct"), ("Bob", "wrong")):
            client.post("/run/a/label/begin", rater=rater, n=11, by="random", seed=0)
            for place in range(11 if rater == "Bob" else 3):
                client.post("/run/a/label/record", place=place, label=label, rater=rater, note="")
        yield client


@pytest.fixture(scope="module")
def browser(browser_address: str) -> Iterator[Any]:
    with chromium(browser_address) as started:
        yield started


def problems(visit: Visit, path: str) -> list[str]:
    """What axe finds on a page, and where."""
    visit.page.goto(visit.origin + path)
    visit.page.wait_for_selector("html[data-ready]")
    for details in visit.page.locator("details").all():
        details.evaluate("part => { part.open = true; }")
    visit.page.evaluate(axe.AXE_SCRIPT)
    violations = visit.page.evaluate("axe.run().then((results) => results.violations)")
    return [
        f"{path}: {violation['id']} ({violation['help']}) at {node['target'][0]}: {node['failureSummary']}"
        for violation in violations
        for node in violation["nodes"][:3]
    ]


def expect_nothing(complaints: list[str]) -> None:
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


def test_axe_finds_nothing_on_the_page_of_a_row(browser: Any, client: Client) -> None:
    visit = Visit(browser, client)
    expect_nothing(problems(visit, "/run/a/row/0"))
    visit.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_on_any_page(browser: Any, client: Client, scheme: str, width: int) -> None:
    visit = Visit(browser, client, color_scheme=scheme, viewport={"width": width, "height": 900})
    expect_nothing([problem for path in PAGES for problem in problems(visit, path)])
    visit.context.close()
