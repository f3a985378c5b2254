"""What stands in the place of a mean that most rows have no part in."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter import evaluate
from ragmeter.wording.metrics import brief, summary_sentence
from tests.conftest import Run as Command
from tests.judge_rows import fake, judge, rows
from tests.make_runs import summary_of


def test_where_most_verdicts_are_unreadable_bounds_take_the_place_of_the_mean(
    tmp_path: Path, ragmeter: Command
) -> None:
    """Before: 1.0000, which is the mean of the one exact match."""
    table = rows("expected", "b expected", "c", "d expected")
    provider = fake("Well, maybe")
    evaluation = evaluate(table, metrics="llm_correct", judge=judge(provider), run="r", output_dir=tmp_path)
    assert (evaluation["llm_correct"].mean, evaluation["llm_correct"].n_scored) == (1.0, 1)  # the files have it
    said = ragmeter("summary", "r", "--output-dir", tmp_path).stdout
    assert "0.2500 to 1.0000" in said
    assert "the mean of all is between 0.2500 and 1.0000" in said
    shown = [repr(evaluation), evaluation._repr_html_(), ragmeter("runs", "--output-dir", tmp_path).stdout]
    shown.append(summary_sentence("llm_correct", evaluation["llm_correct"]))
    shown.append(brief(evaluation["llm_correct"]))
    assert all("0.2500" in text and "1.0000 (" not in text for text in shown)


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
