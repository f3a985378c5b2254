"""`ragmeter crag` as a person runs it: results, failures, money, interruptions."""

from __future__ import annotations

import csv
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.replies.journal import Journal
from tests.command import PATIENCE, interrupt, wait_for
from tests.compat.crag.helpers import conversation, keep_talk, turn
from tests.conftest import Run
from tests.judge_server import Action, JudgeServer, completion

CANARY = "sk-canary-5d1f7a0c9e3b8642"
AGENT = """
import os, time
LOG = os.environ.get("AGENT_LOG")

class Agent:
    def get_batch_size(self):
        return 2

    def batch_generate_response(self, queries, images, message_histories):
        if LOG:
            with open(LOG, "a") as file:
                file.write("".join(query + "\\n" for query in queries))
        time.sleep(float(os.environ.get("AGENT_SLEEP", 0)))
        if "explode" in queries:
            raise RuntimeError("boom " + os.environ.get("OPENAI_API_KEY", ""))
        return [f"it is {query}" for query in queries]
"""


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def many(count: int) -> list[dict[str, Any]]:
    """Conversations of three turns; the middle one is wrong."""
    answers = ["it is {}", "I would say nothing", "{} for sure"]
    return [turn(f"s{i // 3}", i % 3, f"gold {i}", answers[i % 3].format(f"gold {i}")) for i in range(count)]


def start(folder: Path, *arguments: str | Path, **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ragmeter", "crag", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, "OPENAI_API_KEY": CANARY, **env}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def evaluate(server: JudgeServer, *more: str | Path) -> list[str | Path]:
    judge = [] if "--judge-model" in more else ["--judge-model", "m"]
    return [
        "evaluate",
        "--turns",
        "turns.jsonl",
        "--output-dir",
        "out",
        *judge,
        "--base-url",
        server.url,
        "--no-judge-check",
        *more,
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """The files that a run leaves, but for the journal and what says when and how it was run."""
    left_out = {"manifest.json", "journal.sqlite"}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in left_out}


def test_evaluate(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(9))
    with JudgeServer() as server:
        done = ragmeter("crag", *evaluate(server), env={"OPENAI_API_KEY": CANARY})
    assert (done.returncode, done.stderr) == (0, "")
    assert "accuracy                             0.6667" in done.stdout
    assert "calls: 9 (0 recorded before, 9 made now)" in done.stdout
    assert "turns: 9 of 3 conversations, in out/" in done.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "turn_evaluation_results_all.csv", "turn_evaluation_results_ego.csv", "scores_dictionary.json", "rows.parquet",
        "summary.json", "manifest.json", "journal.sqlite",
    }  # fmt: skip
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["judged_columns"]["verdict"]["model"] == "m"
    assert manifest["judged_columns"]["verdict"]["endpoint"] == server.url
    assert manifest["judging"]["latency_ms"]["p50"] > 0


def test_columns_that_were_added_stay_unless_replaced(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(3))
    with JudgeServer() as server:
        ragmeter("crag", *evaluate(server))
        asked = server.count
        add = ["evaluate", "--run", "out", "--output-dir", ".", "--metrics"]
        options = ["--judge-model", "m", "--base-url", server.url, "--no-judge-check"]
        done = ragmeter(*add, "llm_correct", *options)  # over the verdicts that are there
        assert (done.returncode, server.count) == (0, asked), done.stderr
        assert ragmeter("crag", *evaluate(server)).returncode == 0
        done = ragmeter(*add, "llm_grade", *options, "--max-unscored", "1")
        assert done.returncode == 0, done.stderr
        asked, before = server.count, contents(tmp_path / "out")
        refused = ragmeter("crag", *evaluate(server))
        assert refused.returncode == 2
        assert "has a judge's replies that were added to it (grade)" in refused.stderr
        assert "with --output-dir, or replace the run with --replace: its journal stays" in refused.stderr
        assert contents(tmp_path / "out") == before
        assert ragmeter("crag", *evaluate(server), "--replace").returncode == 0
        assert server.count == asked


