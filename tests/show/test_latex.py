"""A table for a paper."""

from __future__ import annotations

from pathlib import Path

from ragmeter.show.latex import latex_table
from tests.show.report.helpers import keep, loaded


def test_the_latex_table(tmp_path: Path) -> None:
    keep(tmp_path)
    lines = latex_table(loaded(tmp_path, "small")).splitlines()
    assert lines[1:4] == ["\\begin{tabular}{lr}", "\\toprule", "metric & small \\\\"]
    assert r"exact\_match $\uparrow$ & 0.5714 {\small[0.2505, 0.8418]} {\small(7)} \\" in lines
    assert lines[-2] == "\\end{tabular}"
