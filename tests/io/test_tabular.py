"""Results as frames, as mappings, and as a notebook shows them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import ragmeter
from ragmeter import Calibration, Comparison, Evaluation, ask, calibrate, choose_sample, compare, evaluate, gate
from ragmeter.analysis.gating import Verdict
from ragmeter.analysis.people.sample import Sample
from ragmeter.engine.ask import AskedEvaluation
from ragmeter.errors import MissingExtraError, UnknownNameError
from ragmeter.io.tabular import Tabular
from tests.analysis.people.helpers import questions

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)">\x00\u202e&'
ROWS = questions(40)
LABELS = [{"qid": row["qid"], "label": row["correct"]} for row in ROWS]


def evaluation(**more: Any) -> Evaluation:
    return evaluate(ROWS, metrics="exact_match,token_f1", **more)


class Page(HTMLParser):
    """What is in some HTML: its tags, and its tables' cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def shown(results: Tabular) -> Page:
    return Page(results._repr_html_())


def test_an_evaluation_is_a_mapping_from_metrics_to_summaries() -> None:
    evaluation = evaluate(ROWS, metrics="rouge_l_score,token_f1", language="en")
    assert isinstance(evaluation, Mapping)
    assert len(evaluation) == len(list(evaluation)) == len(evaluation.keys()) == 2
    assert list(evaluation.items()) == list(evaluation.metrics.items())
    assert list(evaluation.values()) == list(evaluation.metrics.values())
    assert dict(evaluation) == evaluation.metrics
    assert evaluation.get("rouge_l_score") is evaluation["rouge_l_score[language=en]"]
    names: list[object] = ["rouge_l_score", "token_f1", "map", "no name!", 3]
    assert [name in evaluation for name in names] == [True, True, False, False, False]
    assert evaluation.get("no name!") is None
    assert evaluation != evaluate(ROWS, metrics="rouge_l_score,token_f1", language="en")
    assert {evaluation: 1}[evaluation] == 1  # as a baseline of a gate, for one


def test_frames_of_an_evaluation() -> None:
    evaluation = evaluate([*ROWS, {**ROWS[0], "qid": "none", "answer": None}], metrics="exact_match,token_f1")
    frame = evaluation.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.shape == (41, len(evaluation.rows.column_names))
    assert frame["reference"][0] == ["it is 0"]
    assert frame["token_f1"].mean() == pytest.approx(evaluation["token_f1"].mean)
    assert frame["token_f1.outcome"].tolist()[-1] == "no_answer"
    other = evaluation.to_polars()
    assert isinstance(other, polars.DataFrame)
    assert other["token_f1"].mean() == pytest.approx(
        evaluation["token_f1"].mean
    )  # what was not scored is null, not NaN
    assert other["token_f1"].null_count() == 1
    assert other["reference"].to_list()[0] == ["it is 0"]
    metrics = evaluation.to_pandas("metrics").set_index("metric")
    summary = evaluation["exact_match"]
    assert metrics.loc["exact_match", ["mean", "low", "high"]].tolist() == [summary.mean, *(summary.interval or ())]
    assert metrics.loc["exact_match", ["n_scored", "n_total"]].tolist() == [40, 41]
    assert evaluation.to_polars("metrics").height == 2
    with pytest.raises(
        UnknownNameError, match=r"unknown table 'row': did you mean rows\?\n  choose from rows, metrics"
    ):
        evaluation.to_pandas("row")


def test_a_kept_evaluation_has_the_same_frame(tmp_path: Path) -> None:
    kept = evaluation(run="r", output_dir=tmp_path)
    assert kept.to_pandas().equals(evaluation().to_pandas())


def test_an_interval_in_a_frame_keeps_to_the_range() -> None:
    evaluation = evaluate([{"answer": "a b", "reference": r} for r in ("a b", "b")], metrics="token_f1")
    low, high = evaluation.to_pandas("metrics").loc[0, ["low", "high"]]
    assert (low >= 0, high <= 1) == (True, True)
    assert "1.00" in shown(evaluation).rows[1][2]


def test_a_notebook_shows_metrics_and_no_answers() -> None:
    result = evaluate([*ROWS, {**ROWS[0], "qid": "none", "answer": None}], metrics="exact_match,edit_distance")
    page = shown(result)
    assert page.rows[0] == ["metric", "mean", "95% interval", "n", "no score"]
    assert page.rows[1][0] == "exact_match ↑"
    assert page.rows[1][1] == "0.63", "25 of 40"
    assert page.rows[1][3:] == ["40 of 41", "1 no_answer"]
    assert "it is 1" not in page.text
    assert shown(evaluation()).rows[0] == ["metric", "mean", "95% interval", "n"]


def test_what_ask_returned_is_an_evaluation(tmp_path: Path) -> None:
    dataset = [{"qid": row["qid"], "question": row["question"], "reference": row["reference"]} for row in ROWS]

    def answer(question: str) -> str:
        if question == "What is 7?":
            raise ValueError("no idea")
        return "it is 1"

    service = ask(dataset, answer, metrics="token_f1", run="asked", output_dir=tmp_path, allow_failures=True)
    assert isinstance(service, AskedEvaluation)
    assert isinstance(service, Evaluation)
    assert len(service) == 1
    assert service["token_f1"].n_scored == 39
    assert service.summary.n_rows == len(service.to_pandas()) == len(service.replies.in_order) == 40
    assert service.folder is not None
    assert service.folder.name == service.name == "asked"
    assert repr(service).startswith("<AskedEvaluation, rows: 40>\n39 of 40 questions have an answer\ntoken_f1 ")
    assert shown(service).rows[1][0] == "token_f1 ↑"
    assert "questions: 40, without an answer: 1" in shown(service).text


