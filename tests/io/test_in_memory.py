"""Rows that Python has in memory, in the forms that people have them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragmeter import ask, evaluate
from ragmeter.errors import InputError, UsageError

ROWS: list[dict[str, Any]] = [{"qid": str(n), "answer": "a b", "reference": "a", "contexts": ["x"]} for n in range(3)]


class Dataset:
    """As Hugging Face's: rows are dicts, and a format may make other things of them."""

    column_names, features = tuple(ROWS[0]), None

    def __init__(self, rows: list[dict[str, Any]], format_type: str | None = None) -> None:
        self._rows, self._format = rows, format_type

    def __len__(self) -> int:
        return len(self._rows)

    def with_format(self, format_type: str | None) -> Dataset:
        return Dataset(self._rows, format_type)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            yield {key: np.array(value) for key, value in row.items()} if self._format == "numpy" else row


FORMS: dict[str, Any] = {
    "generator": lambda: (row for row in ROWS),
    "tuple": lambda: tuple(ROWS),
    "dict of lists": lambda: {title: [row[title] for row in ROWS] for title in ROWS[0]},
    "dict of arrays": lambda: {"answer": np.array(["a b"] * 3), "reference": ["a"] * 3},
    "dataset": lambda: Dataset(ROWS),
    "dataset with a format": lambda: Dataset(ROWS, "numpy"),
    "dataset dict with one split": lambda: {"train": Dataset(ROWS)},
}


class LLMTestCase:
    """As DeepEval's: a row is an object, with much besides."""

    def __init__(self, number: int) -> None:
        self.input, self.actual_output, self.expected_output = f"q{number}", "a b", "a"
        self.retrieval_context, self.context = ["x"], ["the ideal one"]
        self.tools_called, self.additional_metadata = None, {"a": 1}
        self._trace = object()


@dataclass
class Slotted:
    """A dataclass without a `__dict__` serves too."""

    __slots__ = ("answer", "qid", "reference")
    qid: str
    answer: str
    reference: str


class Samples:
    """As Ragas' EvaluationDataset: it can be a frame, and iterates over something else."""

    def to_pandas(self) -> Any:
        return pd.DataFrame({"response": ["a b"] * 3, "reference": ["a"] * 3, "retrieved_contexts": [["x"]] * 3})

    def __iter__(self) -> Iterator[int]:
        return iter(range(3))


FORMS |= {
    "list of test cases": lambda: [LLMTestCase(number) for number in range(3)],
    "generator of objects": lambda: (SimpleNamespace(**row) for row in ROWS),
    "objects and dicts": lambda: [Slotted("9", "a b", "a"), SimpleNamespace(**ROWS[0], extra=1), ROWS[1]],
    "named tuples": lambda: [namedtuple("Row", ROWS[0])(**row) for row in ROWS],
    "to_pandas()": Samples,
    "an evaluation": lambda: evaluate(ROWS, metrics="token_f1"),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_in_memory(form: str) -> None:
    evaluation = evaluate(FORMS[form](), metrics="token_f1")
    assert evaluation["token_f1"].n_scored == 3
    assert evaluation["token_f1"].mean == pytest.approx(2 / 3)


def test_objects_are_read_as_the_files_of_their_tool() -> None:
    rows = evaluate([LLMTestCase(1)], metrics="token_f1").rows.to_pydict()
    assert (rows["question"], rows["answer"], rows["reference"]) == (["q1"], ["a b"], [["a"]])
    assert rows["contexts"] == [["x"]]
    assert rows["additional_metadata"] == ['{"a": 1}']
    assert "_trace" not in rows


def test_objects_that_are_no_rows() -> None:
    class Broken:
        def to_pandas(self) -> Any:
            raise ValueError("no frame today")

    for data in ([object()], [print], [int], ["a"], [SimpleNamespace()]):
        with pytest.raises(UsageError, match="can't read rows from list"):
            evaluate(data, metrics="token_f1")
    with pytest.raises(UsageError, match=r"to_pandas\(\) of Broken failed with ValueError: no frame today"):
        evaluate(Broken(), metrics="token_f1")


def test_results_and_reference_may_both_be_generators() -> None:
    results = ({"qid": row["qid"], "answer": row["answer"]} for row in ROWS)
    reference = {"qid": ["0", "1", "2"], "reference": ["a", "a", "a"]}
    assert evaluate(results, reference, metrics="token_recall")["token_recall"].mean == 1


def test_a_split_by_name() -> None:
    splits = {"train": Dataset(ROWS[:1]), "test": Dataset(ROWS)}
    assert evaluate(splits, metrics="token_f1", split="test")["token_f1"].n_scored == 3
    with pytest.raises(UsageError, match=r'the DatasetDict has train, test\n.*split="train"'):
        evaluate(splits, metrics="token_f1")
    with pytest.raises(UsageError, match="has no split 'tests'"):
        evaluate(splits, metrics="token_f1", split="tests")


def test_a_split_to_ask(tmp_path: Path) -> None:
    rows = [{**row, "question": "which?"} for row in ROWS]
    splits = {"train": Dataset(rows[:1]), "test": Dataset(rows)}
    asked = ask(splits, str.upper, metrics="token_f1", split="test", output_dir=tmp_path, progress=False)
    assert asked["token_f1"].n_scored == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"answer": ["a"], "reference": ["a", "b"]}, "the lists differ in length: answer has 1, reference has 2"),
        ({"answer": [], "reference": []}, "the lists have no rows"),
        (Dataset([]), "the data set has no rows"),
        (iter([]), "the list has no rows"),
    ],
)
def test_what_can_t_be_read(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(data, metrics="token_f1")


@pytest.mark.parametrize("data", [{"answer": "a"}, {}, ["a"], 3])
def test_what_has_no_rows(data: Any) -> None:
    with pytest.raises(UsageError, match="can't read rows from"):
        evaluate(data, metrics="token_f1")


@pytest.mark.slow
def test_datasets_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list(ROWS)
    for form in (data, data.with_format("numpy"), data.shuffle(seed=1), data.to_iterable_dataset()):
        evaluation = evaluate(form, metrics="token_f1,valid_citations")
        assert evaluation["token_f1"].mean == pytest.approx(2 / 3)
    splits = datasets.DatasetDict({"train": data.select([0]), "test": data})
    assert evaluate(splits, metrics="token_f1", split="test")["token_f1"].n_scored == 3
