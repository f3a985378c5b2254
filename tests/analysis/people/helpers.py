"""A run to label: its answers, a judge of 0 and 1, and what people would say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ragmeter import evaluate
from ragmeter.runs.run import Run


def questions(count: int = 200, seed: int = 0) -> list[dict[str, Any]]:
    """Answers that are right in other words, right, or wrong; `correct` is what people say."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        correct = rng.random() < 0.7
        same = rng.random() < (0.8 if correct else 0.1)
        rows.append(
            {
                "qid": f"q{number:03}",
                "question": f"What is {number}?",
                "reference": f"it is {number}",
                "answer": f"it is {number}" if same else f"some {number} or so",
                "contexts": [f"page {number}"],
                "domain": ["art", "sport", "law"][number % 3],
                "correct": bool(correct),
            }
        )
    return rows


def make_run(folder: Path, count: int = 200, name: str = "demo", metrics: str = "exact_match,token_f1") -> Run:
    """The run of these questions."""
    evaluation = evaluate(questions(count), metrics=metrics, run=name, output_dir=folder / "runs")
    assert evaluation.folder is not None
    return evaluation.folder


def truth(count: int = 200) -> dict[str, bool]:
    """What people say, by qid."""
    return {row["qid"]: row["correct"] for row in questions(count)}