def test_a_comparison() -> None:
    better = evaluate([{**row, "answer": row["reference"]} for row in ROWS], metrics="exact_match,token_f1")
    comparison = compare([evaluation(), better], movers=3)
    assert isinstance(comparison, Comparison)
    assert len(comparison) == len(list(comparison)) == 1
    assert comparison[0] is comparison.pairs[0]
    assert comparison["token_f1"] is comparison.pairs[0].metrics["token_f1"]
    with pytest.raises(KeyError, match="this comparison has exact_match, token_f1"):
        _ = comparison["map"]
    frame = comparison.to_pandas().set_index("metric")
    assert frame.loc["token_f1", "difference"] == comparison["token_f1"].difference
    assert tuple(frame.loc["token_f1", ["low", "high"]]) == comparison["token_f1"].interval
    assert comparison.to_pandas("movers")["qid"].tolist()[0] == comparison["exact_match"].movers[0].qid
    assert set(comparison.to_polars("slices")["column"].to_list()) >= {"domain"}
    page = shown(comparison)
    assert page.rows[2][0] == "token_f1 ↑"
    assert page.rows[2][4].startswith("+0.")
    assert comparison.pairs[0].sentence in page.text
    assert "some 1 or so" not in page.text
    three = compare([evaluation(), better, evaluation()])
    assert len(three) == len(three.to_pandas()) / 2 == 2
    with pytest.raises(KeyError, match="there are 2 pairs of runs"):
        _ = three["token_f1"]
    assert compare([evaluation(), better], slices=[]).to_pandas("movers").columns.tolist()[:4] == [
        *("a", "b", "metric", "qid")
    ]


def test_a_verdict_is_true_if_it_passed() -> None:
    passed, failed = (gate(evaluation(), fail_under={"token_f1": bound}) for bound in (0.1, 0.99))
    assert isinstance(passed, Verdict)
    assert passed
    assert not failed
    assert len(failed) == len(list(failed)) == 2
    frame = failed.to_pandas()
    assert frame["asked"].tolist() == ['fail_under={"token_f1": 0.99}', "max_failed=0.05 for token_f1"]
    assert frame["passed"].tolist() == [False, True]
    assert failed.to_polars("metrics")["metric"].to_list() == ["exact_match", "token_f1"]
    page = shown(failed)
    assert "the gate FAILED" in page.text
    assert page.rows[1][:2] == ["FAILED", 'fail_under={"token_f1": 0.99}']


def test_a_calibration() -> None:
    calibration = calibrate(evaluation(), LABELS, metric="exact_match")
    assert isinstance(calibration, Calibration)
    frame = calibration.to_pandas().set_index("estimate")
    assert frame.loc["accuracy people would find", "value"] == calibration.corrected.value
    assert tuple(frame.loc["accuracy people would find", ["low", "high"]]) == calibration.corrected.interval
    assert calibration.to_polars().height == len(frame) == len(calibration.estimates())
    page = shown(calibration)
    assert calibration.sentence in page.text
    assert page.rows[1][0] == "accuracy people would find"
    assert repr(calibration).startswith("<Calibration of this evaluation by exact_match>\naccuracy people would find: ")


def test_what_a_calibration_can_not_tell() -> None:
    alike = [{"qid": row["qid"], "label": "correct"} for row in ROWS[:8]]
    calibration = calibrate(evaluation(), alike, metric="exact_match")
    assert calibration.judge.specificity.value is None
    assert f"specificity: unknown, {calibration.judge.specificity.undefined}" in repr(calibration)
    assert calibration.judge.specificity.undefined in [row[1] for row in shown(calibration).rows]


def test_a_sample() -> None:
    sample = choose_sample(evaluation(), 9, by="stratified", strata="domain")
    assert isinstance(sample, Sample)
    assert len(sample) == len(list(sample)) == len(sample.to_pandas()) == 9
    assert sample.to_polars()["qid"].to_list() == [row.qid for row in sample.rows]
    assert [row[0] for row in shown(sample).rows] == ["stratum", "art", "law", "sport"]


def test_nothing_in_the_data_is_ever_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.names._NOT_ON_WINDOWS", re.compile("(?!)"))  # of a folder made elsewhere
    rows = [{**row, "domain": HOSTILE if row["domain"] == "art" else "x", "answer": HOSTILE} for row in ROWS]
    name = "<b>run"
    a = evaluate(rows, metrics="exact_match", run=name, output_dir=tmp_path)
    b = evaluate(ROWS, metrics="exact_match", run="b", output_dir=tmp_path)

    @ragmeter.metric(name="tag_metric")
    def tag_metric(answer: list[str]) -> list[float]:
        """<script>alert(1)</script> & more."""
        return [1.0] * len(answer)

    try:
        results: list[Tabular] = [
            a,
            compare([a, b]),
            gate(a, fail_under={"exact_match": 0.5}, no_worse_than={b: {"exact_match": 0.1}}),
            calibrate(a, LABELS, metric="exact_match"),
            choose_sample(a, 8, by="stratified", strata="domain"),
            ragmeter.list_metrics("tag_metric"),
        ]
    finally:
        ragmeter.definition.METRICS.pop("tag_metric")
    for result in results:
        page = shown(result)
        assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "div"}
        assert page.attributes <= {"style"}
        assert not set("\x00\u202e") & set(page.text)
    assert "alert(1)" in shown(results[-1]).text


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_there_names_its_command(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = evaluation()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"to_{library}\(\) needs(.|\n)*pip install {library}$"):
        getattr(result, f"to_{library}")()
