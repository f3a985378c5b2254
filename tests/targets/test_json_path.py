"""Paths into a reply, and questions put into a request as data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.errors import UsageError
from ragmeter.targets.json_path import JsonPath, fill, read_request

DOCUMENT = {
    "answer": "yes",
    "data": {"answer": "deep", "none": None},
    "events": [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": ["c"]}, {"no": 3}],
    "choices": [{"message": {"content": "hi"}}],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("answer", ["yes"]),
        ("data.answer", ["deep"]),
        ("events[*].id", [1, 2]),
        ("events[1].id", [2]),
        ("events[*].tags[*]", ["a", "b", "c"]),
        ("events.id", [1, 2]),
        ("choices[0].message.content", ["hi"]),
        ("events", [DOCUMENT["events"]]),
        ("data.none", []),
        ("nothing", []),
        ("answer.more", []),
        ("events[9]", []),
        ("data[0]", []),
        ("[0]", []),
    ],
)
def test_where_a_path_leads(path: str, values: list[Any]) -> None:
    assert JsonPath.parse(path).find(DOCUMENT) == values


@pytest.mark.parametrize("path", ["", "a[", "a[x]", "a]b", "[", "a..b", "."])
def test_paths_that_are_none(path: str) -> None:
    with pytest.raises(UsageError):
        JsonPath.parse(path)


@given(st.text())
def test_a_question_goes_in_as_data(question: str) -> None:
    values: dict[str, Any] = {
        "question": question,
        "qid": "1",
        "session_id": None,
        "conversation_id": None,
        "history": [],
    }
    template = {
        "q": "{question}",
        "deep": ["say: {question}", 7],
        "id": "{session_id}",
        "h": "{history}",
        "x": "{other}",
    }
    assert fill(template, values) == {
        "q": question, "deep": [f"say: {question}", 7], "id": None, "h": [], "x": "{other}",
    }  # fmt: skip


def test_a_request_that_is_no_json() -> None:
    with pytest.raises(UsageError, match="not JSON"):
        read_request("{question}")
