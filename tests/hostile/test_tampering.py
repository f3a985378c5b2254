"""Damaged run folders: every command says which file is wrong and what to do, and none ends in a traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command import call
from tests.hostile.tampering import ASK, Case, build, draw

#: What was drawn when this was written; any other seed is as good.
SEED = 14_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    build(folder)
    done = call([*ASK.split()], folder, {})
    assert done.returncode == 0, done.stderr
    return folder


def tracebacks(case: Case, folder: Path) -> list[str]:
    """What is wrong with the commands' ends: a traceback, or an error that says nothing."""
    wrong = []
    for command in case.commands:
        done = call(command, folder, {"OPENAI_API_KEY": "k", "COLUMNS": "80"})
        error = done.stderr.strip()
        if (
            "Traceback" in error
            or done.returncode not in (0, 1, 2, 3)
            or (done.returncode == 2 and "ragmeter:" not in error)
        ):
            wrong.append(f"{case.damage}\n{' '.join(command)}: {done.returncode}\n{error}")
    return wrong


@pytest.mark.parametrize("number", range(24))
def test_a_damaged_folder(number: int, corpus: Path, tmp_path: Path) -> None:
    case = draw(SEED + number, corpus, tmp_path, 4)
    assert not tracebacks(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
def test_many_damaged_folders(hundred: int, corpus: Path, tmp_path: Path) -> None:
    wrong = []
    for number in range(100 * hundred, 100 * hundred + 100):
        folder = tmp_path / str(number)
        wrong += tracebacks(draw(SEED + 1000 + number, corpus, folder), folder)
        shutil.rmtree(folder)
    assert not wrong, f"{len(wrong)}\n" + "\n\n".join(wrong[:20])
