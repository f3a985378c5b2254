"""Names of runs with a number or a date in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragmeter.errors import UsageError
from ragmeter.io.names import plain_name, run_name


def test_a_number_is_the_next_one(tmp_path: Path) -> None:
    assert run_name("nightly-{n}", tmp_path / "nowhere") == "nightly-1"
    for name in ("nightly-1", "nightly-9", "nightly-10", "nightly-x", "other-77"):
        (tmp_path / name).mkdir()
    (tmp_path / "nightly-50").write_text("a file is no run")
    assert run_name("nightly-{n}", tmp_path) == "nightly-11"
    assert run_name("nightly-{n}", tmp_path, latest=True) == "nightly-10"
    assert run_name("a{n}.b{n}", tmp_path) == "a1.b1"


def test_an_interrupted_run_keeps_its_number(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    (tmp_path / "r2.journal.sqlite").write_text("")
    assert run_name("r{n}", tmp_path) == "r2"
    assert run_name("r{n}", tmp_path, latest=True) == "r2"


def test_dates_and_plain_names(tmp_path: Path) -> None:
    assert re.fullmatch(r"main-\d{4}-\d\d-\d\d", run_name("main-{date}", tmp_path))
    assert re.fullmatch(r"main-\d{6}", run_name("main-{time}", tmp_path))
    assert run_name("plain.+", tmp_path) == "plain.+"
    assert run_name(plain_name("file{x}"), tmp_path) == "file_x_"
    assert plain_name(".latest_test_run") == "latest_test_run"
    assert plain_name("two\nlines") == "two_lines"


@pytest.mark.parametrize("name", ["a:b", "a*", "model=<x>", 'a"b', "a|b", "why?", "tr.csv", "A.JSON"])
def test_what_is_no_folder_on_windows_or_looks_like_a_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be the name of a run"):
        run_name(name, tmp_path)
    assert run_name(plain_name(name), tmp_path), "a name that is made from a file's is changed"


@pytest.mark.parametrize("name", ["trail ", " a", "\u00a0a"])
def test_no_blank_at_an_end(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a name for a run"):
        run_name(name, tmp_path)
    assert run_name(plain_name(name), tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "a\\b",
        "a\0b",
        ".hidden",
        ".{n}",
        "a\nb",
        "a\tb",
        "a\x1b[2Jb",
        "a\u2028b",
        "a\ud800",
        "x-{}",
        "x-{m}",
        "{n!r}",
        "{n.__class__}",
        "a\u202eb",
        "a.journal.sqlite",
        "a.journal.sqlite-wal",
        "a.lock",
    ],
)
def test_what_is_no_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        run_name(name, tmp_path)


def test_names_that_are_empty_or_too_long(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the run's name is empty"):
        run_name("", tmp_path)
    with pytest.raises(UsageError, match=r"has 231 bytes, which is too long(.|\n)*at most 230 with run="):
        run_name("n" * 231, tmp_path)
    assert run_name("n" * 230, tmp_path) == "n" * 230
