"""Kinds by shares, pairs of passages, and categories in DataMorgana's form."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ragmeter.errors import InputError, RagmeterError
from ragmeter.testsets.categories import Categories, read_categories
from ragmeter.testsets.planning import SHARES, Wish, planned_questions, read_shares
from ragmeter.testsets.questions import Passage
from ragmeter.testsets.sampling import Sample
from tests.testsets.writer import passage

CATEGORIES = {
    "user_categories": [
        {
            "categorization_name": "expertise",
            "categories": [
                {"name": "expert", "description": "an expert of history", "probability": 0.25},
                {"name": "novice", "description": "a regular user", "probability": 0.75},
            ],
        }
    ],
    "question_categories": [
        {"name": "phrasing", "categories": [{"name": "long", "description": "a long question"}]},
    ],
}


def passages(n: int, source: str = "s") -> tuple[Passage, ...]:
    return tuple(Passage(f"{source}{number}", passage(number), source) for number in range(n))


def test_counts_follow_the_shares() -> None:
    assert Wish(100, SHARES).counts(list(SHARES)) == {
        "keywords": 20, "fact": 35, "how_why": 20, "comparison": 10, "false_premise": 5, "unanswerable": 10,
    }  # fmt: skip
    for n in range(1, 30):
        assert sum(Wish(n, SHARES).counts(list(SHARES)).values()) == n
    assert Wish(10, SHARES).counts(["fact"]) == {"fact": 10}
    assert Wish(10, SHARES, turns=3).drafts == 4


def test_what_there_are_no_passages_for_is_not_planned() -> None:
    plans = planned_questions(Wish(5, SHARES), Sample(passages(1)))
    assert set(plans) == {"keywords", "fact", "how_why", "false_premise"}


def test_a_comparison_is_about_passages_that_share_words() -> None:
    texts = [
        "The castle of Arden has towers.",
        "Rain falls on the hills.",
        "The towers of Arden are old.",
        "Rain, hills.",
    ]
    sample = Sample(tuple(Passage(str(place), text, "s") for place, text in enumerate(texts)))
    pairs = {
        tuple(one.id for one in plan.passages)
        for plan in planned_questions(Wish(4, {"comparison": 1}), sample)["comparison"]
    }
    assert pairs == {("0", "2"), ("1", "3"), ("2", "0"), ("3", "1")}


def test_shares_are_read() -> None:
    assert read_shares("fact=0.5, how_why") == {"fact": 0.5, "how_why": 1.0}
    for text in ("facts", "fact=x", "fact=-1", "fact=0", "fact=nan"):
        with pytest.raises(RagmeterError):
            read_shares(text)


def test_categories_are_drawn_by_their_probabilities(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(CATEGORIES), encoding="utf-8")
    categories = read_categories(tmp_path / "c.json")
    rng = np.random.default_rng(0)
    drawn = Counter(categories.draw(rng)[0][0].name for _ in range(400))
    assert 240 < drawn["novice"] < 340
    plan = planned_questions(Wish(2, {"fact": 1}, categories), Sample(passages(2)))["fact"][0]
    assert plan.question_categories[0].description == "a long question"
    assert [group.name for group in categories.groups] == ["expertise", "phrasing"]
    assert planned_questions(Wish(2, {"fact": 1}, Categories()), Sample(passages(2)))["fact"][0].user_categories == ()


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "there should be a list"),
        ({"user_categories": [{"name": "x", "categories": []}]}, r"user_categories\[0\] should have"),
        ({"user_categories": [{"name": "x", "categories": [{"name": "a"}]}]}, "a name and a description"),
        (
            {"user_categories": [{"name": "x", "categories": [{"name": "a", "description": "b", "probability": "1"}]}]},
            "should be a number from 0 to 1",
        ),
        (
            {"user_categories": [{"name": "x", "categories": [{"name": "a", "description": "b", "probability": 0.4}]}]},
            "make 0.4, not 1",
        ),
        ({"user_categories": 3}, "should be a list"),
    ],
)
def test_categories_that_are_none(tmp_path: Path, document: object, words: str) -> None:
    (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_categories(tmp_path / "c.json")
