"""Rows of Ragas and DeepEval as their objects are, also whole conversations."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragmeter import ask, evaluate
from ragmeter.errors import InputError
from ragmeter.io.columns import Typed
from ragmeter.io.source import open_source


class Model:
    """As pydantic's models: attributes in `__dict__`, and iteration over names with values."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from self.__dict__.items()


class RagasDataset:
    """As Ragas's EvaluationDataset: it iterates over its samples, and can be a frame."""

    def __init__(self, samples: list[Any]) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[Any]:
        return iter(self.samples)

    def __len__(self) -> int:
        return len(self.samples)

    def to_pandas(self) -> Any:
        raise AssertionError("no frame is needed")


class DeepEvalDataset:
    """As DeepEval's EvaluationDataset: no iteration, and two properties."""

    def __init__(self, test_cases: list[Any] | None = None, goldens: list[Any] | None = None) -> None:
        self._test_cases, self._goldens = test_cases or [], goldens or []

    @property
    def test_cases(self) -> list[Any]:
        return self._test_cases

    @property
    def goldens(self) -> list[Any]:
        return self._goldens


class ToolType(enum.Enum):
    FUNCTION = "function"


SAMPLE = {
    "user_input": "capital?", "response": "It is Paris", "reference": "Paris", "retrieved_contexts": ["Paris is it."],
}  # fmt: skip
CASE = {"input": "capital?", "actual_output": "It is Paris", "expected_output": "Paris", "context": ["ideal"]}
MESSAGES = [
    Model(content="Hello", type="ai", metadata=None, tool_calls=None),
    Model(content="Weather in Rome?", type="human", metadata=None),
    Model(content="I'll look.", type="ai", metadata=None, tool_calls=[Model(name="weather", args={"city": "Rome"})]),
    Model(content="18 degrees", type="tool", metadata=None),
    Model(content="It is 18 degrees.", type="ai", metadata=None, tool_calls=[]),
    Model(content="And", type="human", metadata=None),
    Model(content="in Oslo?", type="human", metadata=None),
    Model(content="4 degrees.", type="ai", metadata=None, tool_calls=None),
]


def sample() -> Model:
    values = {**SAMPLE}
    return Model(**{"rubrics": None, "persona_name": None, "multi_responses": None, **values})


def table(data: Any) -> dict[str, list[Any]]:
    batches = list(Typed(open_source(data), "both", {}).batches())
    return {name: [cell for batch in batches for cell in batch.columns[name]] for name in batches[0].columns}


def case() -> Model:
    passages = [Model(context="Paris is it.", source="a.pdf"), "a text"]
    tools = [Model(name="search", type=ToolType.FUNCTION, output=None, input_parameters={"q": "x"})]
    return Model(**CASE, retrieval_context=passages, tools_called=tools, tags=None, flaky=False)


@pytest.mark.parametrize(
    "data",
    [
        lambda: sample(), lambda: [sample()], lambda: RagasDataset([sample()]),
        lambda: case(), lambda: (case() for _ in range(1)), lambda: DeepEvalDataset([case()], [Model(input="other?")]),
    ],
)  # fmt: skip
def test_one_answer_in_every_form(data: Any) -> None:
    evaluation = evaluate(data(), metrics="token_recall")
    assert evaluation["token_recall"].mean == 1
    rows = evaluation.rows.to_pydict()
    assert (rows["question"], rows["answer"], rows["reference"]) == (["capital?"], ["It is Paris"], [["Paris"]])
    assert rows["contexts"][0][0] == "Paris is it."
    assert {"rubrics", "persona_name", "tags"}.isdisjoint(rows), "attributes that are None make no column"


def test_the_objects_inside_a_test_case() -> None:
    rows = evaluate(case(), metrics="token_recall").rows.to_pydict()
    assert rows["contexts"] == [["Paris is it.", "a text"]]
    assert json.loads(rows["context_details"][0])[0] == {"metadata": {"source": "a.pdf"}}
    call = {"name": "search", "type": "function", "input_parameters": {"q": "x"}}
    assert json.loads(rows["tool_calls"][0]) == [call]
    assert json.loads(rows["context"][0]) == ["ideal"]


