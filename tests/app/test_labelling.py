"""Labelling by HTTP: the same files as `ragmeter label`, and nothing is lost."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.app.labelling import Labelling
from ragmeter.runs.run import Run
from ragmeter.testsets.planning import Wish
from tests.app.serving import Client, serving
from tests.app.test_pages import words
from tests.command import PATIENCE, call
from tests.engine.test_test_sets import make
from tests.testsets.writer import write_chunks

ROWS = [{"qid": str(i), "question": f"Q{i}", "answer": "a" if i % 3 else "b", "reference": "a"} for i in range(30)]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    ragmeter.evaluate(ROWS, metrics="exact_match", run="a", output_dir=tmp_path / "runs")
    with serving(tmp_path / "runs", tmp_path) as client:
        yield client


def begin(client: Client, rater: str = "Ann", **fields: Any) -> str:
    answer = client.post("/run/a/label/begin", **{"rater": rater, "n": 20, "by": "random", "seed": 0, **fields})
    assert answer.status == 200, answer.text
    return str(__import__("json").loads(answer.text)["next"])


def record(client: Client, place: int, label: str, rater: str = "Ann", **more: str) -> int:
    return client.post("/run/a/label/record", place=place, label=label, rater=rater, **more).status


def test_a_label_is_in_the_file_at_once(client: Client, tmp_path: Path) -> None:
    page = words(client.page(begin(client)))
    assert "0 of 20 labelled" in page
    assert record(client, 3, "wrong", note="=odd") == 200
    with (tmp_path / "labels-a-Ann.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert (rows[3]["label"], rows[3]["rater"], rows[3]["note"]) == ("wrong", "Ann", "'=odd")
    assert "1 of 20 labelled" in words(client.page("/run/a/label?rater=Ann"))


def test_the_form_says_who_has_labelled_and_offers_as_many_rows(client: Client) -> None:
    assert 'name="n" value="100"' in client.page("/run/a/label")
    begin(client)
    record(client, 0, "correct")
    page = client.page("/run/a/label")
    assert "Ann has labelled 1 of 20 rows." in words(page)
    assert 'name="n" value="20"' in page


def test_undone_and_skipped(client: Client, tmp_path: Path) -> None:
    begin(client)
    assert record(client, 0, "correct") == 200
    assert record(client, 0, "") == 200
    assert record(client, 1, "skip") == 200
    labels = read_labels(tmp_path / "labels-a-Ann.csv")
    assert [label.label for label in labels[:2]] == [None, "skip"]


def test_the_command_line_goes_on_with_the_file(client: Client, tmp_path: Path) -> None:
    begin(client)
    record(client, 0, "correct")
    arguments = ["label", "a", "--rater", "Ann", "--output", "labels-a-Ann.csv", "--blank"]
    result = call(arguments, tmp_path, {})
    assert (result.returncode, "labelled: 1 of 20 rows" in result.stdout) == (0, True)


def test_beginning_again_keeps_the_labels(client: Client) -> None:
    begin(client)
    record(client, 0, "correct")
    assert "1 of 20 labelled" in words(client.page(begin(client, n=5, seed=9)))


def test_all_labelled_leads_back_and_to_the_judge(client: Client) -> None:
    begin(client, n=2)
    for place in range(2):
        record(client, place, "correct")
    page = client.page("/run/a/label?rater=Ann&blind=1")
    assert "All rows are labelled." in words(page)
    assert 'href="/run/a/agreement"' in page
    assert 'href="/run/a/label?rater=Ann&amp;blind=1&amp;place=1"' in page


def test_the_judge_is_compared_with_the_labels_so_far(client: Client) -> None:
    begin(client)
    for place in range(12):
        record(client, place, "correct" if place % 2 else "wrong")
    assert "The share of answers that people would call correct is" in words(client.page("/run/a/agreement"))


def test_the_metric_to_calibrate_is_chosen_where_there_are_several(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS, metrics="exact_match,offline_correct", run="a", output_dir=tmp_path)
    with serving(tmp_path) as client:
        begin(client)
        for place in range(12):
            record(client, place, "correct" if place % 2 else "wrong")
        page = client.page("/run/a/agreement?metric=exact_match")
        assert "The share of answers that people would call correct is" in words(page)
        assert "exact_match says" in words(page)
        assert 'href="/run/a/agreement?metric=offline_correct"' in page


def test_blind_means_without_the_system(client: Client) -> None:
    assert "Label: a" in words(client.page(begin(client)))
    blind = begin(client, blind="1")
    assert "Label: a" not in words(client.page(blind))
    assert "ragmeter label" not in words(client.page(blind))


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 0},
        {"n": "many"},
        {"n": 10**9},
        {"by": "chance"},
        {"seed": None},
    ],
)
def test_a_sample_that_can_not_be_drawn(client: Client, tmp_path: Path, fields: dict[str, Any]) -> None:
    answer = client.post("/run/a/label/begin", **{"rater": "Ann", "n": 5, "by": "random", "seed": 0, **fields})
    assert answer.status == 400
    assert not list(tmp_path.glob("labels-*"))


@pytest.mark.parametrize(("place", "label"), [(99, "correct"), (-1, "correct"), (0, "maybe"), ("x", "correct")])
def test_labels_that_make_no_sense(client: Client, place: Any, label: str) -> None:
    begin(client)
    assert record(client, place, label) == 400


def test_names_of_people_are_no_paths(client: Client, tmp_path: Path) -> None:
    for rater in ("../../etc/x", "a/b", "a_b", "Ünal", ""):
        begin(client, rater)
    names = sorted(path.name for path in tmp_path.glob("labels-*"))
    assert len(names) == 5
    assert {path.name for path in tmp_path.iterdir()} == {"runs", *names}


def test_a_name_of_blanks_is_nobody_s(client: Client, tmp_path: Path) -> None:
    answer = client.post("/run/a/label/begin", rater="  ", n=20, by="random", seed=0)
    assert answer.status == 400
    assert "name" in answer.text
    assert not list(tmp_path.glob("labels-*"))


def test_an_answer_with_a_nul_is_labelled(tmp_path: Path) -> None:
    rows = [{**row, "answer": "a\0b"} for row in ROWS]
    ragmeter.evaluate(rows, metrics="exact_match", run="a", output_dir=tmp_path / "runs")
    with serving(tmp_path / "runs", tmp_path) as client:
        assert "0 of 20 labelled" in words(client.page(begin(client)))
        assert record(client, 0, "wrong") == 200
    assert Sheet.read(tmp_path / "labels-a-Ann.csv").rows[0]["answer"] == "a\u2400b"


def test_people_at_the_same_time_lose_nothing(client: Client, tmp_path: Path) -> None:
    raters = ["Ann", "Bob"]
    for rater in raters:
        begin(client, rater)
    problems: list[int] = []

    def label(rater: str, places: range) -> None:
        problems.extend(status for place in places if (status := record(client, place, "correct", rater)) != 200)

    threads = [
        threading.Thread(target=label, args=(rater, places))
        for rater in raters
        for places in (range(10), range(10, 20))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    for rater in raters:
        labels = read_labels(tmp_path / f"labels-a-{rater}.csv")
        assert [label.label for label in labels] == ["correct"] * 20


TERMINAL = """
import sys
from pathlib import Path
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.cli.label_session import Session
from ragmeter.runs.lookup import find_run
pressed = 0
def key():
    global pressed
    if not pressed:
        print("reading", flush=True)
        sys.stdin.readline()  # until the app begins, too
    pressed += 1
    return "c" if saved[-1] else "w"  # a label of the app that is shown now is left as it is
