"""`WebInterface` as scripts use it: one page from start to close, and the box found where nobody names it."""

from __future__ import annotations

import csv
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragmeter import CosineScorer, EvaluationManager, F1Scorer, RougeScorer, WebInterface
from ragmeter.errors import EndpointError, UsageError
from tests.browser import missing
from tests.usual import mostly_slow

SITE = Path(__file__).with_name("site.py")
pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(SITE)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    process.terminate()
    process.communicate()


def test_one_page_from_start_to_close(site: str) -> None:
    web = WebInterface(f"{site}/memory")
    web.start()
    try:
        assert web.send_query("one") == "Answer to one: it is so. turn 1"
        assert web.send_query("two", "#query-input", "#submit-button") == "Answer to two: it is so. turn 2"
        assert web.send_query("three") == "Answer to three: it is so. turn 3"
        assert web.query("four") == "Answer to four: it is so. turn 1"  # on a page of its own
        page = web.page
        assert page is not None
        assert page.url == f"{site}/memory"
        assert page.locator("#query-input").count() == 1
        page.fill("#query-input", "typed")
        assert page.locator("#query-input").input_value() == "typed"
        page.fill("#query-input", "")
    finally:
        web.close()
    web.close()
    assert web.page is None
    assert web.send_query("five") == "Answer to five: it is so. turn 1"  # opened again by itself
    web.close()


def test_closed_at_the_end_of_a_with(site: str) -> None:
    with WebInterface(f"{site}/memory", "#query-input", "#submit-button") as web:
        assert [web.send_query("a"), web.send_query("b")] == [
            "Answer to a: it is so. turn 1",
            "Answer to b: it is so. turn 2",
        ]
        assert web.ask_all(["c"]) == ["Answer to c: it is so. turn 1"]
        assert web._session is not None
    assert web._session is None


@pytest.mark.parametrize(
    "kind", mostly_slow(["plain", "editable", "enter", "iframe", "shadow", "closed_root", "form", "late", "field"])
)
def test_the_box_and_its_button_are_found(site: str, kind: str) -> None:
    with WebInterface(f"{site}/{kind}") as web:
        assert web.send_query("it?") == "Answer to it?: it is so.", web.failures


def test_a_failure_is_none_with_its_cause_and_the_page_goes_on(site: str) -> None:
    with WebInterface(f"{site}/error") as web:
        assert web.send_query("good") == "Answer to good: it is so."
        assert web._session is not None
        target = web._session.target
        patient = target.page
        target.use(replace(patient, timeout=1.0))  # no patience with the one that never comes
        assert web.send_query("bad") is None
        assert web.failures["bad"].startswith("timeout: no answer within 1 s")
        target.use(patient)
        assert web.send_query("good again") == "Answer to good again: it is so."
        assert list(web.failures) == ["bad"]


def test_pages_that_cannot_be_asked(site: str) -> None:
    with pytest.raises(UsageError, match="there is no box to type a question into"), WebInterface(f"{site}/log") as web:
        web.send_query("x")
    with pytest.raises(UsageError, match="answered HTTP 403"):
        WebInterface(f"{site}/forbidden").start()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        nobody = listening.getsockname()[1]
    with pytest.raises(EndpointError, match="can't open"):
        WebInterface(f"http://127.0.0.1:{nobody}/").start()
    with pytest.raises(UsageError, match="no browser at /nothing"):
        WebInterface(f"{site}/plain", browser_path="/nothing").start()


def test_the_old_script_s_steps(site: str, tmp_path: Path) -> None:
    source, output = tmp_path / "queries.csv", tmp_path / "results.csv"
    source.write_text("query,ground_truth\none,Answer to one: it is so.\nnever asked,x\n")
    web = WebInterface(f"{site}/plain")
    manager = EvaluationManager([CosineScorer(), RougeScorer(), F1Scorer()])
    try:
        web.start()
        responses = {"one": web.send_query("one", "#query-input", "#submit-button")}
        manager.update_csv(source, output, responses)
    finally:
        web.close()
    with output.open(newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == [
        "query", "ground_truth", "actual_response", "cosine_similarity", "rouge_l_score", "token_f1", "average_score",
    ]  # fmt: skip
    assert [first["rouge_l_score"], first["average_score"], second["average_score"]] == ["1.0", "1.0", ""]
