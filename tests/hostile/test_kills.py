"""kill -9 at random points: what is recorded is not paid for again, budgets hold, and the run ends whole.

The slow part kills more than 200 times. With -s it prints what came of it, a line of docs/reliability.md for each test.
"""

from __future__ import annotations

import csv
import os
import random
import select
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.analysis.people.helpers import make_run
from tests.browser import missing
from tests.command import PATIENCE, wait_for
from tests.hostile.paying import COMMANDS, WORKERS, Command, CountingServer

SEED = 14
NO_BROWSER = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")


def cases(few: dict[str, int], many: dict[str, int]) -> list[object]:
    """Commands, and how often each is killed: a few times by default, many times in the slow part."""
    return [
        pytest.param(name, kills, id=f"{name}-{kills}", marks=[*marks, *([NO_BROWSER] if name == "web" else [])])
        for counts, marks in ((few, []), (many, [pytest.mark.slow]))
        for name, kills in counts.items()
    ]


def kill(process: subprocess.Popen[str], after: float) -> None:
    """Kill the process after so many seconds, or see it end before."""
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()


def live_and_die(
    command: Command, folder: Path, server: CountingServer, chance: random.Random, *more: str, pause: float = 0.1
) -> set[str]:
    """Start the command, and kill it at a random point; returns what it has asked."""
    before = len(server.asked)
    replies = chance.randint(0, 12)
    server.answers = server.count + replies  # so few that it can't come to its end
    process = command.start(folder, server, *more)
    if chance.random() < 0.8:
        wanted = before + chance.randint(0, max(0, replies // 3))
        wait_for(lambda: len(server.asked) > wanted or process.poll() is not None, process)
        kill(process, chance.uniform(0, pause))
    else:
        kill(process, chance.uniform(0, 1.0))  # while it starts, perhaps
    time.sleep(0.05)  # what it had sent is there
    return set(server.asked[before:])


@pytest.mark.parametrize(
    ("name", "kills"),
    cases(
        {name: 1 for name in COMMANDS if name != "web"},  # a browser takes a minute
        {"evaluate": 40, "crag evaluate": 40, "crag generate": 25, "ask": 40, "web": 20},
    ),
)
def test_killed_at_random_points(tmp_path: Path, name: str, kills: int) -> None:
    command = COMMANDS[name]
    chance = random.Random(SEED)
    rows = 3 * ((1 if name == "web" else 5) * kills + 8)  # a page takes longer
    command.prepare(tmp_path, rows)
    with CountingServer(latency=0.01) as server:
        recorded: set[str] = set()
        for _ in range(kills):
            asked_now = live_and_die(command, tmp_path, server, chance, pause=2.0 if name == "web" else 0.1)
            assert not asked_now & recorded, "what was recorded was asked again"
            assert recorded <= command.recorded(tmp_path), "what was recorded is gone"
            recorded = command.recorded(tmp_path)
            assert recorded <= set(server.asked)
            assert command.numbers(tmp_path) is None, "a run that is not whole is there"
        server.release()
        ended = end(command, tmp_path, server, chance, max(1, kills // 5), recorded)
        again = sum(Counter(server.asked).values()) - rows
        assert set(server.asked) == {f"q{number}" for number in range(rows)}
        assert again <= 2 * WORKERS * (kills + ended), "more than what was under way was asked again"
        total = len(server.asked)
        undisturbed = tmp_path / "undisturbed"
        undisturbed.mkdir()
        command.prepare(undisturbed, rows)
        finish(command, undisturbed, server)
        assert len(server.asked) - total == rows
    assert command.numbers(tmp_path) == command.numbers(undisturbed)
    calls = f"{rows} rows, {total} calls, {again} of them again: under way at a kill"
    print(f"| {name} | {kills + ended} kills | {calls} | lost: 0, recorded and paid for again: 0 |")


def end(
    command: Command, folder: Path, server: CountingServer, chance: random.Random, kills: int, recorded: set[str]
) -> int:
    """Let it come to its end, killed a few times more on the way: while it writes, too. Returns how often."""
    for number in range(kills):
        before = len(server.asked)
        process = command.start(folder, server)
        kill(process, chance.uniform(0.3, 2.5))
        assert not set(server.asked[before:]) & recorded, "what was recorded was asked again"
        recorded |= command.recorded(folder)
        if command.numbers(folder) is not None:
            return number + 1
    before = len(server.asked)
    finish(command, folder, server)
    assert not set(server.asked[before:]) & recorded, "what was recorded was asked again"
    return kills


def finish(command: Command, folder: Path, server: CountingServer, *more: str, code: int = 0) -> str:
    process = command.start(folder, server, *more)
    out, err = process.communicate(timeout=4 * PATIENCE)  # many rows, on a busy machine perhaps
    assert process.returncode == code, err
    assert "Traceback" not in err
    return out


@pytest.mark.parametrize(
    ("name", "kills"),
    cases({"evaluate": 2}, {"evaluate": 12, "crag evaluate": 12, "crag generate": 6, "ask": 12}),
)
def test_a_limit_of_calls_holds_over_kills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kills: int
) -> None:
    command = COMMANDS[name]
    chance = random.Random(SEED + 1)
    limit = 5 * kills
    rows = 3 * limit
    option = "--judge-max-calls" if name == "evaluate" else "--max-calls"
    command.prepare(tmp_path, rows)
    monkeypatch.setenv("AGENT_BATCH", "1")  # a call is one question
    with CountingServer(latency=0.01) as server:
        for _ in range(kills):
            live_and_die(command, tmp_path, server, chance, option, str(limit))
            assert len(server.asked) <= command.spent(tmp_path).calls <= limit
        server.release()
        finish(command, tmp_path, server, option, str(limit), code=3)
        total = len(server.asked)
    # What was charged and not sent is what a kill came in between.
    assert limit - WORKERS * kills <= total <= limit
    assert command.spent(tmp_path).calls == limit
    print(f"| {name} {option} {limit} | {kills} kills | {total} calls | the limit held |")


def test_a_limit_of_dollars_holds_over_kills(tmp_path: Path) -> None:
    """100 tokens in and 10 out of gpt-4o are 0.00035 dollars; what a call may cost at most is more."""
    command = COMMANDS["evaluate"]
    chance = random.Random(SEED + 2)
    budget, cost = 0.05, 0.00035
    command.prepare(tmp_path, 200)
    more = ("--judge-budget", str(budget))
    with CountingServer(latency=0.01) as server:
        live_and_die(command, tmp_path, server, chance, *more)
        assert len(server.asked) * cost <= command.spent(tmp_path).cost <= budget
        server.release()
        finish(command, tmp_path, server, *more, code=3)
    assert len(server.asked) * cost <= command.spent(tmp_path).cost <= budget


def labels(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["label"] for row in csv.DictReader(file)]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("kills", [1, pytest.param(25, marks=pytest.mark.slow)])
def test_killed_while_a_person_labels(tmp_path: Path, kills: int) -> None:
    """A label is a person's time: when the next row is shown, the one before is saved, and is not shown again."""
    import pty

    make_run(tmp_path)
    chance = random.Random(SEED)
    n_rows = 4 * kills + 1
    path = tmp_path / "labels.csv"

    def start() -> tuple[subprocess.Popen[bytes], int]:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "ragmeter", "label", "demo", "--n", str(n_rows)]
        child = subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        return child, ours

    def see(terminal: int, words: str) -> None:
        shown, deadline = b"", time.monotonic() + PATIENCE
        while words.encode() not in shown:
            assert select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0], shown[-2000:]
            shown += os.read(terminal, 65536)

    given: list[str] = []
    for number in range(kills + 1):
        child, terminal = start()
        see(terminal, f"{len(given)} of {n_rows} done")
        last = number == kills
        for _ in range(n_rows - len(given) - 1 if last else chance.randint(0, 4)):
            given.append(chance.choice(["correct", "wrong"]))
            os.write(terminal, given[-1][:1].encode())
            see(terminal, f"{len(given)} of {n_rows} done")
        pressed = chance.choice(["correct", "wrong"])
        os.write(terminal, pressed[:1].encode())  # and nobody sees what came of it
        if last:
            see(terminal, "left: 0")
            assert child.wait(timeout=PATIENCE) == 0
        else:
            time.sleep(chance.uniform(0, 0.02))
            child.kill()
            child.wait()
        os.close(terminal)
        saved = [label for label in labels(path) if label]
        assert saved in (given, [*given, pressed])
        given = saved
    assert len(given) == n_rows
    print(f"| label | {kills} kills | {n_rows} labels | 0 lost, 0 twice |")
