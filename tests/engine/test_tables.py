"""score_table: Arrow in, Arrow out, the same numbers however an engine cuts a data set."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ragmeter import evaluate, score_table
from ragmeter.errors import ColumnError, UsageError
from tests.conftest import load_rows

METRICS = "token_f1,edit_distance,exact_match"


def rows() -> pa.Table:
    """Real answers, some missing, some calls failed."""
    loaded = [{"qid": str(place), **row} for place, row in enumerate(load_rows("evouna.jsonl"))]
    loaded = [{name: row[name] for name in ("qid", "reference", "answer")} for row in loaded]
    for place, row in enumerate(loaded):
        row["answer"] = None if place % 11 == 0 else row["answer"]
        row["error"] = "HTTP 500" if place % 17 == 0 else None
    return pa.Table.from_pylist(loaded)


def test_the_scores_are_those_of_evaluate() -> None:
    scored = score_table(rows(), METRICS)
    evaluation = evaluate(rows(), metrics=METRICS)
    assert scored.schema.names[:4] == ["qid", "reference", "answer", "error"]
    for name in METRICS.split(","):
        values = scored[name].to_numpy()
        np.testing.assert_array_equal(values, evaluation.rows[name].to_numpy())
        assert scored[f"{name}.outcome"].to_pylist() == evaluation.rows[f"{name}.outcome"].to_pylist()
        assert scored[name].null_count == evaluation[name].n_total - evaluation[name].n_scored


@pytest.mark.parametrize("size", [1, 7, 499])
def test_it_does_not_matter_how_the_table_is_cut(size: int) -> None:
    function = pickle.loads(pickle.dumps(partial(score_table, metrics=METRICS)))  # noqa: S301 - our own
    pieces = [function(batch) for batch in rows().slice(0, 100).to_batches(max_chunksize=size)]
    assert pa.concat_tables(pieces).equals(function(rows().slice(0, 100)))


def test_a_table_without_rows_has_the_same_columns() -> None:
    empty = score_table(rows().slice(0, 0), METRICS)
    assert empty.schema == score_table(rows(), METRICS).schema
    assert empty.num_rows == 0


def test_vectors_are_filled_too() -> None:
    table = rows().slice(0, 20)
    scored = score_table(table, "semantic_similarity", model="wordllama")
    expected = evaluate(table, metrics="semantic_similarity", embedding_model="wordllama").rows
    name = scored.schema.names[-2]
    np.testing.assert_array_equal(scored[name].to_numpy(), expected[name].to_numpy())


def test_columns_by_other_titles_and_of_the_same_name_as_a_score() -> None:
    table = pa.table({"gold": ["a b"], "said": ["a b"], "token_f1": ["mine"]})
    scored = score_table(table, "token_f1", columns={"reference": "gold", "answer": "said"})
    assert scored.to_pylist() == [
        {"gold": "a b", "said": "a b", "input.token_f1": "mine", "token_f1": 1.0, "token_f1.outcome": "scored"}
    ]


@pytest.mark.parametrize(
    ("table", "metrics", "error", "words"),
    [
        (pa.table({"answer": ["a"]}), "token_f1", ColumnError, "needs the column 'reference'"),
        (pa.table({"answer": ["a"], "reference": ["a"]}).slice(0, 0), "mrr", ColumnError, "needs the column"),
        (pa.table({"answer": ["a"], "reference": ["a"]}), "llm_correct", UsageError, "only a judge can fill"),
        ([1, 2], "token_f1", UsageError, "can't score a list"),
    ],
)
def test_errors(table: Any, metrics: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        score_table(table, metrics)
