"""What the terminal says of two runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter import compare
from ragmeter.show.terminal.comparison import show_comparison
from tests.make_runs import make_run


def test_rows_that_another_metric_moved_are_not_called_worse_by_the_headline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "a", {"exact_match": [1, 1, 0, 1], "token_f1": [1, 0.5, 0.5, 1]})
    make_run(tmp_path / "b", {"exact_match": [0, 1, 0, 1], "token_f1": [0, 0.2, 0.1, 1]})
    show_comparison(compare([tmp_path / "a", tmp_path / "b"]))
    shown = capsys.readouterr().out
    assert "1 row got worse by exact_match:" in shown
    assert "got worse by other metrics, not by exact_match:" in shown
    assert "no row got better by exact_match" in shown
    assert shown.index("worse by exact_match") < shown.index("not by exact_match") < shown.index("token_f1 0.50 →")
