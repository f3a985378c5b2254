"""A disk that is full, and a server that dies: nothing that was recorded is asked again, or lost.

Kills are in tests/hostile.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragmeter.effects.replies.journal import Journal
from tests.cli.test_crag import evaluate, many, start, write
from tests.command import PATIENCE
from tests.judge_server import Action, JudgeServer


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
