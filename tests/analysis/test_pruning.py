"""What may be deleted, and what not."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from pathlib import Path

import pytest

from ragmeter import evaluate
from ragmeter.analysis.pruning import unneeded
from ragmeter.effects.journal import Journal, Reply
from ragmeter.errors import UsageError

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


def test_journals_of_runs_that_were_never_finished(tmp_path: Path) -> None:
    evaluate([{"answer": "a", "reference": "a"}], metrics="token_f1", run="done", output_dir=tmp_path)
    old(tmp_path / "done.journal.sqlite")
    lost = old(tmp_path / "lost.journal.sqlite")
    (tmp_path / "recent.journal.sqlite").write_bytes(b"x")
    assert [thing.path for thing in unneeded(tmp_path, 30)] == [lost]


def test_old_replies_of_a_judge_go_and_new_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "judge.journal.sqlite"
    with Journal(path) as journal:
        for key in ("old", "new"):
            asyncio.run(journal.record(key, Reply('{"verdict": "CORRECT"}')))
        journal._database.execute("UPDATE replies SET at = '2020-01-01T00:00:00+00:00' WHERE key = 'old'")
        from ragmeter.effects.journal_file import CHECKSUMS

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
