"""What all tests share: real texts, and a way to run the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

DATA = Path(__file__).parent / "data"
Run = Callable[..., subprocess.CompletedProcess[str]]

settings.register_profile("ragmeter", deadline=None, print_blob=True)
settings.load_profile("ragmeter")


def load_rows(name: str, **wanted: str) -> list[dict[str, Any]]:
    """The rows of a file in tests/data that have these values."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def load_pairs(name: str, **wanted: str) -> tuple[list[str], list[str]]:
    """First references and answers of a file in tests/data."""
    rows = load_rows(name, **wanted)
    return [row["reference"][0] for row in rows], [row["answer"] for row in rows]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's cache, or leaves anything in it."""
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path_factory.getbasetemp() / "ragmeter-cache"))


@pytest.fixture
def ragmeter(tmp_path: Path) -> Run:
    """Runs the command in an empty folder, as a person would."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command: Sequence[str] = [sys.executable, "-m", "ragmeter", *map(str, arguments)]
        environment = {**os.environ, "COLUMNS": "80", "PYTHONUTF8": "1", **(env or {})}
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=120
        )

    return run
