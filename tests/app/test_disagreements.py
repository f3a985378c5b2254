"""Rows that people have labelled differently: one after another, until they agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.analysis.people.calibration import calibrate
from ragmeter.analysis.people.labels import read_labels
from tests.app.serving import Answer, Client, serving
from tests.app.test_labelling import begin, record
from tests.app.test_pages import words

NOTE = '<img src=x onerror="hit=1">'


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    rows = [{"qid": str(i), "question": f"Q{i}", "answer": "a" if i % 3 else "b", "reference": "a"} for i in range(30)]
    ragmeter.evaluate(rows, metrics="exact_match", run="a", output_dir=tmp_path / "runs")
    with serving(tmp_path / "runs", tmp_path) as client:
        for rater, labels in (("Ann", "ccwwcc"), ("Bob", "ccwwww")):
            begin(client, rater, n=8)
            for place, label in enumerate(labels):
                record(client, place, {"c": "correct", "w": "wrong"}[label], rater, note=NOTE if place == 4 else "")
        yield client


def todo(client: Client) -> list[int]:
    page = client.page("/run/a/disagreements")
    return [] if 'data-todo="' not in page else json.loads(page.partition('data-todo="')[2].partition('"')[0])


def agree(client: Client, place: int, label: str, **fields: Any) -> Answer:
    page = client.page(f"/run/a/disagreements?place={place}")
    shown = page.partition('data-shown="')[2].partition('"')[0]
    return client.post(
        "/run/a/disagreements/record", place=place, label=label, **{"seen": "", "shown": shown, **fields}
    )


def test_each_row_is_shown_with_both_labels_and_notes(client: Client) -> None:
    page = client.page("/run/a/disagreements")
    text = words(page)
    assert "agreed on 0 of 2" in text
    assert f"Ann Correct {NOTE} Bob Wrong {NOTE}" in text
    assert NOTE not in page
    assert "Agree on 2 rows that people have labelled differently" in words(client.page("/run/a/label"))


def test_the_agreed_label_counts_and_is_nobodys_rating(client: Client, tmp_path: Path) -> None:
    files = [tmp_path / f"labels-a-{rater}.csv" for rater in ("Ann", "Bob")]
    before = calibrate("a", files, output_dir=tmp_path / "runs")
    assert (before.labels.labelled, before.labels.tied) == (4, 2)
    first, second = todo(client)
    reply = json.loads(agree(client, first, "wrong", note="half of it").text)
    assert (reply["done"], reply["progress"]) == (1, "agreed on 1 of 2")
    assert todo(client) == [second]
    (label,) = read_labels(tmp_path / "labels-a-agreed.csv")
    assert (label.label, label.rater, label.note) == ("wrong", "agreed", "half of it")
    after = calibrate("a", [*files, tmp_path / "labels-a-agreed.csv"], output_dir=tmp_path / "runs")
    assert (after.labels.labelled, after.labels.tied) == (5, 1)
    assert after.raters == ("Ann", "Bob")
    assert before.between_people is not None
    assert after.between_people is not None
    assert after.between_people.alpha == before.between_people.alpha  # agreeing later changes nothing of it
    assert "not yet" in words(client.page("/run/a/agreement"))


def test_an_agreed_label_outvotes_a_majority(tmp_path: Path) -> None:
    rows = [{"qid": str(i), "answer": "a", "reference": "a"} for i in range(4)]
    run = ragmeter.evaluate(rows, metrics="exact_match", run="a", output_dir=tmp_path)
    labels = [{"qid": "0", "label": "correct", "rater": rater} for rater in ("Ann", "Bob", "Cem")]
    labels += [{"qid": "0", "label": "wrong", "rater": "agreed"}, {"qid": "1", "label": "wrong", "rater": "Ann"}]
    result = calibrate(run, labels)
    assert (result.judge.judge_alone_correct, result.judge.both_correct) == (2, 0)
    assert result.raters == ("Ann", "Bob", "Cem")


def test_left_open_and_changed_again(client: Client, tmp_path: Path) -> None:
    first, second = todo(client)
    assert agree(client, first, "skip").status == 200
    assert f'data-place="{second}"' in client.page("/run/a/disagreements")
    assert agree(client, first, "correct", seen="").status == 400  # left open in another window meanwhile
    assert agree(client, first, "correct", seen="skip").status == 200
    assert agree(client, second, "correct").status == 200
    assert "All of these rows were looked at." in words(client.page("/run/a/disagreements"))
    assert 'aria-pressed="true"' in client.page(f"/run/a/disagreements?place={first}")
    assert len(read_labels(tmp_path / "labels-a-agreed.csv")) == 2


def test_a_page_that_shows_another_row_agrees_on_nothing(client: Client, tmp_path: Path) -> None:
    first, second = todo(client)
    page = client.page(f"/run/a/disagreements?place={second}")
    shown = page.partition('data-shown="')[2].partition('"')[0]
    assert agree(client, first, "correct", shown=shown).status == 400
    assert not (tmp_path / "labels-a-agreed.csv").exists()


@pytest.mark.parametrize("place", [-1, 10**9, "first"])
def test_rows_that_nobody_differs_on(client: Client, tmp_path: Path, place: Any) -> None:
    assert agree(client, place, "correct").status == 400
    assert agree(client, todo(client)[0], "maybe").status == 400
    assert not (tmp_path / "labels-a-agreed.csv").exists()


def test_nobody_is_called_agreed(client: Client) -> None:
    answer = client.post("/run/a/label/begin", rater="Agreed", n=3, by="random", seed=0)
    assert answer.status == 400
    assert "choose another name" in answer.text


def test_without_disagreements(client: Client, tmp_path: Path) -> None:
    (tmp_path / "labels-a-Bob.csv").unlink()
    assert "there is nothing to agree on" in words(client.page("/run/a/disagreements"))
