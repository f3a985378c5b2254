"""Results as Markdown, as a whole."""

from __future__ import annotations

from pathlib import Path

from markdown_it import MarkdownIt

from ragmeter.analysis.comparing import compare
from ragmeter.analysis.gating import gate
from ragmeter.show.markdown import runs_as_markdown, verdict_as_markdown
from tests.show.report.helpers import keep, loaded, rows


def test_the_markdown_has_figures_intervals_n_failures_and_slices(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, "other", [{**row, "answer": "gold answer"} for row in rows()])
    runs = loaded(tmp_path, "small", "other")
    text = runs_as_markdown(runs, compare(runs))
    assert text.startswith("# small · other\n\n**No difference seen between other and small")
    assert "| exact\\_match ↑ | 0.57 (0.25 to 0.84), n = 7 of 8 | 0.00 (0.00 to 0.32), n = 8 |" in text
    assert "- 1: no\\_answer, the row has no answer (token\\_f1, exact\\_match)" in text
    assert "| music | 0.6667, n = 3 (few) | 0.6667, n = 3 (few) | 0.5000, n = 4 (few) |" in text
    assert "few: fewer than 30 rows" in text
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    assert rendered.count("<table>") == 6  # the verdicts, means, slices and causes of both runs
    assert "| not retrieved | 38% | 14% to 69% | 3 | ids of gold documents |" in text


def test_a_verdict_as_markdown(tmp_path: Path) -> None:
    answers = ["yes", "yes", "yes", None]
    data = [{"qid": str(place), "reference": "yes", "answer": answer} for place, answer in enumerate(answers)]
    keep(tmp_path, "r_1", data, "exact_match")
    text = verdict_as_markdown(gate("r_1", fail_under={"exact_match": 0.9}, output_dir=tmp_path))
    assert text.splitlines() == [
        "## ❌ Gate failed: r\\_1",
        "",
        "|  | asked | found |",
        "| :-: | --- | --- |",
        "| ❌ | --max-failed 0.05 for exact\\_match | exact\\_match: 1 of 4 rows have no score (1 no\\_answer): "
        "at most 5% may have none |",
        "| ✅ | --fail-under exact\\_match=0.9 | exact\\_match is 1.00 (95%: 0.44 to 1.00), "
        "n = 3 of 4 (few): at least 0.9 is asked for; a true mean below that can't be ruled out |",
        "",
        "| metric | mean | interval | n | no score |",
        "| --- | --: | --: | --: | --- |",
        "| exact\\_match ↑ | 1.00 | 0.44 to 1.00 (95%) | 3 of 4 | 1 no\\_answer |",
    ]
