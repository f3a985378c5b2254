"""Claims on the page: with their labels, the passages that support them, and the words that nothing supports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.runs.run import Run
from ragmeter.show.report import page_claims as on_page
from ragmeter.show.report.page_texts import Texts
from ragmeter.show.report.rows import columns
from tests.browser import chromium, missing
from tests.show.report.helpers import PAYLOAD, keep
from tests.show.report.test_browser import Opened

METRICS = "faithfulness[judge=offline],claim_precision[judge=offline],citation_precision[judge=offline]"
ROWS: list[dict[str, Any]] = [
    {
        "qid": "tower",
        "question": "When was it built?",
        "reference": "The tower was built in 1889.",
        "answer": "The tower was built in 1889 [2]. Bananas grow on tall tropical plants.",
        "contexts": ["Nothing is here.", "The tower was built in 1889."],
    },
    {"qid": "none", "question": "Who?", "reference": "Nobody.", "answer": "I don't know.", "contexts": ["Nothing."]},
    {"qid": "bad", "question": "Who?", "reference": PAYLOAD, "answer": PAYLOAD, "contexts": [PAYLOAD, "None."]},
]


def test_claims_are_columns_of_the_page(tmp_path: Path) -> None:
    run = Run(keep(tmp_path, data=ROWS, metrics=METRICS))
    texts = Texts()
    page = columns(run, [0, 1], texts)
    words = texts.cut()[0]
    claims, citations = page["claims"][0]
    assert [words[place] for place in claims[:3]] == ["claims of the answer", "reference", "offline"]
    (first, by_passages, by_reference, ranks, spans, clash), second = claims[3]
    assert words[first] == "The tower was built in 1889."
    assert words[by_passages] == words[by_reference] == words[ranks[0][1]] == "supported"
    assert ranks[0][0] == 2
    assert spans == []
    assert clash == -1
    assert [0, 7] in second[4]  # Bananas
    assert words[citations[0]] == "citations"
    assert page["claims"][1] == []
    assert page["judges"] == []
    assert page["others"] == {}


def test_the_words_that_clash_are_on_the_page(tmp_path: Path) -> None:
    rows = [{"qid": "a", "answer": "The tower was built in 1925.", "contexts": ["The tower was built in 1889."]}]
    run = Run(keep(tmp_path, data=rows, metrics="offline_supported"))
    texts = Texts()
    claim = on_page.claims(run, [0], texts)[0][0][3][0]
    words = texts.cut()[0]
    assert words[claim[1]] == "contradicted"
    assert words[claim[5]] == "the claim says “1925”, the passage “1889”"


def test_few_claims_are_searched_for_unsupported_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_page, "MOST_CLAIMS", 0)
    run = Run(keep(tmp_path, data=ROWS, metrics=METRICS))
    assert [claim[4] for claim in on_page.claims(run, [0], Texts())[0][0][3]] == [[], []]


@pytest.fixture(scope="module")
def browser(browser_address: str) -> Iterator[Any]:
    with chromium(browser_address) as started:
        yield started


@pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
def test_claims_in_a_browser(browser: Any, tmp_path: Path) -> None:
    keep(tmp_path, data=ROWS, metrics=METRICS)
    opened = Opened(browser, ragmeter.report("small", tmp_path / "report.html", output_dir=tmp_path).page)
    page = opened.page
    assert opened.text(".rows .counts") == "✓ 1 supported\n○ 1 not mentioned"
    page.locator(".rows .open").first.click()
    shown = opened.text("dialog")
    assert "Claims of the answer, offline" in shown
    assert "✓ supported: passage 2" in shown
    assert opened.text("mark.unsupported") == "Bananas"
    page.locator("dialog button", has_text="passage 2").first.click()
    assert page.evaluate("document.getElementById('passage-2').open")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert "window.hit=1" in opened.text("dialog table.claims")
    opened.check()
