"""A run that is not kept: in memory, written to a temporary folder only when its path is needed."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.io.locations import Location
from ragmeter.io.write import WRITTEN
from ragmeter.runs.layout import ROWS, Stamp, writing
from ragmeter.runs.rows import Rows, RowsInMemory
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun


class TemporaryRun(Run):
    """A run in memory. Its `path` is written when it is first asked for, and removed when this object is gone."""

    def __init__(self, name: str, rows: pa.Table, manifest: Manifest, summary: Summary) -> None:
        super().__init__("")
        self._path = None
        self._name = name[:100] if name.strip(".") else "run"  # it is also the name of a folder
        self._table = rows
        self._manifest = manifest if manifest.run else replace(manifest, run=name)
        self._summary = summary

    @classmethod
    def copy(cls, run: Run) -> Self:
        """A run with the same contents."""
        return cls(run.name, run.rows(), run.manifest(), run.summary())

    def check(self) -> None:
        """Do nothing: the run always exists."""

    @property
    def name(self) -> str:
        """The name that was passed in."""
        return self._name

    @property
    def location(self) -> Location:
        """The run's folder, among the system's temporary files."""
        if self._path is None:
            scratch = tempfile.mkdtemp(prefix="ragmeter-")
            weakref.finalize(self, _remove, scratch, os.getpid())
            with NewRun(Path(scratch) / self._name) as new:
                with writing(new.path), (new.folder / ROWS).open("wb") as file:
                    pq.write_table(self._table, file, write_page_checksum=True)
                self._path = new.finish(self.manifest(), self.summary()).path
                WRITTEN.pop(str(self._path), None)  # it is nothing that stays
        return self._path

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self._table, self.manifest(), self.summary())

    def _settle(self) -> None:
        """Do nothing: there is no folder with anything unfinished."""

    def _files(self) -> tuple[Stamp, ...]:
        return ()

    def manifest(self) -> Manifest:
        """The manifest that was passed in."""
        return self._manifest

    def summary(self) -> Summary:
        """The summary that was passed in."""
        return self._summary

    def _open(self) -> Rows:
        return RowsInMemory(self._table)


def _remove(folder: str, process: int) -> None:
    """Remove a folder, unless this is a forked child of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
