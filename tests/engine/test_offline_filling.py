"""Columns that are filled without a model, wherever the scoring happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ragmeter import evaluate, score_table
from ragmeter.documents.summary import Abstained
from ragmeter.errors import ColumnError
from tests.engine.test_parts import write
from tests.in_parts import in_parts

NAME = "faithfulness[judge=offline]"


def rows(count: int = 40) -> list[dict[str, Any]]:
    return [
        {
            "qid": f"q{place}",
            "answer": "I don't know." if place % 5 == 0 else f"The tower has {place} floors. Bananas grow on plants.",
            "contexts": [f"The tower has {place} floors.", "It rains."],
            "unanswerable": "yes" if place % 10 == 0 else "no",
        }
        for place in range(count)
    ]


def test_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.engine.parts.sources.PART_BYTES", 2_000)
    folder = write(tmp_path / "data", rows())
    settings: dict[str, Any] = {"metrics": f"{NAME},abstention_correct", "output_dir": tmp_path}
    whole = evaluate(rows(), run="whole", **settings)
    parts = in_parts(folder, run="parts", **settings)
    assert whole[NAME].mean == parts[NAME].mean == 0.5
    assert whole["abstention_correct"].mean == parts["abstention_correct"].mean == 0.9
    assert whole.summary.abstained == parts.summary.abstained == Abstained(n=8, right=4, wrong=4)
    assert whole.manifest.offline == parts.manifest.offline
    column = "support_by_passages[judge=offline]"
    assert parts.rows[column].to_pylist() == whole.rows[column].to_pylist()


def test_score_table() -> None:
    table = pa.Table.from_pylist(rows(4))
    scores = score_table(table, NAME)
    assert scores[NAME].to_pylist() == [None, 0.5, 0.5, 0.5]
    assert scores[f"{NAME}.outcome"].to_pylist() == ["abstained", *["scored"] * 3]
    with pytest.raises(ColumnError, match="contexts"):
        score_table(table.drop_columns(["contexts"]), NAME)
