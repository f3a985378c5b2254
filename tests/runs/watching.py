"""How often the kernel says that a run's table was opened, whoever opened it and by whatever means."""

from __future__ import annotations

import ctypes
import os
import struct
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from ragmeter.runs.layout import ROWS

_ACCESS, _CLOSE_WRITE, _CLOSE_READ, _OPEN = 0x1, 0x8, 0x10, 0x20
_EVENT = struct.Struct("iIII")


class Opened:
    """Counts, while it is entered, how often `rows.parquet` is opened in each of some folders."""

    def __init__(self, *folders: Path) -> None:
        self.counts: Counter[str] = Counter()
        self._folders = folders

    def __enter__(self) -> Self:
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "inotify_init1"):
            pytest.skip("only Linux tells which files are opened")
        self._queue = libc.inotify_init1(os.O_NONBLOCK)
        # With the reads between them, no two openings follow each other directly: the kernel would count them as one.
        mask = _OPEN | _ACCESS | _CLOSE_READ | _CLOSE_WRITE
        self._names = {
            libc.inotify_add_watch(self._queue, bytes(folder), mask): folder.name for folder in self._folders
        }
        assert self._queue >= 0
        assert min(self._names) >= 0
        return self

    def __exit__(self, *failure: type[BaseException] | BaseException | TracebackType | None) -> None:
        while True:
            try:
                events = os.read(self._queue, 1 << 16)
            except BlockingIOError:
                break
            place = 0
            while place < len(events):
                watch, mask, _, length = _EVENT.unpack_from(events, place)
                place += _EVENT.size
                name = events[place : place + length].rstrip(b"\0").decode()
                place += length
                if mask & _OPEN and name == ROWS:
                    self.counts[self._names[watch]] += 1
        os.close(self._queue)
