"""A run whose answers are missing does not look fine: not when it is scored, compared, or checked by a gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

ROWS: list[dict[str, Any]] = [
    {
        "qid": str(n),
        "question": f"What is capital {n}?",
        "reference": f"Paris {n}",
        "answer": f"Paris {n}",
        "relevant": ["fr"],
        "retrieved": ["fr", "it"],
    }
    for n in range(12)
]


def score(ragmeter: Run, folder: Path, name: str, answers: dict[int, str | None]) -> str:
    rows = [{**row, "answer": answers.get(n, row["answer"])} for n, row in enumerate(ROWS)]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = ragmeter("evaluate", f"{name}.jsonl", "--run", name)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("answer", "more"), [(None, ""), ("", ", 12 an empty one")])
def test_a_run_without_an_answer(ragmeter: Run, tmp_path: Path, answer: str | None, more: str) -> None:
    assert score(ragmeter, tmp_path, "good", {}).startswith("100% right")
    said = f"0 of 12 questions have an answer{more}"
    assert score(ragmeter, tmp_path, "bad", dict.fromkeys(range(12), answer)).startswith(f"{said}\n")
    assert ragmeter("summary", "bad").stdout.startswith(f"{said}\n")
    for form in ([], ["--markdown"]):
        compared = ragmeter("compare", "good", "bad", *form).stdout.replace("\\", "").lstrip("*")
        assert compared.startswith(f"bad has no offline_correct ({said}): ")
    gated = ragmeter("gate", "bad", "--fail-under", "offline_correct=0.5")
    assert gated.returncode == 2
    assert "bad has no offline_correct, since no row has an answer" in gated.stderr
    assert "unknown metric 'nonsense'" in ragmeter("gate", "bad", "--fail-under", "nonsense=0.5").stderr


def test_a_run_without_some_answers(ragmeter: Run, tmp_path: Path) -> None:
    score(ragmeter, tmp_path, "good", {})
    printed = score(ragmeter, tmp_path, "part", {3: None, 4: None, 5: "  "})
    assert printed.startswith("9 of 12 questions have an answer, 1 an empty one\n")
    assert "the row has no answer" in printed  # the cause `failed`
    for form in ([], ["--markdown"]):
        first = ragmeter("compare", "good", "part", *form).stdout.partition("\n")[0]
        part = "on the 10 of 12 questions that both have a score for (2 of the candidate have no answer)."
        assert part in first
    assert "(2 of the baseline have no answer)." in ragmeter("compare", "part", "good").stdout.partition("\n")[0]


def test_empty_answers_of_a_csv_file(ragmeter: Run, tmp_path: Path) -> None:
    lines = [f"{n},What is capital {n}?,{'' if n < 9 else 'Rome'},Paris {n}" for n in range(12)]
    (tmp_path / "e.csv").write_text("\n".join(["qid,question,answer,reference", *lines]), encoding="utf-8")
    printed = ragmeter("evaluate", "e.csv").stdout
    assert printed.startswith("3 of 12 questions have an answer, 9 an empty one\n")
