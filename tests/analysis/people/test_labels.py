"""The file of labels: what is read, what is refused, and that nothing is lost."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from ragmeter import choose_sample, evaluate
from ragmeter.analysis.people.label_matches import match
from ragmeter.analysis.people.labels import answer_hash, read_label, read_labels
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.errors import ColumnError, InputError, UsageError
from tests.analysis.people.helpers import make_run


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ("correct", "correct"), (" Correct ", "correct"), ("1", "correct"), ("yes", "correct"), ("TRUE", "correct"),
        (1, "correct"), (1.0, "correct"), (True, "correct"), ("wrong", "wrong"), ("0", "wrong"), ("No", "wrong"),
        (0, "wrong"), (False, "wrong"), ("incorrect", "wrong"), ("skip", "skip"), ("?", "skip"), ("", None),
        ("  ", None), (None, None), (float("nan"), None), ("sí", "correct"), ("SI\u0301", "correct"), ("si", "correct"),
        ("Correcto", "correct"), ("incorrecta", "wrong"), ("falso", "wrong"), ("1,0", "correct"),
    ],
)  # fmt: skip
def test_labels_as_people_write_them(cell: object, label: str | None) -> None:
    assert read_label(cell) == label


def test_what_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("qid,label\n1,correct\n2,maybe\n")
    with pytest.raises(InputError, match=r"labels\.csv, line 3: 'maybe' is not a label"):
        read_labels(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,label\n1,1\n", "'qid' is missing"),
        ("qid,verdict\n1,1\n", "'label' is missing"),
        ("qid,label\n,1\n", "line 2: the qid is empty"),
        ("qid,label\n1,1\n1,0\n", "line 3: qid '1' is labelled twice, first in"),
        ("qid,label,weight\n1,1,heavy\n", "weight must be a number, got 'heavy'"),
        ("qid,label,weight\n1,1,0\n", "above 0"),
        ("qid,label,stratum,stratum_rows\n1,1,a,2.5\n", "stratum_rows must be a number of rows, got 2.5"),
        ("qid,label\n", "no rows"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises((InputError, ColumnError), match=message):
        read_labels(path)


def test_several_people(tmp_path: Path) -> None:
    for name in ("anna", "bob"):
        (tmp_path / f"{name}.csv").write_text("qid,label\n1,1\n2,0\n")
    labels = read_labels([tmp_path / "anna.csv", tmp_path / "bob.csv"])
    assert [(label.qid, label.rater) for label in labels] == [("1", "anna"), ("2", "anna"), ("1", "bob"), ("2", "bob")]
    both = pd.DataFrame({"qid": ["1", "1"], "label": [1, 0], "rater": ["anna", "bob"]})
    assert [labelled.value for labelled in read_labels(both)] == [1, 0]
    assert [labelled.rater for labelled in read_labels([{"qid": 1, "label": True, "Rater": "eve"}])] == ["eve"]


def test_a_sheet_survives_its_way_through_the_disk(tmp_path: Path) -> None:
    hostile = ["=1+1", "a\r\nb", 'say "x", y', "\ufeffx", "-", "'quoted"]
    rows = [{"qid": f"={i}", "question": text, "reference": text, "answer": text} for i, text in enumerate(hostile)]
    run = evaluate(rows, metrics="exact_match", run="h", output_dir=tmp_path).folder
    assert run is not None
    path = tmp_path / "labels.csv"
    sheet = Sheet.of(choose_sample(run, 6), path)
    assert sheet.create()
    assert sheet.record(2, "correct", "anna")
    with pytest.raises(UsageError, match="not a label"):
        sheet.record(2, "maybe", "anna")
    before = path.read_bytes()
    for label in ("wrong", "correct") * 3:  # reading and writing again changes nothing else
        assert Sheet.read(path).record(2, label, "anna")
    assert path.read_bytes() == before
    with path.open(newline="", encoding="utf-8") as file:
        cells = [row["answer"] for row in csv.DictReader(file)]
    assert not any(cell.startswith(("=", "@")) for cell in cells)
    columns = run.rows(["qid", "answer"]).to_pydict()
    matched = match(read_labels(path), columns["qid"], columns["answer"])
    assert matched.counts.labelled == 1
    assert matched.counts.blank == 5
    sheet.record(2, None, "anna")
    assert read_labels(path)[2].label is None


def test_contexts_are_there_if_asked_for(tmp_path: Path) -> None:
    run = make_run(tmp_path, 20)
    sheet = Sheet.of(choose_sample(run, 5), tmp_path / "labels.tsv", contexts=True)
    assert sheet.create()
    again = Sheet.read(tmp_path / "labels.tsv")
    assert again.rows[0]["contexts"] == "page " + str(int(again.rows[0]["qid"][1:]))
    assert "\t" in (tmp_path / "labels.tsv").read_text().splitlines()[0]


def test_a_label_belongs_to_its_answer() -> None:
    labels = read_labels([{"qid": "1", "label": 1, "answer_hash": answer_hash("Rome")}, {"qid": "2", "label": 1}])
    matched = match(labels, ["1", "2"], ["Rome", "Paris"])
    assert (matched.counts.labelled, matched.counts.changed) == (2, 0)
    matched = match(labels, ["1", "2"], ["Roma", "Paris"])
    assert (matched.counts.labelled, matched.counts.changed) == (1, 1)
    with pytest.raises(InputError, match="other answers"):
        match(labels[:1], ["1"], ["Roma"])
    with pytest.raises(InputError, match="no row with qid '2'"):
        match(labels, ["1"], ["Rome"])
    assert answer_hash("x").startswith("sha256:")  # nothing that a spreadsheet would take for a number


def test_the_majority_counts() -> None:
    said = {"a": "110", "b": "100", "c": "10", "d": "1", "e": "?"}
    labels = [
        {"qid": qid, "label": label, "rater": str(number)}
        for qid, given in said.items()
        for number, label in enumerate(given)
    ]
    matched = match(read_labels(labels), list("abcde"), [""] * 5)
    assert matched.people.tolist() == [1, 0, 1]
    assert matched.places.tolist() == [0, 1, 3]
    assert (matched.counts.tied, matched.counts.skipped, matched.counts.labelled, matched.counts.listed) == (1, 1, 3, 5)
    assert matched.ratings.shape == (3, 4)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([("1", "a", 10, None), ("2", "a", 12, None)], "12 rows here and 10 before"),
        ([("1", "a", 1, None), ("2", "a", 1, None)], "has 1 rows, and 2 labels"),
        ([("1", None, None, 2.0), ("2", None, None, None)], "no weight, and others have one"),
    ],
)
def test_samples_that_don_t_fit_together(lines: list[tuple[str, str | None, int | None, float]], message: str) -> None:
    rows = [{"qid": q, "label": 1, "stratum": s, "stratum_rows": r, "weight": w} for q, s, r, w in lines]
    with pytest.raises(InputError, match=message):
        match(read_labels(rows), [str(number) for number in range(1, 10)], [""] * 9)


def test_strata_that_have_more_rows_than_the_run() -> None:
    """As after a slip of the keyboard: it would change how the rows were drawn."""
    rows = [{"qid": str(n), "label": 1, "stratum": "aLl" if n == 3 else "all", "stratum_rows": 6} for n in range(6)]
    with pytest.raises(InputError, match=r"the strata 'all', 'aLl' have 12 rows, and the run has 6") as caught:
        match(read_labels(rows), [str(n) for n in range(6)], [""] * 6)
    assert "changed in a line" in caught.value.hint


def test_two_people_s_samples_must_be_one() -> None:
    rows = [
        {"qid": "1", "label": 1, "stratum": "a", "stratum_rows": size, "rater": who}
        for who, size in (("x", 4), ("y", 5))
    ]
    with pytest.raises(InputError, match="another stratum or weight"):
        match(read_labels(rows), ["1"], [""])


def test_how_rows_were_drawn() -> None:
    def kind(*rows: dict[str, object]) -> str:
        labels = [{"qid": str(number), "label": 1, **row} for number, row in enumerate(rows)]
        return match(read_labels(labels), [str(number) for number in range(18)], [""] * 18).design.kind

    assert kind({}, {}) == "unknown"
    assert kind({"weight": 2}, {"weight": 2}) == "random"
    assert kind({"weight": 2}, {"weight": 3}) == "weighted"
    assert kind({"stratum": "a", "stratum_rows": 9}, {"stratum": "a", "stratum_rows": 9}) == "random"
    assert kind({"stratum": "a", "stratum_rows": 9}, {"stratum": "b", "stratum_rows": 9}) == "stratified"
    assert kind({"stratum": "a", "stratum_rows": 9, "weight": "4,5"}, {"stratum": "a", "stratum_rows": 9}) == "random"