saved = [True]
class Watched(Sheet):
    def record(self, *label):
        saved.append(super().record(*label))
        return saved[-1]
sheet = Watched.read(Path("labels-a-Ann.csv"))
sys.exit(Session(find_run("a", "runs"), sheet, "Ann", read_key=key).run())
"""


def test_the_app_and_a_terminal_at_the_same_time_lose_nothing(client: Client, tmp_path: Path) -> None:
    begin(client, n=30)
    terminal = subprocess.Popen(
        [sys.executable, "-c", TERMINAL], cwd=tmp_path, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert terminal.stdin is not None
    assert terminal.stdout is not None
    assert any("reading" in line for line in terminal.stdout)
    terminal.stdin.write("go\n")
    terminal.stdin.flush()
    for place in reversed(range(5, 30)):
        assert record(client, place, "wrong", seen="", note=f"row {place}") in (200, 400)  # 400: labelled meanwhile
    terminal.communicate(timeout=PATIENCE)
    assert terminal.returncode == 0
    rows = Sheet.read(tmp_path / "labels-a-Ann.csv").rows
    assert [(row["label"], row["note"]) for row in rows] == [
        ("wrong", f"row {place}") if row["label"] == "wrong" else ("correct", "") for place, row in enumerate(rows)
    ]
    assert len(rows) == 30


def test_a_label_of_another_window_is_not_replaced_unseen(client: Client, tmp_path: Path) -> None:
    page = client.page(begin(client))
    assert 'data-seen=""' in page
    assert record(client, 0, "wrong", seen="", note="from here") == 200
    answer = client.post("/run/a/label/record", place=0, label="correct", rater="Ann", seen="")
    assert answer.status == 400
    assert "labelled meanwhile: wrong" in answer.text
    assert 'data-seen="wrong"' in client.page("/run/a/label?rater=Ann&place=0")
    assert record(client, 0, "correct", seen="wrong") == 200  # a note that was not changed is not sent
    assert Sheet.read(tmp_path / "labels-a-Ann.csv").rows[0]["note"] == "from here"


def test_a_sheet_that_others_have_labelled_in(client: Client, tmp_path: Path) -> None:
    begin(client)
    assert Sheet.read(tmp_path / "labels-a-Ann.csv").record(0, "correct", "Bob")
    assert record(client, 1, "correct") == 400
    assert "holds the labels of Bob" in words(client.ask("/run/a/label?rater=Ann").text)


def test_two_runs_and_people_share_no_file(tmp_path: Path) -> None:
    for run in ("base", "base-x", "base_x"):
        ragmeter.evaluate(ROWS, metrics="exact_match", run=run, output_dir=tmp_path / "runs")
    labelling = Labelling(tmp_path)
    runs = [Run.at(tmp_path / "runs" / name) for name in ("base", "base-x", "base_x")]
    people = ("y", "x-y", "x_y", "x y", "ñ", "a.b")
    assert len({labelling.path(run, rater).name.casefold() for run in runs for rater in people}) == 18
    for one in runs:
        for rater in people:
            labelling.begin(one, rater, 3, "random", 0)
    for one in runs:
        assert set(labelling.files(one)) == {labelling.path(one, rater) for rater in people}


def test_labels_of_a_run_that_was_replaced_are_refused(client: Client, tmp_path: Path) -> None:
    begin(client)
    assert record(client, 0, "correct") == 200
    others = [{**row, "answer": "something else"} for row in ROWS]
    ragmeter.evaluate(others, metrics="exact_match", run="a", output_dir=tmp_path / "runs")
    before = (tmp_path / "labels-a-Ann.csv").read_bytes()
    answer = client.ask("/run/a/label?rater=Ann")
    assert answer.status == 400
    assert "has changed since the file was written" in words(answer.text)
    assert "under another name" in words(answer.text)
    assert record(client, 1, "correct") == 400
    ragmeter.evaluate(ROWS[:2], metrics="exact_match", run="a", output_dir=tmp_path / "runs")
    assert "the run has no row with qid" in words(client.ask("/run/a/label?rater=Ann").text)
    assert (tmp_path / "labels-a-Ann.csv").read_bytes() == before
    assert record(client, 0, "correct", "Eve") == 400  # who has not begun


def test_names_and_ids_that_look_like_formulas_or_are_no_text(tmp_path: Path) -> None:
    rows = [{**row, "qid": f"=1+{place}"} for place, row in enumerate(ROWS)]
    ragmeter.evaluate(rows, metrics="exact_match", run="a", output_dir=tmp_path / "runs")
    with serving(tmp_path / "runs", tmp_path) as client:
        for rater in ("=Ann", "Ann\ud800", "  Ann"):
            assert "0 of 20 labelled" in words(client.page(begin(client, rater)))
            assert record(client, 0, "correct", rater, note="odd \udfff") == 200
            assert record(client, 0, "wrong", rater, seen="correct") == 200
        assert record(client, 1, "\ud800", "=Ann") == 400
        assert client.ask("/run/a/label?rater=%ED%A0%80").status == 200
    assert Sheet.read(tmp_path / "labels-a-Ann.csv").rows[0]["note"] == "odd \ufffd"


def test_a_stratified_sample_is_the_one_of_the_command(tmp_path: Path) -> None:
    rows = [
        {**row, "kind": "rare" if i < 3 else "common", "size": "large" if i % 2 else "small"}
        for i, row in enumerate(ROWS)
    ]
    ragmeter.evaluate(rows, metrics="exact_match", run="a", output_dir=tmp_path / "runs")
    with serving(tmp_path / "runs", tmp_path) as client:
        assert 'name="strata"' in client.page("/run/a/label")
        begin(client, n=10, by="stratified", strata=["kind", "size"])
        answer = client.post("/run/a/label/begin", rater="Eve", n=10, by="stratified", seed=0, strata=["nothing"])
        assert answer.status == 404
    options = ["--n", "10", "--by", "stratified", "--strata", "kind", "size", "--blank", "--output", "own.csv"]
    assert call(["label", "a", *options], tmp_path, {}).returncode == 0
    drawn = [(label.qid, label.stratum, label.weight) for label in read_labels(tmp_path / "labels-a-Ann.csv")]
    assert drawn == [(label.qid, label.stratum, label.weight) for label in read_labels(tmp_path / "own.csv")]
    assert len({stratum for _, stratum, _ in drawn}) == 4


def test_agreement_among_people(client: Client, tmp_path: Path) -> None:
    for rater, labels in (("Ann", "ccwwccwwcc"), ("Bob", "ccwwccwwcw")):
        begin(client, rater, n=10)
        for place, label in enumerate(labels):
            assert record(client, place, {"c": "correct", "w": "wrong"}[label], rater) == 200
    (tmp_path / "labels-a-Eve.csv").write_text("qid,label\nnobody,correct\n")  # of another run
    assert 'href="/run/a/agreement"' in client.page("/run/a/label")
    page = client.page("/run/a/agreement")
    text = words(page)
    assert "Krippendorff's alpha: 0.8081, n = 10 rows, 20 labels" in text
    assert re.search(r"Cohen's kappa between them: 0\.80* ", text)
    assert "Ann 10 Bob 10" in text
    assert len(re.findall(r'href="/run/a/disagreements\?place=', page)) == 1
    assert "correct wrong not yet" in text
    begin(client, "Cem", n=10)
    record(client, 0, "wrong", "Cem")
    text = words(client.page("/run/a/agreement"))
    assert "Cohen's kappa between them" not in text
    assert "n = 10 rows, 21 labels" in text


def test_agreement_needs_two_people(client: Client) -> None:
    assert "Nobody has labelled" in words(client.page("/run/a/agreement"))
    begin(client)
    record(client, 0, "correct")
    assert "One person has labelled this run" in words(client.page("/run/a/agreement"))


def test_the_questions_of_a_test_set(tmp_path: Path) -> None:
    run, _, _ = make(tmp_path, write_chunks(tmp_path / "c.jsonl", 10), Wish(2, {"fact": 1.0}))
    with serving(tmp_path / "runs", tmp_path) as client:
        page = words(client.page("/run/questions/label"))
        assert "0 of 6 labelled" in page
        assert "Would a user ask this?" in page
        assert "Yes y No n Back b".lower() in page.lower()
        for place in range(6):
            asked = words(client.page(f"/run/questions/label?place={place}"))
            assert ("Would a user", "Is the answer right", "Is the answer in the")[place % 3] in asked
            reply = client.post("/run/questions/label/record", place=place, label="no" if place == 4 else "yes")
            assert (reply.status, f'"done":{place + 1}' in reply.text.replace(" ", "")) == (200, True)
        assert "people accept 50% of 2 questions" in words(client.page("/run/questions/label"))
        for bad in ({"place": 6, "label": "yes"}, {"place": -1, "label": "yes"}, {"place": 0, "label": "correct"}):
            assert client.post("/run/questions/label/record", **bad).status == 400
        assert "questions-questions.csv" in words(client.page("/run/questions/label"))
    people = run.summary().test_set.people
    assert (people.labelled, people.accepted, people.wrong) == (2, 1, 1)
