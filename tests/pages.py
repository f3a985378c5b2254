"""The blocks of the pages in docs/, and what running them shows."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.command import call, own_modules

ROOT = Path(__file__).parent.parent
#: A block of code: its kind, the file that it is, and its text.
BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"\s+# exit code (\d+)$")
#: What a reader does and the tests have done: setting up, and starting a server.
_DONE = ("export ", "pip install", "python examples/rag_app.py")


def shell_lines(block: str) -> list[str]:
    """The commands of a block, those over several lines joined."""
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


def expected_exit(line: str) -> tuple[str, int]:
    """A line of the shell without the comment that says its exit code, and that code: 0 if no comment says it."""
    comment = _EXIT.search(line)
    return _EXIT.sub("", line), int(comment[1]) if comment else 0


def run_command(line: str, folder: Path) -> str:
    """What a line of the shell prints; its exit code is 0, or the one that a comment says."""
    if line.startswith(_DONE):
        return ""
    command_line, code = expected_exit(line)
    program, *arguments = shlex.split(command_line, comments=True)
    if program == "pytest":
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "ragmeter.pytest_plugin", *arguments]
        (folder / "pytest.ini").write_text("[pytest]", encoding="utf-8")
        alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins take longer than the test
        done = subprocess.run(
            command, cwd=folder, env=alone, capture_output=True, text=True, encoding="utf-8", check=False
        )
    elif program == "python":
        assert arguments[1].startswith("ragmeter."), line
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    else:
        assert program == "ragmeter", line
        done = call(arguments, folder, {"COLUMNS": "120", "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == code, line + "\n" + done.stdout + done.stderr
    return done.stdout + done.stderr


def run_python(text: str, names: dict[str, Any] | None = None) -> str:
    """What a snippet prints; `names` are those that the snippets before it have made."""
    names = {} if names is None else names
    names["__name__"] = "__main__"
    with contextlib.redirect_stdout(io.StringIO()) as out, own_modules(Path.cwd()):
        exec(text, names)  # noqa: S102 - our own document
    return out.getvalue()
