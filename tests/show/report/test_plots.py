"""Figures as PNG and SVG."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ragmeter.errors import MissingExtraError
from ragmeter.show.report.plots import write_figures
from tests.show.report.helpers import METRICS, keep, keep_hostile, loaded


def test_figures_are_drawn_whatever_things_are_called(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = [keep_hostile(tmp_path).name, keep_hostile(tmp_path, "$\\frac{1}$ 質問", seed=1).name]
    paths = write_figures(loaded(tmp_path, *names), tmp_path / "figures")
    assert len(paths) == len(set(paths)) == 2 * (1 + 2 + 2 * 2)  # means, two metrics, two slices of each run
    assert all(path.parent == tmp_path / "figures" for path in paths)
    for path in paths:
        if path.suffix == ".svg":
            root = ElementTree.parse(path).getroot()  # noqa: S314 - we have just written it
            assert not [
                element for element in root.iter() if element.tag.endswith(("script", "foreignObject", "}image"))
            ]
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
        for name in ("means", *(f"distribution-{metric}" for metric in METRICS.split(",")), "slices-domain")
        for kind in ("svg", "png")
    }


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"\[figures\]"):
        write_figures(loaded(tmp_path, "small"), tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
