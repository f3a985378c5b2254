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


def test_a_judge_with_an_address_of_its_own_gets_no_shared_key_and_no_shared_header(
    ragmeter: Run, tmp_path: Path
) -> None:
    write(tmp_path)
    with JudgeServer(by_model) as server, JudgeServer(by_model) as other, JudgeServer(by_model) as third:
        jury = ("kind", f"exact@{other.url}", f"third@{third.url}#THIRD_KEY")
        done = ragmeter(
            "evaluate", "answers.jsonl", "--metrics", "llm_correct", *(f"--judge-model={name}" for name in jury),
            "--base-url", server.url, "--judge-header", "X-Shared: for one", "--no-judge-check", "--max-unscored", "1",
            env={"OPENAI_API_KEY": "sk-shared", "THIRD_KEY": "sk-third"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        shared, own, named = ("".join(asked.headers).lower() for asked in (server, other, third))
        assert shared.count("bearer sk-shared") == shared.count("x-shared") == 60
        assert "authorization" not in own
        assert "x-shared" not in own + named
        assert named.count("bearer sk-third") == 60
        assert "sk-shared" not in named
        unset = ragmeter(
            "evaluate", "answers.jsonl", "--metrics", "llm_correct", "--judge-model", f"third@{third.url}#sk-secret"
        )
        assert "names a variable for its key that the environment does not have" in unset.stderr
        assert "sk-secret" not in unset.stderr


def test_one_model_with_an_address_of_its_own_is_asked_there(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    judged = ("evaluate", "answers.jsonl", "--metrics", "llm_correct", "--no-judge-check")
    with JudgeServer(by_model) as server:
        env = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
        done = ragmeter(*judged, "--judge-model", f"exact@{server.url}", "--json", env=env)
        assert done.returncode == 0, done.stderr
        assert server.count == 60
        assert {request["model"] for request in server.requests} == {"exact"}
        for run, answer in (("a", "it is 1!"), ("b", "it is 2!")):
            rows = [{**row, "answer": answer} for row in ROWS]
            (tmp_path / f"{run}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            ragmeter("evaluate", f"{run}.jsonl", "--metrics", "exact_match", "--run", run)
        ragmeter("compare", "a", "b", "--preference", "--judge-model", f"exact@{server.url}", env=env)
        assert server.count > 60
        twice = ragmeter(*judged, "--judge-model", f"exact@{server.url}", "--base-url", server.url)
        assert "exact has two addresses" in twice.stderr
    assert "a model's name is missing" in ragmeter(*judged, "--judge-model", "http://127.0.0.1:1/v1").stderr


def test_several_models_are_refused_where_one_is_asked(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    two = ("--judge-model", "a", "--judge-model", "b")
    ragmeter("evaluate", "answers.jsonl", "--metrics", "exact_match", "--run", "r")
    for command in (
        ("compare", "r", "r", "--preference"),
        ("crag", "evaluate", "--turns", "answers.jsonl", "--output-dir", "crag"),
        ("calibrate", "r", "--labels", "labels.csv", "--align"),
    ):
        assert "several models are a jury, which judges llm_correct" in ragmeter(*command, *two).stderr
    for metrics in (("--metrics", "llm_grade"), ("--metrics", "llm_correct,faithfulness"), ("--judge", "cascade")):
        assert "a jury judges llm_correct, and" in ragmeter("evaluate", "answers.jsonl", *metrics, *two).stderr


def test_a_jury_without_a_model_is_refused(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    judged = ("evaluate", "answers.jsonl", "--metrics", "llm_correct", "--judge-model", "offline")
    nobody = ragmeter(*judged, "--judge-model", "encoder:x")
    assert "offline and encoder:x ask no language model, and a jury needs one" in nobody.stderr
    (tmp_path / "ragmeter.toml").write_text('judge = ["offline"]\n', encoding="utf-8")
    for alone in (ragmeter(*judged), ragmeter(*judged[:4])):
        assert "offline is no language model" in alone.stderr
        assert "--metrics offline_correct" in alone.stderr


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


def test_many_ties_have_bounds_and_are_not_asked_about_again(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path)
    with JudgeServer(by_model) as server:
        done = ragmeter(
            "evaluate", "answers.jsonl", "--metrics", "llm_correct", "--judge-model", "kind", "--judge-model", "exact",
            "--base-url", server.url, "--no-judge-check", env={"COLUMNS": "200"},
        )  # fmt: skip
    assert "between 0.67 and 1.00, as many questions are tied" in done.stdout
    assert "an odd number of jurors or of repeats leaves hardly any tie" in done.stdout
    assert "20 of 60 rows have no score" in done.stderr
    assert "--retry-failed" not in done.stderr
