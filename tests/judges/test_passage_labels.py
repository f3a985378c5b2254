"""Labels that name the passages which they come from: what is read, and what is no reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragmeter import FakeProvider, evaluate
from ragmeter.judges.asking.list_forms import listed
from ragmeter.judges.passage_labels import MOST_CHARACTERS, groups_of_passages, shown
from ragmeter.judges.support import support_by_passages
from tests.judge_rows import judge, planned

YES, AGAINST, NO = "supported", "contradicted", "not mentioned"
ROW = {
    "question": "q",
    "answer": "a",
    "claims": ["Paris is big.", "It is old."],
    "contexts": ["one", "two", "three"],
}


def read(reply: str, n_claims: int = 2) -> list[list[str]] | str:
    """The labels, or what is wrong."""
    sent = {**shown(["one", "two", "three"], 3)[0], "claims": listed([f"claim {n}" for n in range(n_claims)])}
    form = support_by_passages.with_texts(sent).form
    columns = form.read(reply, sent)
    return form.problem(reply, sent) if columns is None else json.loads(columns["value"])


@pytest.mark.parametrize(
    "reply",
    [
        "1: Supported 2\n2: Neither",
        "1: Supported: 2\n2: Neither: 1",
        "1. supported (passage 2)\n2. not mentioned",
        "Claim 1: **Supported** by passage 2.\n\nClaim 2: Neither.",
        "1: Supported [2]\n2: Neutral",
        "1: Entailment, passages 2\n2: Unsupported",
        "```\n1: Supported - 2\n2: Neither\n```",
    ],
)
def test_labels_with_their_passages(reply: str) -> None:
    assert read(reply) == [[NO, YES, NO], [NO, NO, NO]]


def test_several_passages_and_a_contradiction() -> None:
    assert read("1: Supported 1, 3\n2: Contradicted by passages 2 and 3") == [[YES, NO, YES], [NO, AGAINST, AGAINST]]
    assert read("1: Supported by passage 1 and passage 3\n2: Supported: 1, 2, and 3") == [[YES, NO, YES], [YES] * 3]


@pytest.mark.parametrize("reply", ["Yes 2", "Supported, 2", "1: Yes: 2", "*Yes* passage 2."])
def test_a_single_claim_needs_no_number(reply: str) -> None:
    assert read(reply, 1) == [[NO, YES, NO]]


def test_a_label_without_a_passage_counts_for_the_nearest() -> None:
    sent = {
        **shown(["Lyon lies on the Rhône.", "Paris has been the capital for long.", "Nice is warm."], 3)[0],
        "claims": listed(["Paris is the capital.", "Nice is cold.", "Rome is old."]),
    }
    form = support_by_passages.with_texts(sent).form
    columns = form.read("1: Supported\n2: Contradicted\n3: Neither", sent)
    assert columns is not None
    assert json.loads(columns["value"]) == [[NO, YES, NO], [NO, NO, AGAINST], [NO, NO, NO]]
    alone = {**sent, "claims": "Paris is the capital."}
    columns = support_by_passages.with_texts(alone).form.read("Yes.", alone)
    assert columns == {"value": json.dumps([[NO, YES, NO]])}


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("1: Neither\n2: Contradicted: 4", "passage 4 of 3 named for claim 2"),
        ("1: Supported 0\n2: Neither", "passage 0 of 3 named for claim 1"),
        ("1: Supported 1", "1 label for 2 claims"),
        ("1: Supported 1\n2: Neither\n3: Neither", "3 labels for 2 claims"),
        ("2: Supported 1\n1: Neither", ""),
        ("1: Supported 1\n1: Neither", ""),
        ("1: Supported 1 or 2\n2: Neither", ""),
        ("1: Supported 1-3\n2: Neither", ""),
        ('1: Supported 1\nPassage 1: "Paris is"\n2: Neither', ""),
        ("1: Maybe 1\n2: Neither", ""),
        ("1: Supported by the first\n2: Neither", ""),
        ("1: Supported: 07727ff6\n2: Neither", ""),
        ("Sure! 1: Supported 1\n2: Neither", ""),
        ("1: Supported 1, Contradicted 2\n2: Neither", ""),
        ("Neither", ""),
        ("Neither, I think", ""),
        ("", ""),
    ],
)
def test_what_is_no_reply(reply: str, problem: str) -> None:
    assert read(reply) == problem


def test_a_reply_with_a_passage_that_was_not_shown_is_asked_for_again_and_never_counted(tmp_path: Path) -> None:
    provider = FakeProvider("1: Supported 4\n2: Neither")
    result = evaluate(
        [ROW], metrics="faithfulness", judge=judge(provider, tries=2, passages_per_call=3), output_dir=tmp_path
    )
    assert result["faithfulness"].n_not_scored == {"unparsable": 1}
    assert result.summary.judges["support_by_passages"].causes == {"unparsable: passage 4 of 3 named for claim 1": 1}
    assert len(provider.prompts) == 2


def test_repeats_count_each_passage_of_a_claim(tmp_path: Path) -> None:
    replies = ["Supported 1, 2", "Supported 2, 3", "Supported 2", "Neither", "Supported 1", "Contradicted 1"]
    row = {**ROW, "claims": ["Paris is big."]}
    tied = {**ROW, "claims": ["It is old."]}
    asked = judge(FakeProvider(replies), repeats=3, workers=1, passages_per_call=3)
    result = evaluate([row, tied], metrics="faithfulness", judge=asked, output_dir=tmp_path)
    assert result.rows["support_by_passages"].to_pylist() == [json.dumps([[NO, YES, NO]]), None]
    assert result["faithfulness"].n_not_scored == {"tied": 1}


def test_passages_are_shown_together_as_far_as_they_fit() -> None:
    third = "x" * (MOST_CHARACTERS // 3)
    assert groups_of_passages(["a", "b", "c"], 10) == [["a", "b", "c"]]
    assert groups_of_passages(["a", "b", "c"], 2) == [["a", "b"], ["c"]]
    assert groups_of_passages(["a", "b", "c"], 1) == [["a"], ["b"], ["c"]]
    assert groups_of_passages([third] * 5, 10) == [[third] * 3, [third] * 2]
    assert groups_of_passages(["a", 4 * third, "b"], 10) == [["a"], [4 * third], ["b"]]
    assert groups_of_passages([], 10) == []


def test_labels_of_several_calls_are_put_together(tmp_path: Path) -> None:
    """Five passages, two to a call, one of them blank; three claims, two to a call."""
    replies = {
        ("1. a\n2. b", "Passage 1", "p"): "1: Supported 2\n2: Neither",
        ("c", "Passage 1", "p"): "Contradicted 1",
        ("1. a\n2. b", "Passage 1", "r"): "1: Neither\n2: Supported 1, 2",
        ("c", "Passage 1", "r"): "Neither",
    }

    def reply(prompt: str) -> str:
        return next(
            text
            for (claims, name, passage), text in replies.items()
            if f"] {claims} [" in prompt and f"] {passage} [" in prompt and name in prompt
        )

    provider = FakeProvider(reply)
    row = {**ROW, "claims": ["a", "b", "c"], "contexts": ["p", " ", "q", "r", "s"]}
    asked = judge(provider, claims_per_call=2, passages_per_call=2)
    result = evaluate([row], metrics="faithfulness", judge=asked, output_dir=tmp_path)
    assert json.loads(result.rows["support_by_passages"][0].as_py()) == [
        [NO, "no text", YES, NO, NO],
        [NO, "no text", NO, YES, YES],
        [AGAINST, "no text", NO, NO, NO],
    ]
    assert len(provider.prompts) == 4


def test_a_single_passage_has_the_words_of_several_where_they_are_shown_together(tmp_path: Path) -> None:
    provider = FakeProvider(lambda prompt: "Yes" if "Passage 1: [" in prompt else "Neither")
    row = {**ROW, "claims": ["Paris is big."], "contexts": ["Paris is big."]}
    together = evaluate([row], metrics="faithfulness", judge=judge(provider, passages_per_call=10), output_dir=tmp_path)
    assert together["faithfulness"].mean == 1.0
    alone = evaluate([row], metrics="faithfulness", judge=judge(provider), output_dir=tmp_path)
    assert alone["faithfulness"].mean == 0.0


@pytest.mark.parametrize(("claims", "passages", "calls"), [(10, 1, 3), (10, 2, 2), (1, 10, 2), (1, 1, 6), (10, 10, 1)])
def test_the_estimate_is_what_is_asked(tmp_path: Path, claims: int, passages: int, calls: int) -> None:
    provider = FakeProvider("x")
    asked = judge(provider, claims_per_call=claims, passages_per_call=passages, tries=1)
    assert planned([ROW], "faithfulness", asked, tmp_path)["calls"] == calls
    evaluate([ROW], metrics="faithfulness", judge=asked, output_dir=tmp_path)
    assert len(provider.prompts) == calls
