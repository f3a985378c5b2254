"""Labels on the spot, what must be known before a run's figures are believed, and a row's marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.analysis.people.labels import read_labels
from ragmeter.app.labelling import Labelling
from ragmeter.app.row_labels import label_row
from ragmeter.app.row_to_label import shown_hash
from ragmeter.app.word_marks import marked, shared_words
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.runs.run import Run
from tests.app.serving import serving
from tests.app.test_pages import words

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


def alarms(tmp_path: Path, reply: str, answers: Sequence[str | None]) -> tuple[list[str], list[str]]:
    """The red notes of a run's page, and the amber ones, in words."""
    rows = [
        {"qid": f"q{i}", "question": f"Q {i}", "answer": answer, "reference": "gold"}
        for i, answer in enumerate(answers)
    ]
    judge = Judge(provider=FakeProvider(reply), check=False)
    ragmeter.evaluate(rows, metrics="llm_correct", judge=judge, run="j", output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/run/j")
    notes = re.findall(r'<(p|div|details)[^>]* class="note (bad|amber)"[^>]*>(.*?)</\1>', page)
    said = [(kind, words(f"<body>{inside}")) for _, kind, inside in notes]
    return [text for kind, text in said if kind == "bad"], [text for kind, text in said if kind == "amber"]


def test_a_judge_that_failed_everywhere_is_red(tmp_path: Path) -> None:
    red, amber = alarms(tmp_path, "well, hm", ["x"] * 40)
    assert red == ["The judge failed on all 40 rows: unparsable (the judge's reply could not be read) ; all metrics"]
    assert amber == []


def test_a_few_rows_without_a_score_are_amber(tmp_path: Path) -> None:
    red, amber = alarms(tmp_path, "Yes", [None, *["x"] * 39])
    assert red == []
    assert len(amber) == 1
    assert amber[0].startswith("Rows with no score: 1 no answer · 1 more 1 row has no score: no answer")
    assert "verdicts are the same" in amber[0]


def test_many_missing_answers_are_red(tmp_path: Path) -> None:
    red, _ = alarms(tmp_path, "Yes", [None] * 10 + ["x"] * 30)
    assert red == ["The system failed on 10 of 40 rows: no answer ; all metrics"]
    red, _ = alarms(tmp_path / "empty", "Yes", [""] * 10 + ["x"] * 30)
    assert "10 an empty one" in red[0]


def test_an_abstention_is_no_alarm(tmp_path: Path) -> None:
    rows = [{"qid": f"q{i}", "answer": "I don't know.", "contexts": ["The museum is in Lisbon."]} for i in range(30)]
    ragmeter.evaluate(rows, metrics="faithfulness[judge=offline]", run="a", output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/run/a")
    assert 'class="note bad"' not in page
    assert 'class="note amber"' not in page
    assert "30 rows have no score: declined" in words(page)  # it is told, among the notes


def test_marks_of_two_kinds_may_overlap() -> None:
    shown = marked("one two three", {"shared": [(0, 3), (4, 7)], "unsupported": [(4, 13)]})
    assert shown == (
        '<bdi dir="auto"><mark class="shared">one </mark><mark class="shared unsupported">two</mark>'
        '<mark class="unsupported"> three</mark></bdi>'
    )
    assert shared_words("In Lisbon, they say", "lisbon IN 1950") == [(0, 2), (3, 9)]
    assert marked("<b>", {}) == '<bdi dir="auto">&lt;b&gt;</bdi>'


def test_passages_with_ids_gold_and_scores(tmp_path: Path) -> None:
    row = {
        "qid": "1", "question": "Where?", "answer": "In Lisbon", "reference": "In Lisbon",
        "contexts": ["Porto is a town.", "It is in Lisbon."], "retrieved": ["d1::chunk-0", "d2::chunk-4"],
        "relevant": ["d2", "d9"], "retrieved_scores": "[0.75, 0.5]",
    }  # fmt: skip
    for name in ("r", "s"):
        ragmeter.evaluate([row], metrics="recall@2,token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        text = words(client.page("/run/r/row/0"))
    assert "1. d1::chunk-0 · 0.75 Porto is a town." in text
    assert "2. d2::chunk-4 · 0.5 ✓ gold It is in Lisbon." in text
    assert "Gold, and not retrieved: d9" in text


def test_other_runs_of_the_same_questions(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"qid": "1", "question": "Where?", "reference": "In Lisbon"}\n')
    for name, answer in (("a", "In Lisbon"), ("b", "In Porto")):
        ragmeter.ask(data, lambda question, answer=answer: answer, metrics="token_f1", run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        text = words(client.page("/run/a/row/0"))
        head = client.page("/run/b")
    assert "Other runs b · token_f1 0.50 In Porto" in text
    assert 'href="/compare?run=a&amp;run=b"' in head  # the older run is the baseline


def test_a_run_whose_rows_are_cut_says_so_and_shows_no_figure(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "r" / "rows.parquet"
    rows.write_bytes(rows.read_bytes()[:500])
    with serving(tmp_path) as client:
        answer = client.ask("/run/r")
    assert answer.status == 500
    assert "r This run is damaged." in words(answer.text)
    assert "token_f1" not in words(answer.text)
