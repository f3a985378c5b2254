"""Other questions under the same ids: a warning, and no verdict where most are others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter import compare, evaluate, gate
from ragmeter.show.markdown import comparison_as_markdown


def keep(folder: Path, run: str, reworded: int, right: int) -> None:
    rows = [
        {
            "qid": str(n),
            "question": f"Other {n}?" if n < reworded else f"Question {n}?",
            "reference": "yes",
            "answer": "yes" if n < right else "no",
        }
        for n in range(40)
    ]
    evaluate(rows, metrics="exact_match,token_f1", run=run, output_dir=folder)


@pytest.mark.parametrize(("reworded", "is_most"), [(0, False), (1, False), (20, False), (21, True), (40, True)])
def test_other_questions_under_the_same_ids(tmp_path: Path, reworded: int, is_most: bool) -> None:
    keep(tmp_path, "a", 0, 10)
    keep(tmp_path, "b", reworded, 35)
    comparison = compare(["a", "b"], output_dir=tmp_path)
    (pair,) = comparison.pairs
    be = "is" if reworded == 1 else "are"
    said = f"{reworded} of 40 questions under the same qid {be} worded otherwise."
    assert (pair.sentence == f"No verdict: {said}") == is_most
    assert pair.sentence.startswith("No verdict" if is_most else "b is better")
    shown = {result.verdict for result in pair.metrics.values()}
    assert shown == ({"no verdict"} if is_most else {"better"})
    assert ("▲" in comparison_as_markdown(comparison)) != is_most
    assert all(result.p is None and said in result.sentence for result in pair.metrics.values()) == is_most
    assert bool(pair.better_rows) != is_most
    assert pair.warnings == ([said] if reworded and not is_most else [])
    assert (said in comparison_as_markdown(comparison)) == bool(reworded)
    check = gate("b", no_worse_than="a:exact_match:0.02", output_dir=tmp_path).checks[0]
    assert check.passed == (not is_most)
    assert check.reason.endswith("questions under the same qid are worded otherwise in a") == is_most
