"""One snapshot a request: a page is of a run as it was at one moment, also while the run is replaced.

A run has several files, which are read one by one, some of them by DuckDB. Nothing is locked, for that would stop who
writes the run: what was read is used only if the files are still the same afterwards, and is read again otherwise.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.runs.catalogue import run_stamps
from ragmeter.runs.layout import Stamp, stamps_of
from ragmeter.runs.places import settle
from ragmeter.runs.run import Run

#: Seconds for which a request waits for a run that does not stay as it is.
_PATIENCE = 20.0
Result = TypeVar("Result")


class Snapshot:
    """The runs that one request has looked at, and how their files were then."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[Path, tuple[Stamp, ...]] = {}

    def run(self, name: str) -> Run:
        """A run by its name; only a folder that is listed can be one, so that no name is a path."""
        try:
            is_listed = not name.startswith(".") and name in os.listdir(self._folder)  # noqa: PTH208 - of thousands
        except FileNotFoundError:
            is_listed = False
        path = self._folder / name if is_listed else None
        if path is not None:
            settle(path)
            self._stamps.setdefault(path, stamps_of(path))
        if path is None or not any(stamps_of(path)):
            raise UnknownNameError("run", name[:100], run_stamps(self._folder))
        return Run.at(path)

    def is_valid(self) -> bool:
        """Whether all runs still are as they were."""
        return all(stamps_of(path) == stamps for path, stamps in self._stamps.items())


def of_one_moment(
    folder: Path, read: Callable[[Snapshot], Result], drop: Callable[[Result], None], *, again: bool = True
) -> Result:
    """The result of `read`, or its error, for runs that were not replaced meanwhile. Other results are dropped.

    Without `again` it is called once, and what it returns counts.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        snapshot = Snapshot(folder)
        try:
            result = read(snapshot)
        except Exception:  # of a run that was half replaced, anything may come
            if snapshot.is_valid():
                raise
        else:
            if not again or snapshot.is_valid():
                return result
            drop(result)
        if not again or time.monotonic() > deadline:
            raise UsageError("the run was replaced meanwhile", hint="load the page again")
