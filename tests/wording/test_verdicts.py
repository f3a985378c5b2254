"""The verdict in words: every outcome of a comparison, in rates and in numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragmeter.analysis.comparing import MetricDifference
from ragmeter.documents.comparison import NumberOfTests
from ragmeter.wording import verdicts
from ragmeter.wording.comparison import Wording
from ragmeter.wording.methods import Methods

WORDING = Wording(0.95, 0.05, 9)
LEVEL = "95%"


def result(**changed: Any) -> MetricDifference:
    """44% and 70% of 400 questions, which is significant."""
    usual = MetricDifference(
        direction="higher", n=400, n_questions=400, n_clusters=None, mean_a=0.44, mean_b=0.70, difference=0.26,
        standard_error=0.03, shown_error=0.03, interval=(0.20, 0.32), interval_method="newcombe", excludes_zero=True,
        p=0.0001, p_holm=0.0009, p_bh=0.0002, test="randomisation", effect_size=None, better=148, worse=44, same=208,
        scored_only_a=0, scored_only_b=0, margin=0.01, verdict="better", movers=[], binary=True,
    )  # fmt: skip
    return replace(usual, **changed)


NUMBERS = {"mean_a": 0.434, "mean_b": 0.6478, "difference": 0.2138, "interval": (0.168, 0.259), "binary": False}
NOTHING = {"mean_a": 0.5, "mean_b": 0.52, "difference": 0.02, "interval": (-0.04, 0.08), "excludes_zero": False}


@pytest.mark.parametrize(
    ("metric", "changed", "sentence"),
    [
        (
            "offline_correct",
            {},
            "B is better: 70% right instead of 44% (+26 points, 95%: +20 to +32, 400 questions).",
        ),
        (
            "llm_correct[judge=cascade]",
            {"mean_a": 0.70, "mean_b": 0.44, "difference": -0.26, "interval": (-0.32, -0.20), "verdict": "worse"},
            "B is worse: 44% right instead of 70% (-26 points, 95%: -32 to -20, 400 questions).",
        ),
        (
            "exact_match",
            {},
            "B is better on exact_match: 70% instead of 44% (+26 points, 95%: +20 to +32, 400 questions).",
        ),
        (
            "token_f1",
            NUMBERS,
            "B is better on token_f1: 0.648 instead of 0.434 (+0.214, 95%: +0.168 to +0.259, 400 questions).",
        ),
        (
            "offline_correct",
            {**NOTHING, "verdict": "not significant", "p": 0.6, "p_holm": 1.0},
            "No difference seen between B and A: 52% right instead of 50% (+2 points, 95%: -4 to +8, 400 questions).",
        ),
        (
            "offline_correct",
            {"verdict": "no verdict", "p_holm": 0.0625, "n": 7, "n_questions": 7},
            "No verdict between B and A: 70% right instead of 44% (+26 points, 95%: +20 to +32, 7 questions); "
            "the interval excludes 0, and the test, corrected over 9 tests, does not.",
        ),
        (
            "offline_correct",
            {**NOTHING, "verdict": "not significant", "p": 0.6, "p_holm": 1.0, "n": 194, "n_questions": 194,
             "scored_only_a": 206},
            "On 194 of 400 rows, no difference seen between B and A: 52% right instead of 50% (+2 points, 95%: -4 to "
            "+8, 194 questions).",
        ),
        (
            "offline_correct",
            {"mean_a": 0.701, "mean_b": 0.706, "difference": 0.005, "interval": (0.002, 0.008),
             "verdict": "significant, but small", "n": 90_000, "n_questions": 90_000},
            "B is better, but by little: 70.6% right instead of 70.1% (+0.5 points, 95%: +0.2 to +0.8, 90,000 "
            "questions); less than 1 point is small.",
        ),
        (
            "token_f1",
            {**NUMBERS, "verdict": "no verdict"},
            "No verdict between B and A on token_f1: 0.648 instead of 0.434 (+0.214, 95%: +0.168 to +0.259, "
            "400 questions); the interval and the test disagree: a few rows decide.",
        ),
        (
            "exact_match",
            {"verdict": "no verdict", "p_holm": None, "n": 1, "n_questions": 1, "interval": None},
            "No verdict between B and A on exact_match: 70% instead of 44% (+26 points, 1 question); too few "
            "questions for a test.",
        ),
        (
            "llm_correct",
            {"verdict": "judges differ"},
            "No verdict between B and A: their llm_correct is from different judges.",
        ),
        (
            "llm_correct",
            {"verdict": "no verdict", "difference": None},
            "No verdict between B and A: no question has a score by llm_correct in both.",
        ),
        (
            "documents",
            {"direction": "none", "verdict": "different", "binary": False, "mean_a": 3.1, "mean_b": 9.7,
             "difference": 6.6, "interval": (5.4, 7.8), "n_clusters": 80},
            "B is different on documents: 9.7 instead of 3.1 (+6.6, 95%: +5.4 to +7.8, 400 questions in 80 clusters).",
        ),
        (
            "offline_correct",
            {"n": 1200, "n_clusters": 400},
            "B is better: 70% right instead of 44% (+26 points, 95%: +20 to +32, 1,200 answers to 400 questions).",
        ),
    ],
)  # fmt: skip
def test_the_sentence_that_comes_first(metric: str, changed: dict[str, Any], sentence: str) -> None:
    assert verdicts.verdict_sentence(metric, "A", "B", result(**changed), WORDING) == sentence


def test_the_headline_is_the_share_of_right_answers() -> None:
    some = result()
    assert verdicts.headline_metric({"token_f1": some, "offline_correct": some, "llm_correct": some}) == "llm_correct"
    assert verdicts.headline_metric({"token_f1": some, "offline_correct[threshold=0.4]": some}).startswith("offline_c")
    assert verdicts.headline_metric({"token_f1": some, "mrr": some}) == "token_f1"
    nowhere = result(difference=None)
    assert verdicts.headline_metric({"llm_correct": nowhere, "offline_correct": some}) == "offline_correct"
    assert verdicts.headline_metric({"llm_correct": nowhere}) == "llm_correct"


def test_metrics_are_counted_and_the_worse_are_named() -> None:
    worse, none = result(verdict="worse"), result(verdict="not significant")
    assert verdicts.tally({"a": result()}) == ""
    assert verdicts.tally({"a": result(), "b": none}) == "Of 2 metrics: 1 better, 0 worse, 1 not significant."
    assert verdicts.tally({"a": none, "b": none}) == "Of 2 metrics: 0 better, 0 worse, 2 not significant."
    assert verdicts.tally({"a": worse, "b": worse}) == "Of 2 metrics: 0 better, 2 worse."
    assert verdicts.tally({"a": result(), "b": worse, "c": worse}) == "Of 3 metrics: 1 better, 2 worse (b, c)."


def test_what_these_questions_could_show() -> None:
    unsure = result(verdict="not significant", needed=7_234, smallest=0.082)
    assert verdicts.outlook(unsure) == (
        "To see a difference of 1 point, about 7,200 questions are needed; these can show 8.2 points."
    )
    assert verdicts.outlook(replace(unsure, binary=False)) == (
        "To see a difference of 0.01, about 7,200 questions are needed; these can show 0.082."
    )
    seen = replace(unsure, smallest=0.004, interval=(-0.002, 0.003), binary=False)
    assert verdicts.outlook(seen) == "A difference of 0.004 would probably have been seen."
    assert verdicts.outlook(replace(unsure, better=0, worse=0)).endswith("can't be told."), "no row moved"
    assert verdicts.outlook(replace(unsure, interval=(-0.5, 0.5))) == "", "the interval knows less than the plan"
    assert verdicts.outlook(result(needed=7_234, smallest=0.082)) == "", "one was seen"
    assert verdicts.outlook(result(verdict="no verdict", needed=None)) == ""


def test_each_verdict_has_a_sign_with_its_words() -> None:
    assert verdicts.marked("significant, but small") == "· small"
    assert verdicts.sign("worse") == "▼"
    assert verdicts.signs_explained({"not significant", "better"}) == "▲ better, = not significant"


def test_the_test_is_said_once() -> None:
    assert verdicts.test_sentence("t", "", NumberOfTests(1, 0), 0.05) == "Paired t test; significant: p below 0.05."
    assert verdicts.test_sentence("randomisation", ", clustered by user", NumberOfTests(1, 8), 0.01) == (
        "Paired randomisation test, clustered by user; the headline metric is tested by itself, the other 8 tests are "
        "Holm-corrected; significant: p below 0.01."
    )


@pytest.mark.parametrize(
    ("tests", "correction"),
    [
        (NumberOfTests(0, 1), ""),
        (NumberOfTests(0, 4), "; p corrected (Holm) over 4 tests"),
        (NumberOfTests(1, 1), "; the headline metric is tested by itself, and so is the other one"),
        (NumberOfTests(3, 0), "; p corrected (Holm) over 3 tests"),
        (NumberOfTests(3, 1), "; the headline metric is Holm-corrected over 3 tests"),
        (
            NumberOfTests(3, 8),
            "; the headline metric is Holm-corrected over 3 tests, the other 8 tests among themselves",
        ),
    ],
)
def test_what_is_corrected_is_said(tests: NumberOfTests, correction: str) -> None:
    assert verdicts.test_sentence("t", "", tests, 0.05) == f"Paired t test{correction}; significant: p below 0.05."


def test_rows_are_counted_and_more_can_be_had() -> None:
    assert (
        verdicts.changed_title("worse", 3, 44, "mrr") == "44 rows got worse by mrr; 3 of them (--worse N shows more):"
    )
    assert verdicts.changed_title("better", 1, 1, "mrr") == "1 row got better by mrr:"
    assert verdicts.changed_otherwise_title("worse", "mrr") == "got worse by other metrics, not by mrr:"


def test_methods_for_a_paper() -> None:
    methods = Methods(
        version="1.2", baseline="bm25", candidates=["rerank", "tuned"], questions=[400, 390], level=0.95, alpha=0.05,
        tests_made=["mcnemar", "randomisation"], draws=9_999, seed=7, tests=NumberOfTests(1, 41), cluster="session_id",
        interval_methods=["newcombe", "student_t_with_pseudo_rows"], judges=["gpt-x"], metrics=["right", "mrr"],
        headlines=["right"],
    )  # fmt: skip
    text = " ".join(methods.sentences())
    for part in (
        "rerank and tuned are compared with the baseline bm25 on the 390 to 400 questions",
        "Newcombe's hybrid score method for rates and Student's t, with pseudo-rows at the ends of the range",
        "McNemar's exact test or a paired two-sided randomisation test (Fisher) with 9,999 draws. The headline metric "
        "is right: it was chosen by its name, not by its scores. Its p-value is not corrected. The p-values of the "
        "other 41 tests are corrected among themselves by Holm's method.",
        "Rows with the same session_id are taken together.",
        "judged by gpt-x",
        "ragmeter:1.2|metrics:right,mrr|test:mcnemar,randomisation|draws:9999|seed:7|alpha:0.05|correction:holm/1+41|"
        "interval:newcombe,student_t_with_pseudo_rows|level:0.95|cluster:session_id|judge:gpt-x",
    ):
        assert part in text


def test_rows_without_a_score_in_one_run() -> None:
    both = "on the 7 of 8 answers that both have a score for"
    one = verdicts.rows_unscored(7, 8, {"baseline": 0, "candidate": 1}, "score", "answers")
    assert one == f"{both} (1 of the candidate has no score)"
    two = verdicts.rows_unscored(7, 8, {"baseline": 1, "candidate": 1}, "score", "answers")
    assert two == f"{both} (1 of the baseline and 1 of the candidate have no score)"
    assert verdicts.rows_unscored(8, 8, {"baseline": 0, "candidate": 0}, "score", "answers") == ""
