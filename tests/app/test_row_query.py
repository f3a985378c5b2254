"""Which rows an address asks for, and what of it can't be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

import ragmeter
from ragmeter.app.conditions import Condition
from ragmeter.app.figures import Figures, Histogram
from ragmeter.app.queries import Database
from ragmeter.app.row_query import RowQuery, presets
from ragmeter.app.run_parts import _in_bar, _p_of_slice
from ragmeter.errors import UsageError
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import address
from tests.make_runs import make_run, summary_of

NAN = float("nan")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Six rows by two judges, and the chance of a hallucination."""
    scores = {
        "llm_correct": [0.0, 1.0, NAN, 0.0, 1.0, 1.0],
        "offline_correct": [0.0, 0.0, 1.0, 1.0, NAN, 1.0],
        "offline_hallucination": [0.9, 0.5, 0.1, NAN, 0.2, 0.49],
    }
    return make_run(tmp_path / "r", scores)


def places(run: Run, **wanted: Any) -> list[int]:
    return Database().rows(run, RowQuery(**wanted)).places


def test_ready_made_choices(run: Run) -> None:
    assert places(run, show=("wrong",)) == [0, 3]
    assert places(run, show=("hallucinated",)) == [0, 1]
    assert places(run, show=("no_score",)) == [2, 3, 4]
    assert places(run, show=("disagree",)) == [1, 3]
    assert places(run, show=("wrong", "disagree")) == [3]
    assert places(run, show=("wrong", "no_score", "hallucinated")) == []


def test_hallucinated_rows_and_those_that_decline(tmp_path: Path) -> None:
    rows = [
        {"qid": "a", "question": "Who wrote it?", "answer": "Ann Low wrote it.", "contexts": ["Ann Low wrote it."]},
        {"qid": "b", "question": "Who wrote it?", "answer": "Bob Hill of Rome did.", "contexts": ["Ann Low wrote it."]},
        {"qid": "c", "question": "Who wrote it?", "answer": "I don't know.", "contexts": ["Ann Low wrote it."]},
    ]
    ragmeter.evaluate(rows, metrics="offline_hallucinated", run="said", output_dir=tmp_path)
    run = Run(tmp_path / "said")
    said = run.scores("offline_hallucinated")
    assert places(run, show=("is_hallucinated",)) == [place for place, score in enumerate(said) if score == 1]
    assert places(run, show=("no_score",)) == [2]


def test_rows_with_the_same_verdict_are_sorted_by_the_probability(tmp_path: Path) -> None:
    scores = {
        "right": [1.0, 0.0, 0.0, 1.0],
        "token_f1": [0.1, 0.2, 0.3, 0.4],
        "right_probability": [0.9, 0.4, 0.1, 0.6],
    }
    assert places(make_run(tmp_path / "sure", scores), sort="right") == [2, 1, 3, 0]
    del scores["right_probability"]
    assert places(make_run(tmp_path / "unsure", scores), sort="right", descending=True) == [3, 0, 2, 1]


def test_a_choice_is_offered_where_the_run_has_its_columns(tmp_path: Path) -> None:
    whole = make_run(tmp_path / "whole", {"token_f1": [0.5, 1.0]})
    assert presets(whole) == {}
    one = make_run(tmp_path / "one", {"llm_correct": [0.0, 1.0], "token_f1": [NAN, 1.0]})
    assert presets(one) == {"wrong": ("llm_correct",), "no_score": ("token_f1",)}


@pytest.mark.parametrize(
    ("comparison", "value", "expected"),
    [
        ("=", "0.5", [1]),
        ("!=", "0.5", [0, 2, 4, 5]),  # a row without a score is not another score
        ("<", "0.5", [2, 4, 5]),
        ("<=", "0.5", [1, 2, 4, 5]),
        (">", "0.5", [0]),
        (">=", "0.5", [0, 1]),
        (":none", "", [3]),
        (":some", "", [0, 1, 2, 4, 5]),
    ],
)
def test_comparisons_of_numbers(run: Run, comparison: str, value: str, expected: list[int]) -> None:
    assert places(run, conditions=(Condition("offline_hallucination", comparison, value),)) == expected


