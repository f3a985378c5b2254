"""A table for a paper."""

from __future__ import annotations

from pathlib import Path

import ragmeter
from ragmeter.show.latex import latex_table
from ragmeter.show.markdown import runs_as_markdown
from tests.show.report.helpers import keep, loaded, rows


def test_the_latex_table(tmp_path: Path) -> None:
    keep(tmp_path)
    lines = latex_table(loaded(tmp_path, "small")).splitlines()
    assert lines[1:4] == ["\\begin{tabular}{lr}", "\\toprule", "metric & small \\\\"]
    assert r"exact\_match $\uparrow$ & 0.57 {\small[0.25, 0.84]} {\small(7)} \\" in lines
    assert lines[-2] == "\\end{tabular}"


def test_intervals_of_different_levels_are_shown_with_their_own(tmp_path: Path) -> None:
    keep(tmp_path, "usual", metrics="exact_match")
    ragmeter.evaluate(rows(), metrics="exact_match", level=0.8, run="narrow", output_dir=tmp_path)
    runs = loaded(tmp_path, "usual", "narrow")
    table = latex_table(runs)
    assert r"{\small[95\%: 0.25, 0.84]}" in table
    assert r"{\small[80\%: " in table
    markdown = runs_as_markdown(runs)
    assert "(95%: 0.25 to 0.84)" in markdown
    assert "(80%: " in markdown
    assert "(80%: " not in runs_as_markdown(runs[1:])  # where all are the same, the line below says it
