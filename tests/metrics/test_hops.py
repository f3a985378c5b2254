"""Metrics of hops: what an agent retrieved, which tools it called, how many steps it took, and what it cost."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import evaluate
from ragmeter.documents.hops import Hop, read_hops, written_hops
from ragmeter.errors import ColumnError
from ragmeter.metrics.hops import Call, hop_recall, tool_call_f1
from ragmeter.table import NEVER_FOUND, NO_CALLS, NO_HOP_IDS, NO_NUMBER, NOT_HOPS


def hops(*ids: str, **fields: Any) -> str:
    """Retrievals, each with its ids: `a b`."""
    return written_hops([Hop("retrieval", ids=tuple(of_hop.split()), **fields) for of_hop in ids])


MODEL, SEARCH = Hop("llm"), Hop("retrieval", ids=("a",), tool="search", arguments={"query": "x"})
BOOK = Hop("tool", tool="book", arguments={"seats": 2})
AGENT = written_hops([MODEL, SEARCH, BOOK, MODEL])
TEXTS = written_hops([Hop("tool", texts=("Rome",), tool="search")])
MADE = json.dumps([{"name": "search", "args": {"query": "x"}}, {"name": "book", "args": {"seats": 2.0}}])


def calls(*names: Any) -> str:
    return json.dumps(names)


#: A metric, its row, and its score; or the outcome of a row without one.
CASES: list[tuple[str, dict[str, Any], float | str]] = [
    ("hop_recall", {"hops": hops("x", "a", "b a"), "relevant": ["a", "b"]}, 1),
    ("hop_recall@1", {"hops": hops("x", "a", "b a"), "relevant": ["a", "b"]}, 0),
    ("hop_recall@2", {"hops": hops("x", "a", "b a"), "relevant": ["a", "b"]}, 0.5),
    ("hop_recall@9", {"hops": hops("x", "a", "b a"), "relevant": ["a", "b"]}, 1),
    ("hop_recall", {"hops": hops("a::chunk-1 a::chunk-2"), "relevant": ["a"]}, 1),
    ("hop_recall[doc_id=^.]", {"hops": hops("a7"), "relevant": ["a1"]}, 1),
    ("hop_recall", {"hops": hops(""), "relevant": ["a"]}, 0),
    ("hop_recall", {"hops": "[]", "relevant": ["a"]}, 0),
    ("hop_recall", {"hops": AGENT, "relevant": ["a"]}, 1),
    ("hop_recall", {"hops": TEXTS, "relevant": ["a"]}, NO_HOP_IDS),
    ("hop_recall", {"hops": hops("a"), "relevant": []}, "no_relevant"),
    ("hop_recall", {"hops": "no", "relevant": ["a"]}, NOT_HOPS),
    ("hop_recall", {"hops": '[{"kind": "walk"}]', "relevant": ["a"]}, NOT_HOPS),
    ("hop_recall", {"hops": "[" * 100_000, "relevant": ["a"]}, NOT_HOPS),
    ("first_hit_hop", {"hops": hops("x", "a", "b"), "relevant": ["a", "b"]}, 2),
    ("first_hit_hop[gold=all]", {"hops": hops("x", "a", "b"), "relevant": ["a", "b"]}, 3),
    ("first_hit_hop[gold=all]", {"hops": hops("x", "a"), "relevant": ["a", "b"]}, NEVER_FOUND),
    ("first_hit_hop", {"hops": "[]", "relevant": ["a"]}, NEVER_FOUND),
    ("wasted_hops", {"hops": hops("x", "a", "a", "b"), "relevant": ["a", "b"]}, 2),
    ("wasted_hops", {"hops": hops("a", "b"), "relevant": ["a", "b"]}, 0),
    ("wasted_hops", {"hops": "[]", "relevant": ["a"]}, 0),
    ("step_count", {"hops": AGENT}, 4),
    ("step_count", {"hops": "[]"}, 0),
    ("step_count", {"hops": "3"}, NOT_HOPS),
    ("step_count", {"hops": None}, "no_hops"),
    ("step_count[kind=llm]", {"hops": AGENT}, 2),
    ("step_count[kind=tool]", {"hops": AGENT}, 2),
    ("step_count[kind=retrieval]", {"hops": AGENT}, 1),
    ("cost_per_question", {"cost_usd": "0.25"}, 0.25),
    ("cost_per_question", {"cost_usd": "free"}, NO_NUMBER),
    ("tool_calls_match", {"tool_calls": MADE, "expected_tool_calls": MADE}, 1),
    ("tool_calls_match", {"hops": AGENT, "expected_tool_calls": MADE}, 1),
    ("tool_calls_match", {"hops": AGENT, "expected_tool_calls": calls("book", "search")}, 1),
    ("tool_calls_match[order=yes]", {"hops": AGENT, "expected_tool_calls": calls("book", "search")}, 0),
    ("tool_calls_match[order=yes]", {"hops": AGENT, "expected_tool_calls": calls("search", "book")}, 1),
    ("tool_calls_match", {"hops": AGENT, "expected_tool_calls": calls("search")}, 0),
    ("tool_calls_match", {"hops": AGENT, "expected_tool_calls": "[]"}, 0),
    ("tool_calls_match", {"hops": "[]", "expected_tool_calls": "[]"}, 1),
    (
        "tool_calls_match",
        {"hops": AGENT, "expected_tool_calls": calls("search", {"name": "book", "arguments": {"seats": 3}})},
        0,
    ),
    (
        "tool_calls_match[arguments=no]",
        {"hops": AGENT, "expected_tool_calls": calls("search", {"name": "book", "arguments": {"seats": 3}})},
        1,
    ),
    (
        "tool_calls_match",
        {
            "tool_calls": calls({"function": {"name": "search", "arguments": '{"query": "x"}'}}),
            "expected_tool_calls": calls({"name": "search", "args": {"query": "x"}}),
        },
        1,
    ),
    (
        "tool_calls_match",
        {
            "tool_calls": calls({"name": "f", "args": {"a": 1}}),
            "expected_tool_calls": calls({"name": "f", "args": {"a": True}}),
        },
        0,
    ),
    ("tool_calls_match", {"tool_calls": "[3]", "expected_tool_calls": "[]"}, NO_CALLS),
    ("tool_calls_match", {"hops": None, "expected_tool_calls": "[]"}, NO_CALLS),
    ("tool_calls_match", {"hops": AGENT, "expected_tool_calls": None}, "no_expected_tool_calls"),
    ("tool_call_f1", {"hops": AGENT, "expected_tool_calls": calls("search")}, 2 / 3),
    ("tool_call_f1", {"hops": "[]", "expected_tool_calls": "[]"}, 1),
    ("tool_call_f1", {"hops": "[]", "expected_tool_calls": calls("search")}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "row", "expected"), CASES)
def test_worked_cases(metric: str, row: dict[str, Any], expected: float | str) -> None:
    evaluation = evaluate([{"qid": "1", "answer": "a", **row}], metrics=metric)
    (name,) = evaluation.summary.metrics
    score = evaluation.rows[name].to_pylist()[0]
    if isinstance(expected, str):
        assert score is None or math.isnan(score)
        assert evaluation.rows[f"{name}.outcome"].to_pylist() == [expected]
    else:
        assert score == pytest.approx(expected)


def test_a_table_without_hops_is_an_error() -> None:
    with pytest.raises(ColumnError, match="'hops'"):
        evaluate([{"relevant": ["a"]}], metrics="hop_recall")


ids = st.lists(st.sampled_from("abcdefg"), max_size=4)


@given(st.lists(ids, max_size=6), st.sets(st.sampled_from("abcdefg"), min_size=1))
def test_recall_never_falls_and_ends_at_the_whole(of_hops: list[list[str]], gold: set[str]) -> None:
    cell = written_hops([Hop("retrieval", ids=tuple(of_hop)) for of_hop in of_hops])
    scores = [hop_recall.with_settings(k=k)([cell], [sorted(gold)], [None])[0] for k in range(1, len(of_hops) + 2)]
    assert scores == sorted(scores)
    retrieved = {name for of_hop in of_hops for name in of_hop}
    assert scores[-1] == pytest.approx(len(retrieved & gold) / len(gold))


@given(st.lists(st.sampled_from("fg")), st.lists(st.sampled_from("fg")))
def test_the_f1_of_calls_has_no_side(made: list[str], expected: list[str]) -> None:
    one, other = json.dumps(made), json.dumps(expected)
    assert tool_call_f1([one], [None], [other])[0] == tool_call_f1([other], [None], [one])[0]


def test_what_is_written_is_read_again() -> None:
    every = Hop(
        "retrieval", "q", ("a",), ("text \u2028 <b>",), (0.5,), 1.5, 7, 0.01, "search", {"a": [1, None]}, "late"
    )
    assert read_hops(written_hops([every, Hop("llm")])) == (every, Hop("llm"))
    assert Call("a") == Call("a", None)
