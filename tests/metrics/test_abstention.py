"""Whether answers decline exactly where the question can't be answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter import Evaluation, add_metrics, evaluate
from ragmeter.documents.summary import Abstained
from ragmeter.wording.causes import abstained_sentence
from ragmeter.wording.judging import judge_lines

NOBODY, PARIS = "I don't know.", "It is Paris."


def scored(rows: list[dict[str, Any]], metric: str = "abstention_correct", **more: Any) -> Evaluation:
    return evaluate([{"qid": str(place), **row} for place, row in enumerate(rows)], metrics=metric, **more)


@pytest.mark.parametrize(
    ("answer", "mark", "score"),
    [
        (NOBODY, {"unanswerable": True}, 1),
        (PARIS, {"unanswerable": True}, 0),
        (NOBODY, {"unanswerable": False}, 0),
        (PARIS, {"unanswerable": False}, 1),
        ("", {"unanswerable": 1}, 1),
        (NOBODY, {"answerable": "no"}, 1),
        (NOBODY, {"answerable": "Yes"}, 0),
        (PARIS, {"is_impossible": "True"}, 0),
        ("No lo sé.", {"is_unanswerable": "1.0"}, 1),
        (PARIS, {"unanswerable": None, "answerable": True}, 1),
        *(
            (NOBODY, {"unanswerable": yes}, 1)
            for yes in ("sí", "Si", "ja", "OUI", "sim", "sì", "verdadero", "да", "はい")
        ),
        *((NOBODY, {"unanswerable": no}, 0) for no in ("no", "nein", "Non", "não", "falso", "нет", "いいえ")),
    ],
)
def test_worked_cases(answer: str, mark: dict[str, Any], score: float) -> None:
    assert scored([{"answer": answer, **mark}])["abstention_correct"].mean == score


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"answer": PARIS}, "no_unanswerable"),
        ({"answer": PARIS, "unanswerable": ""}, "no_unanswerable"),
        ({"answer": PARIS, "unanswerable": "partly"}, "not_yes_or_no"),
        ({"answer": None, "unanswerable": True}, "no_answer"),
        ({"answer": "", "unanswerable": True, "error": "timeout"}, "target_error"),
    ],
)
def test_what_is_not_scored_says_why(row: dict[str, Any], outcome: str) -> None:
    assert scored([row])["abstention_correct"].n_not_scored == {outcome: 1}


CLAIMS: list[dict[str, Any]] = [
    {"answer": NOBODY, "unanswerable": True},
    {"answer": NOBODY, "unanswerable": False},
    {"answer": NOBODY, "unanswerable": None},
    {"answer": "Paris is the capital of France.", "unanswerable": False},
]
CONTEXTS = {"contexts": ["Paris is the capital of France."]}
FAITHFULNESS = "faithfulness[judge=offline]"


def test_the_summary_says_how_many_were_right_to_abstain(tmp_path: Path) -> None:
    rows = [{**row, **CONTEXTS} for row in CLAIMS]
    result = scored(rows, FAITHFULNESS, output_dir=tmp_path, run="a")
    assert result[FAITHFULNESS].n_not_scored == {"abstained": 3}
    assert result[FAITHFULNESS].mean == 1.0
    assert result.summary.abstained == Abstained(n=3, right=1, wrong=1)
    line = (
        "answers that decline: 3; rightly, as the question is marked unanswerable: 1; wrongly: 1; of questions "
        "without a mark: 1"
    )
    assert [text for text, _ in judge_lines(result.summary, result.manifest)] == [line]
    more = add_metrics("a", "abstention_correct", output_dir=tmp_path)
    assert more["abstention_correct"].mean == 2 / 3
    assert more.summary.abstained == result.summary.abstained


def test_without_marks_they_are_only_counted() -> None:
    rows = [{"answer": row["answer"], **CONTEXTS} for row in CLAIMS]
    assert scored(rows, FAITHFULNESS).summary.abstained == Abstained(n=3, right=0, wrong=0)
    assert abstained_sentence(Abstained(n=3, right=0, wrong=0)) == "answers that decline: 3"
    assert scored([{"answer": PARIS, **CONTEXTS}], FAITHFULNESS).summary.abstained is None


def test_how_many_answers_decline() -> None:
    answers = ["I don't know.", "Paris.", "", "I don't know if you knew, but it is Paris."]
    evaluation = scored([{"answer": answer} for answer in answers], metric="declined")
    assert evaluation.rows["declined"].to_pylist() == [1.0, 0.0, 1.0, 0.0]
    assert evaluation["declined"].direction == "lower"
