"""The journal: what is in it stays, and one process holds it."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.replies.charges import Spent
from ragmeter.effects.replies.journal import Journal, Reply, journal_to_read
from ragmeter.effects.replies.journal_reader import RecordedReplies
from ragmeter.errors import BusyError, InputError, OutputError, RagmeterWarning
from tests.command import PATIENCE

REPLY = Reply("{}", 100, 10, 0.25, 51.5, 2)


def keep(journal: Journal, *keys: str, reply: Reply = REPLY) -> None:
    async def work() -> None:
        await asyncio.gather(*(journal.record(key, reply) for key in keys))

    asyncio.run(work())


def test_what_was_recorded_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.sqlite"
    with Journal(path) as journal:
        assert journal.get("a") is None
        keep(journal, "a", "b")
        assert journal.get("a") == REPLY
    with Journal(path) as journal:
        assert len(journal) == 2
        assert journal.get("a") == journal.get("b") == REPLY
        assert journal.get("c") is None


def test_what_was_spent_is_known_again(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    for total in (0.5, 1.0):
        with Journal(path) as journal:
            for _ in range(2):  # nothing is answered after the second
                journal.begin_call("run", 0.75, limited=False)
                journal.end_call("run", 0.75, 0.25)
                keep(journal, "a")
        with Journal(path) as journal:
            assert journal.spent("run") == Spent(int(total * 4), total)
            assert journal.spent("another") == Spent(0, 0.0)


def test_what_is_under_way_counts_as_spent(tmp_path: Path) -> None:
    """Copies of the file, as a kill would leave it: a call is charged before it is sent, and settled when it ends."""
    path = tmp_path / "journal.sqlite"

    def left_by_a_kill() -> Spent:
        place = tmp_path / "copy"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file in tmp_path.glob("journal.sqlite*"):
            shutil.copy(file, place)
        with Journal(place / path.name) as copy:
            return copy.spent("run")

    with Journal(path) as journal:
        for _ in range(3):
            journal.begin_call("run", 0.1, limited=True)
        assert left_by_a_kill() == Spent(3, 0.1 + 0.1 + 0.1)
        journal.end_call("run", 0.1, 0.05)
        keep(journal, "a")  # a reply is recorded together with what it cost
        assert left_by_a_kill().cost == pytest.approx(0.05 + 0.2)
        journal.end_call("run", 0.1, 0.0)
        journal.end_call("run", 0.1, 0.05)
    with Journal(path) as journal:
        assert journal.spent("run") == Spent(3, 0.1)


def test_a_charge_takes_no_commit(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.sqlite") as journal:
        commits: list[Any] = []
        write = journal._write
        journal._write = commits.append  # type: ignore[method-assign,assignment]
        for _ in range(200):
            journal.begin_call("run", 0.5, limited=True)
            journal.begin_call("another", 0.0, limited=True)
        assert not commits
        journal._write = write  # type: ignore[method-assign]
        charges = (tmp_path / "journal.sqlite-charges").read_bytes()
        assert len(charges.splitlines()) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["journal.sqlite"]  # it has all of it
    (tmp_path / "journal.sqlite-charges").write_bytes(charges.replace(b"200", b"300"))
    with pytest.warns(RagmeterWarning, match="journal.sqlite-charges is damaged"):
        journal = Journal(tmp_path / "journal.sqlite")
    with journal:
        assert journal.spent("run") == Spent(200, 100.0)


@pytest.mark.parametrize("odd", [Reply("half an emoji: \ud83d"), Reply("{}", prompt_tokens=10**20)])
def test_a_reply_that_can_not_be_written_is_an_error_and_not_the_end(odd: Reply) -> None:
    async def work() -> None:
        with Journal(None) as journal:
            with pytest.raises((UnicodeEncodeError, OverflowError)):
                await asyncio.wait_for(journal.record("odd", odd), PATIENCE)
            await asyncio.wait_for(journal.record("good", REPLY), PATIENCE)
            assert journal.get("good") == REPLY
            assert journal.get("odd") is None

    asyncio.run(work())


def test_what_was_answered_is_written_also_when_it_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"

    async def work() -> None:
        with Journal(path) as journal:
            write = journal._write

            def slowly(group: Any) -> None:
                time.sleep(0.1)
                write(group)

            journal._write = slowly  # type: ignore[method-assign]
            tasks = [asyncio.create_task(journal.record(str(i), REPLY)) for i in range(3)]
            await asyncio.sleep(0.02)
            tasks += [asyncio.create_task(journal.record(str(i), REPLY)) for i in range(3, 8)]
            await asyncio.sleep(0)
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(work())
    with Journal(path) as journal:
        assert len(journal) == 8


def test_what_is_not_known_stays_unknown() -> None:
    with Journal(None) as journal:
        keep(journal, "a", reply=Reply("{}"))
        reply = journal.get("a")
        assert reply is not None
        assert reply.cost is reply.prompt_tokens is reply.completion_tokens is None


def test_a_locked_journal_can_be_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal(path) as journal:
        keep(journal, "a")
        with journal_to_read(path) as copy:
            assert copy.get("a") == REPLY
            assert copy.path == path
    with journal_to_read(path) as same:
        assert "a" in same
    with journal_to_read(tmp_path / "none.sqlite") as empty:
        assert len(empty) == 0
    assert not (tmp_path / "none.sqlite").exists()


def test_a_second_process_fails_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal(path):
        imports = "from ragmeter.effects.replies.journal import Journal; from pathlib import Path"
        code = f"{imports}; Journal(Path({str(path)!r}))"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert "BusyError: another process is using the journal " in done.stderr
        with pytest.raises(BusyError):
            Journal(path)
    Journal(path).close()


def test_many_replies_are_one_commit(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.sqlite") as journal:
        groups: list[int] = []
        write = journal._write

        def counting(group: Any) -> None:
            groups.append(len(group[0]))
            write(group)

        journal._write = counting  # type: ignore[method-assign]
        keep(journal, *map(str, range(200)))
        assert sum(groups) == 200
        assert len(groups) < 20
        assert len(journal) == 200


def test_commits_keep_a_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit takes as much work as many replies: on a disk that is fast, there was one for each."""
    commits: list[float] = []
    write = Journal._write

    def counted(journal: Journal, group: Any) -> None:
        commits.append(time.monotonic())
        write(journal, group)

    monkeypatch.setattr(Journal, "_write", counted)
    monkeypatch.setattr("ragmeter.effects.replies.journal._BETWEEN", 0.05, raising=False)

    async def arrive(journal: Journal) -> None:
        recording = []
        for number in range(40):
            recording.append(asyncio.create_task(journal.record(str(number), Reply("{}"))))
            await asyncio.sleep(0.002)
        await asyncio.gather(*recording)

    begun = time.monotonic()
    with Journal(None) as journal:
        asyncio.run(arrive(journal))
        assert len(journal) == 40
    assert len(commits) <= 1 + (commits[-1] - begun) / 0.04


