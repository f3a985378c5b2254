"""kill -9 at random moments, and a disk that is full: nothing that was recorded is asked again, or lost."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ragmeter import LLMJudge
from ragmeter.effects.journal import Journal
from ragmeter.judges.verdict import verdict
from tests.cli.test_ask import reached
from tests.cli.test_crag import AGENT, CANARY, contents, evaluate, many, start, write
from tests.command import PATIENCE, wait_for
from tests.compat.crag.helpers import conversation
from tests.judge_server import Action, JudgeServer, texts

#: How often it is killed.
KILLS = [10, pytest.param(50, marks=pytest.mark.slow)]
#: An agent that answers so many batches and then hangs, so that it can't come to its end before it is killed.
HANGING_AGENT = AGENT.replace(
    "        time.sleep",
    """        self.batches = getattr(self, "batches", 0) + 1
        if self.batches > float(os.environ.get("AGENT_BATCHES", "inf")):
            time.sleep(3600)
        time.sleep""",
)


def kill(process: subprocess.Popen[str], after: float) -> None:
    """Kill the process after so many seconds; it must not have come to its end by itself."""
    time.sleep(after)
    assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()


def lines(log: Path) -> int:
    return len(log.read_bytes().splitlines()) if log.exists() else 0


def logged(log: Path, count: int) -> bool:
    return lines(log) >= count


@pytest.mark.parametrize("kills", KILLS)
def test_killed_while_it_judges(tmp_path: Path, kills: int) -> None:
    turns = many(kills * 15)
    write(tmp_path / "turns.jsonl", turns)
    chance = random.Random(3)
    with JudgeServer(latency=0.02) as server:
        judge = LLMJudge(CANARY, "m", server.url).on(verdict)
        names = {"question": "query", "reference": "ground_truth", "answer": "agent_response"}
        keys = {judge.key({name: row[own] for name, own in names.items()}, 0, 0): row["query"] for row in turns}
        command = evaluate(server, "--workers", "4", "--timeout", "3600")
        recorded: set[str] = set()
        for _ in range(kills):
            before = server.count
            replies = chance.randint(0, 12)
            server.answers = before + replies  # so few that it can't come to its end
            process = start(tmp_path, *command)
            if chance.random() < 0.8:
                wait_for(partial(reached, server, before + 1 + chance.randint(0, replies)), process)
                kill(process, chance.uniform(0, 0.05))
            else:
                kill(process, chance.uniform(0, 0.5))  # while it starts, perhaps
            asked_now = {texts(request)["question"] for request in server.requests[before:]}
            assert not asked_now & recorded, "what was recorded was asked again"
            if (tmp_path / "out" / "journal.sqlite").exists():
                with Journal(tmp_path / "out" / "journal.sqlite") as journal:
                    held = {query for key, query in keys.items() if journal.get(key) is not None}
                assert recorded <= held, "what was recorded is gone"
                recorded = held
            assert not (tmp_path / "out" / "scores_dictionary.json").exists()
        assert recorded
        server.release()
        before = server.count
        process = start(tmp_path, *command)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert server.count - before == len(turns) - len(recorded)
        asked = Counter(texts(request)["question"] for request in server.requests)
        assert set(asked) == set(keys.values())
        # what was under way at a kill is all that was ever asked twice
        assert sum(asked.values()) - len(asked) <= 5 * kills
        server.latency = 0.0
        other = tmp_path / "whole"
        other.mkdir()
        write(other / "turns.jsonl", turns)
        process = start(other, *command)
        process.communicate(timeout=PATIENCE)
    assert contents(tmp_path / "out") == contents(other / "out")


@pytest.mark.parametrize("kills", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_while_the_agent_answers(tmp_path: Path, kills: int) -> None:
    dataset = [conversation(f"s{i}", *((f"q{i}.{j}", "x") for j in range(3))) for i in range(8 * kills)]
    write(tmp_path / "conversations.jsonl", dataset)
    (tmp_path / "agents.py").write_text(HANGING_AGENT)
    log, journal_path = tmp_path / "log", tmp_path / "turns.jsonl.journal.sqlite"
    command = ["generate", "--dataset", "conversations.jsonl", "--agent", "agents:Agent", "--output", "turns.jsonl"]
    command += ["--workers", "1"]  # so that a batch is recorded before the next one
    chance = random.Random(4)
    answered = 0
    for _ in range(kills):
        before = lines(log)
        batches = chance.randint(1, 4)
        process = start(tmp_path, *command, AGENT_LOG=str(log), AGENT_BATCHES=str(batches))
        wait_for(partial(logged, log, before + 1 + 2 * chance.randint(0, batches)), process)
        kill(process, chance.uniform(0, 0.05))
        assert not (tmp_path / "turns.jsonl").exists()
        if journal_path.exists():
            with Journal(journal_path) as journal:
                assert len(journal) >= answered
                answered = len(journal)
    assert answered
    before = log.stat().st_size
    process = start(tmp_path, *command, AGENT_LOG=str(log))
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    asked_last = log.read_bytes()[before:].splitlines()
    assert len(asked_last) == 3 * len(dataset) - answered
    resumed = (tmp_path / "turns.jsonl").read_bytes()
    (tmp_path / "turns.jsonl").unlink()
    journal_path.unlink()
    start(tmp_path, *command).communicate(timeout=PATIENCE)
    assert (tmp_path / "turns.jsonl").read_bytes() == resumed


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for next to nothing."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"a small disk can't be made here: {made.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(1200))
    with JudgeServer(lambda request, number: None) as server:
        command = evaluate(server, "--output-dir", small_disk / "out")
        process = start(tmp_path, *command)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "can't write the journal" in err
        assert "run the same command again" in err
        assert "Traceback" not in err
        assert sorted(path.name for path in (small_disk / "out").iterdir() if "journal" not in path.name) == []
        asked = server.count
        assert 0 < asked < 1200
        with Journal(small_disk / "out" / "journal.sqlite") as journal:
            recorded = len(journal)
        assert recorded >= asked - 100  # what was under way is lost, and no more
        subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
        process = start(tmp_path, *command)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert server.count - asked == 1200 - recorded


def test_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(300))
    down = {"on": False}

    def behave(request: dict[str, object], number: int) -> Action | None:
        down["on"] = down["on"] or number == 100
        return Action(body=b"", cut=0, reset=True) if down["on"] else None

    with JudgeServer(behave) as server:
        process = start(tmp_path, *evaluate(server, "--workers", "4", "--retries", "1"))
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 3
        assert "judge_error: not asked: 10 calls in a row have failed" in out
        down["on"] = False
        server.behave = lambda request, number: None
        before = server.count
        process = start(tmp_path, *evaluate(server))
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert server.count - before == 300 - 99
