"""The page of the judge: beside people's labels, what it costs, how stable and how sure it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragmeter
from ragmeter import FakeProvider, Judge
from tests.app.serving import Client, serving
from tests.app.test_labelling import begin, record
from tests.app.test_pages import words

ROWS = [{"qid": f"q{i}", "question": f"Q{i}", "answer": "a" if i % 3 else "b", "reference": "a"} for i in range(30)]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    metrics = "exact_match,offline_correct_probability"
    ragmeter.evaluate(ROWS, metrics=metrics, run="a", output_dir=tmp_path / "runs")
    with serving(tmp_path / "runs", tmp_path) as client:
        yield client


def labelled(client: Client, tmp_path: Path) -> dict[str, str]:
    """Ann labels all rows but for two as the judge does; what she said, by qid."""
    begin(client, n=30)
    qids = [line.split(",")[0] for line in (tmp_path / "labels-a-Ann.csv").read_text().splitlines()[1:]]
    given = {}
    for place, qid in enumerate(qids):
        is_right = int(qid[1:]) % 3 > 0
        given[qid] = "correct" if is_right != (qid in ("q1", "q4")) else "wrong"
        assert record(client, place, given[qid]) == 200
    return given


def test_two_by_two_with_links_to_its_rows(client: Client, tmp_path: Path) -> None:
    labelled(client, tmp_path)
    page = client.page("/run/a/agreement")
    text = words(page)
    assert "Judge: correct 18 2 Judge: wrong 0 10" in text
    assert "precision 0.90" in text
    assert "recall 1.00" in text
    assert "specificity 0.83" in text
    rows = client.page("/run/a/agreement?metric=exact_match&cell=judge_alone_correct")
    assert "2 that only the judge calls correct" in words(rows)
    assert set(re.findall(r'href="/run/a/row/(\d+)"', rows)) == {"1", "4"}
    assert "ragmeter calibrate a --labels" in text


def test_how_sure_the_judge_is(client: Client, tmp_path: Path) -> None:
    labelled(client, tmp_path)
    page = client.page("/run/a/agreement")
    curve = re.search(r'aria-label="Is the judge right as often as it says\?: ([^"]*)"', page)
    assert curve is not None
    assert curve[1].count("(n 10)") == 3


def test_what_a_verdict_costs_and_how_often_it_flips(tmp_path: Path) -> None:
    judge = Judge(provider=FakeProvider("No"), check=False, repeats=2)
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge, run="j", output_dir=tmp_path)
    with serving(tmp_path, tmp_path) as client:
        text = words(client.page("/run/j/agreement"))
    assert "Nobody has labelled a row of this run yet." in text
    assert "verdict 30 $0.0000 $0.0000 0.00 (0.00 to 0.28), n 10 0" in text  # the other 20 equal the reference


def test_a_judge_that_gives_no_probability_has_its_page(tmp_path: Path) -> None:
    judge = Judge(provider=FakeProvider("No"), check=False)
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge, run="j", output_dir=tmp_path)
    with serving(tmp_path, tmp_path) as client:
        client.post("/run/j/label/begin", rater="Ann", n=10, by="random", seed=0)
        for place in range(10):
            client.post("/run/j/label/record", rater="Ann", place=place, label="wrong" if place % 2 else "correct")
        text = words(client.page("/run/j/agreement"))
    assert "The share of answers that people would call correct" in text
    assert "unknown column" not in text


def test_what_to_do_next_is_said(client: Client) -> None:
    page = client.page("/run/a/agreement")
    assert 'href="/run/a/label"' in page.partition("<main")[2]
    assert "No language model has judged this run" in words(page)


def test_of_a_metric_that_counts_what_is_wrong_the_shares_are_of_that(client: Client, tmp_path: Path) -> None:
    assert "Share of right answers" in words(judged_by(client, tmp_path, "exact_match"))
    rows = [{**row, "contexts": ["a stands here"]} for row in ROWS]
    ragmeter.evaluate(rows, metrics="offline_hallucinated", run="a", output_dir=tmp_path / "runs", replace=True)
    assert "Share of wrong answers" in words(client.page("/run/a/agreement?metric=offline_hallucinated"))


def judged_by(client: Client, tmp_path: Path, metric: str) -> str:
    labelled(client, tmp_path)
    return client.page(f"/run/a/agreement?metric={metric}")
