"""At which hop an answer failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter.documents.hops import Hop, written_hops
from ragmeter.metrics.causes.hops import FailedAt, failed_at
from ragmeter.wording.answer_causes import hop_sentence, hops_sentence
from tests.conftest import Run

HOPS = written_hops(
    [
        Hop("llm"),
        Hop("retrieval", ids=("x",), tool="search"),
        Hop("retrieval", ids=("a", "y"), tool="lookup"),
        Hop("tool", tool="book", error="full"),
    ]
)


@pytest.mark.parametrize(
    ("cause", "hops", "relevant", "place", "sentence"),
    [
        ("not_retrieved", HOPS, ["b"], FailedAt("not_retrieved", 2, 2, "lookup"), "none of its 2 retrievals found it"),
        ("retrieved_not_used", HOPS, ["a"], FailedAt("retrieved_not_used", 2, 2, "lookup"),
         "retrieval 2 of 2 (lookup) found it, and what came after did not use it"),
        ("misread", HOPS, ["b"], None, ""),
        ("misread", HOPS, None, None, ""),
        ("failed", HOPS, ["a"], FailedAt("failed", 4, 4, "book", "full"), "it failed at hop 4 of 4 (book): full"),
        ("failed", written_hops([Hop("llm")]), ["a"], None, ""),
        ("right", HOPS, ["a"], None, ""),
        ("not_retrieved", "[]", ["a"], None, ""),
        ("not_retrieved", "no", ["a"], None, ""),
        ("not_retrieved", None, ["a"], None, ""),
    ],
)  # fmt: skip
def test_the_hop(cause: str, hops: Any, relevant: Any, place: FailedAt | None, sentence: str) -> None:
    assert failed_at(cause, hops, relevant) == place
    if place is not None:
        assert hop_sentence(place.cause, place.hop, place.of, place.tool, place.error) == sentence


def test_many_places_are_few_words() -> None:
    counts = {str(hop): 2 for hop in range(1, 101)}
    assert hops_sentence({"not_retrieved": counts}) == (
        "By hop: not retrieved, retrievals 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, later: 190."
    )


def test_a_run_and_a_row_say_it(tmp_path: Path, ragmeter: Run) -> None:
    rows = [
        {"qid": str(number), "question": "Which city?", "answer": "Rome", "reference": "Paris", "relevant": [gold],
         "retrieved": ["x", "a", "y"], "contexts": ["x", "Paris is it.", "y"], "hops": HOPS}
        for number, gold in enumerate(["a", "b"])
    ]  # fmt: skip
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    done = ragmeter("evaluate", "--results", path, "--metrics", "offline_correct,hop_recall", "--run", "r")
    assert "By hop: not retrieved, retrievals 2: 1; retrieved, not used, found by retrieval 2: 1." in done.stdout
    shown = ragmeter("explain", "r", "0")
    assert "retrieval 2 of 2 (lookup) found it" in shown.stdout
    (record,) = json.loads(ragmeter("explain", "r", "1", "--json").stdout)
    assert record["hop"] == {"cause": "not_retrieved", "hop": 2, "of": 2, "tool": "lookup", "error": None}


def test_a_run_without_hops_has_none(tmp_path: Path) -> None:
    row = {"question": "q?", "answer": "Rome", "reference": "Paris", "relevant": ["a"], "retrieved": ["b"]}
    evaluation = ragmeter.evaluate([row], metrics="offline_correct", output_dir=tmp_path)
    assert evaluation.summary.cause is not None
    assert "hops" not in evaluation.summary.cause.as_dict()
