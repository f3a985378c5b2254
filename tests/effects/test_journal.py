"""The journal: what is in it stays, and one process holds it."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.journal import Journal, Reply, Spent
from ragmeter.errors import BusyError, InputError, OutputError
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
            journal.charge("run", 0.25)
            keep(journal, "a")
            journal.charge("run", 0.25)  # nothing was answered after it
        with Journal(path) as journal:
            assert journal.spent("run") == Spent(int(total * 4), total)
            assert journal.spent("another") == Spent(0, 0.0)


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

            def slowly(group: list[Any], charges: dict[str, Spent]) -> None:
                time.sleep(0.1)
                write(group, charges)

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


def test_a_second_process_fails_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal(path):
        code = f"from ragmeter.effects.journal import Journal; from pathlib import Path; Journal(Path({str(path)!r}))"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert "BusyError: another process is working on this run" in done.stderr
        with pytest.raises(BusyError):
            Journal(path)
    Journal(path).close()


def test_many_replies_are_one_commit(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.sqlite") as journal:
        groups: list[int] = []
        write = journal._write

        def counting(group: list[Any], charges: dict[str, Spent]) -> None:
            groups.append(len(group))
            write(group, charges)

        journal._write = counting  # type: ignore[method-assign]
        keep(journal, *map(str, range(200)))
        assert sum(groups) == 200
        assert len(groups) < 20
        assert len(journal) == 200


@pytest.mark.parametrize("content", [b"hello, I am a text", b"\x00" * 4096])
def test_a_file_that_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"journal\.sqlite: the journal can't be read"):
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
