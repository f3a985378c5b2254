"""docs/scale.md, run as it stands there: Ray, Spark and DuckDB write the scores that evaluate() computes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter import evaluate
from tests.conftest import load_rows

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "scale.md"
ENGINES = ("ray", "pyspark", "duckdb")
METRICS = ("token_f1", "rouge_l_score")


def block_of(engine: str) -> str:
    """The code in the document that uses an engine."""
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if re.search(rf"^(import|from) {engine}\b", block, re.MULTILINE)]
    return str(block)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_writes_the_same_scores(engine: str, tmp_path: Path) -> None:
    rows = [
        {"qid": f"{place:04}", "reference": row["reference"], "answer": None if place % 7 == 0 else row["answer"]}
        for place, row in enumerate(load_rows("evouna.jsonl"))
    ]
    (tmp_path / "answers").mkdir()
    for place, begin in enumerate(range(0, len(rows), 100)):
        pq.write_table(pa.Table.from_pylist(rows[begin : begin + 100]), tmp_path / "answers" / f"{place}.parquet")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}  # as in an activated environment
    command = [sys.executable, "-c", block_of(engine)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    written = [path for path in tmp_path.rglob("*.parquet") if "scored-by" in str(path)]
    scored = pa.concat_tables([pq.read_table(path).cast(_schema(written[0])) for path in written]).sort_by("qid")
    expected = evaluate(rows, metrics=METRICS).rows
    for name in METRICS:
        assert scored[name].to_numpy().tobytes() == expected[name].to_numpy().tobytes()
        assert scored[f"{name}.outcome"].to_pylist() == expected[f"{name}.outcome"].to_pylist()


def _schema(path: Path) -> pa.Schema:
    return pq.read_schema(path).remove_metadata()
