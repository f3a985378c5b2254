"""A run's colour: the same on all pages, whatever other runs there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragmeter.errors import InputError, RagmeterWarning
from ragmeter.runs.baselines import BASELINES, read_baselines, set_baseline
from ragmeter.runs.colours import COLOURS, colours_of, keep_colours, read_colours, rename_colour
from ragmeter.runs.layout import MANIFEST
from ragmeter.runs.run import Run


def made(folder: Path, name: str, created: str) -> Run:
    (folder / name).mkdir(parents=True)
    (folder / name / MANIFEST).write_text(json.dumps({"created": created}), encoding="utf-8")
    return Run(folder / name)


def test_by_the_order_of_creation(tmp_path: Path) -> None:
    new, old = made(tmp_path, "a", "2026-02-01"), made(tmp_path, "b", "2026-01-01")
    assert colours_of([new, old]) == [2, 1]
    assert colours_of([new]) == [2]  # alone on a page, too
    assert not (tmp_path / COLOURS).exists()  # to look at a run writes nothing


def test_kept_after_others_are_gone_and_after_a_new_name(tmp_path: Path) -> None:
    keep_colours(tmp_path, {"a": ("2026-02-01", "q"), "b": ("2026-01-01", "q")})
    keep_colours(tmp_path, {"a": ("2026-02-01", "q"), "c": ("2025-01-01", "q")})
    rename_colour(tmp_path, "a", "z")
    assert read_colours(tmp_path) == {"z": 2, "b": 1, "c": 3}
    assert colours_of([Run(tmp_path / "z")]) == [2]


def test_runs_of_other_questions_are_numbered_by_themselves(tmp_path: Path) -> None:
    keep_colours(tmp_path, {"a": ("2026-01-01", "q"), "other": ("2026-01-02", "p"), "b": ("2026-01-03", "q")})
    assert read_colours(tmp_path) == {"a": 1, "other": 1, "b": 2}


def test_where_nobody_may_write_and_where_a_manifest_is_damaged(tmp_path: Path) -> None:
    first, second = made(tmp_path, "a", "2026-01-01"), made(tmp_path, "b", "2026-01-02")
    made(tmp_path, "damaged", "")
    (tmp_path / "damaged" / MANIFEST).write_text("[", encoding="utf-8")
    assert colours_of([first, second]) == [2, 3]


def test_runs_of_several_folders_are_numbered_as_they_come(tmp_path: Path) -> None:
    assert colours_of([made(tmp_path / "one", "a", ""), made(tmp_path / "two", "a", "")]) == [0, 1]
    assert colours_of([]) == []


def test_a_damaged_file_is_a_warning_and_stays(tmp_path: Path) -> None:
    (tmp_path / COLOURS).write_text('{"a": true}', encoding="utf-8")
    with pytest.warns(RagmeterWarning, match="a number for each run.*\n *delete the file"):
        assert read_colours(tmp_path) == {}
    runs = [made(tmp_path, "a", "2026-01-01"), made(tmp_path, "b", "2026-01-02")]
    keep_colours(tmp_path, {"a": ("2026-01-01", ""), "b": ("2026-01-02", "")})
    assert colours_of(runs) == [1, 2]
    assert (tmp_path / COLOURS).read_text(encoding="utf-8") == '{"a": true}'


def test_damaged_baselines_are_a_warning_until_one_is_set(tmp_path: Path) -> None:
    (tmp_path / BASELINES).write_text("{bad", encoding="utf-8")
    with pytest.warns(RagmeterWarning, match="correct the file, or delete it"):
        assert read_baselines(tmp_path) == {}
    with pytest.raises(InputError, match="can't be read"):
        set_baseline(tmp_path, "q", "a")
    assert (tmp_path / BASELINES).read_text(encoding="utf-8") == "{bad"
