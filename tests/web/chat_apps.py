"""Chat applications that other people wrote, each started in an environment of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.command import PATIENCE

#: The folder of each application's environment is this and its name, up to a hyphen.
ENVIRONMENTS = os.environ.get("RAGMETER_CHAT_ENVIRONMENTS", "")
APPS = Path(__file__).with_name("apps")
#: Pages with components from npm: their environment needs nothing, $NPM_ROOT is where `npm install` was called.
NPM = ("assistantui", "chatui", "deepchat", "n8n", "vuechat", "webchat")
#: How an application is started, where its page is, and the selector of its box.
COMMANDS = {
    "chainlit": (["chainlit", "run", "chainlit_app.py", "--headless", "--port", "PORT"], "", "#chat-input"),
    "dash": (["python", "dash_app.py", "PORT"], "", "input"),
    "fasthtml": (["python", "fasthtml_app.py", "PORT"], "", "input"),
    "gradio": (["python", "gradio_app.py", "PORT"], "", "textarea"),
    "marimo": (
        ["marimo", "run", "marimo_app.py", "--headless", "--no-token", "--port", "PORT"], "", "[contenteditable=true]"
    ),
    "mesop": (["mesop", "mesop_app.py", "--prod", "--port", "PORT"], "", "input"),
    "nicegui": (["python", "nicegui_app.py", "PORT"], "", "input"),
    "nicegui-spinner": (["python", "nicegui_app.py", "PORT", "spinner"], "", "input"),
    "panel": (["panel", "serve", "panel_app.py", "--port", "PORT"], "panel_app", "textarea"),
    "pywebio": (["python", "pywebio_app.py", "PORT"], "", "input"),
    "shiny": (["shiny", "run", "shiny_app.py", "--port", "PORT"], "", "textarea"),
    "solara": (["solara", "run", "solara_app.py", "--no-open", "--production", "--port", "PORT"], "", "input"),
    "streamlit": (
        ["streamlit", "run", "streamlit_app.py", "--server.headless", "true", "--server.port", "PORT"], "", "textarea"
    ),
    "taipy": (["python", "taipy_app.py", "PORT"], "", "input"),
    **{f"npm-{name}": (["python", "npm_app.py", "PORT", name], "", "") for name in NPM},
}  # fmt: skip
#: The applications that have an environment.
PRESENT = [name for name in COMMANDS if Path(f"{ENVIRONMENTS}{name.partition('-')[0]}/bin").is_dir()]
QUIET = {"GRADIO_ANALYTICS_ENABLED": "False", "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false"}


@contextmanager
def started(name: str, folder: Path, **variables: str) -> Iterator[str]:
    """An application's address; it runs in a folder of its own, since some write files beside their script."""
    shutil.copytree(APPS, folder / "apps")
    command, path, _ = COMMANDS[name]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    ours = ("PYTEST", "PYTHONPATH")  # NiceGUI behaves differently in a test of its own
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    program, *arguments = [port if part == "PORT" else part for part in command]
    process = subprocess.Popen(
        [f"{ENVIRONMENTS}{name.partition('-')[0]}/bin/{program}", *arguments],
        cwd=folder / "apps", env={**environment, **QUIET, **variables},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
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
