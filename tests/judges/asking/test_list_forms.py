"""Replies that are lists: what counts as one, and what does not."""

from __future__ import annotations

import json

import pytest

from ragmeter.judges.asking.list_forms import Items, Labels

ITEMS = Items("claims", "answer")
WORDS = {"Supported": "supported", "Contradicted": "contradicted", "Neither": "not mentioned"}
LABELS = Labels(WORDS, {"neutral": "not mentioned"})
THREE = {"claims": "1. a\n2. b\n3. c"}


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("- Paris is a city.\n- It is in France.", ["Paris is a city.", "It is in France."]),
        ("1. one\n2) two\n(3) three", ["one", "two", "three"]),
        ("* one\n\n• two", ["one", "two"]),
        ("The claims are:\n- one", ["one"]),
        ('["one", "two"]', ["one", "two"]),
        ('```json\n["one"]\n```', ["one"]),
        ("<think>hm</think>- one", ["one"]),
        ("None", []),
        ("[]", []),
        ("- a   b\tc", ["a b c"]),
    ],
)
def test_a_list_is_read(reply: str, items: list[str]) -> None:
    value = ITEMS.read(reply, {})
    assert value is not None
    assert json.loads(value["value"]) == items


@pytest.mark.parametrize(
    "reply",
    ["", "Paris is a city.", "- one\nand that is all", "The claims are:", "[1, 2]", '[""]', '{"claims": []}', "-"],
)
def test_anything_else_is_not(reply: str) -> None:
    assert ITEMS.read(reply, {}) is None


@pytest.mark.parametrize(
    "reply",
    [
        "1: Supported\n2: Contradicted\n3: Neither",
        "1. **supported**\n2. contradicted.\n\n3. neutral",
        "Claim 1: Supported\nClaim 2: Contradicted\nClaim 3: neither",
    ],
)
def test_labels_are_read(reply: str) -> None:
    value = LABELS.read(reply, THREE)
    assert value is not None
    assert json.loads(value["value"]) == ["supported", "contradicted", "not mentioned"]


@pytest.mark.parametrize(
    "reply",
    [
        "1: Supported\n2: Contradicted",  # leaves one out
        "1: Supported\n2: Contradicted\n2: Neither",  # one of them twice
        "1: Supported\n3: Neither\n2: Contradicted",  # in another order
        "1: Supported\n2: Maybe\n3: Neither",
        "Supported\nContradicted\nNeither",
        "Supported",
        "1: Supported\n2: Contradicted\n3: Neither\n4: Supported",
        "All claims:\n1: Supported\n2: Contradicted\n3: Neither",
    ],
)
def test_labels_that_do_not_fit_what_was_sent_are_no_reply(reply: str) -> None:
    assert LABELS.read(reply, THREE) is None


def test_a_single_claim_needs_no_number() -> None:
    assert LABELS.read("Supported.", {"claims": "1. a"}) == {"value": '["supported"]'}
    assert LABELS.read("1: Supported", {"claims": "1. a"}) == {"value": '["supported"]'}
    alone = Labels(WORDS, alone=True)
    assert alone.read("Neither", {"claims": "a claim"}) == {"value": '["not mentioned"]'}
    assert alone.read("Neither, since", {"claims": "a claim"}) is None


@pytest.mark.parametrize(
    ("reply", "claims", "problem"),
    [
        ("1: Supported\n2: Neither", "1. a", "2 labels for 1 claim"),
        ("Supported\nNeither", "a", "2 labels for 1 claim"),
        ("Supported", "1. a\n2. b", "1 label for 2 claims"),
        ("1: Supported\n2: Neither", "1. a\n2. b", ""),
        ("1: Supported\n2: Maybe\n3: Neither", "1. a\n2. b", ""),  # no list of labels at all
        ("1: Supported\nThat is all.", "1. a", ""),
        ("", "1. a", ""),
    ],
)
def test_what_is_wrong_with_a_list_of_labels(reply: str, claims: str, problem: str) -> None:
    assert LABELS.problem(reply, {"claims": claims}) == problem
    assert ITEMS.problem(reply, {"claims": claims}) == ""


def test_what_is_labelled_has_its_own_noun() -> None:
    assert Labels(WORDS, alone=True, noun="fact").problem("1: Neither\n2: Neither", {}) == "2 labels for 1 fact"


@pytest.mark.parametrize("count", [500, 501, 100_000])
def test_an_endless_list_is_none(count: int) -> None:
    """Each claim would be asked about."""
    items = [f"The claim {number}." for number in range(count)]
    for reply in ("\n".join(f"- {item}" for item in items), json.dumps(items)):
        read = ITEMS.read(reply, {})
        assert (read is not None) == (count == 500)


def test_a_line_of_spaces_takes_no_time() -> None:
    assert ITEMS.read("- a\n-" + " " * 200_000 + "\n- b", {}) is None