@pytest.mark.skipif(os.name == "nt", reason="modes of files are not Windows's")
def test_only_its_owner_may_read_the_results(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(3))
    before = os.umask(0o022)
    try:
        with JudgeServer() as server:
            ragmeter("crag", *evaluate(server))
    finally:
        os.umask(before)
    folder = tmp_path / "out"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_damaged_or_empty_journal_is_reported(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(9))
    journal = tmp_path / "out" / "journal.sqlite"
    with JudgeServer(lambda request, number: Action(body=completion(json.dumps({"verdict": "CORRECT"})))) as server:
        first = ragmeter("crag", *evaluate(server))
        assert (server.count, first.stderr) == (9, "")
        content = bytearray(journal.read_bytes())
        content[content.index(b"CORRECT") + 3] ^= 1
        journal.write_bytes(content)
        again = ragmeter("crag", *evaluate(server))
        assert (again.returncode, server.count) == (0, 10)  # the damaged one was asked about again
        assert again.stderr == (
            "ragmeter: warning: out/journal.sqlite: damaged replies: 1 of 9; they are removed, and asked for again\n"
        )
        journal.write_bytes(b"")
        again = ragmeter("crag", *evaluate(server))
        assert (again.returncode, server.count) == (0, 19)
        assert again.stderr == "ragmeter: warning: the journal out/journal.sqlite is empty: everything is asked for\n"


def test_json(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(3))
    with JudgeServer() as server:
        done = ragmeter("crag", *evaluate(server, "--json"), env={"OPENAI_API_KEY": CANARY})
    result = json.loads(done.stdout)
    assert result["scores"]["all"]["accuracy"] == pytest.approx(2 / 3)
    assert result["usage"] == {
        "calls": 3, "prompt_tokens": 300, "completion_tokens": 30, "calls_without_token_counts": 0,
        "calls_without_price": 3, "cost_usd": None,
    }  # fmt: skip


def test_the_same_command_again_asks_nothing(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(30))
    with JudgeServer() as server:
        ragmeter("crag", *evaluate(server))
        first = contents(tmp_path / "out")
        assert server.count == 30
        done = ragmeter("crag", *evaluate(server))
        assert server.count == 30
        assert "30 recorded before, 0 made now" in done.stdout
        assert contents(tmp_path / "out") == first
        ragmeter("crag", *evaluate(server, "--judge-model", "another"))
        assert server.count == 60
        ragmeter("crag", *evaluate(server, "--judge-repeats", "2"))
        assert server.count == 90  # the first of the two is known


