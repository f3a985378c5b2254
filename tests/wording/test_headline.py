"""What stands in the place of a mean that most rows have no part in."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from ragmeter import evaluate
from ragmeter.documents.metrics import MetricSummary
from ragmeter.wording.metrics import brief, headline_metric, headline_sentence, summary_sentence
from tests.conftest import Run as Command
from tests.judge_rows import fake, judge, rows
from tests.make_runs import summary_of


def test_where_most_verdicts_are_unreadable_bounds_take_the_place_of_the_mean(
    tmp_path: Path, ragmeter: Command
) -> None:
    """Before: 1.00, which is the mean of the one exact match."""
    table = rows("expected", "b expected", "c", "d expected")
    provider = fake("Well, maybe")
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider), run="r", output_dir=tmp_path)
    assert (evaluation["llm_correct"].mean, evaluation["llm_correct"].n_scored) == (1.0, 1)  # the files have it
    said = ragmeter("summary", "r", "--output-dir", tmp_path).stdout
    assert "0.25 to 1.00" in said
    assert "the mean of all is between 0.25 and 1.00" in said
    shown = [repr(evaluation), evaluation._repr_html_(), ragmeter("runs", "--output-dir", tmp_path).stdout]
    shown.append(summary_sentence("llm_correct", evaluation["llm_correct"]))
    shown.append(brief(evaluation["llm_correct"]))
    assert all("0.25" in text and "1.00 (" not in text for text in shown)


RATE = summary_of(
    mean=0.72, interval=(0.6594, 0.7817), n_total=220, n_scored=212, n_not_scored={"no_answer": 8}, binary=True
)
SHARE = summary_of(mean=0.4308, interval=(0.1479, 0.7137), n_scored=7)
NONE = summary_of(mean=None, n_total=3, n_scored=0, n_not_scored={"target_error": 3})


@pytest.mark.parametrize(
    ("metrics", "sentence"),
    [
        ({"token_f1": SHARE, "offline_correct": RATE}, "72% right (66 to 78), on 212 of 220 questions"),
        ({"offline_correct[language=es]": RATE}, "72% right (66 to 78), on 212 of 220 questions"),
        ({"exact_match": RATE}, "exact_match 72% (66 to 78), on 212 of 220 questions"),
        ({"token_f1": SHARE}, "token_f1 0.43 (0.15 to 0.71), on 7 questions"),
        ({"offline_correct": NONE, "token_f1": SHARE}, "token_f1 0.43 (0.15 to 0.71), on 7 questions"),
        ({"offline_correct": NONE}, "no score by offline_correct, on 3 questions (3 system error)"),
        ({"token_f1": summary_of(mean=0.5, n_scored=1)}, "token_f1 0.50, on 1 question"),
        ({}, ""),
    ],
)
def test_the_result_in_a_sentence(metrics: dict[str, MetricSummary], sentence: str) -> None:
    assert headline_sentence(metrics) == sentence


def test_right_refusals_that_do_not_count_as_right_are_said() -> None:
    assert headline_sentence({"offline_correct": RATE}, "questions", 20).endswith("; 20 more rightly declined")
    assert "declined" not in headline_sentence({"token_f1": SHARE}, "questions", 20)


def test_another_level_is_said_and_answers_are_counted() -> None:
    at_80 = structs.replace(RATE, level=0.8)
    assert headline_sentence({"llm_correct": at_80}, "answers") == "72% right (80%: 66 to 78), on 212 of 220 answers"


def test_the_metric_that_comes_first() -> None:
    assert headline_metric({"token_f1": SHARE, "offline_correct": RATE, "llm_correct[judge=cascade]": RATE}) == (
        "llm_correct[judge=cascade]"
    )
    assert headline_metric({}) is None


@pytest.mark.parametrize(
    ("n_scored", "n_not_scored", "range_", "bounds"),
    [
        (1, {"unparsable": 3}, (0.0, 1.0), (0.25, 1.0)),
        (1, {"unparsable": 1, "timeout": 1, "skipped_budget": 1, "no_answer": 9}, (0.0, 1.0), (0.25, 1.0)),
        (2, {"unparsable": 2}, (0.0, 1.0), None),  # no more than half
        (1, {"no_answer": 3, "target_error": 7}, (0.0, 1.0), None),  # of these nobody was asked for a verdict
        (0, {"unparsable": 3}, (0.0, 1.0), None),
        (1, {"unparsable": 3}, (0.0, None), None),
    ],
)
def test_bounds_of_a_mean(
    n_scored: int, n_not_scored: dict[str, int], range_: tuple[float, float | None], bounds: tuple[float, float] | None
) -> None:
    mean = 1.0 if n_scored else None
    summary = summary_of(mean=mean, n_scored=n_scored, n_not_scored=n_not_scored, range=range_)
    assert summary.bounds_of_mean == bounds
