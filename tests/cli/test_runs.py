"""`ragmeter runs`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragmeter import evaluate
from ragmeter.effects.replies.journal import Journal
from tests.command import call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, answer in (("bm25", "a"), ("dense", "b")):
        rows = [{"qid": "1", "answer": answer, "reference": "a"}]
        evaluate(rows, metrics="token_f1", run=name, output_dir=tmp_path / "runs")
    return tmp_path


def command(folder: Path, *arguments: str) -> str:
    result = call(["runs", *arguments], folder, {"RAGMETER_CACHE": str(folder / "cache")})
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_a_line_for_each_run(folder: Path) -> None:
    text = command(folder)
    assert "token_f1 ↑" in text
    assert "2 runs in runs/" in text
    assert "1.00 (0.21 to 1.00)" in next(line for line in text.splitlines() if "bm25" in line)


def test_search_and_json(folder: Path) -> None:
    (entry,) = json.loads(command(folder, "--search", "DENSE", "--json"))
    assert (entry["name"], entry["metrics"]["token_f1"]["mean"]) == ("dense", 0.0)


def test_a_damaged_run_is_named(folder: Path) -> None:
    (folder / "runs" / "bm25" / "summary.json").unlink()
    text = command(folder)
    assert "bm25 can't be read" in text
    assert "dense" in text


def test_no_runs(tmp_path: Path) -> None:
    assert command(tmp_path) == "0 runs in runs/\n"


def test_remove_only_where_it_is_confirmed(folder: Path) -> None:
    assert "nothing was deleted" in command(folder, "remove", "bm25", "dense")
    assert (folder / "runs" / "bm25").exists()
    assert command(folder, "remove", "bm25", "--yes").startswith("removed: runs/bm25")
    assert [path.name for path in (folder / "runs").iterdir()] == ["dense"]


def test_none_is_removed_if_one_is_unknown(folder: Path) -> None:
    result = call(["runs", "remove", "bm25", "bm26", "--yes"], folder, {})
    assert result.returncode == 2
    assert "did you mean bm25?" in result.stderr
    assert (folder / "runs" / "bm25").exists()


def test_prune(folder: Path) -> None:
    Journal(folder / "runs" / "lost.journal.sqlite").close()
    assert "would be deleted: runs/lost.journal.sqlite" in command(folder, "prune", "--older-than", "0")
    assert "deleted: runs/lost.journal.sqlite" in command(folder, "prune", "--older-than", "0", "--yes")
    assert "nothing has been unused for 30 days" in command(folder, "prune")


def test_tags(folder: Path) -> None:
    assert command(folder, "tag", "bm25", "baseline", "v1") == "bm25: baseline, v1\n"
    assert command(folder, "tag", "bm25", "v1", "--remove") == "bm25: baseline\n"
    assert command(folder, "tag", "dense") == "dense: no tags\n"
    assert "bm25 #baseline" in command(folder)
    assert [entry["name"] for entry in json.loads(command(folder, "--tag", "baseline", "--json"))] == ["bm25"]
    command(folder, "remove", "bm25", "--yes")
    assert json.loads((folder / "runs" / "tags.json").read_text()) == {}


@pytest.mark.parametrize("tag", ["two words", "a/b", "", "x" * 41, "<b>"])
def test_what_can_not_be_a_tag(folder: Path, tag: str) -> None:
    result = call(["runs", "tag", "bm25", tag], folder, {})
    assert (result.returncode, "can't be a tag" in result.stderr) == (2, True)


def test_a_damaged_file_of_tags_is_an_error(folder: Path) -> None:
    (folder / "runs" / "tags.json").write_text('{"bm25": "baseline"}')
    result = call(["runs"], folder, {})
    assert (result.returncode, "tags.json" in result.stderr) == (2, True)