def test_too_many_failures_are_exit_code_3(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", [turn(f"s{i}", 0, "gold", f"{'bad' if i < 2 else 'gold'} {i}") for i in range(20)])

    def behave(request: dict[str, Any], number: int) -> Action | None:
        return Action(body=completion("hm")) if "bad" in request["messages"][1]["content"] else None

    with JudgeServer(behave) as server:
        done = ragmeter("crag", *evaluate(server))
        assert done.returncode == 3
        assert (
            "no score: 2 of 20 turns; accuracy is between 0.9000 (all of them wrong) and 1.0000 (all right)"
            in done.stdout
        )
        assert "2 unparsable: not a verdict" in done.stdout
        assert ragmeter("crag", *evaluate(server, "--max-unscored", "0.1")).returncode == 0
    with (tmp_path / "out" / "turn_evaluation_results_all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["is_correct"] == ""
    assert json.loads(rows[0]["api_response"])["outcome"] == "unparsable"


def test_a_wrong_key_is_one_message(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(30))
    with JudgeServer(lambda request, number: Action(401, {"error": {"message": f"wrong key {CANARY}"}})) as server:
        done = ragmeter("crag", *evaluate(server), env={"OPENAI_API_KEY": CANARY})
    assert done.returncode == 2
    assert "HTTP 401: wrong key ***" in done.stderr
    assert "OPENAI_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_key(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(3))
    done = ragmeter(
        "crag",
        "evaluate",
        "--turns",
        "turns.jsonl",
        "--output-dir",
        "out",
        env={"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""},
    )
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stderr
    assert not (tmp_path / "out").exists()
    done = ragmeter("crag", "evaluate", "--turns", "turns.jsonl", "--output-dir", "out", "--judge-model", "none")
    assert done.returncode == 0
    assert "no judge" in done.stdout


def test_a_dry_run_asks_and_writes_nothing(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(30))
    with JudgeServer() as server:
        done = ragmeter("crag", *evaluate(server, "--dry-run", "--judge-model", "gpt-4o", "--judge-repeats", "3"))
        assert "calls: about 90, and 0 recorded before" in done.stdout
        assert "$0." in done.stdout
        assert "nothing was asked" in done.stdout
        assert not (tmp_path / "out").exists()
        unpriced = ragmeter("crag", *evaluate(server, "--dry-run"))
        assert "the price is not known (--prices)" in unpriced.stdout
        tried = ragmeter("crag", *evaluate(server, "--dry-run", "--judge-check"))
        assert "up to 54 more in other words" in tried.stdout
        assert "24 calls more to try the judge" in tried.stdout
        ragmeter("crag", *evaluate(server, "--max-calls", "10"))
        done = ragmeter("crag", *evaluate(server, "--dry-run", "--json"))
        assert json.loads(done.stdout)["calls"] == 20
        assert server.count == 10


def test_so_many_calls(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", [turn(f"s{i}", 0, f"gold {i}", f"it is gold {i}") for i in range(30)])
    with JudgeServer() as server:
        done = ragmeter("crag", *evaluate(server, "--max-calls", "7"))
        assert server.count == 7
        assert done.returncode == 3
        assert "23 skipped_budget: the limit of 7 calls was reached" in done.stdout
        done = ragmeter("crag", *evaluate(server, "--max-calls", "7"))
        assert server.count == 7  # the limit is the run's
        assert ragmeter("crag", *evaluate(server)).returncode == 0
        assert server.count == 30


def test_a_budget(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", [turn(f"s{i}", 0, f"gold {i}", f"it is gold {i}") for i in range(40)])
    (tmp_path / "prices.json").write_text('{"m": {"input": 1000, "output": 10000}}')  # a call: 0.10 + 0.10 dollars
    priced = ["--prices", "prices.json", "--max-tokens", "20", "--workers", "4"]
    with JudgeServer() as server:
        done = ragmeter("crag", *evaluate(server, *priced, "--budget", "5.00"))
        assert done.returncode == 3
        spent = server.count * 0.2
        assert 2 < spent <= 5.0
        assert f"cost: ${spent:.4f}" in done.stdout
        before = server.count
        ragmeter("crag", *evaluate(server, *priced, "--budget", "5.00"))
        assert server.count * 0.2 <= 5.0
        assert server.count == before  # what was too much then is too much now
        refused = ragmeter("crag", *evaluate(server, "--budget", "1"))
        assert refused.returncode == 2
        assert "--judge-prices" in refused.stderr


def test_the_flip_rate(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", [turn(f"s{i}", 0, "gold", f"answer {i}") for i in range(4)])

    def behave(request: dict[str, Any], number: int) -> Action:
        fickle = "answer 0" in request["messages"][1]["content"] and request["seed"] == 1000
        return Action(body=completion("WRONG" if fickle else "CORRECT"))

    with JudgeServer(behave) as server:
        done = ragmeter("crag", *evaluate(server, "--judge-repeats", "3"))
        assert server.count == 12
    assert "flip rate: 0.2500 (95%: 0.0456 to 0.6994), n = 4" in done.stdout
    assert json.loads((tmp_path / "out" / "scores_dictionary.json").read_text())["all"]["accuracy"] == 1.0


def test_a_prompt_of_ones_own(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(3))
    (tmp_path / "prompt.txt").write_text("Be strict. {query}\n{ground_truth}\n{agent_response}")
    with JudgeServer() as server:
        assert ragmeter("crag", *evaluate(server, "--judge-prompt", "prompt.txt")).returncode == 0
        assert all(request["messages"][1]["content"].startswith("Be strict.") for request in server.requests)
        (tmp_path / "prompt.txt").write_text("{grund_truth} {agent_response}")
        done = ragmeter("crag", *evaluate(server, "--judge-prompt", "prompt.txt"))
    assert "prompt.txt, line 1: there is no column {grund_truth}: did you mean ground_truth?" in done.stderr


def test_a_second_process_fails_at_once(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(30))
    with JudgeServer() as server:
        server.answers = 0
        first = start(tmp_path, *evaluate(server, "--workers", "2", "--timeout", "3600"))
        wait_for(lambda: server.count, first)  # it is at work, and stays so
        done = ragmeter("crag", *evaluate(server))
        assert done.returncode == 2
        assert "another process is working on this run" in done.stderr
        server.release()
        out, _ = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, out
    assert server.count == 30


def test_ctrl_c_once_finishes_what_is_under_way(tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(300))
    with JudgeServer() as server:
        server.answers = 12
        process = start(tmp_path, *evaluate(server, "--workers", "4", "--timeout", "3600"))
        wait_for(lambda: server.count >= 16, process)
        err = interrupt(process)
        server.release()
        err += process.communicate(timeout=PATIENCE)[1]
        asked = server.count
        assert process.returncode == 130
        assert "run the same command again" in err
        assert "Traceback" not in err
        with Journal(tmp_path / "out" / "journal.sqlite") as journal:
            assert len(journal) == asked == 16  # nothing that was asked is lost, and no more is asked
        assert not (tmp_path / "out" / "scores_dictionary.json").exists()
        process = start(tmp_path, *evaluate(server))
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert server.count == 300


def test_ctrl_c_twice_stops(tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(30))
    with JudgeServer() as server:
        server.answers = 3
        process = start(tmp_path, *evaluate(server, "--workers", "4", "--timeout", "3600"))
        wait_for(lambda: server.count >= 7, process)
        err = interrupt(process)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        err += process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 130
        assert "Traceback" not in err
        with Journal(tmp_path / "out" / "journal.sqlite") as journal:
            assert len(journal) == 3
        server.release()
        before = server.count
        process = start(tmp_path, *evaluate(server))
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert server.count == before + 27


def test_ctrl_c_twice_stops_an_agent_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENT)
    write(tmp_path / "conversations.jsonl", [conversation("a", ("one", "x"))])
    log = tmp_path / "log"
    command = ["generate", "--dataset", "conversations.jsonl", "--agent", "agents:Agent", "--output", "turns.jsonl"]
    process = start(tmp_path, *command, AGENT_SLEEP="3600", AGENT_LOG=str(log))
    wait_for(log.exists, process)
    err = interrupt(process)
    process.send_signal(signal.SIGINT)
    err += process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130
    assert "run the same command again" in err


def test_no_key_in_any_file_or_line(tmp_path: Path) -> None:
    """A canary key, through success, refusals, broken replies that say it back, a crash of the agent, and Ctrl-C."""
    write(tmp_path / "turns.jsonl", many(30))
    (tmp_path / "agents.py").write_text(AGENT)
    write(tmp_path / "conversations.jsonl", [conversation("a", ("one", "x")), conversation("b", ("explode", "x"))])

    def behave(request: dict[str, Any], number: int) -> Action | None:
        echo = f"your key is {CANARY}"
        return {
            1: Action(500, {"error": {"message": echo}}),
            2: Action(400, {"error": {"message": echo}}),
            3: Action(body=completion(echo)),
            4: Action(body=completion(json.dumps({"verdict": "CORRECT", "reason": echo}))),
            5: Action(body=echo.encode()),
        }.get(number % 6)

    said = ""
    with JudgeServer(behave) as server:
        for arguments in (
            evaluate(server, "--json"),
            evaluate(server),
            [
                "generate",
                "--dataset",
                "conversations.jsonl",
                "--agent",
                "agents:Agent",
                "--output",
                "t.jsonl",
                "--retries",
                "0",
            ],
        ):
            out, err = start(tmp_path, *arguments).communicate(timeout=PATIENCE)
            said += out + err
        server.latency = 0.2
        process = start(tmp_path, *evaluate(server, "--output-dir", "out2"))
        wait_for(lambda: server.count > 60, process)
        process.kill()
        out, err = process.communicate(timeout=PATIENCE)
        said += out + err
        assert any(CANARY in head for head in server.headers)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 8
    leaked = [path.name for path in files if CANARY.encode() in path.read_bytes()]
    # the agent's own message is the agent's own business: it put the key there itself
    assert leaked in ([], ["t.jsonl"])
    assert CANARY not in said.replace(f"boom {CANARY}", "")


def test_generate_and_evaluate(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENT)
    write(
        tmp_path / "conversations.jsonl",
        [conversation("a", ("one", "one"), ("two", "two")), conversation("b", ("three", "x"))],
    )
    command = [
        "crag",
        "generate",
        "--dataset",
        "conversations.jsonl",
        "--agent",
        "agents:Agent",
        "--output",
        "turns.jsonl",
    ]
    log = {"AGENT_LOG": str(tmp_path / "log")}
    done = ragmeter(*command, env=log)
    assert (done.returncode, done.stderr) == (0, "")
    assert "turns: 3, answered: 3 (0 of them earlier)" in done.stdout
    first = (tmp_path / "turns.jsonl").read_bytes()
    resumed = ragmeter(*command, "--resume", env=log)
    assert "3 of them earlier" in resumed.stdout
    assert resumed.stderr.startswith("3 of 3 answers are from 20")
    assert len((tmp_path / "log").read_text().splitlines()) == 3
    assert "0 of them earlier" in ragmeter(*command, env=log).stdout
    assert len((tmp_path / "log").read_text().splitlines()) == 6
    assert (tmp_path / "turns.jsonl").read_bytes() == first
    (tmp_path / "agents.py").write_text(AGENT.replace("it is", "it was"))  # another agent: asked anew
    ragmeter(*command, "--num-conversations", "1")
    assert [json.loads(line)["agent_response"] for line in (tmp_path / "turns.jsonl").read_text().splitlines()] == [
        "it was one",
        "it was two",
    ]
    with JudgeServer() as server:
        assert ragmeter("crag", *evaluate(server)).returncode == 0


def test_generate_with_failures(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENT)
    write(tmp_path / "conversations.jsonl", [conversation("a", ("one", "x")), conversation("b", ("explode", "x"))])
    command = [
        "crag",
        "generate",
        "--dataset",
        "conversations.jsonl",
        "--agent",
        "agents:Agent",
        "--output",
        "turns.jsonl",
    ]
    done = ragmeter(*command, "--retries", "0", env={"OPENAI_API_KEY": ""})
    assert done.returncode == 3
    assert "1 target_error: RuntimeError: boom" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    assert [row["agent_response"] for row in rows] == ["it is one", None]
    with JudgeServer() as server:
        done = ragmeter("crag", *evaluate(server))
    assert done.returncode == 3
    assert "target_error" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "ragmeter crag generate"),
        (["judge"], "ragmeter crag generate"),
        (["evaluate"], "--turns"),
        (["evaluate", "--turns", "no.jsonl", "--output-dir", "o", "--judge-model", "none"], "there is no such file"),
        (
            ["evaluate", "--turns", "t.jsonl", "--output-dir", "o", "--workers", "0"],
            "--judge-workers must be at least 1",
        ),
        (["evaluate", "--turns", "t.jsonl", "--output-dir", "o", "--max-unscored", "5"], "between 0 and 1"),
        (
            ["generate", "--dataset", "no.jsonl", "--agent", "nothing:Agent", "--output", "t.jsonl"],
            "no module 'nothing'",
        ),
        (["generate", "--dataset", "no.jsonl", "--agent", "json:dumps", "--output", "t.jsonl"], "json:dumps failed"),
        (["generate", "--dataset", "no.jsonl", "--agent", "MyAgent", "--output", "t.jsonl"], "package.module:Name"),
        (
            ["generate", "--dataset", "no.jsonl", "--agent", "./a.py:Agent", "--output", "t.jsonl"],
            "package.module:Name",
        ),
        (["generate", "--dataset", "no.jsonl", "--agent", "json:dumps", "--output", "t.csv"], "JSON lines"),
        (["generate", "--dataset", "no.jsonl", "--agent", "json:dumps", "--output", "."], "JSON lines"),
    ],
)
def test_calls_that_make_no_sense(ragmeter: Run, arguments: list[str], message: str) -> None:
    done = ragmeter("crag", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_dataset_is_not_overwritten(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "mine.jsonl", [conversation("a", ("one", "x"))])
    before = (tmp_path / "mine.jsonl").read_bytes()
    done = ragmeter("crag", "generate", "--dataset", "mine.jsonl", "--agent", "json:dumps", "--output", "./mine.jsonl")
    assert done.returncode == 2
    assert "the dataset itself" in done.stderr
    assert (tmp_path / "mine.jsonl").read_bytes() == before


def test_nobody_is_there(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(30))
    with JudgeServer() as server:
        ragmeter("crag", *evaluate(server, "--max-calls", "5"))
        scores = (tmp_path / "out" / "scores_dictionary.json").read_bytes()
    done = ragmeter("crag", *evaluate(server, "--judge-model", "other", "--retries", "1"))
    assert done.returncode == 2
    assert "can't connect to http://127.0.0.1" in done.stderr
    assert (tmp_path / "out" / "scores_dictionary.json").read_bytes() == scores


def test_half_a_character_in_the_turns(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").write_text(json.dumps(turn("a", 0, "red", "red \ud83d")) + "\n")
    with JudgeServer() as server:
        done = ragmeter("crag", *evaluate(server))
    assert done.returncode == 0, done.stderr


def test_another_agent_of_the_same_class_is_asked(ragmeter: Run, tmp_path: Path) -> None:
    code = (
        AGENT
        + """
    def __init__(self, model="x"):
        self.model = model
"""
    )
    code = code.replace('return [f"it is {query}"', 'return [f"{self.model} says {query}"')
    (tmp_path / "agents.py").write_text(
        code + "\ndef one():\n    return Agent('one')\n\ndef two():\n    return Agent('two')\n"
    )
    write(tmp_path / "conversations.jsonl", [conversation("a", ("q", "x"))])
    for name in ("one", "two"):
        command = [
            "crag",
            "generate",
            "--dataset",
            "conversations.jsonl",
            "--agent",
            f"agents:{name}",
            "--output",
            "t.jsonl",
        ]
        assert ragmeter(*command).returncode == 0
        assert f"{name} says q" in (tmp_path / "t.jsonl").read_text()


def test_help(ragmeter: Run) -> None:
    for command in ("generate", "evaluate"):
        done = ragmeter("crag", command, "--help")
        assert done.returncode == 0
        assert "journal" in done.stdout


def test_a_journal_with_other_words_is_not_used_and_that_is_said(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(8))
    (tmp_path / "words.txt").write_text("{question}\n{reference}\n{answer}\nIs it right?")
    notice = (
        "none of the 8 replies in out/journal.sqlite is used: they were given to another prompt, model or setting, or "
        "about other texts"
    )
    with JudgeServer() as server:
        arguments = evaluate(server, "--replace")
        ragmeter("crag", *arguments, "--judge-prompt", "words.txt", env={"OPENAI_API_KEY": CANARY})
        planned = ragmeter("crag", *arguments, "--dry-run", env={"OPENAI_API_KEY": CANARY})
        done = ragmeter("crag", *arguments, env={"OPENAI_API_KEY": CANARY})
        again = ragmeter("crag", *arguments, env={"OPENAI_API_KEY": CANARY})
    assert notice in planned.stdout
    assert (done.returncode, done.stderr) == (0, f"{notice}\n")
    assert notice in done.stdout
    assert "calls: 8 (0 recorded before, 8 made now" in done.stdout
    assert (again.returncode, again.stderr) == (0, "")
    assert "calls: 8 (8 recorded before, 0 made now" in again.stdout
    assert "replies in" not in again.stdout


def test_truthfulness_has_an_interval(ragmeter: Run, tmp_path: Path) -> None:
    """Without a judge: of three turns one is right, one declined and one wrong; conversations are the clusters."""
    write(tmp_path / "turns.jsonl", [{**row, "ground_truth": f"it is {row['ground_truth']}"} for row in many(30)])
    done = ragmeter("crag", "evaluate", "--turns", "turns.jsonl", "--output-dir", "out", "--judge-model", "none")
    assert done.returncode == 0, done.stderr
    scores = json.loads((tmp_path / "out" / "scores_dictionary.json").read_text())["all"]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]["truthfulness_score"]
    assert summary["mean"] == pytest.approx(scores["truthfulness_score"])
    assert (summary["n_clusters"], summary["range"]) == (10, [-1.0, 1.0])
    low, high = summary["interval"]
    assert low < summary["mean"] - 0.05 < summary["mean"] + 0.05 < high
    (line,) = (line for line in done.stdout.splitlines() if "truthfulness_score" in line)
    assert f"{low:.4f} to {high:.4f}" in line
    assert ragmeter("gate", "out", "--output-dir", ".", "--fail-under", "truthfulness_score=0.9").returncode == 1
    wide = json.loads(ragmeter("summary", "out", "--output-dir", ".", "--level", "0.99", "--json").stdout)
    assert wide["metrics"]["truthfulness_score"]["interval"][0] < low


def test_runs_of_conversations_are_compared_summarised_and_reported(ragmeter: Run, tmp_path: Path) -> None:
    for name in ("talk", "later"):
        keep_talk(tmp_path / "runs" / name)
    done = ragmeter("compare", "talk", "later", "--test", "t", "--json")
    assert done.returncode == 0, done.stderr
    (pair,) = json.loads(done.stdout)["pairs"]
    correct = pair["metrics"]["accuracy"]
    assert (correct["mean_a"], correct["mean_b"], correct["n"]) == (5 / 9, 5 / 9, 9)
    done = ragmeter("summary", "talk", "--slice", "turn_idx", "--json")
    assert done.returncode == 0, done.stderr
    done = ragmeter("report", "talk", "later", "--output", "out.html")
    assert done.returncode == 0, done.stderr
