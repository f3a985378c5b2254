"""Renaming, deleting and restoring runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from threading import Barrier, Thread

import pytest

from ragmeter import compare, evaluate
from ragmeter.analysis.pruning import unneeded
from ragmeter.errors import BusyError, RagmeterError, UnknownNameError, UsageError
from ragmeter.runs.baselines import read_baselines, set_baseline
from ragmeter.runs.catalogue import catalogue
from ragmeter.runs.comparisons import kept_comparison
from ragmeter.runs.renaming import rename_run
from ragmeter.runs.run import Run
from ragmeter.runs.tags import change_tags, read_tags
from ragmeter.runs.trash import TRASH, delete_run, deleted_runs, restore_run
from tests.runs.test_catalogue import HOLD

ROWS = [{"qid": str(n), "reference": "a", "answer": "a" if n % 3 else "b"} for n in range(12)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs with a journal, a tag, a comparison and a baseline."""
    for name in ("old", "new"):
        evaluate(ROWS, metrics="token_f1", run=name, output_dir=tmp_path)
    for ending in ("", "-wal", "-charges"):
        (tmp_path / f"old.journal.sqlite{ending}").write_bytes(b"paid")
    change_tags(tmp_path, "old", add=["nightly"])
    compare(["old", "new"], output_dir=tmp_path, keep=True)
    set_baseline(tmp_path, "set", "old")
    return tmp_path


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_belongs_to_a_run_gets_its_new_name(folder: Path) -> None:
    assert rename_run(folder / "old", "before {n}").name == "before {n}"
    assert files(folder) == {
        "before {n}", "before {n}.journal.sqlite", "before {n}.journal.sqlite-wal", "before {n}.journal.sqlite-charges",
        "new", "tags.json", "baselines.json",
    }  # fmt: skip
    assert read_tags(folder) == {"before {n}": ["nightly"]}
    assert read_baselines(folder) == {"set": "before {n}"}


@pytest.mark.parametrize(("run", "runs"), [("old", ["first", "new"]), ("new", ["old", "first"])])
def test_a_kept_comparison_is_found_under_the_new_name(folder: Path, run: str, runs: list[str]) -> None:
    before = [Run(folder / name) for name in ("old", "new")]
    assert kept_comparison(before) is not None
    rename_run(folder / run, "first")
    kept = kept_comparison([Run(folder / name) for name in runs])
    assert kept is not None
    assert kept.current
    assert f'"{run}"' not in Path(str(kept.path)).read_text()
    assert len(list(folder.glob("*/comparisons/*.json"))) == 1


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/b",
        "a\\b",
        "..",
        ".",
        "",
        ".hidden",
        "a\0b",
        "a\nb",
        "x" * 300,
        "new",
        "tags.json",
        "judge",
        "*",
        "labels.csv",
    ],
)
def test_a_name_that_no_run_can_have_changes_nothing(folder: Path, name: str) -> None:
    before = files(folder)
    with pytest.raises(UsageError):
        rename_run(folder / "old", name)
    assert files(folder) == before
    assert read_tags(folder) == {"old": ["nightly"]}


def test_a_name_with_a_journal_of_an_unfinished_run_is_taken(folder: Path) -> None:
    with pytest.raises(UsageError, match="taken"):
        rename_run(folder / "new", "old")
    (folder / "other.journal.sqlite").write_bytes(b"paid")
    with pytest.raises(UsageError, match="taken"):
        rename_run(folder / "new", "other")


def test_deleted_and_restored_with_all_that_belongs_to_it(folder: Path) -> None:
    before = files(folder)
    key = delete_run(folder / "old").name
    assert files(folder) == {"new", "tags.json", "baselines.json", TRASH}
    assert [entry.name for entry in catalogue(folder)] == ["new"]
    assert (read_tags(folder), read_baselines(folder)) == ({}, {})
    assert [run.name for run in deleted_runs(folder)] == ["old"]
    assert restore_run(folder, key).name == "old"
    assert files(folder) == before
    assert (read_tags(folder), read_baselines(folder)) == ({"old": ["nightly"]}, {"set": "old"})
    assert Run(folder / "old").n_rows == 12
    with pytest.raises(UnknownNameError):
        restore_run(folder, key)


def test_a_deleted_run_does_not_take_the_place_of_another(folder: Path) -> None:
    key = delete_run(folder / "old").name
    rename_run(folder / "new", "old")
    with pytest.raises(UsageError, match="another run old"):
        restore_run(folder, key)
    assert [run.name for run in deleted_runs(folder)] == ["old"]
    rename_run(folder / "old", "newer")
    restore_run(folder, key)
    assert [entry.name for entry in catalogue(folder)] in (["old", "newer"], ["newer", "old"])


@pytest.mark.parametrize("key", ["..", "../..", "a", "", ".", "x\0"])
def test_only_what_is_in_the_trash_is_restored(folder: Path, key: str) -> None:
    delete_run(folder / "old")
    with pytest.raises(UnknownNameError):
        restore_run(folder, key)


def test_a_changed_document_leads_nowhere_else(folder: Path) -> None:
    place = delete_run(folder / "old")
    about = place / "deleted.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "run": "../outside"}))
    with pytest.raises(UsageError, match="not a name"):
        restore_run(folder, place.name)
    assert not (folder.parent / "outside").exists()


def test_prune_deletes_for_good(folder: Path) -> None:
    delete_run(folder / "old")
    assert not [thing for thing in unneeded(folder, 30) if "deleted" in thing.what]
    (thing,) = [thing for thing in unneeded(folder, 0) if "deleted" in thing.what]
    assert thing.size > 1_000
    thing.delete()
    assert files(folder) == {"new", "tags.json", "baselines.json"}


def test_the_journal_of_judges_stays(folder: Path) -> None:
    (folder / "judge.journal.sqlite").write_bytes(b"paid")
    evaluate(ROWS, metrics="token_f1", run="judge", output_dir=folder)
    delete_run(folder / "judge")
    assert "judge.journal.sqlite" in files(folder)


def test_a_run_that_is_being_written_keeps_its_name_and_place(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, folder / "old"], stdin=PIPE, stdout=PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        with pytest.raises(BusyError):
            delete_run(folder / "old")
        with pytest.raises(BusyError):
            rename_run(folder / "old", "first")
        writer.communicate()
    assert Run(folder / "old").n_rows == 12


def test_of_many_who_delete_one_does(folder: Path) -> None:
    barrier = Barrier(4)
    places: list[Path] = []
    errors: list[RagmeterError] = []

    def delete() -> None:
        barrier.wait()
        try:
            places.append(delete_run(folder / "old"))
        except RagmeterError as error:
            errors.append(error)

    threads = [Thread(target=delete) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(places), len(errors)) == (1, 3)
    assert [run.path for run in deleted_runs(folder)] == places
    assert restore_run(folder, places[0].name).name == "old"


def test_a_run_is_nobody_s_journal(tmp_path: Path) -> None:
    """A folder of an earlier version may be called as the journal of another run is."""
    for name in ("j1", "other"):
        evaluate(ROWS, metrics="exact_match", run=name, output_dir=tmp_path)
    (tmp_path / "other").rename(tmp_path / "j1.journal.sqlite")
    delete_run(tmp_path / "j1")
    assert (tmp_path / "j1.journal.sqlite" / "rows.parquet").exists()
    assert not (tmp_path / "j1").exists()
