"""What may be deleted, and what not."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragmeter import evaluate
from ragmeter.analysis.pruning import unneeded
from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.embedders.cache import Cache
from ragmeter.errors import BusyError, UsageError
from ragmeter.runs.places import hold

YEAR = 365 * 86_400


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGMETER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings.sqlite"


def old(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(b"x")
    os.utime(path, (time.time() - YEAR,) * 2)
    return path


def journal_of(path: Path, key: str = "round 1: a") -> Path:
    with Journal(path) as journal:
        asyncio.run(journal.record(key, Reply("{}")))
    return path


def test_journals_of_runs_that_were_never_finished(tmp_path: Path) -> None:
    evaluate([{"answer": "a", "reference": "a"}], metrics="token_f1", run="done", output_dir=tmp_path)
    (tmp_path / "turns.jsonl").write_text("{}")
    names = ["done", "lost", "turns.jsonl"]
    _, lost, _ = [old(journal_of(tmp_path / f"{name}.journal.sqlite")) for name in names]
    journal_of(tmp_path / "recent.journal.sqlite")
    for _ in range(2):  # the first look is no use of it
        (thing,) = unneeded(tmp_path, 30)
        assert thing.path == lost
    thing.delete()
    assert not lost.exists()


def test_a_journal_of_a_run_under_way_is_left_alone(tmp_path: Path) -> None:
    """Also one of which the run has not opened its journal again yet."""
    journal = journal_of(tmp_path / "r.journal.sqlite")
    (thing,) = unneeded(tmp_path, 0)
    begun, ended = threading.Event(), threading.Event()

    def run() -> None:
        with hold(tmp_path / "r", "asks questions", asks=True):
            begun.set()
            ended.wait()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run)
        begun.wait()
        try:
            assert unneeded(tmp_path, 0) == []
            with pytest.raises(BusyError):
                thing.delete()
        finally:
            ended.set()
    with Journal(journal):
        assert unneeded(tmp_path, 0) == []
        with pytest.raises(BusyError):
            thing.delete()
    assert journal.exists()


def test_a_judges_journal_with_a_name_of_its_own_is_no_lost_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragmeter.effects.replies.journal._now", lambda: "2020-01-01T00:00:00+00:00")
    journal_of(tmp_path / "mine.journal.sqlite", "a judge's key")
    (thing,) = unneeded(tmp_path, 0)
    assert thing.what.startswith("replies of a judge: 1 of 1")


def test_old_replies_of_a_judge_go_and_new_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "judge.journal.sqlite"
    with Journal(path) as journal:
        for key in ("old", "new"):
            asyncio.run(journal.record(key, Reply('{"verdict": "CORRECT"}')))
        journal._database.execute("UPDATE replies SET at = '2020-01-01T00:00:00+00:00' WHERE key = 'old'")
        from ragmeter.effects.replies.journal_file import CHECKSUMS

        journal._database.execute(f"UPDATE replies SET checksum = {CHECKSUMS['replies']}")  # noqa: S608 - our own
    (thing,) = unneeded(tmp_path, 30)
    assert "1 of 2" in thing.what
    thing.delete()
    with Journal(path) as journal:
        assert "new" in journal
        assert "old" not in journal
    assert unneeded(tmp_path, 30) == []


def test_a_journal_in_use_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "judge.journal.sqlite"
    with Journal(path) as journal:
        asyncio.run(journal.record("a", Reply("{}")))
        assert unneeded(tmp_path, 0) == []


def test_a_cache_that_nobody_uses(tmp_path: Path, cache: Path) -> None:
    old(cache)
    (thing,) = unneeded(tmp_path, 30)
    assert thing.path == cache
    thing.delete()
    assert not cache.exists()


def test_a_cache_in_use_is_left_alone(tmp_path: Path, cache: Path) -> None:
    in_use = Cache()
    in_use.get([b"a key"])
    old(cache)
    (thing,) = unneeded(tmp_path, 0)
    assert "all your folders share" in thing.what
    with pytest.raises(BusyError):
        thing.delete()
    in_use.close()
    thing.delete()
    assert list(cache.parent.iterdir()) == []


def test_a_damaged_journal_is_left_alone(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "judge.journal.sqlite")
    database.execute("CREATE TABLE other (x)")
    database.commit()
    database.close()
    assert unneeded(tmp_path, 0) == []


@pytest.mark.parametrize("days", [-1.0, float("nan")])
def test_days_must_be_a_number(tmp_path: Path, days: float) -> None:
    with pytest.raises(UsageError, match="number of days"):
        unneeded(tmp_path, days)
