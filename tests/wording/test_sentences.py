"""Results in words: the sentences that no other test reads whole."""

from __future__ import annotations

import pytest

from ragmeter.documents.summary import Unmatched
from ragmeter.stats.agreement import Estimate
from ragmeter.wording.calibration import always_agrees, corrected_sentence, unlabelled_strata
from ragmeter.wording.causes import because, cause_meaning, failures, first_ids
from ragmeter.wording.gate import margin_reason
from ragmeter.wording.metrics import bracketed, no_rates, titled
from tests.make_runs import summary_of


@pytest.mark.parametrize(
    ("decided", "words"),
    [
        ({"passed": True}, "the interval rules out a loss of more than 0.02"),
        ({"lost": True}, "the whole interval is a loss of more than 0.02"),
        ({}, "the interval does not rule out a loss of more than 0.02"),
        (
            {"needed": 1234.0, "few": "rows"},
            "the interval does not rule out a loss of more than 0.02; if they are alike, about 1,200 questions would "
            "show it; few rows, so it is rough",
        ),
        (
            {"unmoved": 2},
            "no row moved: up to 2/2 of the questions may, so the interval does not rule out a loss of more than 0.02",
        ),
    ],
)
def test_what_an_interval_says_of_a_margin(decided: dict[str, object], words: str) -> None:
    usual = {"worst": -0.5, "passed": False, "lost": False, "needed": None, "few": None}
    assert margin_reason("a sentence", 0.02, **{**usual, **decided}) == f"a sentence: {words}"  # type: ignore[arg-type]


def test_a_mean_that_is_no_rate_is_said() -> None:
    assert no_rates(["token_f1", "offline_hallucination", "unknown", "offline_quality[aspect=correctness]"]) == [
        "the mean of offline_hallucination is not a share of answers; offline_hallucinated is",
        "the mean of offline_quality[aspect=correctness] is not a share of answers; it only ranks them",
    ]


def test_causes() -> None:
    metrics = {
        "a": summary_of(n_not_scored={"no_answer": 2, "timeout": 3}),
        "b": summary_of(n_not_scored={"no_answer": 2}),
    }
    assert [(reason.cause, reason.which_metrics) for reason in failures(metrics)] == [
        ("timeout", "a"),
        ("no_answer", "all metrics"),
    ]
    assert cause_meaning("no_gold_answer") == "the row has no gold answer"
    assert cause_meaning("timeout") == "no reply in time"
    assert because({}) == ""
    assert because({"rare": 1, "often": 2000}) == " (2,000 often, 1 rare)"
    assert because({str(number): number for number in range(1, 8)}) == " (7 7, 6 6, 5 5, 4 4, 3 3, …)"
    assert first_ids(Unmatched(2, ["a", "7"])) == "qid a, 7"
    assert first_ids(Unmatched(9, list("abcdefghi"))) == "qid a, b, c, d, e, …"


def test_a_calibration() -> None:
    raw = Estimate(0.5, None, 90, None, "rate")
    corrected = Estimate(0.8, (0.7, 0.9), 40, None, "ppi")
    text = "The share of answers that people would call correct is 0.80 (95%: 0.70 to 0.90, from 40 labels)"
    assert corrected_sentence("m", corrected, raw, 0.95) == f"{text}; m says 0.50, which is too strict."
    assert corrected_sentence("m", Estimate.none("nobody looked", 0), raw, 0.95).endswith("yet: nobody looked.")
    assert "up to 42.9% of its verdicts" in always_agrees(7)
    assert unlabelled_strata(list("abcdef")) == "no row of 6 strata is labelled yet (a, b, c, d, e, …)"


def test_names_and_means() -> None:
    assert [titled("m", direction) for direction in ("higher", "lower", "none", "")] == ["m ↑", "m ↓", "m", "m"]
    assert bracketed(0.5, (0, 1.0), "7 of 8") == "0.50 [0.00 to 1.00], n = 7 of 8"
    assert bracketed(0.5, None, "1") == "0.5000, n = 1"
