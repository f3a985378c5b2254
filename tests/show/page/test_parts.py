"""Parts of pages: colours of runs, signs of verdicts, notes and controls."""

from __future__ import annotations

import re
from pathlib import Path

from ragmeter.runs.run import Run
from ragmeter.show.page import parts
from ragmeter.show.page.elements import breakable, text
from ragmeter.show.page.parts import alarm, chip, hidden, stat, tints, verdict, worded

STYLE = Path(parts.__file__).with_name("style.css").read_text(encoding="utf-8")


def test_more_runs_than_colours(tmp_path: Path) -> None:
    runs = [Run(tmp_path / str(i) / "run") for i in range(20)]
    assert set(tints(runs)) == {f"run-{i}" for i in range(parts.N_TINTS)}


def test_no_run_is_green_or_red() -> None:
    """Green and red mean better and worse, and nothing else."""
    colours = re.findall(r"--run-\d: #(\w{2})(\w{2})(\w{2})", STYLE)
    assert len(colours) == 3 * parts.N_TINTS  # light, dark by the system, dark by choice
    for red, green, blue in (tuple(int(part, 16) for part in colour) for colour in colours):
        assert not (green > red + 20 and green > blue + 20)
        assert not (red > green + 70 and red > blue + 70)


def test_a_verdict_has_a_sign_beside_its_colour() -> None:
    assert "▲" in verdict("better", "+1")
    assert "▼" in verdict("worse", "-1")
    assert 'class="tone even"' in verdict("even", "0")


def test_texts_stay_texts() -> None:
    hostile = "<script>x</script>"
    shown = stat(hostile, hostile, href="/a?b=<i>", title=hostile) + chip(text(hostile)) + alarm(hostile, failed=True)
    assert "<script" not in shown
    assert "<i>" not in shown
    assert "<code>" in "".join(map(str, worded("see `summary.json`")))


def test_names_break_where_they_are_put_together() -> None:
    assert str(breakable("ret-bm25_small.v2/x")).count("<wbr>") == 4


def test_a_hidden_field_for_each_value() -> None:
    assert len(hidden({"run": ["a", "b"], "page": None, "search": ""})) == 2
