"""Several `--judge-model`s, and `ragmeter calibrate --jury`, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import Run
from tests.judge_server import Action, JudgeServer, completion, texts

ROWS = [
    {
        "qid": f"q{n}",
        "question": f"What is {n}?",
        "reference": f"number {n}",
        "answer": f"it is {n if n % 3 else 'none'}!",
    }
    for n in range(60)
]


def write(folder: Path) -> None:
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    labels = "".join(f"{row['qid']},{'correct' if n % 3 else 'wrong'}\n" for n, row in enumerate(ROWS))
    (folder / "labels.csv").write_text(f"qid,label\n{labels}", encoding="utf-8")


def by_model(request: dict[str, Any], number: int) -> Action:
    """`kind` says Yes to all, `exact` to what is right."""
    shown = texts(request)
    is_right = shown["answer"] == f"it is {shown['question'].removeprefix('What is ').removesuffix('?')}!"
    return Action(body=completion("Yes" if request["model"] == "kind" or is_right else "No"))


def test_from_answers_to_a_panel(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    with JudgeServer(by_model) as server, JudgeServer(by_model) as other:
        jury = ("--judge-model", "kind", "--judge-model", f"exact@{other.url}", "--judge-model", "offline")
        command = (
            "evaluate", "answers.jsonl", "--metrics", "llm_correct", *jury, "--base-url", server.url,
            "--no-judge-check", "--run", "r", "--max-unscored", "1",
        )  # fmt: skip
        planned = ragmeter(*command, "--dry-run")
        assert "kind: about 60 calls" in planned.stdout, planned.stderr
        assert "exact: about 60 calls" in planned.stdout
        assert server.count == 0
        done = ragmeter(*command)
        assert done.returncode == 0, done.stderr
        assert "jury_correct[jurors=kind+exact+offline]" in done.stdout.replace("\n", "").replace(" ", "")
        assert done.stdout.splitlines()[0].startswith("67% right"), done.stdout  # the jury's, not a juror's
        assert server.count == other.count == 60
    shown = ragmeter("calibrate", "r", "--labels", "labels.csv", "--jury", "--panel", "0.95", env={"COLUMNS": "140"})
    assert shown.returncode == 0, shown.stderr
    assert "jurors beside each other" in shown.stdout
    assert "the cheapest panel that agrees with people 95% of the time: exact, " in shown.stdout
    assert "on the other half" in shown.stdout
    result = json.loads(
        ragmeter("calibrate", "r", "--labels", "labels.csv", "--jury", "--json", "--output", "jury.json").stdout
    )
    assert [juror["name"] for juror in result["jurors"]] == ["kind", "exact", "offline"]
    assert json.loads((tmp_path / "jury.json").read_text()) == result
    refused = ragmeter("calibrate", "r", "--labels", "labels.csv", "--jury", "--threshold", "0.5")
    assert "--threshold has no effect with --jury" in refused.stderr


def test_a_jury_in_the_file_of_a_project(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    with JudgeServer(by_model) as server:
        for judge in (
            f'judge = ["kind@{server.url}", "exact@{server.url}", "offline"]\n',
            f'[judge]\nmodel = ["kind", "exact", "offline"]\nbase_url = "{server.url}"\ncheck = false\n',
        ):
            (tmp_path / "ragmeter.toml").write_text(judge, encoding="utf-8")
            done = ragmeter("evaluate", "answers.jsonl", "--metrics", "llm_correct", "--json", "--no-judge-check")
            assert "jury_correct[jurors=kind+exact+offline]" in json.loads(done.stdout)["metrics"], done.stderr


def test_a_jury_without_a_model_is_refused(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    nobody = ragmeter(
        "evaluate", "answers.jsonl", "--metrics", "llm_correct", "--judge-model", "offline",
        "--judge-model", "encoder:x",
    )  # fmt: skip
    assert "none of the jurors asks a language model" in nobody.stderr


def test_limits_are_those_of_all_models_together(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    with JudgeServer(by_model) as server:
        done = ragmeter(
            "evaluate", "answers.jsonl", "--metrics", "llm_correct", "--judge-model", "kind", "--judge-model", "exact",
            "--base-url", server.url, "--max-calls", "20", "--no-judge-check", "--json", "--max-unscored", "1",
        )  # fmt: skip
        judges = json.loads(done.stdout)["judges"]
        assert [judges[f"verdict[juror={name}]"]["usage"]["calls"] for name in ("kind", "exact")] == [
            10,
            10,
        ]  # row by row