def test_questions_without_answers_are_a_dataset() -> None:
    goldens = DeepEvalDataset(goldens=[Model(input="capital?", expected_output="Paris", actual_output=None, id=None)])
    evaluation = ask(goldens, lambda question: "Paris", metrics="exact_match")
    assert evaluation["exact_match"].mean == 1


CONVERSATION: dict[str, list[Any]] = {
    "qid": ["1:0", "1:1"],
    "session_id": ["1", "1"],
    "turn_idx": ["0", "1"],
    "question": ["Weather in Rome?", "And\nin Oslo?"],
    "answer": ["It is 18 degrees.", "4 degrees."],
    "reference": [None, ["4"]],
}


def test_a_conversation_of_ragas(tmp_path: Path) -> None:
    conversation = Model(
        user_input=MESSAGES, reference="4", reference_tool_calls=[Model(name="weather", args={})], rubrics=None
    )
    rows = table(RagasDataset([conversation]))
    assert {name: rows[name] for name in CONVERSATION} == CONVERSATION
    assert rows["tool_calls"] == ['[{"name": "weather", "args": {"city": "Rome"}}]'] * 2
    assert rows["tool_outputs"] == ['["18 degrees"]', None]
    assert rows["expected_tool_calls"] == [None, '[{"name": "weather", "args": {}}]']
    messages = [dict(message) for message in MESSAGES]
    messages[2]["tool_calls"] = [dict(call) for call in messages[2]["tool_calls"]]
    line = json.dumps({"user_input": messages, "reference": "4"})
    (tmp_path / "ragas.jsonl").write_text(f"{line}\n{line}\n")
    rows = table(tmp_path / "ragas.jsonl")
    assert rows["qid"] == ["1:0", "1:1", "2:0", "2:1"]
    assert rows["answer"] == CONVERSATION["answer"] * 2
    evaluation = evaluate(RagasDataset([conversation]), metrics="token_recall")
    assert evaluation["token_recall"].mean == 1
    assert evaluation["token_recall"].n_not_scored == {"no_reference": 1}
    [note] = [note for note in evaluation.summary.notes if "conversations" in note]
    assert "a row for each question of the user" in note


def test_a_conversation_of_deepeval() -> None:
    def turn(role: str, content: str, **values: Any) -> Model:
        return Model(role=role, content=content, user_id=None, **values)

    passages = [Model(context="Rome is warm.", source="w")]
    turns = [
        turn("user", "Weather in Rome?"),
        turn("assistant", "Warm.", retrieval_context=passages, latency_ms=20.0, tools_called=None),
        turn("user", "Thanks"),
    ]
    turns.insert(0, turn("system", "Be kind."))
    conversation = Model(turns=turns, scenario="travel", expected_outcome="helped", context=["ideal"], name=None)
    for data in (conversation, [conversation], DeepEvalDataset([conversation])):
        rows = table(data)
        assert rows["question"] == ["Weather in Rome?", "Thanks"]
        assert rows["answer"] == ["Warm.", None]
        assert rows["contexts"] == [["Rome is warm."], None]
        assert rows["latency_ms"] == [20, None]
        assert rows["ideal_context"] == ['["ideal"]'] * 2
        assert rows["expected_outcome"] == ["helped"] * 2


def test_what_is_no_conversation() -> None:
    for cell in ([], ["text"], [{"content": "x"}], [{"role": "judge", "content": "x"}]):
        with pytest.raises(InputError, match="'user_input' is a list, a text is expected"):
            table([{"user_input": cell, "response": "a"}])
    rows = table([{"turns": 3, "answer": "a"}, SimpleNamespace(turns=4, answer="b")])
    assert rows["turns"] == ["3", "4"]
