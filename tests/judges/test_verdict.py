"""The verdict: what counts as an exact match, what the model is asked, what its verdict is worth."""

from __future__ import annotations

import math
import pickle

import pytest

from ragmeter import get_metric, list_metrics
from ragmeter.judges.asking.column_judge import shown_texts
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.asking.prompt import Prompt
from ragmeter.judges.verdict import verdict
from ragmeter.metrics.conversation import is_same_answer


@pytest.mark.parametrize(
    ("answer", "expected", "same"),
    [
        ("Paris", "paris", True),
        ("Paris.", "paris", True),
        ("  Paris \n", "Paris", True),
        ("it\u2019s Paris", "it's paris", True),
        ("Stra\u00dfe", "STRASSE", True),
        ("Paris!", "Paris", False),
        ("Paris..", "Paris", False),
        ("", "", True),
        ("", ".", True),
        ("Par is", "Paris", False),
    ],
)
def test_an_exact_match(answer: str, expected: str, same: bool) -> None:
    assert is_same_answer(answer, expected) is same


@pytest.mark.parametrize(
    ("answer", "reference", "known"),
    [("Rome", ["Paris", "rome."], "CORRECT"), ("Rome", ["Paris"], None), ("Rome", ["Rome or Paris"], None)],
)
def test_what_needs_no_judge(answer: str, reference: list[str], known: str | None) -> None:
    assert verdict.known is not None
    assert verdict.known({"question": None, "answer": answer, "reference": reference}) == known


def test_the_prompt_is_short_and_has_no_example_to_copy() -> None:
    values = shown_texts(verdict, {"question": "Which?", "reference": ["a", "b"], "answer": "c"})
    assert values == {"question": "Which?", "reference": "a\nor: b", "answer": "c"}
    system, user = Prompt(verdict).messages(values)
    assert user["content"].endswith("Reply with one word, Yes or No.")
    words = system["content"] + user["content"]
    assert len(words) / 4 < 150 + 20  # tokens besides the texts, about
    assert "CORRECT" not in words


def test_the_metric_s_scores() -> None:
    metric = get_metric("llm_correct")
    scores = metric(["CORRECT", "WRONG", None, "correct", ""]).tolist()
    assert scores[:2] == [1.0, 0.0]
    assert all(map(math.isnan, scores[2:]))
    assert (metric.binary, metric.direction, metric.needs) == (True, "higher", ("verdict",))
    assert metric.reads == ("reference", "answer")


@pytest.mark.parametrize("name", ["llm_correct", "llm_correct[judge=cascade]", "llm_grade", "llm_grade[scale=1-10]"])
def test_a_name_parses_back_and_travels(name: str) -> None:
    metric = get_metric(name)
    assert metric.name == name
    arrived = pickle.loads(pickle.dumps(metric))  # noqa: S301 - our own
    assert arrived == metric
    assert [column.name for column in arrived.judge_columns] == [column.name for column in metric.judge_columns]


def test_a_setting_at_its_default_is_not_in_the_name() -> None:
    assert get_metric("llm_correct[judge=llm]").name == "llm_correct"
    assert get_metric("llm_grade[scale=01-05]").name == "llm_grade"
    with pytest.raises(Exception, match="judge"):
        get_metric("llm_correct[judge=nobody]")


def test_what_the_lists_say() -> None:
    (info,) = list_metrics("llm_correct")
    assert (info.needs, info.asks, info.settings) == (
        ("reference", "answer"),
        ("verdict",),
        {"judge": "llm", "juror": None},
    )
    assert "llm_correct" in list_metrics(needs="answer").names
    assert "llm_correct" not in list_metrics(columns=["reference", "answer"]).names  # what needs nothing else
    assert "llm_correct" in list_metrics(columns=["verdict"]).names


def test_the_columns_that_are_filled() -> None:
    (plain,) = get_metric("llm_correct").judge_columns
    assert plain.columns == ["verdict", "reason", "judged_by", "verdict_probability"]
    (cascade,) = get_metric("llm_correct[judge=cascade]").judge_columns
    assert cascade.columns[:2] == ["verdict[judge=cascade]", "reason[judge=cascade]"]
    judge = Judge("m", "http://127.0.0.1:9/v1", "k")
    assert judge.call_key(plain.declaration) == judge.call_key(
        cascade.declaration
    )  # both ask the same, and pay for it once
