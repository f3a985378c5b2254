"""kill -9 at random moments, and a disk that is full: nothing that was recorded is asked again, or lost.

RAGMETER_KILLS sets how often it is killed.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragmeter import LLMJudge
from ragmeter.effects.journal import Journal
from tests.cli.test_crag import AGENT, CANARY, contents, evaluate, many, start, wait_for, write
from tests.evaluators.crag.helpers import conversation
from tests.judge_server import Action, JudgeServer, texts

KILLS = int(os.environ.get("RAGMETER_KILLS", "50"))


def killed(process: subprocess.Popen[str], after: float) -> bool:
    """Kill the process after so many seconds; False if it came to its end before."""
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    return False


def test_killed_while_it_judges(tmp_path: Path) -> None:
    turns = many(KILLS * 15)
    write(tmp_path / "turns.jsonl", turns)
    chance = random.Random(3)
    with JudgeServer(latency=0.04) as server:
        judge = LLMJudge(CANARY, "m", server.url)
        keys = {
            judge._key({name: row[name] for name in ("query", "ground_truth", "agent_response")}, 0, 0): row["query"]
            for row in turns
        }
        command = evaluate(server, "--workers", "4")
        recorded: set[str] = set()
        kills = in_the_middle = 0
        while kills < KILLS:
            before = server.count
            process = start(tmp_path, *command)
            if chance.random() < 0.8:
                wait_for(lambda before=before: server.count > before, process)
                in_the_middle += killed(process, chance.uniform(0, 0.25))
            else:
                assert killed(process, chance.uniform(0, 0.5))  # while it starts, perhaps
            kills += 1
            asked_now = {texts(request)["query"] for request in server.requests[before:]}
            assert not asked_now & recorded, "what was recorded was asked again"
            if (tmp_path / "out" / "journal.sqlite").exists():
                with Journal(tmp_path / "out" / "journal.sqlite") as journal:
                    held = {query for key, query in keys.items() if journal.get(key) is not None}
                assert recorded <= held, "what was recorded is gone"
                recorded = held
            assert not (tmp_path / "out" / "scores_dictionary.json").exists()
        assert in_the_middle >= KILLS // 2
        assert recorded
        before = server.count
        process = start(tmp_path, *command)
        process.communicate(timeout=120)
        assert process.returncode == 0
        assert server.count - before == len(turns) - len(recorded)
        asked = Counter(texts(request)["query"] for request in server.requests)
        assert set(asked) == set(keys.values())
        # what was under way at a kill is all that was ever asked twice
        assert sum(asked.values()) - len(asked) <= 5 * KILLS
        server.latency = 0.0
        other = tmp_path / "whole"
        other.mkdir()
        write(other / "turns.jsonl", turns)
        process = start(other, *command)
        process.communicate(timeout=120)
    assert contents(tmp_path / "out") == contents(other / "out")


def test_killed_while_the_agent_answers(tmp_path: Path) -> None:
    kills = max(5, KILLS // 5)
    dataset = [conversation(f"s{i}", *((f"q{i}.{j}", "x") for j in range(3))) for i in range(8 * kills)]
    write(tmp_path / "conversations.jsonl", dataset)
    (tmp_path / "agents.py").write_text(AGENT)
    log, journal_path = tmp_path / "log", tmp_path / "turns.jsonl.journal.sqlite"
    command = ["generate", "--dataset", "conversations.jsonl", "--agent", "agents:Agent", "--output", "turns.jsonl"]
    chance = random.Random(4)
    answered = 0
    for _ in range(kills):
        before = log.stat().st_size if log.exists() else 0
        process = start(tmp_path, *command, AGENT_LOG=str(log), AGENT_SLEEP="0.03")
        wait_for(lambda before=before: log.exists() and log.stat().st_size > before, process)
        assert killed(process, chance.uniform(0, 0.25))
        assert not (tmp_path / "turns.jsonl").exists()
        if journal_path.exists():
            with Journal(journal_path) as journal:
                assert len(journal) >= answered
                answered = len(journal)
    assert answered
    before = log.stat().st_size
    process = start(tmp_path, *command, AGENT_LOG=str(log))
    process.communicate(timeout=60)
    assert process.returncode == 0
    asked_last = log.read_bytes()[before:].splitlines()
    assert len(asked_last) == 3 * len(dataset) - answered
    resumed = (tmp_path / "turns.jsonl").read_bytes()
    (tmp_path / "turns.jsonl").unlink()
    journal_path.unlink()
    start(tmp_path, *command).communicate(timeout=60)
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
        _, err = process.communicate(timeout=60)
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
        process.communicate(timeout=60)
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
        began = time.monotonic()
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 3
        assert time.monotonic() - began < 30
        assert "judge_error: not asked: 10 calls in a row have failed" in out
        down["on"] = False
        server.behave = lambda request, number: None
        before = server.count
        process = start(tmp_path, *evaluate(server))
        process.communicate(timeout=60)
        assert process.returncode == 0
        assert server.count - before == 300 - 99
