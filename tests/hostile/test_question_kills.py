"""kill -9 while a test set is made: no reply that is recorded is paid for again, and the set is never short unsaid."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.replies.journal import Journal
from ragmeter.runs.run import Run
from tests.command import PATIENCE, wait_for
from tests.judge_server import Action, JudgeServer, completion, texts
from tests.testsets import writer
from tests.testsets.writer import write_chunks

WORKERS = 4
N = 60


class Writers:
    """A model that writes, and what it was asked, in order. Every seventh passage is one that it fails at.

    Each reply has as many tokens as its call's number, so that a journal tells what is in it.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, request: dict[str, Any], number: int) -> Action:
        content = request["messages"][-1]["content"]
        fields = texts(request)
        shown = {name: text for name, text in fields.items() if name != "Title"}
        call = len(self.asked)
        self.asked.append("|".join(f"{name}={text}" for name, text in sorted(shown.items())))
        passage = fields.get("Passage", "")
        fails = "Does the passage" not in content and int(passage.split("Place")[1].split()[0]) % 7 == 0
        text = "I can't do that." if fails else writer.reply(content)
        return Action(body={**completion(text), "usage": {"prompt_tokens": call, "completion_tokens": 1}}, delay=0.01)

    def recorded(self, folder: Path) -> set[str]:
        """What was asked that the journal has the reply to."""
        path = folder / "runs" / "judge.journal.sqlite"
        if not path.exists():
            return set()
        with Journal(path) as journal:
            replies = [journal.get(key) for key in journal._keys]
        return {self.asked[reply.prompt_tokens or 0] for reply in replies if reply is not None}


def _has_asked(model: Writers, wanted: int, process: subprocess.Popen[str]) -> bool:
    return len(model.asked) >= wanted or process.poll() is not None


def start(folder: Path, url: str) -> subprocess.Popen[str]:
    command = [
        sys.executable, "-m", "ragmeter", "questions", "chunks.jsonl", "--n", str(N), "--kinds", "fact=0.8,how_why=0.2",
        "--judge-model", "m", "--base-url", url, "--judge-workers", str(WORKERS),
    ]  # fmt: skip
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OPENAI_API_KEY": "none"},
    )  # fmt: skip


def finish(folder: Path, url: str) -> list[dict[str, Any]]:
    process = start(folder, url)
    _, errors = process.communicate(timeout=4 * PATIENCE)
    assert process.returncode == 0, errors
    rows: list[dict[str, Any]] = Run(folder / "runs" / "questions").rows().to_pylist()
    return rows


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_at_random_points(tmp_path: Path, kills: int) -> None:
    chance = random.Random(7)
    write_chunks(tmp_path / "chunks.jsonl", 200)
    model = Writers()
    with JudgeServer(model) as server:
        for number in range(kills):
            before, recorded = len(model.asked), model.recorded(tmp_path)
            process = start(tmp_path, server.url)
            wanted = before + chance.randint(1, max(1, N // (kills + 1)))
            wait_for(partial(_has_asked, model, wanted, process), process)
            time.sleep(chance.uniform(0, 0.05))
            process.kill()
            process.communicate()
            assert not set(model.asked[before:]) & recorded, "what was recorded was asked again"
            assert recorded <= model.recorded(tmp_path), "what was recorded is gone"
            if Path(tmp_path / "runs" / "questions" / "manifest.json").exists():
                assert number > 0, "it ended before it could be killed"
        before, recorded = len(model.asked), model.recorded(tmp_path)
        rows = finish(tmp_path, server.url)
        assert not set(model.asked[before:]) & recorded, "what was recorded was asked again"
        total = len(model.asked)
        assert len(rows) == N
        assert finish(tmp_path, server.url) == rows
        assert len(model.asked) == total, "a finished set was paid for again"
        undisturbed = tmp_path / "undisturbed"
        undisturbed.mkdir()
        write_chunks(undisturbed / "chunks.jsonl", 200)
        assert finish(undisturbed, server.url) == rows
        again = total - (len(model.asked) - total)
        # Twice as many drafts are worked on as calls are under way: the rest wait until their replies are on disk.
        assert again <= 2 * WORKERS * kills, "more than what was under way was asked again"
    print(f"| questions | {kills} kills | {N} questions, {total} calls, {again} again: under way at a kill |")
