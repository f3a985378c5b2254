"""A command that is killed while it puts a run's files into place: the next finds the older run or the newer, whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Run, evaluate
from ragmeter.runs.layout import FILES
from tests.command import call
from tests.hostile.killing import killed_everywhere
from tests.hostile.tampering import ASK, build

REPLACE = "evaluate --results questions.jsonl --column answer=question --metrics token_f1 --run"
#: Commands, and the run that they write.
COMMANDS = {
    "replace a run": (f"{REPLACE} a", "a"),
    "replace conversations": (f"{REPLACE} talk --replace", "talk"),
    "add metrics": ("evaluate --run talk --metrics token_recall", "talk"),
    "a new run": (f"{REPLACE} new", "new"),
    "judge conversations": (
        "crag evaluate --turns turns.jsonl --output-dir runs/talk --judge offline", "talk",
    ),
    "ask": (ASK.replace("token_f1", "exact_match"), "asked"),
}  # fmt: skip

#: They take the same ways as the others.
SLOW = ("replace a run", "a new run", "ask")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    build(folder)
    assert call(ASK.split(), folder, {}).returncode == 0
    return folder


def contents(folder: Path) -> dict[str, Any]:
    """A run's files, without what says when and how quickly it was made."""
    run = Run(folder)
    table = run.rows()
    rows = repr({name: table[name].to_pylist() for name in table.column_names if name != "latency_ms"})
    summary = {key: value for key, value in run.summary().as_dict().items() if key not in ("numbers", "reused_answers")}
    manifest = {**run.manifest().as_dict(), "created": "", "effort": ""}
    others = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name not in ("journal.sqlite", *FILES) and not file.name.startswith(".")
    }
    return {"rows": rows, "summary": summary, "manifest": manifest, **others}


def leftovers(folder: Path) -> list[str]:
    """Temporary files and folders, and locks."""
    files = (*folder.iterdir(), *(file for run in folder.iterdir() if run.is_dir() for file in run.iterdir()))
    return [file.name for file in files if file.name.startswith(".")]


@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in COMMANDS]
)
def test_killed_at_every_step(what: str, corpus: Path, tmp_path: Path) -> None:
    command, name = COMMANDS[what]
    older = contents(corpus / "runs" / name) if (corpus / "runs" / name).exists() else None
    *killed, whole = killed_everywhere(corpus, tmp_path, command.split())
    newer = contents(whole / "runs" / name)
    assert not leftovers(whole / "runs")
    seen = []
    for place in killed:
        done = call(["summary", name, "--json"], place, {})  # a reader finishes what was begun
        exists = (place / "runs" / name).exists()
        assert done.returncode == (0 if exists else 2), done.stderr
        assert "Traceback" not in done.stderr
        state = contents(place / "runs" / name) if exists else None
        assert state in (older, newer), (what, place.name)
        seen.append(state == newer)
        journal = corpus / "runs" / name / "journal.sqlite"
        if journal.exists():
            assert (place / "runs" / name / "journal.sqlite").read_bytes() == journal.read_bytes()
        again = call(command.split(), place, {})
        assert again.returncode == 0, again.stderr
        assert contents(place / "runs" / name) == newer
        assert not leftovers(place / "runs")
    assert seen == sorted(seen)  # at one step it becomes the newer, and stays so
    if older is not None:
        assert {False, True} == {*seen}


def test_another_run_clears_up(corpus: Path, tmp_path: Path) -> None:
    """What a killed process left of a run is removed by a run of another name."""
    *killed, _ = killed_everywhere(corpus, tmp_path, COMMANDS["a new run"][0].split())
    assert any(leftovers(place / "runs") for place in killed)
    for place in killed:
        rows = [{"qid": "1", "answer": "a", "reference": "a"}]
        evaluate(rows, metrics="token_f1", run="other", output_dir=place / "runs")
        assert not leftovers(place / "runs")