@pytest.mark.parametrize("content", [b"hello, I am a text", b"\x00" * 4096])
def test_a_file_that_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"\.sqlite: the journal can't be read"):
        Journal(path)
    assert path.read_bytes() == content


def test_another_programs_database(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE mine (x)")
    database.close()
    with pytest.raises(InputError, match="not a ragmeter journal"):
        Journal(path)


def test_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    Journal(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(InputError, match="version 99"):
        Journal(path)


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        Journal(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        Journal(tmp_path / "file" / "journal.sqlite")


def test_an_empty_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.touch()
    with pytest.warns(RagmeterWarning, match=r"the journal .*journal\.sqlite is empty: everything is asked for"):
        Journal(path).close()
    with warnings.catch_warnings():  # it is a journal now, and so is one that was not there
        warnings.simplefilter("error")
        Journal(path).close()
        Journal(tmp_path / "another.sqlite").close()


def damage(path: Path, before: bytes, after: bytes) -> None:
    content = path.read_bytes()
    assert content.count(before) == 1
    path.write_bytes(content.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"answer 103", b"answer 102"),
        (b"answer 103", b"answer 1\xb03"),  # no UTF-8
        (b"key 103", b"key 1p3"),  # it is not where it should be
        (b"key 103", b"+ey 103"),
    ],
)
def test_a_damaged_reply_is_reported_and_asked_for_again(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal(path) as journal:
        for number in range(100, 110):
            keep(journal, f"key {number}", reply=Reply(f'{{"answer": "answer {number}"}}', 1, 2, 0.5, 3.0))
    damage(path, before, after)
    with pytest.warns(RagmeterWarning, match=r"journal\.sqlite: damaged replies: 1 of 10; they are removed, and asked"):
        journal = Journal(path)
    with journal:
        assert len(journal) == 9
        assert journal.get("key 103") is None
        keep(journal, "key 103")
        assert journal.get("key 102") == Reply('{"answer": "answer 102"}', 1, 2, 0.5, 3.0)
    with Journal(path) as journal:
        assert len(journal) == 10


@pytest.mark.parametrize("where", [b"CREATE TABLE ", b"tablereplies", b"tablerounds"])
def test_a_damaged_schema_is_an_error_that_names_the_file(tmp_path: Path, where: bytes) -> None:
    """SQLite quotes the damaged bytes in its message, which is no UTF-8 then."""
    path = tmp_path / "journal.sqlite"
    Journal(path).close()
    content = bytearray(path.read_bytes())
    content[content.index(where) + len(where) - 1] = 0xCE
    path.write_bytes(content)
    result = opened(path)
    assert isinstance(result, InputError)
    assert str(result).startswith(f"{path}: the journal can't be read: ")
    with (
        RecordedReplies(path) as replies,
        pytest.raises(InputError, match=r"journal\.sqlite: the journal can't be read"),
    ):
        replies.get("a")


def opened(path: Path) -> Journal | InputError:
    try:
        return Journal(path)
    except InputError as error:
        return error


@pytest.mark.parametrize("flips", [80, pytest.param(4000, marks=pytest.mark.slow)])
def test_any_bit_may_flip(tmp_path: Path, flips: int) -> None:
    """Whatever is damaged: an error that names the file, a warning, or all replies as they were."""
    path, copy = tmp_path / "journal.sqlite", tmp_path / "copy.sqlite"
    replies = {
        f"key {n}": Reply(f'{{"answer": "{n * 7}", "more": "{"x" * 300}"}}', n, 2, n / 7, 3.0) for n in range(60)
    }
    with Journal(path) as journal:
        number = journal.begin_round("run", '{"digest": "d", "signature": {}}', "q")
        for key, reply in replies.items():
            keep(journal, key, reply=reply)
        journal.begin_call("run", 0.75, limited=True)
    whole = path.read_bytes()
    chance = random.Random(6)
    seen: Counter[str] = Counter()
    for _ in range(flips):
        content = bytearray(whole)
        content[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        copy.write_bytes(content)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = opened(copy)
        if isinstance(result, InputError):
            assert "copy.sqlite: " in str(result)
            seen["error"] += 1
            continue
        with result as journal:
            present = {key: journal.get(key) for key in replies}
            assert all(reply in (None, replies[key]) for key, reply in present.items())
            assert bool(warned) == (None in present.values()) == (len(journal) < 60)
            assert journal.spent("run") == Spent(1, 0.75)
            assert [record.number for record in journal.rounds("run")] == [number]
        seen["warning" if warned else "nothing"] += 1
    assert min(seen["error"], seen["warning"]) > flips / 40


@pytest.mark.skipif(os.name == "nt", reason="modes of files are not Windows's")
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "journal.sqlite"
    before = os.umask(0o022)
    try:
        with Journal(path) as journal:
            keep(journal, "a")
            journal.begin_call("run", 0.5, limited=True)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes.pop("journal.sqlite") == 0o600
    assert {"journal.sqlite-wal", "journal.sqlite-charges"} <= set(modes)
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def fill_disk(journal: Journal, *, spare: int = 0) -> None:
    """As if the disk had room for so many pages more."""
    (pages,) = journal._database.execute("PRAGMA page_count").fetchone()
    journal._database.execute(f"PRAGMA max_page_count = {pages + spare}")


def test_replies_that_a_full_disk_refused_are_written_when_there_is_room_again(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    large = Reply("x" * 50_000)
    with Journal(path) as journal:
        fill_disk(journal)
        with pytest.raises(OutputError, match="full"):
            keep(journal, *"abcd", reply=large)
        journal._database.execute("PRAGMA max_page_count = 1000000")
    with Journal(path) as journal:
        assert [journal.get(key) for key in "abcd"] == [large] * 4


def test_of_a_disk_that_stays_full_the_room_is_used(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"

    async def work(journal: Journal) -> None:
        replies = {"large": Reply("x" * 50_000), "a": REPLY, "b": REPLY}
        await asyncio.gather(*(journal.record(key, reply) for key, reply in replies.items()))

    journal = Journal(path)
    fill_disk(journal, spare=4)
    with pytest.raises(OutputError, match="full"):
        asyncio.run(work(journal))
    with pytest.raises(OutputError, match="full"):
        journal.close()
    with Journal(path) as journal:
        assert "large" not in journal
        assert journal.get("a") == journal.get("b") == REPLY
