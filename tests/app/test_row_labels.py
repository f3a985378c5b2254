"""Labels on the spot, what must be known before a run's figures are believed, and a row's marks."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragmeter
from ragmeter.analysis.people.labels import read_labels
from ragmeter.app.labelling import Labelling
from ragmeter.app.row_labels import label_row
from ragmeter.app.row_to_label import shown_hash
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.runs.run import Run
from tests.app.serving import serving

ROWS = [{"qid": f"q{i}", "question": f"Q {i}", "answer": f"a {i}", "reference": "a"} for i in range(12)]


def label(run: Run, labelling: Labelling, place: int, rater: str, given: str | None) -> str:
    row = run.records([place], run.columns)[0] if place < run.n_rows else {}
    return label_row(run, labelling, place, rater, given, shown_hash(row))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    return Run(tmp_path / "r")


def test_rows_that_a_person_picks(run: Run, tmp_path: Path) -> None:
    labelling = Labelling(tmp_path)
    assert label(run, labelling, 3, "Ann", None) == ""
    assert label(run, labelling, 3, "Ann", "wrong") == "wrong"
    assert label(run, labelling, 7, "Ann", "correct") == "correct"
    assert label(run, labelling, 3, "Ann", "correct") == "correct"  # changed
    assert label(run, labelling, 3, "Ann", None) == "correct"
    labels = read_labels(tmp_path / "labels-r-Ann.csv")
    assert [(line.qid, line.label, line.weight) for line in labels] == [
        ("q3", "correct", None),
        ("q7", "correct", None),
    ]
    opened = labelling.opened(run, "Ann")  # the label page goes on with the same file
    assert opened is not None
    assert opened.places == [3, 7]


def test_a_sample_takes_its_own_rows_alone(run: Run, tmp_path: Path) -> None:
    labelling = Labelling(tmp_path)
    labelling.begin(run, "Bob", 5, "random", 0)
    opened = labelling.opened(run, "Bob")
    assert opened is not None
    drawn, other = opened.places[0], next(place for place in range(12) if place not in opened.places)
    assert label(run, labelling, drawn, "Bob", "skip") == "skip"
    with pytest.raises(UsageError, match="is not in the sample that was drawn for Bob"):
        label(run, labelling, other, "Bob", "correct")
    assert len(read_labels(tmp_path / "labels-r-Bob.csv")) == 5


def test_what_is_no_label(run: Run, tmp_path: Path) -> None:
    labelling = Labelling(tmp_path)
    for place, rater, given in ((0, "Ann", "great"), (0, " ", "wrong"), (12, "Ann", "wrong")):
        with pytest.raises(UsageError):
            label(run, labelling, place, rater, given)
    assert list(tmp_path.glob("labels-*")) == []
    label(run, labelling, 0, "Ann", "wrong")
    ragmeter.evaluate([{**row, "answer": "new"} for row in ROWS], metrics="token_f1", run="r", output_dir=tmp_path)
    with pytest.raises(RagmeterError, match="has changed since"):  # the label is of another answer
        label(Run(tmp_path / "r"), labelling, 0, "Ann", "correct")


def test_a_label_is_a_write(run: Run, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert client.ask("/run/r/row/1/label", method="POST", body={"rater": "Eve", "label": "wrong"}).status == 403
        shown = client.page("/run/r/row/1").partition('data-shown="')[2].partition('"')[0]
        assert client.post("/run/r/row/1/label", rater="Ann", label="wrong").status == 400
        assert client.post("/run/r/row/1/label", rater="Ann", label="wrong", shown=shown).status == 200
        assert client.post("/run/r/row/1/label", rater="Ann", shown=shown).text == '{"label":"wrong"}'
        assert client.post("/run/r/row/1/label", rater="Ann", label="wrong?", shown=shown).status == 400


def test_a_page_of_rows_in_another_order_labels_nothing(run: Run, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        shown = client.page("/run/r/row/3").partition('data-shown="')[2].partition('"')[0]
        ragmeter.evaluate(ROWS[::-1], metrics="token_f1", run="r", output_dir=tmp_path, replace=True)
        reply = client.post("/run/r/row/3/label", rater="Ann", label="correct", shown=shown)
        assert reply.status == 400
        assert "has changed since this page was opened" in reply.text
        assert client.post("/run/r/row/3/label", rater="Ann", shown=shown).status == 400
        assert list(tmp_path.glob("labels-*")) == []
        place = len(ROWS) - 1 - 3  # where the row is now
        assert client.post(f"/run/r/row/{place}/label", rater="Ann", label="correct", shown=shown).status == 200
