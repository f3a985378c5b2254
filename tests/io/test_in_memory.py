"""Rows that Python has in memory, in the forms that people have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
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


@pytest.mark.parametrize("form", FORMS)
def test_rows_in_memory(form: str) -> None:
    evaluation = evaluate(FORMS[form](), metrics="token_f1")
    assert evaluation["token_f1"].n_scored == 3
    assert evaluation["token_f1"].mean == pytest.approx(2 / 3)


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
