"""Tools that other people wrote, each in an environment of its own, which `make test-slow` makes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

#: What the paths of their environments begin with.
ENVIRONMENTS = os.environ.get("RAGMETER_TOOL_ENVIRONMENTS", "")
#: They report to their makers unless told not to.
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
}


def programs(tool: str) -> Path:
    """Where the programs of a tool are."""
    if not ENVIRONMENTS:
        pytest.skip("RAGMETER_TOOL_ENVIRONMENTS names no environments")
    if tool == "promptfoo" and shutil.which("npm") is None:
        pytest.skip("promptfoo needs npm, which is not installed")
    folder = Path(f"{ENVIRONMENTS}{tool}") / ("node_modules/.bin" if tool == "promptfoo" else "bin")
    assert folder.is_dir(), "`make test-slow` installs it"
    return folder
