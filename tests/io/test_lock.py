"""One writer at a time; a process that is gone, however it went, holds nothing."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ragmeter.errors import BusyError, OutputError
from ragmeter.io.lock import file_lock, is_lock
from tests.command import PATIENCE

HOLD = """
import sys
from pathlib import Path
from ragmeter.io.lock import file_lock
with file_lock(Path(sys.argv[1]), "this run", "counts beans", asks=sys.argv[2] == "asks"):
    print("locked", flush=True)
    sys.stdin.read()
"""
FORK = """
import os, sys
from pathlib import Path
from ragmeter.io.lock import file_lock
with file_lock(Path(sys.argv[1]), "this run", "counts beans"):
    if os.fork() == 0:
        print("forked", flush=True)
        sys.stdin.read()
        os._exit(0)
    sys.stdin.read()
"""


def start(script: str, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def test_a_process_that_asks_is_not_waited_for(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    process = start(HOLD, lock, "asks")
    message = rf"another process is working on this run: process {process.pid} on .*, since .* \(counts beans\)"
    with pytest.raises(BusyError, match=message), file_lock(lock, "this run", "waits"):
        pass
    process.communicate(timeout=PATIENCE)
    with file_lock(lock, "this run", "waits") as is_first:
        assert is_first
    assert not lock.exists()


def test_a_process_that_computes_is_waited_for(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    process = start(HOLD, lock, "computes")
    with pytest.raises(BusyError, match="counts beans"), file_lock(lock, "this run", "waits", wait=False):
        pass
    taken: list[str] = []

    def wait() -> None:
        with file_lock(lock, "this run", "waits"):
            taken.append(lock.read_text())

    thread = threading.Thread(target=wait)
    thread.start()
    assert process.poll() is None
    assert not taken
    process.communicate(timeout=PATIENCE)
    thread.join(PATIENCE)
    assert json.loads(taken[0])["process"] == os.getpid()


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    process = start(HOLD, lock, "asks")
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert is_lock(lock)  # the file is there, and nobody holds it
    with file_lock(lock, "this run", "waits", wait=False) as is_first:
        assert is_first
    assert not lock.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
def test_a_forked_child_holds_nothing(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    process = start(FORK, lock)
    process.kill()  # its child lives on, until its input ends
    process.wait(PATIENCE)
    with file_lock(lock, "this run", "waits", wait=False) as is_first:
        assert is_first
    process.communicate(timeout=PATIENCE)


def test_within_itself_and_beside_another_thread(tmp_path: Path) -> None:
    lock = tmp_path / "new" / "lock"
    errors: list[BaseException] = []

    def second() -> None:
        try:
            with file_lock(lock, "this run", "waits", wait=False):
                pass
        except BusyError as error:
            errors.append(error)

    with file_lock(lock, "this run", "writes") as is_first:
        with file_lock(lock, "this run", "writes more") as is_inner:
            assert (is_first, is_inner) == (True, False)
        assert lock.exists()
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(PATIENCE)
    assert "writes" in str(errors[0])
    assert not lock.exists()


def test_waiting_ends_when_its_reason_is_gone(tmp_path: Path) -> None:
    process = start(HOLD, tmp_path / "lock", "asks")
    with file_lock(tmp_path / "lock", "this run", "reads", until=lambda: True) as is_first:
        assert not is_first
    process.communicate(timeout=PATIENCE)


def test_a_place_that_can_not_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(OutputError, match="can't write"), file_lock(tmp_path / "lock", "this run", "writes"):
        pass


def test_a_folder_that_may_not_be_written_to_is_an_error_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_open = os.open

    def open_without_the_right(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return system_open(path, flags, mode)

    monkeypatch.setattr(os, "open", open_without_the_right)
    writes = file_lock(tmp_path / "lock", "this run", "writes")
    with pytest.raises(OutputError, match=r"can't write into .*: Permission denied") as raised, writes:
        pass
    assert str(tmp_path) in raised.value.message
    assert "output_dir" in (raised.value.hint or "")


def test_a_folder_that_vanishes_again_and_again_is_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragmeter.io.lock._open", lambda path: None)
    with pytest.raises(BusyError), file_lock(tmp_path / "lock", "this run", "writes", wait=False):
        pass
