"""A chat interface that nobody here wrote: Gradio's, in an environment of its own, which `make test-slow` makes.

It streams over its own protocol, renders Markdown, and knows nothing of ragmeter.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragmeter.effects.calls import Limits
from ragmeter.targets.asking import ask
from ragmeter.targets.page import Page
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web import WebTarget
from tests.browser import missing
from tests.command import PATIENCE

PYTHON = os.environ.get("RAGMETER_CHAT_PYTHON", "")
APP = """
import sys, time
import gradio
def answer(message, history):
    text = ""
    for word in f"Answer {len(history) // 2} to {message}: it is **so**, said in several words.".split(" "):
        text += word + " "
        time.sleep(0.1)
        yield text
gradio.ChatInterface(answer).queue(default_concurrency_limit=8).launch(
    server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True
)
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="Gradio has no environment: make test-slow makes one"),
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "GRADIO_ANALYTICS_ENABLED": "False"}
    process = subprocess.Popen([PYTHON, "-c", APP, str(port)], env=environment, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(port):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@pytest.mark.parametrize("selector", [None, ".message.bot"])
def test_its_answers_come_back_whole_and_in_order(url: str, selector: str | None, tmp_path: Path) -> None:
    questions = [Question(str(i), f"question {i}") for i in range(6)]
    questions += [Question("s0", "first", "s", turn=0), Question("s1", "second", "s", turn=1)]
    target = WebTarget(Page(url, "textarea", timeout=PATIENCE, answer_selector=selector))
    replies = ask(target, questions, Limits(3, 1), None, lambda count: None).replies
    answers = [reply.answer if isinstance(reply, Answer) else str(reply) for reply in replies]
    expected = [f"Answer 0 to question {i}" for i in range(6)] + ["Answer 0 to first", "Answer 1 to second"]
    assert answers == [f"{question}: it is so, said in several words." for question in expected]
