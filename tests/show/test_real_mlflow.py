"""The real MLflow takes a run: its figures, names, parameters and artifacts are there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.pages import ROOT
from tests.tools import QUIET, programs


@pytest.mark.slow
def test_a_run_in_a_database_of_mlflow(tmp_path: Path) -> None:
    script = Path(__file__).with_name("real_mlflow.py")
    environment = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [programs("mlflow") / "python", script, f"sqlite:///{tmp_path / 'mlflow.db'}"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    logged = json.loads(done.stdout.splitlines()[-1])
    assert (logged["name"], logged["status"]) == ("nightly", "FINISHED")
    summary = json.loads((tmp_path / "runs" / "nightly" / "summary.json").read_text())
    names = {"token_f1": "token_f1", "ndcg@10": "ndcg_at_10", "rouge_l_score[language=es]": "rouge_l_score_language_es"}
    for ours, theirs in names.items():
        figures = summary["metrics"][ours]
        assert logged["metrics"][theirs] == figures["mean"]
        assert logged["metrics"][f"{theirs}.n_scored"] == figures["n_scored"]
        assert logged["metrics"][f"{theirs}.n_total"] == 2
    assert [logged["metrics"][f"ndcg_at_10.{end}"] for end in ("low", "high")] == summary["metrics"]["ndcg@10"][
        "interval"
    ]
    assert logged["params"]["statistics.level"] == "0.95"
    assert logged["artifacts"]["summary.json"] == summary
    assert set(logged["artifacts"]) == {"summary.json", "manifest.json"}
    assert "secret?" not in json.dumps(logged), "no questions, no answers"
