"""Figures as Markdown, LaTeX, PNG and SVG."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragmeter.analysis.comparing import compare
from ragmeter.errors import MissingExtraError
from ragmeter.show.report.exports import escaped, latex, markdown, plain
from ragmeter.show.report.plots import write_figures
from tests.show.report.helpers import METRICS, PAYLOAD, PAYLOADS, keep, keep_hostile, loaded, rows


@given(st.text(max_size=60) | st.sampled_from(PAYLOADS))
def test_markdown_shows_a_text_as_it_is(text: str) -> None:
    shown = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]+", " ", text).split())
    for before in ("", "- "):
        tokens = MarkdownIt("commonmark").enable("table").parse(f"{before}x {plain(text)}")
        inline = [each for token in tokens for each in token.children or []]
        assert {each.type for each in inline} <= {"text", "text_special"}
        assert " ".join("".join(each.content for each in inline).split()) == f"x {shown}".strip()


def test_the_markdown_has_figures_intervals_n_failures_and_slices(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, "other", [{**row, "answer": "gold answer"} for row in rows()])
    runs = loaded(tmp_path, "small", "other")
    text = markdown(runs, compare([run.stored for run in runs]).as_dict())
    assert text.startswith("# small · other\n\n- ")
    assert "| exact\\_match ↑ | 0.5714 (0.2505 to 0.8418), n = 7 of 8 | 0.0000 (0.0000 to 0.3244), n = 8 |" in text
    assert "- 1: no\\_answer, the row has no answer (token\\_f1, exact\\_match)" in text
    assert "| music | 0.6667, n = 3 (few) | 0.6667, n = 3 (few) | 0.5000, n = 4 (few) |" in text
    assert "few: fewer than 30 rows" in text
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    assert rendered.count("<table>") == 3


def test_the_latex_table(tmp_path: Path) -> None:
    keep(tmp_path)
    lines = latex(loaded(tmp_path, "small")).splitlines()
    assert lines[1:4] == ["\\begin{tabular}{lr}", "\\toprule", "metric & small \\\\"]
    assert r"exact\_match $\uparrow$ & 0.5714 {\small[0.2505, 0.8418]} {\small(7)} \\" in lines
    assert lines[-2] == "\\end{tabular}"


@given(st.text() | st.just(PAYLOAD))
def test_latex_has_no_command_of_a_text(text: str) -> None:
    shown = escaped(text)
    left = re.sub(r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar)\{\}", "", shown)
    left = re.sub(r"\\[&%$#_{}]|\{[\[\]\"]\}", "", left)
    assert not re.findall(r"[\\&%$#_{}~^\n]", left)


def test_figures_are_drawn_whatever_things_are_called(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = [keep_hostile(tmp_path).name, keep_hostile(tmp_path, "$\\frac{1}$ 質問", seed=1).name]
    paths = write_figures(loaded(tmp_path, *names), tmp_path / "figures")
    assert len(paths) == len(set(paths)) == 2 * (1 + 2 + 2 * 2)  # means, two metrics, two slices of each run
    assert all(path.parent == tmp_path / "figures" for path in paths)
    for path in paths:
        if path.suffix == ".svg":
            root = ElementTree.parse(path).getroot()  # noqa: S314 - we have just written it
            assert not [each for each in root.iter() if each.tag.endswith(("script", "foreignObject", "}image"))]
        else:
            assert path.read_bytes().startswith(b"\x89PNG")


def test_the_same_run_gives_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    keep(tmp_path)
    first = {path.name: path.read_bytes() for path in write_figures(loaded(tmp_path, "small"), tmp_path / "a")}
    again = {path.name: path.read_bytes() for path in write_figures(loaded(tmp_path, "small"), tmp_path / "b")}
    assert first == again
    assert set(first) == {
        f"{name}.{kind}"
        for name in ("means", *(f"distribution-{each}" for each in METRICS.split(",")), "slices-domain")
        for kind in ("svg", "png")
    }


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"ragmeter\[figures\]"):
        write_figures(loaded(tmp_path, "small"), tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