def test_all_conditions_hold(run: Run) -> None:
    wrong, likely = Condition("llm_correct", "=", "0"), Condition("offline_hallucination", ">=", "0.5")
    assert places(run, conditions=(wrong, likely)) == [0]
    query = RowQuery(page=3).with_condition(wrong).with_condition(likely, wrong)
    assert (query.conditions, query.page) == ((wrong, likely), 1)
    assert query.without(wrong).conditions == (likely,)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


@given(
    search=TEXTS,
    texts=st.lists(st.tuples(st.sampled_from(["=", "!=", "~", ":none", ":some"]), TEXTS), max_size=3),
    numbers=st.lists(st.tuples(st.sampled_from([">=", "<", ":none"]), st.integers(-5, 5)), max_size=3),
    page=st.integers(1, 900),
    descending=st.booleans(),
    markdown=st.booleans(),
)
def test_an_address_says_all_of_it(
    wide: Run, search: str, texts: Any, numbers: Any, page: int, descending: bool, markdown: bool
) -> None:
    conditions = [Condition("odd = & name", is_, "" if is_ in (":none", ":some") else value) for is_, value in texts]
    conditions += [Condition("token_f1", is_, "" if is_ == ":none" else str(value)) for is_, value in numbers]
    columns, by, unique = ("qid", "odd = & name"), "odd = & name", tuple(dict.fromkeys(conditions))
    query = RowQuery(search, unique, ("no_score",), "token_f1", descending, page, columns, markdown, by)
    written = address("run", "r", **query.as_query()).partition("?")[2]
    assert RowQuery.of(wide, QueryParams(written)) == query


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Run:
    rows = [
        {"qid": str(i), "answer": "a" if i else None, "reference": "a", "odd = & name": f"v{i % 2}"} for i in range(6)
    ]
    folder = tmp_path_factory.mktemp("runs")
    ragmeter.evaluate(rows, metrics="token_f1", run="r", output_dir=folder)
    return Run(folder / "r")


def test_figures_of_slices_and_histograms(wide: Run) -> None:
    figures = Figures(Database())
    assert figures.slices(wide) == wide.slices() == ["odd = & name"]
    odd, even = figures.on_slices(wide, "odd = & name")
    assert {row.value: (row.n_rows, row.figures) for row in (odd, even)} == {
        "v0": (3, ((1.0, 2),)),
        "v1": (3, ((1.0, 3),)),
    }
    assert figures.values(wide, "odd = & name") == ["v0", "v1"]
    with pytest.raises(UsageError, match="does not part the rows"):
        figures.on_slices(wide, "answer")
    assert figures.histograms(wide)["token_f1"].counts[-1] == 5


def test_bars_of_a_histogram_have_each_row_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = [*rng.random(300).round(2).tolist(), 0.0, 10 / 3, NAN]
    run = make_run(tmp_path / "r", {"score": scores})
    bars = Histogram.of(run, "score")
    assert bars is not None
    assert sum(bars.counts) == 302
    for place, count in enumerate(bars.counts):
        is_last = place + 1 == len(bars.counts)
        conditions = _in_bar("score", bars.edges[place], bars.edges[place + 1], is_whole=False, is_last=is_last)
        assert Database().rows(run, RowQuery(conditions=conditions)).total == count


def test_a_slice_differs_where_a_test_says_so() -> None:
    overall = summary_of(mean=0.5, sd=0.5, n_total=400, n_scored=400)
    assert _p_of_slice(overall, 0.6, 20) > 0.05  # some luck
    assert _p_of_slice(overall, 0.9, 40) < 1e-4
    assert _p_of_slice(overall, 1.0, 9) == 1.0  # too few
    assert _p_of_slice(overall, None, 0) == 1.0
    of_conversations = summary_of(mean=0.5, sd=0.5, n_total=400, n_scored=400, n_clusters=20)
    assert _p_of_slice(of_conversations, 0.9, 40) > 0.05
