"""The demo does what the README says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import PATIENCE

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(ROOT / "examples", folder / "examples")
    binaries = Path(sys.executable).parent
    done = subprocess.run(
        ["sh", "examples/demo.sh"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", "PYTHONUTF8": "1"},
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "demo-output"


def test_the_summary_is_shown(demo: tuple[str, Path]) -> None:
    shown = " ".join(demo[0].split())
    for part in (
        "EditDistanceEvaluator, n = 7",
        "ContextRecall, n = 7",
        "ResponseEvaluator, n = 6",
        "7 of 8 questions have an answer 71% right (36 to 92), on 7 of 8 questions",
        "token_f1 ↑ 0.43 0.15 to 0.71",
        "references without a result: 1 (qid 7)",
        "turns: 7, answered: 7 (0 of them earlier), shortened: 1",
        "no judge: an answer is correct only where it matches exactly",
        "calls: about 3, and 0 recorded before",
        "semantic_similarity[model=wordllama] ↑ 0.67",
        "response_coverage_rate ↑ 0.88",
        "rouge_l_score[language=en] ↑ 0.66",
        "No difference seen between tuned and basic: 100% right instead of 71% (+29 points, 95%: -26 to +73, ",
        "token_f1 ↑ ? no verdict 0.43 0.81 +0.38 +0.13 to +0.64",
        "a true difference in token_f1 of",
        "written: report.html",
        "the interval rules out a loss of more than 0.05",
        "probability of being right",
    ):
        assert part in shown


def test_the_files_are_written(demo: tuple[str, Path]) -> None:
    shown, folder = demo
    written = sorted(str(path.relative_to(folder.parent)) for path in folder.rglob("*") if path.is_file())
    assert shown.split("Files written:\n")[1].splitlines() == written
    assert len(written) == 28
    rows = (folder / "data" / "evaluation_results" / "spanish_chat.ResponseEvaluator.evaluation.rows.csv").read_text()
    assert rows.splitlines()[0] == (
        "query,ground_truth,actual_response,cosine_similarity,rouge_l_score,exact_match,token_f1,meteor_score,average_score"
    )
