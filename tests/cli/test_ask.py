"""`ragmeter ask`, put to a real application: plain, streamed, as a function, and through all kinds of trouble."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ragmeter import Run
from ragmeter.effects.replies.journal import Journal
from tests.command import PATIENCE, interrupt, wait_for
from tests.conftest import Run as Command
from tests.judge_server import Action, JudgeServer, completion
from tests.provider_servers import AnthropicServer

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = EXAMPLES / "agenda_qa.jsonl"
METRICS = "token_f1,response_coverage_rate"


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    """The example application, as a process on a port of its own."""
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "rag_app.py"), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    port = process.stdout.readline().strip()
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.communicate()


def asking(target: str, *more: str | Path) -> list[str | Path]:
    return ["ask", "--dataset", QUESTIONS, "--target", target, "--metrics", METRICS, *more]


def over_http(app: str, path: str = "query") -> list[str | Path]:
    return asking(
        f"{app}/{path}", "--request", '{"q": "{question}", "session_id": "{session_id}"}',
        "--retrieved-path", "events[*].id", "--contexts-path", "events[*].text", "--run", "agenda",
    )  # fmt: skip


def results(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((path / "results.json").read_text())
    return document


def test_over_http(ragmeter: Command, tmp_path: Path, app: str) -> None:
    done = ragmeter(*over_http(app), "--output", "results.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "response_coverage_rate ↑   0.88" in done.stdout  # 15 of 17
    assert "latency_ms: median" in done.stdout
    document = results(tmp_path)
    assert document["total_questions"] == 17
    assert document["metrics"]["response_coverage_rate"] == pytest.approx(15 / 17)
    assert "no answer says what was retrieved" not in done.stdout
    first = document["results"][0]
    assert list(first)[:5] == ["question", "ground_truth", "generated_answer", "similarity", "satisfaction"]
    last = document["results"][-1]
    assert last["question"] == "And where is it?"
    assert "couldn't find" not in last["generated_answer"]  # the session was kept
    assert document["summary"]["numbers"]["latency_ms"]["n"] == 17
    manifest = json.loads((tmp_path / "runs" / "agenda" / "manifest.json").read_text())
    assert manifest["target"]["url"] == f"{app}/query"


def test_a_stream_and_the_plain_reply_say_the_same(ragmeter: Command, tmp_path: Path, app: str) -> None:
    ragmeter(*over_http(app), "--output", "results.json")
    plain = results(tmp_path)
    done = ragmeter(*over_http(app, "stream"), "--run", "streamed", "--output", "results.json")
    assert "time_to_first_token_ms: median" in done.stdout
    streamed = results(tmp_path)
    for one, other in zip(plain["results"], streamed["results"], strict=True):
        assert one["generated_answer"] == other["generated_answer"]
        assert one["retrieved"] == other["retrieved"]
    times = streamed["summary"]["numbers"]
    assert times["time_to_first_token_ms"]["p50"] < times["latency_ms"]["p50"]


def test_as_a_function_and_as_an_object(ragmeter: Command, tmp_path: Path) -> None:
    env = {"PYTHONPATH": str(EXAMPLES.parent)}
    done = ragmeter(*asking("examples.rag_app:pipeline"), "--output", "results.json", env=env)
    assert done.returncode == 0, done.stderr
    assert results(tmp_path)["metrics"]["response_coverage_rate"] == pytest.approx(14 / 17)  # it has no memory
    done = ragmeter(*asking("examples.rag_app:Agenda"), "--output", "results.json", env=env)
    assert results(tmp_path)["metrics"]["response_coverage_rate"] == pytest.approx(15 / 17)


def test_a_finished_run_is_asked_anew_unless_it_is_resumed(ragmeter: Command, tmp_path: Path, app: str) -> None:
    ragmeter(*over_http(app), "--output", "results.json")
    first = results(tmp_path)
    done = ragmeter(*over_http(app), "--output", "results.json")
    assert "questions: 17 (0 answered before); calls made now: 17" in done.stdout
    assert done.stderr == ""
    done = ragmeter(*over_http(app), "--output", "results.json", "--resume")
    assert "questions: 17 (17 answered before); calls made now: 0" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("agenda: 17 of 17 answers are from 20")
    assert line.endswith("UTC, when this run was begun; whether the target has changed since then can't be known")
    again = results(tmp_path)
    assert [row["generated_answer"] for row in again["results"]] == [
        row["generated_answer"] for row in first["results"]
    ]
    assert again["summary"]["reused_answers"] in line
    done = ragmeter("evaluate", "--run", "agenda", "--metrics", "exact_match,token_f1")
    assert "exact_match" in done.stdout


def test_only_what_failed_is_asked_again(ragmeter: Command, tmp_path: Path) -> None:
    asked: list[str] = []
    broken = True

    def behave(request: dict[str, Any], number: int) -> Action:
        asked.append(request["question"])
        if broken and "lantern" in request["question"].lower():
            return Action(body=b"<html>oops</html>")
        return Action(body={"answer": f"answer {number}"})

    with JudgeServer(behave) as server:
        command = asking(f"http://127.0.0.1:{server.port}/", "--output", "results.json", "--run", "r", "--retries", "0")
        done = ragmeter(*command, "--retry-failed")
        assert (done.returncode, asked) == (2, [])
        assert "there is no run 'r' to retry" in done.stderr
        ragmeter(*command)
        before = results(tmp_path)["results"]
        failed = [row["question"] for row in before if row["error"]]
        assert 0 < len(failed) < 17
        broken = False
        asked.clear()
        done = ragmeter(*command, "--retry-failed")
        assert sorted(asked) == sorted(failed)
        assert f"r: {17 - len(failed)} of 17 answers are from" in done.stderr
    after = results(tmp_path)["results"]
    assert not any(row["error"] for row in after)
    assert [row for row in before if not row["error"]] == [
        row for row, old in zip(after, before, strict=True) if not old["error"]
    ]
    with JudgeServer(behave) as server:
        done = ragmeter(*command[:4], f"http://127.0.0.1:{server.port}/other", *command[5:], "--retry-failed")
        assert done.returncode == 2
        assert "the target has changed since then (url)" in done.stderr


def test_names_with_a_number(ragmeter: Command, tmp_path: Path) -> None:
    with JudgeServer(lambda request, number: Action(body={"answer": "x"})) as server:
        command = asking(f"http://127.0.0.1:{server.port}/", "--run", "nightly-{n}")
        for _ in range(2):
            assert ragmeter(*command).returncode == 0
        assert ragmeter(*command, "--resume").returncode == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir()) == ["nightly-1", "nightly-2"]


def test_a_model_as_a_baseline(ragmeter: Command, tmp_path: Path) -> None:
    with JudgeServer(lambda request, number: Action(body=completion("At Mill Bridge."))) as server:
        done = ragmeter(
            *asking("openai:gpt-4o", "--base-url", server.url, "--output", "results.json"),
            env={"OPENAI_API_KEY": "sk-x"},
        )
    assert done.returncode == 0, done.stderr
    assert "cost: $" in done.stdout
    assert results(tmp_path)["metrics"]["response_coverage_rate"] == 0.0  # it retrieves nothing


def test_no_key_is_in_any_file_of_a_run(ragmeter: Command, tmp_path: Path) -> None:
    """A server that says its keys back, in answers and in errors: run folder, journal and output have none of them."""
    keys = {"ANTHROPIC_API_KEY": "sk-ant-canary-01234567", "TRACE": "trace-canary-01234567"}
    echo = " ".join(keys.values())
    trouble = AnthropicServer.error(400, f"bad {echo}")
    with AnthropicServer(f"You sent {echo}.", trouble) as server:
        done = ragmeter(
            *asking("anthropic:m-1", "--base-url", server.root, "--header", "X-Trace: id $TRACE", "--retries", "0"),
            env=keys,
        )
    assert done.returncode == 3, done.stderr  # one question failed
    assert "X-Trace: id trace-canary-01234567" in server.headers[0]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    rows = [str(pq.read_table(path).to_pylist()) for path in files if path.suffix == ".parquet"]
    assert any("You sent *** ***." in text and "bad *** ***" in text for text in rows)
    for text in (*rows, *(path.read_text("latin-1") for path in files), done.stdout, done.stderr):
        assert "canary" not in text


def test_failures_are_counted_and_not_scored(ragmeter: Command, tmp_path: Path) -> None:
    def behave(request: dict[str, Any], number: int) -> Action:
        if "lantern" in request["question"].lower():
            return Action(body=b"<html>oops</html>")
        return Action(body={"answer": "Error"})

    with JudgeServer(behave) as server:
        command = asking(f"http://127.0.0.1:{server.port}/", "--output", "results.json", "--retries", "0")
        done = ragmeter(*command)
        assert "target_error: the reply is HTML" in done.stdout
        failed = [row for row in results(tmp_path)["results"] if row["error"]]
        assert failed
        assert all(row["generated_answer"] is None for row in failed)
        assert all(row["scores"] == {"token_f1": None, "response_coverage_rate": 0.0} for row in failed)
        assert "no answer says what was retrieved: that counts as nothing" in done.stdout
        assert "--retrieved-path says where it is in the reply, for example 'events[*].id'" in done.stdout
        share = len(failed) / 17
        assert done.returncode == (3 if share > 0.05 else 0)
        assert ragmeter(*command, "--max-unscored", "1").returncode == 0


def test_phrases_of_ones_own(ragmeter: Command, tmp_path: Path, app: str) -> None:
    (tmp_path / "phrases.toml").write_text('en = ["is at"]\nes = ["es en"]\n')
    ragmeter(*over_http(app), "--fallback", "phrases.toml", "--output", "results.json")
    name = results(tmp_path)["metric_names"]["response_coverage_rate"]
    assert name == 'response_coverage_rate[fallback="is at|es en"]'
    (tmp_path / "phrases.txt").write_text("# a comment\nis at\n")
    ragmeter(*over_http(app), "--fallback", "phrases.txt", "--output", "results.json")
    name = results(tmp_path)["metric_names"]["response_coverage_rate"]
    assert name == 'response_coverage_rate[fallback="is at"]'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nothing:at_all"], "no module 'nothing'"),
        (["--target", "json:nothing"], "unknown name in json"),
        (["--target", "ftp://x"], "unknown kind of target 'ftp:'"),
        (["--target", "opnai:gpt-4o", "--base-url", "http://x"], "did you mean openai:"),
        (["--target", "http://127.0.0.1:9/", "--request", "{question}"], "not JSON"),
        (["--target", "http://127.0.0.1:9/", "--request", "{}"], "has no {question}"),
        (["--target", "http://127.0.0.1:9/", "--answer-path", "a["], "can't read the path"),
        (["--target", "http://127.0.0.1:9/", "--header", "X-Key: $NOT_SET"], "$NOT_SET, which is not set"),
        (["--target", "http://127.0.0.1:9/", "--base-url", "http://x"], "--base-url has no effect"),
        (["--target", "json:dumps", "--answer-path", "x"], "--answer-path has no effect"),
        (["--target", "json:dumps", "--workers", "0"], "--workers must be at least 1"),
        (["--target", "json:dumps", "--judge-model", "m", "--judge-retries", "-1"], "--judge-retries must be at least"),
        (["--target", "json:dumps", "--judge-model", "m", "--judge-give-up-after", "0"], "--judge-give-up-after must"),
        (["--target", "json:dumps", "--judge-model", "m", "--judge-timeout", "0"], "--judge-timeout must be above 0"),
        (["--target", "json:dumps", "--judge-model", "m", "--judge-budget", "1"], "with --judge-prices, or limit"),
        (["--target", "json:dumps", "--metrics", "tokn_f1"], "did you mean token_f1"),
        (["--target", "json:dumps", "--fallback", "nothing.txt"], "nothing.txt: can't be read"),
        (["--target", "json:dumps", "--run", "a/b"], "not a name for a run"),
        (["--target", "json:dumps", "--run", "a-{day}"], "no field {day}"),
        (["--target", "json:dumps", "--resume", "--retry-failed"], "not allowed with"),
        (["--target", "json:dumps", "--budget", "1"], "--budget has no effect"),
        (
            ["--target", "openai:no-such-model", "--base-url", "http://127.0.0.1:9/v1", "--budget", "1"],
            "price is not known",
        ),
        (["--target", "json:dumps", "--output", "."], "is a folder"),
        (["--target", "json:dumps", "--output", str(QUESTIONS)], "the dataset itself"),
    ],
)
def test_calls_that_make_no_sense(ragmeter: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = ragmeter("ask", "--dataset", QUESTIONS, "--metrics", METRICS, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "cascade", "--offline-calibration", "none.json"], "none.json: can't be read"),
        (["--judge-journal", "."], "can't open the journal ."),
        (["--judge-journal", "no.sqlite"], "no.sqlite: the journal can't be read"),
        (["--judge-prompt", "none.txt"], "none.txt"),
        (["--judge-base-url", "https://api.openai.com/v1"], "name another endpoint with --judge-base-url"),
        (["--judge-base-url", "http://me:secret@127.0.0.1:9/v1"], "OPENAI_API_KEY or --judge-header"),
    ],
)
def test_what_is_wrong_with_the_judge_is_said_before_anything_is_asked(
    ragmeter: Command, tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "no.sqlite").write_text("this is no database")
    (tmp_path / "rag.py").write_text("def answer(question):\n    open('asked', 'w').close()\n    return 'x'\n")
    asking = ["ask", "--dataset", QUESTIONS, "--target", "rag:answer", "--metrics", "llm_correct", "--judge-model", "m"]
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": ""}
    done = ragmeter(*asking, *options, env=env)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query_text": "x"}', "needs the column 'question'"),
        ('{"question": "without a gold answer"}', "needs the column 'reference'"),
        ('{"question": null, "ground_truth": "x"}', "line 2: the row has no question"),
        ('{"question": "x", "session_id": "s", "turn_idx": "first"}', "line 2: turn_idx is 'first'"),
    ],
)
def test_datasets_that_are_none(ragmeter: Command, tmp_path: Path, line: str, message: str) -> None:
    first = "" if "column" in message else '{"question": "fine", "ground_truth": "x"}\n'
    (tmp_path / "qa.jsonl").write_text(first + line + "\n")
    done = ragmeter("ask", "--dataset", "qa.jsonl", "--target", "json:dumps", "--metrics", "token_f1")
    assert done.returncode == 2
    assert message in done.stderr


def reached(server: JudgeServer, count: float) -> bool:
    return server.count >= count


def test_ctrl_c_loses_nothing(tmp_path: Path) -> None:
    questions = [{"question": f"q{i}", "ground_truth": f"a{i}"} for i in range(60)]
    (tmp_path / "qa.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    chance = random.Random(5)
    command = [sys.executable, "-m", "ragmeter", "ask", "--dataset", "qa.jsonl", "--metrics", "token_f1", "--run", "r"]
    with JudgeServer(lambda request, number: Action(body={"answer": request["question"]})) as server:
        command += ["--target", f"http://127.0.0.1:{server.port}/", "--output", "results.json", "--timeout", "3600"]
        for _ in range(2):
            server.answers = server.count + chance.randint(1, 20)  # so few that it can't come to its end
            process = subprocess.Popen(
                command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ
            )
            wait_for(partial(reached, server, server.answers), process)
            interrupt(process)
            server.release()
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 130
            with Journal(tmp_path / "runs" / "r.journal.sqlite") as journal:
                assert len(journal) == server.count
            assert not (tmp_path / "results.json").exists()
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert server.count == 60
    answers = [row["generated_answer"] for row in results(tmp_path)["results"]]
    assert answers == [f"q{i}" for i in range(60)]


def test_without_an_embedding_model_what_needs_none_is_measured(
    ragmeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a plain install."""
    monkeypatch.setitem(sys.modules, "wordllama", None)
    (tmp_path / "plain_rag.py").write_text("def answer(question):\n    return 'Paris'\n")
    (tmp_path / "qa.csv").write_text("question,reference\nq,Paris\n")
    command = ["ask", "--dataset", "qa.csv", "--target", "plain_rag:answer", "--run", "r"]
    done = ragmeter(*command, "--output", "results.json")
    assert done.returncode == 0, done.stderr
    assert "results.json is without semantic_similarity and satisfaction_score: no embedding model" in done.stderr
    assert "[static]" in done.stderr
    assert list(Run(tmp_path / "runs" / "r").metrics()) == ["offline_correct", "token_f1", "response_coverage_rate"]
