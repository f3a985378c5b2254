"""The comparison on the page of runs side by side."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

import ragmeter
from ragmeter.app import wording
from ragmeter.app.side_by_side import _differences
from ragmeter.runs.comparisons import kept_comparison
from ragmeter.runs.run import Run
from ragmeter.stats.confidence import TESTS
from tests.app.serving import Client, serving
from tests.app.test_pages import ROWS, words
from tests.command import call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, rows in (("a", ROWS), ("b", [{**row, "answer": row["reference"][0]} for row in ROWS])):
        ragmeter.evaluate(rows, metrics="token_f1,exact_match", run=name, output_dir=folder)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with serving(folder) as client:
        yield client


def test_any_test_and_alpha_kept_with_the_runs_and_as_a_command(folder: Path, client: Client) -> None:
    page = client.page("/side-by-side?run=a&run=b&test=t&alpha=0.01")
    text = words(page)
    assert (
        "Paired t test; the headline metric is tested by itself, and so is the other one; significant: p below 0.01."
        in text
    )
    command = unescape(re.search(r'data-copy="([^"]+)"', page)[1])  # type: ignore[index]
    assert command == f"ragmeter compare a b --test t --alpha 0.01 --output-dir {folder} --keep"
    assert "got -0.5" in words(client.page("/side-by-side?run=a&run=b&alpha=-0.5"))
    assert client.post("/side-by-side/keep", run=["a", "b"], test="t", alpha="x").status == 400
    assert client.post("/side-by-side/keep", run="a", test="t", alpha="0.01").status == 400
    assert kept_comparison([Run(folder / "a"), Run(folder / "b")]) is None
    answer = client.post("/side-by-side/keep", run=["a", "b"], test="t", alpha="0.01", change="worse", low="0.2")
    assert json.loads(answer.text)["next"] == "/side-by-side?run=a&run=b&change=worse&low=0.2&test=t&alpha=0.01"
    kept = (folder / "b" / "comparisons" / "a.json").read_text()
    again = words(client.page("/side-by-side?run=a&run=b"))  # what was kept is what is shown
    assert "Kept with the runs on" in again
    assert "p below 0.01" in again
    assert call(shlex.split(command)[1:], folder, {}).returncode == 0
    assert json.loads(kept)["settings"] == json.loads((folder / "b" / "comparisons" / "a.json").read_text())["settings"]


def test_kept_margins_are_in_the_command(tmp_path: Path) -> None:
    for name, rows in (("a", ROWS), ("b", [{**row, "answer": row["reference"][0]} for row in ROWS])):
        ragmeter.evaluate(rows, metrics="token_f1", run=name, output_dir=tmp_path)
    ragmeter.compare(["a", "b"], margin={"token_f1": 0.9}, movers=3, keep=True, output_dir=tmp_path)
    with serving(tmp_path) as client:
        page = client.page("/side-by-side?run=a&run=b")
    assert "· small" in words(page)
    command = unescape(re.search(r'data-copy="([^"]+)"', page)[1])  # type: ignore[index]
    assert "--margin token_f1=0.9" in command


def test_every_test_of_compare_can_be_chosen() -> None:
    assert tuple(wording.TESTS) == TESTS


def test_verdicts_movers_and_slices_are_beside_the_rows(client: Client) -> None:
    text = words(client.page("/side-by-side?run=a&run=b"))
    assert "token_f1 ↑ ▲ better 0.664 1.000 +0.336" in text
    assert re.search(r"Rows that got better .* qid Question Reference a b q\d+ Which number is \d+\?", text)


def test_runs_of_different_judges_have_no_verdict(tmp_path: Path) -> None:
    for name, reply in (("a", "No"), ("b", "Yes")):
        judge = ragmeter.Judge(provider=ragmeter.FakeProvider(reply, model=f"model-{name}"), check=False)
        ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge, run=name, output_dir=tmp_path)
    with serving(tmp_path) as client:
        text = words(client.page("/side-by-side?run=a&run=b"))
    assert "a and b were judged differently (model: model-a, model-b)" in text
    assert "No verdict between b and a: their llm_correct is from different judges." in text
    assert "llm_correct ↑ ? judges differ" in text


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        ("a b c", "a b c", "a b c"),
        ("a b c", "a x y c", "a <del>b</del><ins>x y</ins> c"),
        ("opened in 1950", "closed on Monday", "<del>opened in 1950</del><ins>closed on Monday</ins>"),
        ("", "new", "<ins>new</ins>"),
        ("old words", "", "<del>old words</del>"),
        ("<b>", "<i>", "&lt;<del>b</del><ins>i</ins>&gt;"),
    ],
)
def test_differences(before: str, after: str, marked: str) -> None:
    assert "".join(_differences(before, after)) == marked
