"""Chat applications that nobody here wrote, each in an environment of its own, which `make test-slow` makes.

They stream over their own protocols, render Markdown, and know nothing of ragmeter. Each is asked the twelve questions
of `apps/answers.py`, with the selector of its box alone.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragmeter.effects.caller import Failure
from ragmeter.effects.calls import Limits
from ragmeter.targets.asking import ask
from ragmeter.targets.page import Page
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web import WebTarget
from tests.browser import missing
from tests.command import PATIENCE
from tests.web.apps.answers import FAILS, QUESTIONS, expected, plain

#: The folder of each application's environment is this and its name.
ENVIRONMENTS = os.environ.get("RAGMETER_CHAT_ENVIRONMENTS", "")
APPS = Path(__file__).with_name("apps")
#: How an application is started, where its page is, and the selector of its box.
COMMANDS = {
    "chainlit": (["chainlit", "run", "chainlit_app.py", "--headless", "--port", "PORT"], "", "#chat-input"),
    "gradio": (["python", "gradio_app.py", "PORT"], "", "textarea"),
    "nicegui": (["python", "nicegui_app.py", "PORT"], "", "input"),
    "panel": (["panel", "serve", "panel_app.py", "--port", "PORT"], "panel_app", "textarea"),
    "streamlit": (
        ["streamlit", "run", "streamlit_app.py", "--server.headless", "true", "--server.port", "PORT"], "", "textarea"
    ),
}  # fmt: skip
QUIET = {"GRADIO_ANALYTICS_ENABLED": "False", "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false"}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ENVIRONMENTS, reason="chat applications have no environments: make test-slow makes them"),
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
]


@contextmanager
def started(name: str, folder: Path) -> Iterator[str]:
    """An application's address; it runs in a folder of its own, since some write files beside their script."""
    shutil.copytree(APPS, folder / "apps")
    command, path, _ = COMMANDS[name]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    ours = ("PYTEST", "PYTHONPATH")  # NiceGUI behaves differently in a test of its own
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)} | QUIET
    program, *arguments = [port if part == "PORT" else part for part in command]
    process = subprocess.Popen(
        [f"{ENVIRONMENTS}{name}/bin/{program}", *arguments],
        cwd=folder / "apps", env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(int(port)):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield f"http://localhost:{port}/{path}"
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("localhost", port), timeout=1):
            return True
    except OSError:
        return False


@pytest.mark.parametrize("name", COMMANDS)
def test_twelve_answers_by_the_box_alone(name: str, tmp_path: Path) -> None:
    with started(name, tmp_path) as url:
        target = WebTarget(Page(url, COMMANDS[name][2], timeout=PATIENCE))
        questions = [Question(str(place), text) for place, text in enumerate(QUESTIONS)]
        replies = dict(
            zip(QUESTIONS, ask(target, questions, Limits(2, 1), None, lambda count: None).replies, strict=True)
        )
    failure = replies.pop(FAILS)
    assert isinstance(failure, Failure)
    assert failure.outcome == "target_error"
    read = {text: plain(reply.answer) if isinstance(reply, Answer) else str(reply) for text, reply in replies.items()}
    assert read == {text: expected(text) for text in replies}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_conversation_and_the_box_found_by_itself(name: str, tmp_path: Path) -> None:
    turns = [QUESTIONS[0], QUESTIONS[2], QUESTIONS[8], QUESTIONS[9], QUESTIONS[10]]
    with started(name, tmp_path) as url:
        target = WebTarget(Page(url, timeout=PATIENCE))
        questions = [Question(str(turn), text, "s", turn=turn) for turn, text in enumerate(turns)]
        replies = ask(target, questions, Limits(1, 1), None, lambda count: None).replies
    read = [plain(reply.answer) if isinstance(reply, Answer) else str(reply) for reply in replies]
    assert read == [expected(text) for text in turns]
