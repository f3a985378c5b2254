"""The parts of Compare: the heading, the counts, the drawings, and rows as hostile text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ragmeter
from ragmeter.runs.run import Run
from ragmeter.show.page.compare import causes, charts, slices
from ragmeter.show.page.compare.parts import first_screen, more_charts
from ragmeter.show.page.compare.row_list import OfRun, PairedRow, marked, row_list
from ragmeter.show.page.compare.verdict import change_words, heading, row_counts
from ragmeter.show.page.compare.view import CompareView
from ragmeter.show.page.elements import plain
from ragmeter.table import NUMBER_COLUMNS
from ragmeter.wording.metrics import groups_of
from tests.show.report.helpers import PAYLOAD


class Tags(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def view_of(folder: Path, right: dict[str, set[int]], count: int = 60, **more: Any) -> CompareView:
    for name, rows in right.items():
        data = [
            {
                "qid": f"q{i}",
                "question": f"Q{i}",
                "reference": ["gold"],
                "answer": "gold" if i in rows else "no",
                "contexts": ["It is gold." if i in rows else "Nothing."],
                "relevant": ["d"],
                "retrieved": ["d" if i in rows else "x", "y"],
                "topic": "art" if i % 2 else "science",
                **more,
            }
            for i in range(count)
        ]
        metrics = "offline_correct,token_f1,recall@1,recall@2"
        ragmeter.evaluate(data, metrics=metrics, run=name, output_dir=folder)
    comparison = ragmeter.compare(list(right), output_dir=folder)
    return CompareView(comparison, comparison.pairs[0], {name: Run(folder / name) for name in right})


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CompareView:
    return view_of(tmp_path_factory.mktemp("runs"), {"old": set(range(20)), "new": set(range(5, 50))})


def test_the_heading_is_the_sentence_of_the_comparison_in_parts(view: CompareView) -> None:
    text = plain(heading(view))
    assert text.startswith("B is better: 75% right instead of 33%+42 points (95%: +")
    assert "on 60 questions · better on 4 of 4 metrics, none worse · paired" in text
    assert (
        "paired randomisation test; the headline metric is tested by itself, the other 3 tests are Holm-corrected"
        in text
    )
    assert view.pair.sentence.startswith("new is better: 75% right instead of 33% (+42 points, 95%: +")
    assert view.comparison.test_sentence in str(heading(view))  # on hover


def test_every_row_is_counted_once(view: CompareView) -> None:
    counts = row_counts(view)
    assert counts == {"better": 30, "worse": 5, "same": 25, "right": 15, "wrong": 10}
    assert sum(counts[change] for change in ("better", "worse", "right", "wrong")) == 60


def test_a_time_that_got_worse_is_said_with_the_metrics(view: CompareView) -> None:
    slower = replace(view.headline, verdict="worse")
    text = plain(heading(replace(view, times={"latency_ms": slower})))
    assert "better on 4 of 4 metrics, none worse; worse: latency" in text


def test_the_screen_has_its_four_questions(view: CompareView) -> None:
    page = plain(first_screen(view, "the rows"))
    order = [page.index(words) for words in ("By how much?", "Where?", "Why?", "Which?")]
    assert order == sorted(order)
    assert "answer" in page[order[0] : order[1]]
    assert "retrieval" in page[order[0] : order[1]]
    assert "change in share right by topic (n ≥ 20)" in page
    assert plain(slices.where(view)).startswith("art+43 pts · 30science")
    assert "B's remaining errors: 15 retriever." in plain(causes.why(view))


def test_metrics_are_grouped_by_what_they_read() -> None:
    groups = groups_of(["ndcg@10", NUMBER_COLUMNS[0], "faithfulness", "token_f1", "made_up"])
    assert list(groups.items()) == [
        ("token_f1", "answer"), ("made_up", "answer"), ("ndcg@10", "retrieval"), ("faithfulness", "grounding"),
        ("latency_ms", "cost"),
    ]  # fmt: skip


def test_recall_by_rank_needs_two_cuts_and_latency_has_a_dot_for_each_run(view: CompareView) -> None:
    assert plain(charts.recall_by_rank(view)).count("recall@k") == 1
    assert charts.quality_by_time(view, None) == ""  # these runs have no latency
    assert "token_f1" in plain(more_charts(view, None))
    assert charts.both_scores(view) == ""  # right and wrong have cards


def test_a_metric_that_is_not_0_or_1_has_a_scatter(tmp_path: Path) -> None:
    for name, answers in (("a", ["x y", "x", "z"]), ("b", ["x y", "x y", "z w"])):
        rows = [{"qid": f"{i}", "answer": answers[i % 3], "reference": "x y w"} for i in range(30)]
        ragmeter.evaluate(rows, metrics="token_f1", run=name, output_dir=tmp_path)
    comparison = ragmeter.compare(["a", "b"], output_dir=tmp_path)
    view = CompareView(comparison, comparison.pairs[0], {name: Run(tmp_path / name) for name in "ab"})
    drawn = charts.both_scores(view)
    assert str(drawn).count("<circle") == 3
    assert "10 rows: A " in str(drawn)
    assert "got worse" in plain(first_screen(view, None))


def test_texts_of_rows_stay_texts(view: CompareView) -> None:
    side = OfRun(PAYLOAD, 0.0, "not_retrieved", None)
    row = PairedRow(PAYLOAD, PAYLOAD, PAYLOAD, side, OfRun(None, None, lacking=PAYLOAD), None)
    page = Tags(row_list(view, "offline_correct", [row]))
    assert page.tags <= {"div", "details", "summary", "span", "bdi", "p", "ins", "del"}
    assert page.attributes <= {"class", "dir", "title", "aria-hidden"}


@pytest.mark.parametrize(
    ("before", "after", "lost", "added"),
    [
        ("a b c", "a b c", "a b c", "a b c"),
        ("a b c", "a x y c", "a <del>b</del> c", "a <ins>x y</ins> c"),
        ("opened in 1950", "closed on Monday", "<del>opened in 1950</del>", "<ins>closed on Monday</ins>"),
        ("", "new", "", "<ins>new</ins>"),
        ("old words", "", "<del>old words</del>", ""),
        ("<b>", "<i>", "&lt;<del>b</del>&gt;", "&lt;<ins>i</ins>&gt;"),
    ],
)
def test_each_answer_is_whole_and_marks_its_own_words(before: str, after: str, lost: str, added: str) -> None:
    assert "".join(marked(before, after, "del")) == lost
    assert "".join(marked(after, before, "ins")) == added


def test_the_words_of_a_change_are_those_of_the_metric() -> None:
    metrics: dict[str, Any] = {
        name: SimpleNamespace(binary=binary, direction=direction)
        for name, binary, direction in (
            ("offline_correct", True, "higher"), ("offline_hallucinated", True, "lower"), ("token_f1", False, "higher"),
        )
    }  # fmt: skip
    said = {name: change_words(name, result)["worse"].partition(" —")[0] for name, result in metrics.items()}
    assert said == {
        "offline_correct": "right → wrong", "offline_hallucinated": "no → yes", "token_f1": "got worse",
    }  # fmt: skip
